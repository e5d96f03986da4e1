"""A project, and the places in it that are asked about: all that is asked of it is answered from these places only."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.askers.routes import is_at_or_below
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.project.opening import OpenedProject
from codefathom.search.graph.project_map import MapParts
from codefathom.stores.conditions import combine
from codefathom.types import LevelName, Mode, RelatedResult, SearchResult, SomeSymbols, Where

_ALL_SYMBOLS = 1_000_000
_NOT_ASKED = "give a place in what is asked about"


class SearchWish(NamedTuple):
    """The arguments of `Engine.search`, besides the question."""

    limit: int | None = None
    level: LevelName | None = None
    mode: Mode | None = None
    where: Where | None = None
    min_score: float = 0.0
    files: tuple[str, ...] = ()


class SymbolWish(NamedTuple):
    """The arguments of `Engine.symbols`."""

    query: str
    path: str
    kind: str
    limit: int
    offset: int


@dataclass(frozen=True, slots=True)
class KeptProject:
    """An opened project. `places` are absolute, resolved paths of files and folders in it; none: all of it."""

    engine: Engine
    places: tuple[str, ...] = ()
    takes_in: bool = True  # what has changed in the places, before each question; False: somebody else has done that

    def search(self, query: str, wish: SearchWish) -> SearchResult:
        """Return the best places; see `Engine.search`."""
        files, where = wish.files or self.places, wish.where
        if wish.files or not self.takes_in:
            where = self.condition(where)
        if wish.files and not self.takes_in:
            where = combine(where, self.engine.kept_to(wish.files))
        return self.engine.search(
            query,
            limit=wish.limit,
            level=wish.level,
            mode=wish.mode,
            where=where,
            min_score=wish.min_score,
            files=files if self.takes_in else (),
        )

    def condition(self, where: Where | None) -> Where | None:
        """Return a condition that holds in the places only."""
        return combine(where, self.engine.kept_to(self.places)) if self.places else where

    def ready(self) -> OpenedProject:
        """Return the index, up to date; the next search tells what of the places is not in it."""
        if self.places and self.takes_in:
            self.engine.take_in(self.places)
        return self.engine.ready()

    def symbols(self, wish: SymbolWish) -> SomeSymbols:
        """Return symbols by name; see `Engine.symbols`."""
        query, path, kind, limit, offset = wish
        is_inside, inside = self.contains(), self._relative()
        if self.places:
            self.ready()
            if len(inside) != 1 or path:
                every = self.engine.symbols(query, path=path, kind=kind, limit=_ALL_SYMBOLS)
                kept = tuple(item for item in every if is_inside(item.path))
                return SomeSymbols(kept[offset : offset + limit], len(kept))
            path = inside[0]
        symbols = self.engine.symbols(query, path=path, kind=kind, limit=limit, offset=offset)
        return SomeSymbols(symbols, self.engine.n_symbols(query, path=path, kind=kind))

    def related(self, target: str, *, depth: int, limit: int, offset: int) -> RelatedResult:
        """Return the connections of a file or symbol; see `Engine.related`."""
        if not self.places:
            return self.engine.related(target, depth=depth, limit=limit, offset=offset)
        self.ready()
        is_inside = self.contains()
        result = self.engine.related(target, depth=depth, limit=_ALL_SYMBOLS)
        is_file = self.engine.opened.catalog.document(result.target) is not None
        if is_file and not target.startswith("@@") and not is_inside(result.target):
            raise UsageError(f"{target!r} is not in the places that are asked about", hint=_NOT_ASKED)
        edges = tuple(edge for edge in result.edges if is_inside(edge.path))
        n_behind = max(len(edges) - offset - limit, 0)
        return replace(result, edges=edges[offset : offset + limit], offset=offset, rest=result.rest.plus(n_behind))

    def map_parts(self, query: str, files: Sequence[str], folders: Sequence[str]) -> MapParts:
        """Return the parts of a map, the most central first; see `Engine.map`. Paths are those of the project."""
        if not self.places:
            return self.engine.map_parts(query, files=files, folders=folders)
        self.ready()
        kept = tuple(_common(folders, self._relative())) if folders else self._relative()
        if not kept:
            raise UsageError(f"no place that is asked about lies below {', '.join(folders)}", hint=_NOT_ASKED)
        return self.engine.map_parts(query, files=files, folders=kept, where=self.condition(None))

    def kept(self, project: AnswerProject) -> AnswerProject:
        """Return this project as the stages of an answer see it, with these places only."""
        if not self.places:
            return project
        is_inside = self.contains()

        def related(path: str) -> RelatedResult:
            result = project.related(path)
            return replace(result, edges=tuple(edge for edge in result.edges if is_inside(edge.path)))

        return replace(
            project,
            related=related,
            outline=lambda candidates: [item for item in project.outline(candidates) if is_inside(item.path)],
        )

    def contains(self) -> Callable[[str], bool]:
        """Return the test for paths of the project that lie in the places."""
        inside = self._relative()
        return lambda path: not inside or any(is_at_or_below(path, place) for place in inside)

    def _relative(self) -> tuple[str, ...]:
        return tuple(os.path.relpath(place, self.engine.root).replace(os.sep, "/") for place in self.places)


def _common(folders: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return the common parts of folders and places."""
    normal = ["" if folder in ("", ".") else folder.rstrip("/") for folder in folders]
    pairs = [(folder, place) for folder in normal for place in places]
    inside = [place for folder, place in pairs if not folder or is_at_or_below(place, folder)]
    return [*inside, *(folder for folder, place in pairs if folder != place and is_at_or_below(folder, place))]
