"""An engine that the processes of the searches read: a question that takes long holds up nothing of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from codefathom.engine import Engine, OnFile
from codefathom.project.browsing import FileLines, Files, TreeEntry
from codefathom.question.limits import USUAL_DEPTH, USUAL_LIMIT, USUAL_MAP_TOKENS
from codefathom.question.question import Kind, Question
from codefathom.search.graph.impact import Impact
from codefathom.search.graph.project_map import MapParts, ProjectMap
from codefathom.server.searches.engine_calls import ALL_PARTS, FilesPage
from codefathom.server.searches.search_key import ChangeWish, SearchKey
from codefathom.types import (
    Check,
    Context,
    FoundSymbol,
    IndexedFile,
    LevelName,
    Mode,
    RelatedResult,
    SearchResult,
    SomeSymbols,
    Status,
    Where,
)


class Elsewhere(Protocol):
    """The processes of the searches, for one project and one client."""

    def search(self, key: SearchKey) -> SearchResult:
        """Return the result of a search, which may be one that is kept."""

    def impact(self, wish: ChangeWish) -> Impact:
        """Return the reach of a change that the client may ask for."""

    def ask(self, call: str, query: str, **options: Any) -> Any:
        """Return the answer to one of `CALLS`."""


class EngineElsewhere(Engine):
    """An opened project that is read by the processes of the searches. It is brought up to date here, and never closed.

    Each question raises LeftError when the client has left, and SlowError when it takes too long.
    """

    def __init__(self, engine: Engine, elsewhere: Elsewhere) -> None:
        self.current = engine.current  # which the other engine closes
        self._elsewhere = elsewhere

    def answer(self, question: Question) -> Iterator[Any]:
        """See `Engine`."""
        if question.kind not in _ANSWERS:
            yield from super().answer(question)
            return
        yield _ANSWERS[question.kind](self, question)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        offset: int = 0,
        level: LevelName | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
        files: Sequence[str] = (),
        on_file: OnFile = lambda _: None,
    ) -> SearchResult:
        """See `Engine`; `on_file` is told nothing."""
        del on_file
        key = SearchKey(query, limit, level, mode, min_score, where=where, files=tuple(files), offset=offset)
        return self._elsewhere.search(key)

    def impact(
        self, revisions: str = "HEAD", *, diff: str = "", depth: int = 3, limit: int = 200, offset: int = 0
    ) -> Impact:
        """See `Engine`."""
        return self._elsewhere.impact(ChangeWish(diff, revisions, depth, limit, offset))

    def related(self, target: str, *, depth: int = 1, limit: int = 200, offset: int = 0) -> RelatedResult:
        """See `Engine`."""
        return cast(RelatedResult, self._ask("related", target, depth=depth, limit=limit, offset=offset))

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> tuple[FoundSymbol, ...]:
        """See `Engine`."""
        symbols = self._ask("symbols", query, path=path, kind=kind, limit=limit, offset=offset)
        return cast(tuple[FoundSymbol, ...], symbols)

    def n_symbols(self, query: str = "", *, path: str = "", kind: str = "") -> int:
        """See `Engine`."""
        return int(self._elsewhere.ask("n_symbols", query, path=path, kind=kind))

    def map(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        max_tokens: int = 4_000,
        offset: int = 0,
    ) -> ProjectMap:
        """See `Engine`."""
        options = {"files": tuple(files), "folders": tuple(folders), "max_tokens": max_tokens, "offset": offset}
        return cast(ProjectMap, self._ask("map", query, **options))

    def map_parts(
        self,
        query: str = "",
        *,
        files: Sequence[str] = (),
        folders: Sequence[str] = (),
        where: Where | None = None,
        most: int = ALL_PARTS,
    ) -> MapParts:
        """See `Engine`; at most so many parts."""
        options = {"files": tuple(files), "folders": tuple(folders), "where": where, "most": most}
        return cast(MapParts, self._ask("map_parts", query, **options))

    def context(
        self,
        query: str,
        *,
        max_files: int | None = None,
        max_tokens: int | None = None,
        where: Where | None = None,
        format_name: str = "files",
        anyway: bool = False,
    ) -> Context:
        """See `Engine`."""
        limits = {"max_files": max_files, "max_tokens": max_tokens, "where": where}
        return cast(Context, self._ask("context", query, **limits, format_name=format_name, anyway=anyway))

    def status(self) -> Status:
        """See `Engine`."""
        return cast(Status, self._elsewhere.ask("status", ""))

    def checks(self) -> tuple[Check, ...]:
        """Return the checks of `Engine.doctor` that ask no model."""
        return cast(tuple[Check, ...], self._elsewhere.ask("doctor", ""))

    def modules(self) -> dict[str, int]:
        """Return the number of files in each first folder, the largest first."""
        return cast(dict[str, int], self._elsewhere.ask("modules", ""))

    @property
    def files(self) -> FilesElsewhere:
        """See `Engine`."""
        return FilesElsewhere(self._elsewhere)

    def _ask(self, call: str, query: str, **options: Any) -> Any:
        self.refresh()
        return self._elsewhere.ask(call, query, **options)


class FilesElsewhere(Files):
    """The indexed files, read by the processes of the searches."""

    def __init__(self, elsewhere: Elsewhere) -> None:
        self._elsewhere = elsewhere

    def page(self, folder: str, *, offset: int, limit: int) -> FilesPage:
        """Return some of the files at or below a folder, ordered by path."""
        return cast(FilesPage, self._elsewhere.ask("files_page", folder, offset=offset, limit=limit))

    def listed(self, folder: str = "") -> tuple[IndexedFile, ...]:
        """See `Files`."""
        return cast(tuple[IndexedFile, ...], self._elsewhere.ask("listed", folder))

    def entries(self, folder: str = "") -> tuple[TreeEntry, ...]:
        """See `Files`."""
        return cast(tuple[TreeEntry, ...], self._elsewhere.ask("entries", folder))

    def check_folders(self, folders: Iterable[str]) -> None:
        """See `Files`."""
        self._elsewhere.ask("check_folders", "", folders=tuple(folders))

    def lines(self, path: str, start_line: int = 1, end_line: int = 0) -> FileLines:
        """See `Files`."""
        return cast(FileLines, self._elsewhere.ask("lines", path, start_line=start_line, end_line=end_line))

    def outline(self, path: str) -> tuple[FoundSymbol, ...]:
        """See `Files`."""
        return cast(tuple[FoundSymbol, ...], self._elsewhere.ask("outline", path))


def _search(engine: EngineElsewhere, question: Question) -> SearchResult:
    return engine.search(
        question.text,
        limit=question.limit,
        offset=question.offset,
        level=question.level,
        mode=question.mode,
        where=question.where,
        min_score=question.min_score,
        files=question.files,
    )


def _symbols(engine: EngineElsewhere, question: Question) -> SomeSymbols:
    only = {"path": question.path, "kind": question.symbol_kind}
    limit = USUAL_LIMIT["symbols"] if question.limit is None else question.limit
    symbols = engine.symbols(question.text, **only, limit=limit, offset=question.offset)
    return SomeSymbols(symbols, engine.n_symbols(question.text, **only))


def _related(engine: EngineElsewhere, question: Question) -> RelatedResult:
    return engine.related(question.text, **_depth_and_page(question))


def _impact(engine: EngineElsewhere, question: Question) -> Impact:
    return engine.impact(question.text or "HEAD", diff=question.diff, **_depth_and_page(question))


def _depth_and_page(question: Question) -> dict[str, int]:
    return {
        "depth": USUAL_DEPTH[question.kind] if question.depth is None else question.depth,
        "limit": USUAL_LIMIT[question.kind] if question.limit is None else question.limit,
        "offset": question.offset,
    }


def _map(engine: EngineElsewhere, question: Question) -> MapParts | ProjectMap:
    if question.as_parts:
        return engine.map_parts(question.text, files=question.files, folders=question.folders, where=question.where)
    most = USUAL_MAP_TOKENS if question.max_tokens is None else question.max_tokens
    only = {"files": question.files, "folders": question.folders}
    return engine.map(question.text, **only, max_tokens=most, offset=question.offset)


def _context(engine: EngineElsewhere, question: Question) -> Context:
    return engine.context(
        question.text,
        max_files=question.max_files,
        max_tokens=question.max_tokens,
        where=question.where,
        format_name=question.format_name,
        anyway=question.anyway,
    )


_ANSWERS: Mapping[Kind, Callable[[EngineElsewhere, Question], Any]] = {
    "search": _search,
    "symbols": _symbols,
    "related": _related,
    "impact": _impact,
    "map": _map,
    "context": _context,
    "files": lambda engine, question: engine.files.listed(question.text),
}
