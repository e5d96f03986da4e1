"""Calls of the tools: checked arguments, questions to the engine, and answers in a budget of tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, TypeVar

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.mcp.tool_list import TOOLS
from codefathom.search.filter.filter_options import as_spelled, folder_of, is_glob, one_of
from codefathom.search.graph.project_map import map_text
from codefathom.stores.conditions import combine
from codefathom.types import Filter, FilterGroup, Hit, Level, Mode, Progress, SearchResult, Where

_T = TypeVar("_T")

_LEAST_TOKENS, _USUAL_TOKENS, _MOST_TOKENS = 200, 2_000, 20_000
_MOST_HITS, _WEAK_HITS, _PAGE = 100, 3, 20
_MODES: Mapping[str, Mode] = {
    "auto": "auto",
    "hybrid": "hybrid",
    "semantic": "vector",
    "symbol": "symbol",
    "regex": "regex",
}
# Names that other tools of this kind use → ours. What is not in the list of tools is understood, too.
_ALIASES: Mapping[str, Mapping[str, str]] = {
    "search": {
        "question": "query",
        "index_type": "level",
        "directory_filter": "paths",
        "language_filter": "languages",
        "top_k": "limit",
        "max_results": "limit",
    },
    "read": {"file_path": "path"},
    "related": {"path": "target"},
    "map": {"question": "query", "directory_filter": "paths"},
}
_UNLISTED = ("level", "languages", "limit", "min_score")
_LEVELS: Mapping[str, Level] = {"file": "file", "function": "symbol", "symbol": "symbol", "chunk": "chunk"}
_MOST_VALUES = 100  # of one list
_WEAK = "Most likely nothing here answers this."
_INDEXING = "The index is being made, {done} of {total} files so far. Ask again soon, or use grep until then."
_FIRST_WAIT_S = 2.0
_LAST_WAIT_S = 30.0  # for a batch of files to be written
_ERROR_CHARS = 300
_SHOWN_LINES, _LINES_BEFORE, _SHOWN_CHARS = 10, 2, 200


class _Part(NamedTuple):
    """One item of an answer in both of its forms."""

    text: str
    shape: Mapping[str, Any]


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
            arguments = _named(name, arguments)
            most = _number(arguments, "max_tokens", _USUAL_TOKENS, _LEAST_TOKENS, _MOST_TOKENS)
            engine = self._ready_engine()
            return _indexing(self._step) if engine is None else run(engine, arguments, most)
        except FathomError as error:
            text = (
                f"{_cut(str(error), _ERROR_CHARS)}{'. Remedy: ' if error.hint else ''}{_cut(error.hint, _ERROR_CHARS)}"
            )
            return _result(text, {}, is_error=True)

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
        query = _text(arguments, "query")
        mode = _one_of(arguments, "mode", "auto", _MODES)
        level = _one_of(arguments, "level", "", {"": None, **_LEVELS})
        start = _number({"cursor": arguments.get("cursor") or 0}, "cursor", 0, 0, _MOST_HITS)
        limit = _number(arguments, "limit", _MOST_HITS, 1, _MOST_HITS)
        result = engine.search(
            query,
            limit=min(start + _PAGE + 1, limit),
            level=level,
            mode=mode,
            where=_where(arguments),
            min_score=_share(arguments, "min_score"),
        )
        hits = result.hits[: _WEAK_HITS if result.weak else None]
        parts = [_hit_part(hit, number) for number, hit in enumerate(hits, start=1)]
        return _packed(_Answer("hits", _head(result), tuple(parts[start:])), most, start)

    def _read(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        path = _text(arguments, "path")
        start = _number(arguments, "start_line", 1, 1, 9_999_999)
        end = _number(arguments, "end_line", 0, 0, 9_999_999)
        engine.refresh()
        text = engine.files.lines(path, start, end).text
        lines = [_cut(line, most // 4) for line in text.removesuffix("\n").split("\n")]
        kept = len(lines)
        while kept and not _fits(_lines_result(path, lines, start, kept), most):
            kept = kept // 2
        return _lines_result(path, lines, start, kept)

    def _related(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        result = engine.related(_text(arguments, "target"))
        parts = []
        for edge in result.edges:
            shape = {"kind": edge.kind, "path": edge.path, "line": edge.line, "name": edge.name, "symbol": edge.symbol}
            parts.append(_Part(json.dumps(shape, ensure_ascii=False), shape))
        answer = _Answer("edges", _Part(result.completeness, {"completeness": result.completeness}), tuple(parts))
        return _packed(answer, most, 0)

    def _map(self, engine: Engine, arguments: Mapping[str, Any], most: int) -> Mapping[str, Any]:
        query = _text(arguments, "query") if arguments.get("query") else ""
        files, folders = _texts(arguments, "files"), _texts(arguments, "paths")
        budget = most
        while True:
            outline = engine.map(query, files=files, folders=folders, max_tokens=budget)
            left = outline.n_files - len(outline.files)
            note = f"{left} files left out; raise max_tokens or use paths" if left else ""
            text = map_text(outline.files)
            shape = {"outline": text, "completeness": outline.completeness, "left_out": left}
            result = _result(f"{text}{note}".strip(), shape)
            if _fits(result, most):
                return result
            # What is around the outline, and its line ends in JSON, take room, too.
            budget = budget * 4 // 5


class _Answer(NamedTuple):
    key: str
    head: _Part
    parts: Sequence[_Part]


def _packed(answer: _Answer, most: int, start: int) -> Mapping[str, Any]:
    """Return as many parts, from the first on, as both forms of the answer can show within the budget."""
    n, high = 0, len(answer.parts)
    while n < high:
        middle = (n + high + 1) // 2
        n, high = (middle, high) if _fits(_packed_first(answer, middle, start), most) else (n, middle - 1)
    if answer.parts and not n and "text" in answer.parts[0].shape:  # the best one by its place alone
        first = answer.parts[0]
        shape = {key: value for key, value in first.shape.items() if key != "text"}
        lean = (_Part(first.text.partition("\n")[0], shape), *answer.parts[1:])
        lean_result = _packed_first(answer._replace(parts=lean), 1, start)
        return lean_result if _fits(lean_result, most) else _packed_first(answer, 0, start)
    return _packed_first(answer, n, start)


def _packed_first(answer: _Answer, n: int, start: int) -> Mapping[str, Any]:
    left = len(answer.parts) - n
    more = {"left_out": left, **({"next": str(start + n)} if left and answer.key == "hits" else {})}
    note = f"{left} left out; raise max_tokens" + (f" or use cursor {start + n}" if "next" in more else "")
    texts = [answer.head.text, *(part.text for part in answer.parts[:n]), *[note] * bool(left)]
    shape = {answer.key: [part.shape for part in answer.parts[:n]], **answer.head.shape, **more}
    return _result("\n\n".join(texts), shape)


def _fits(result: Mapping[str, Any], most: int) -> bool:
    structured = json.dumps(result["structuredContent"], ensure_ascii=False)
    return max(estimate(result["content"][0]["text"]), estimate(structured)) <= most


def _result(text: str, shape: Mapping[str, Any], *, is_error: bool = False) -> Mapping[str, Any]:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return result if is_error else {**result, "structuredContent": shape}


def _indexing(step: Progress) -> Mapping[str, Any]:
    numbers = {"done": step.n_done, "total": step.n_total}
    return _result(_INDEXING.format(**numbers), {"indexing": numbers})


def _head(result: SearchResult) -> _Part:
    note = _WEAK if result.weak else "" if result.hits else f"Nothing found. {result.suggestion}"
    limits = _cut(" ".join(result.degraded), _ERROR_CHARS)
    text = f"confidence {result.confidence:.2f}. {note} {limits}".strip()
    return _Part(text, {"confidence": round(result.confidence, 4), "weak": result.weak})


def _hit_part(hit: Hit, number: int) -> _Part:
    chunk = hit.chunk
    place = f"{json.dumps(chunk.path, ensure_ascii=False)} {chunk.start_line}-{chunk.end_line}"
    title = f"{number}. {place} {chunk.language} score {hit.score:.2f} {chunk.kind} {chunk.symbol}".rstrip()
    shape = {"path": chunk.path, "start_line": chunk.start_line, "end_line": chunk.end_line}
    code = _best_lines(hit)
    more = {"symbol": chunk.symbol, "why": hit.reason, "stale": hit.stale, "text": code}
    return _Part(f"{title}\n{_fenced(code)}", {**shape, **more})


def _best_lines(hit: Hit) -> str:
    """Return ten lines of a hit, around the one to look at; `read` shows the rest."""
    lines = hit.chunk.text.removesuffix("\n").split("\n")
    first = max(0, min(hit.line - hit.chunk.start_line - _LINES_BEFORE, len(lines) - _SHOWN_LINES))
    return "\n".join(_cut(line, _SHOWN_CHARS) for line in lines[first : first + _SHOWN_LINES])


def _cut(line: str, most: int) -> str:
    return line if len(line) <= most else f"{line[:most]}… (line cut)"


def _lines_result(path: str, lines: Sequence[str], start: int, kept: int) -> Mapping[str, Any]:
    end, left = start + kept - 1, len(lines) - kept
    note = f"\n{left} lines left out; go on with start_line {end + 1}" if left else ""
    code = "\n".join(lines[:kept])
    text = f"{json.dumps(path, ensure_ascii=False)} {start}-{end}\n{_fenced(code)}{note}"
    shape = {"path": path, "start_line": start, "end_line": end, "text": code, "left_out": left}
    return _result(text, shape)


def _fenced(code: str) -> str:
    """Return code in a fence that is longer than any inside, so that no text of a file can end it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code.rstrip()}\n{fence}"


