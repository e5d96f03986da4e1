"""The questions that the process of a search puts to an engine, by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from codefathom.engine import Engine
from codefathom.project.browsing import FileLines, TreeEntry
from codefathom.search.graph.project_map import MapParts
from codefathom.types import Check, FoundSymbol, IndexedFile, Status

ALL_PARTS = 1_000_000  # of a map; more have no room in the largest answer


class FilesPage(NamedTuple):
    """Some of the files at or below a folder."""

    n_files: int  # all of them
    files: tuple[IndexedFile, ...]


def _files_page(engine: Engine, folder: str, *, offset: int, limit: int) -> FilesPage:
    listed = engine.files.listed(folder)
    return FilesPage(len(listed), listed[offset : offset + limit])


def _listed(engine: Engine, folder: str) -> tuple[IndexedFile, ...]:
    return engine.files.listed(folder)


def _entries(engine: Engine, folder: str) -> tuple[TreeEntry, ...]:
    return engine.files.entries(folder)


def _check_folders(engine: Engine, _: str, *, folders: Sequence[str]) -> None:
    engine.files.check_folders(folders)


def _lines(engine: Engine, path: str, *, start_line: int, end_line: int) -> FileLines:
    return engine.files.lines(path, start_line, end_line)


def _outline(engine: Engine, path: str) -> tuple[FoundSymbol, ...]:
    return engine.files.outline(path)


def _map_parts(engine: Engine, query: str, *, most: int, **options: Any) -> MapParts:
    return engine.map_parts(query, **options).first(most)


def _modules(engine: Engine, _: str) -> dict[str, int]:
    """Return the number of files in each first folder, the largest first."""
    paths = (file.path for file in engine.files.listed())
    return dict(Counter(path.partition("/")[0] if "/" in path else "" for path in paths).most_common())


def _status(engine: Engine, _: str) -> Status:
    return engine.status()


def _doctor(engine: Engine, _: str) -> tuple[Check, ...]:
    return engine.doctor()


# The second argument is what is asked, the others are named.
CALLS: Mapping[str, Callable[..., Any]] = {
    "search": Engine.search,
    "impact": Engine.impact,
    "related": Engine.related,
    "symbols": Engine.symbols,
    "n_symbols": Engine.n_symbols,
    "map": Engine.map,
    "map_parts": _map_parts,
    "context": Engine.context,
    "files_page": _files_page,
    "listed": _listed,
    "entries": _entries,
    "check_folders": _check_folders,
    "lines": _lines,
    "outline": _outline,
    "modules": _modules,
    "status": _status,
    "doctor": _doctor,
}
