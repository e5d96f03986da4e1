"""A project, and the places in it that are asked about: all that is asked of it is answered from these places only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.askers.part import Part
from codefathom.askers.routes import is_at_or_below
from codefathom.config.settings import Settings
from codefathom.errors import SourceError, UsageError
from codefathom.index.by_path import below_one_of, places_of
from codefathom.project.agent_setup import answered
from codefathom.project.answer_setup import request_of
from codefathom.project.asking import fitted_map
from codefathom.project.location import source_folder
from codefathom.providers.base import ChatModel
from codefathom.question.asker import result_of
from codefathom.question.extents import MOST_ITEMS, limit_of, most_parts
from codefathom.question.question import Kind, Question
from codefathom.search.graph.project_map import MapParts
from codefathom.stores.conditions import combine
from codefathom.text.written_place import place_of
from codefathom.types import (
    FileLines,
    LevelName,
    RelatedResult,
    RunProgress,
    SearchResult,
    SomeFiles,
    SomeSymbols,
    Where,
)

_NOT_ASKED = "give a path inside the searched paths"


@dataclass(frozen=True, slots=True)
class KeptProject:
    """An asker that is kept to places, absolute, resolved paths of files and folders in its project; none: all of it.

    It is itself a `Part`.
    """

    asker: Part
    places: tuple[str, ...] = ()
    where: Where | None = None  # that a hit of a search fulfils, besides
    takes_in: bool = True  # what has changed in the places, before each question; False: somebody else has done that

    @property
    def root(self) -> str:
        """See `Part`."""
        return self.asker.root

    @property
    def folder(self) -> str:
        """See `Part`."""
        return self.asker.folder

    @property
    def settings(self) -> Settings:
        """See `Part`."""
        return self.asker.settings

    @property
    def generation(self) -> int:
        """See `Part`."""
        return self.asker.generation

    @property
    def first_run(self) -> RunProgress | None:
        """See `Part`."""
        return self.asker.first_run

    @property
    def hides_secrets(self) -> bool:
        """See `Part`."""
        return self.asker.hides_secrets

    def chat_model(self, name: str) -> ChatModel:
        """See `Part`."""
        return self.asker.chat_model(name)

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer from these places only; see `Asker`."""
        if question.kind == "search":
            return self._search(question)
        return _ANSWERS[question.kind](self, question) if self.places else self.asker.answer(question)

    def take_in(self, files: Sequence[str]) -> None:
        """See `Part`."""
        self.asker.take_in(files)

    def refresh(self) -> bool:
        """See `Part`; the next search tells what of the places is not in the index."""
        if self.places and self.takes_in:
            self.asker.take_in(self.places)
        return self.asker.refresh()

    def close(self) -> None:
        """See `Part`."""
        self.asker.close()

    def look(self, query: str, limit: int, level: LevelName = "chunk", where: Where | None = None) -> SearchResult:
        """Return the best places for an answer, once `refresh` has taken in what has changed."""
        question = Question(query, limit=limit, level=level, where=self.condition(where))
        return cast(SearchResult, result_of(self.asker, question))

    def condition(self, where: Where | None) -> Where | None:
        """Return a condition that holds in the places only."""
        return combine(where, self._kept_to(self.places)) if self.places else where

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

    def _kept_to(self, files: Sequence[str]) -> Where | None:
        return below_one_of(places_of(source_folder(self.root, self.settings.source.dir), files))

    def _relative(self) -> tuple[str, ...]:
        return tuple(os.path.relpath(place, self.root).replace(os.sep, "/") for place in self.places)

    def _search(self, question: Question) -> Iterator[SearchResult]:
        files, where = question.files or self.places, combine(question.where, self.where)
        if question.files or not self.takes_in:
            where = self.condition(where)
        if question.files and not self.takes_in:
            where = combine(where, self._kept_to(question.files))
        return self.asker.answer(replace(question, where=where, files=files if self.takes_in else ()))

    def _symbols(self, question: Question) -> Iterator[SomeSymbols]:
        is_inside, inside = self.contains(), self._relative()
        self.refresh()
        if len(inside) == 1 and not question.path:
            yield from self.asker.answer(replace(question, path=inside[0]))
            return
        every = result_of(self.asker, replace(question, limit=MOST_ITEMS, offset=0))
        kept = tuple(item for item in every.symbols if is_inside(item.path))
        page = kept[question.offset : question.offset + limit_of(question)]
        yield SomeSymbols(page, len(kept), every.limitations)

    def _related(self, question: Question) -> Iterator[RelatedResult]:
        self.refresh()
        is_inside, target = self.contains(), question.text
        result = result_of(self.asker, replace(question, limit=MOST_ITEMS, offset=0))
        is_file = bool(result_of(self.asker, Question(kind="texts", files=(result.target,))).texts)
        if is_file and not target.startswith("@@") and not is_inside(result.target):
            raise UsageError(f"{target!r} is not in the places that are asked about", hint=_NOT_ASKED)
        edges = tuple(edge for edge in result.edges if is_inside(edge.path))
        end = question.offset + limit_of(question)
        rest = result.rest.plus(max(len(edges) - end, 0))
        yield replace(result, edges=edges[question.offset : end], offset=question.offset, rest=rest)

    def _map(self, question: Question) -> Iterator[Any]:
        if question.tour:
            raise UsageError("a tour leads through a whole project", hint="leave out the paths")
        self.refresh()
        folders = question.folders
        kept = tuple(_common(folders, self._relative())) if folders else self._relative()
        if not kept:
            raise UsageError(f"none of the searched paths is inside {', '.join(folders)}", hint=_NOT_ASKED)
        limit = question.limit if question.as_parts else most_parts(question)
        where = self.condition(question.where)
        own = replace(question, folders=kept, where=where, as_parts=True, limit=limit, offset=0)
        parts: MapParts = result_of(self.asker, own)
        yield parts if question.as_parts else fitted_map(parts, question, self.settings.context.tokenizer_path)

    def _context(self, question: Question) -> Iterator[Any]:
        self.refresh()
        yield from self.asker.answer(replace(question, where=self.condition(question.where)))

    def _files(self, question: Question) -> Iterator[SomeFiles]:
        is_inside = self.contains()
        self.refresh()
        listed: SomeFiles = result_of(self.asker, question)
        yield listed._replace(files=tuple(item for item in listed.files if is_inside(item.path)))

    def _lines(self, question: Question) -> Iterator[FileLines]:
        is_inside, written = self.contains(), question.text
        if not (is_inside(written) or is_inside(place_of(written).path)):
            raise SourceError(f"{written!r} is not in the places that are asked about", hint=_NOT_ASKED)
        self.refresh()
        yield from self.asker.answer(question)

    def _impact(self, question: Question) -> Iterator[Any]:
        raise UsageError("a change is asked about in a whole project", hint="leave out the paths")

    def _ask(self, question: Question) -> Iterator[Any]:
        is_inside = self.contains()
        for path in question.pinned:
            if not is_inside(path):
                raise SourceError(f"{path!r} is not in the places that are asked about", hint=_NOT_ASKED)
        request = request_of(replace(question, where=self.condition(question.where)))
        self.refresh()

        def look(query: str, level: LevelName, limit: int) -> SearchResult:
            return self.look(query, limit, level, question.where)

        return answered(request, self.asker, look, as_agent=question.as_agent, kept=self.kept)

    def _texts(self, question: Question) -> Iterator[Any]:
        is_inside = self.contains()
        yield from self.asker.answer(replace(question, files=tuple(filter(is_inside, question.files))))


_ANSWERS: Mapping[Kind, Callable[[KeptProject, Question], Iterator[Any]]] = {
    "context": KeptProject._context,
    "related": KeptProject._related,
    "impact": KeptProject._impact,
    "symbols": KeptProject._symbols,
    "map": KeptProject._map,
    "files": KeptProject._files,
    "lines": KeptProject._lines,
    "texts": KeptProject._texts,
    "outlines": KeptProject._texts,
    "history": KeptProject._lines,
    "ask": KeptProject._ask,
}


def _common(folders: Sequence[str], places: Sequence[str]) -> list[str]:
    """Return the common parts of folders and places."""
    normal = ["" if folder in ("", ".") else folder.rstrip("/") for folder in folders]
    pairs = [(folder, place) for folder in normal for place in places]
    inside = [place for folder, place in pairs if not folder or is_at_or_below(place, folder)]
    return [*inside, *(folder for folder, place in pairs if folder != place and is_at_or_below(folder, place))]
