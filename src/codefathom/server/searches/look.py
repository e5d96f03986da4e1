"""Looks at parts of an index, besides questions, as values that the process of a search can be sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from codefathom.engine import Engine
from codefathom.facts.reasons import Note
from codefathom.project.browsing import TreeEntry
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.search.graph.glance import Glance
from codefathom.search.graph.module_map import ModuleMap
from codefathom.types import BlamedLines, Check, CommitMark, FoundSymbol, IndexedFile, NamedPlace, Picture, Status

ALL_PARTS = 1_000_000  # of a map; more have no room in the largest answer
LookKind = Literal[
    "files",
    "entries",
    "folders",
    "outline",
    "name",
    "blame",
    "picture",
    "commits",
    "glance",
    "module_map",
    "modules",
    "status",
    "checks",
]


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a part of an index; fields that a kind does not have are left as they are."""

    kind: LookKind
    path: str = ""  # of a file or folder in the project
    folders: tuple[str, ...] = ()  # that must have files in the index
    limit: int = ALL_PARTS
    offset: int = 0
    line: int = 0  # of a picture: the page, 0 for a file that is one
    end_line: int = 0
    name: str = ""  # that stands on the line


class FilesPage(NamedTuple):
    """Some of the files at or below a folder."""

    n_files: int  # all of them
    files: tuple[IndexedFile, ...]
    limitations: tuple[Note, ...] = ()  # what was not listed


class TreeEntries(NamedTuple):
    """The entries of a folder, folders first."""

    entries: tuple[TreeEntry, ...]
    limitations: tuple[Note, ...] = ()  # what was not listed


def seen(engine: Engine, look: Look) -> Any:
    """Return the part of an index that a look is at. Raises FathomError."""
    return _LOOKS[look.kind](engine, look)


def _files(engine: Engine, look: Look) -> FilesPage:
    listed, limitations = result_of(engine, Question(look.path, "files"))
    if not listed and look.path and not limitations:
        engine.files.entries(look.path)  # raises SourceError for a folder that does not exist
    return FilesPage(len(listed), listed[look.offset : look.offset + look.limit], limitations)


def _entries(engine: Engine, look: Look) -> TreeEntries:
    index = engine.current
    return index.in_time(lambda: TreeEntries(engine.files.entries(look.path), index.partial_notes()))


def _folders(engine: Engine, look: Look) -> None:
    engine.files.check_folders(look.folders)


def _outline(engine: Engine, look: Look) -> tuple[FoundSymbol, ...]:
    return engine.files.outline(look.path)


def _name(engine: Engine, look: Look) -> NamedPlace:
    return engine.name_at(look.path, look.line, look.name)


def _blame(engine: Engine, look: Look) -> tuple[BlamedLines, ...]:
    return engine.blame(look.path, look.line, look.end_line)


def _picture(engine: Engine, look: Look) -> Picture:
    return engine.picture(look.path, page=look.line)


def _commits(engine: Engine, look: Look) -> tuple[CommitMark, ...]:
    return engine.recent_commits(look.limit)


def _glance(engine: Engine, _: Look) -> Glance:
    return engine.glance()


def _module_map(engine: Engine, look: Look) -> ModuleMap:
    return engine.module_map(look.path)


def _modules(engine: Engine, _: Look) -> dict[str, int]:
    """Return the number of files in each first folder, the largest first."""
    paths = (file.path for file in result_of(engine, Question("", "files")).files)
    return dict(Counter(path.partition("/")[0] if "/" in path else "" for path in paths).most_common())


def _status(engine: Engine, _: Look) -> Status:
    return engine.status()


def _checks(engine: Engine, _: Look) -> tuple[Check, ...]:
    """Return the checks of `Engine.doctor` that ask no model."""
    return engine.doctor()


_LOOKS: Mapping[LookKind, Callable[[Engine, Look], Any]] = {
    "files": _files,
    "entries": _entries,
    "folders": _folders,
    "outline": _outline,
    "name": _name,
    "blame": _blame,
    "picture": _picture,
    "commits": _commits,
    "glance": _glance,
    "module_map": _module_map,
    "modules": _modules,
    "status": _status,
    "checks": _checks,
}
