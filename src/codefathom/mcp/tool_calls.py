"""Calls of the tools: questions to the engine, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Event, Lock, Thread
from typing import Any

from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.mcp.tool_arguments import choice, named, number, share, text_of, texts, where_of
from codefathom.mcp.tool_results import (
    ERROR_CHARS,
    ResultPart,
    ToolAnswer,
    cut,
    fits,
    indexing_result,
    lines_result,
    packed,
    search_result,
    tool_result,
)
from codefathom.search.graph.project_map import map_text
from codefathom.types import Level, Mode, Progress

_LEAST_TOKENS, _USUAL_TOKENS, _MOST_TOKENS = 200, 2_000, 20_000
_MOST_HITS, _PAGE = 100, 20
_MODES: Mapping[str, Mode] = {
    "auto": "auto",
    "hybrid": "hybrid",
    "semantic": "vector",
    "symbol": "symbol",
    "regex": "regex",
}
_LEVELS: Mapping[str, Level] = {"file": "file", "function": "symbol", "symbol": "symbol", "chunk": "chunk"}
_FIRST_WAIT_S = 2.0
_LAST_WAIT_S = 30.0  # for a batch of files to be written


class ToolCalls:
    """The project of a session, opened by the first call; a first index is made behind it."""

    def __init__(self, open_engine: Callable[[], Engine]) -> None:
        self._open = open_engine
        self._lock = Lock()
        self._engine: Engine | None = None
        self._ready = Event()
        self._step = Progress("scan", 0, 0)
        self._problem: FathomError | None = None
        self._is_over = False

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a tool; a mistake is a result too, and names the remedy."""
        run = {"search": self._search, "read": self._read, "related": self._related, "map": self._map}[name]
        try:
            arguments = named(name, arguments)
            most = number(arguments, "max_tokens", _USUAL_TOKENS, _LEAST_TOKENS, _MOST_TOKENS)
            engine = self._ready_engine()
            return indexing_result(self._step) if engine is None else run(engine, arguments, most)
        except FathomError as error:
            text = f"{cut(str(error), ERROR_CHARS)}{'. Remedy: ' if error.hint else ''}{cut(error.hint, ERROR_CHARS)}"
            return tool_result(text, {}, is_error=True)

    def close(self) -> None:
        """End a first index that is being made, and close the project."""
        self._is_over = True
        if self._engine is not None and self._ready.wait(_LAST_WAIT_S):
            self._engine.close()

    def _ready_engine(self) -> Engine | None:
        """Return the engine, or None while the first index is being made. Raises what made it fail."""
        with self._lock:
            if self._engine is None:
                self._engine = self._open()
                if self._engine.generation:
                    self._ready.set()
                else:
                    Thread(target=self._index, args=(self._engine,), daemon=True).start()
        if not self._ready.wait(_FIRST_WAIT_S):
            return None
        with self._lock:
            problem, engine = self._problem, self._engine
            if problem is not None:  # the next call tries again
                self._problem, self._engine = None, None
                self._ready.clear()
                raise problem
            return engine

    def _index(self, engine: Engine) -> None:
        try:
            for event in engine.index_events():
                if isinstance(event, Progress):
                    self._step = event
                if self._is_over:
                    break
        except FathomError as error:
            self._problem = error
        finally:
            self._ready.set()

    def _search(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        query = text_of(arguments, "query")
        mode = choice(arguments, "mode", "auto", _MODES)
        level = choice(arguments, "level", "", {"": None, **_LEVELS})
        start = number({"cursor": arguments.get("cursor") or 0}, "cursor", 0, 0, _MOST_HITS)
        limit = number(arguments, "limit", _MOST_HITS, 1, _MOST_HITS)
        result = engine.search(
            query,
            limit=min(start + _PAGE + 1, limit),
            level=level,
            mode=mode,
            where=where_of(arguments),
            min_score=share(arguments, "min_score"),
        )
        return search_result(result, start, most, is_limited="limit" in arguments)

    def _read(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        path = text_of(arguments, "path")
        start = number(arguments, "start_line", 1, 1, 9_999_999)
        end = number(arguments, "end_line", 0, 0, 9_999_999)
        engine.refresh()
        text = engine.files.lines(path, start, end).text
        lines = [cut(line, most // 4) for line in text.removesuffix("\n").split("\n")]
        kept = len(lines)
        while kept and not fits(lines_result(path, lines, start, kept), most):
            kept = kept // 2
        return lines_result(path, lines, start, kept)

    def _related(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        result = engine.related(text_of(arguments, "target"))
        parts = []
        for edge in result.edges:
            shape = {"kind": edge.kind, "path": edge.path, "line": edge.line, "name": edge.name, "symbol": edge.symbol}
            parts.append(ResultPart(json.dumps(shape, ensure_ascii=False), shape))
        answer = ToolAnswer(
            "edges", ResultPart(result.completeness, {"completeness": result.completeness}), tuple(parts)
        )
        return packed(answer, most, 0)

    def _map(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        query = text_of(arguments, "query") if arguments.get("query") else ""
        files, folders = texts(arguments, "files"), texts(arguments, "paths")
        budget = most
        while True:
            outline = engine.map(query, files=files, folders=folders, max_tokens=budget)
            left = outline.n_files - len(outline.files)
            note = f"{left} files left out; raise max_tokens or use paths" if left else ""
            text = map_text(outline.files)
            shape = {"outline": text, "completeness": outline.completeness, "left_out": left}
            result = tool_result(f"{text}{note}".strip(), shape)
            if fits(result, most):
                return result
            # What is around the outline, and its line ends in JSON, take room, too.
            budget = budget * 4 // 5