def _named(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments by our own names. Raises UsageError for one that this tool does not take."""
    allowed = next(tuple(one["inputSchema"]["properties"]) for one in TOOLS if one["name"] == tool)
    named: dict[str, Any] = {}
    for name, value in arguments.items():
        snake = re.sub(r"(?<=[a-z])[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
        own = _ALIASES[tool].get(snake, snake)
        if own not in (*allowed, *(_UNLISTED if tool == "search" else ())):
            raise UsageError(f"{tool} has no argument {name[:80]!r}", hint=f"it takes {', '.join(allowed)}")
        named[own] = value
    return named


def _where(arguments: Mapping[str, Any]) -> Where | None:
    """Return the condition that a search is kept to: any of the paths, and any of the languages."""
    paths = [_in_path(path) for path in _texts(arguments, "paths")]
    some = [path for path in paths if path is not None]
    # One that is the whole project takes the place of all others.
    inside = FilterGroup("OR", tuple(some)) if len(some) == len(paths) and some else None
    languages = _texts(arguments, "languages")
    return combine(inside, one_of("language", languages) if languages else None)


def _in_path(path: str) -> Where | None:
    if is_glob(path):
        return one_of("path", (path,))
    folder = one_of("dir", (path,))
    return folder and FilterGroup("OR", (folder, as_spelled(Filter("path", "eq", folder_of(path)))))


def _texts(arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of texts; a single text is a list of one."""
    value = arguments.get(name) or ()
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or len(texts) > _MOST_VALUES or not all(isinstance(x, str) for x in texts):
        raise UsageError(f"{name} is not a list of texts", hint=f"give at most {_MOST_VALUES} texts in a list")
    return tuple(texts)


def _one_of(arguments: Mapping[str, Any], name: str, usual: str, choices: Mapping[str, _T]) -> _T:
    value = arguments.get(name) or usual
    if not isinstance(value, str) or value not in choices:
        raise UsageError(
            f"{name} cannot be {str(value)[:80]!r}", hint=f"choose one of {', '.join(filter(None, choices))}"
        )
    return choices[value]


def _share(arguments: Mapping[str, Any], name: str) -> float:
    value = arguments.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{name} cannot be {str(value)[:80]!r}", hint="give a number from 0 to 1")
    return float(value)


def _text(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{name} is missing or is not a text", hint=f"give {name} as a text")
    return value


def _number(arguments: Mapping[str, Any], name: str, usual: int, least: int, most: int) -> int:
    value = arguments.get(name, usual)
    number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 9 else value
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise UsageError(f"{name} cannot be {str(value)[:80]!r}", hint=f"give a whole number from {least} to {most}")
    return number
