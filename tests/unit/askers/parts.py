"""Askers that answer with what a test writes down, and values for their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from codefathom.config.settings import Settings
from codefathom.errors import FathomError, IndexingError
from codefathom.facts.reasons import verbatim
from codefathom.project.opening import OpenedProject
from codefathom.question.question import Question
from codefathom.types import (
    Chunk,
    FoundSymbol,
    Hit,
    Related,
    RelatedResult,
    Rest,
    RunProgress,
    SearchResult,
    SomeSymbols,
    Symbol,
)


class WrittenPart:
    """A project whose answers a test has written down by the kind of question; an error is raised."""

    settings = Settings()

    def __init__(self, root: str, *, folder: str | None = None, **answers: Any) -> None:
        self.root = root
        self.folder = root if folder is None else folder
        self.first_run: RunProgress | None = None
        self.answers = answers
        self.questions: list[Question] = []
        self.taken_in: list[Sequence[str]] = []
        self.is_closed = False

    @property
    def opened(self) -> OpenedProject:
        raise IndexingError("there is no index")

    def answer(self, question: Question) -> Iterator[Any]:
        self.questions.append(question)
        answer = self.answers[question.kind]
        if isinstance(answer, FathomError):
            raise answer
        yield answer(question) if callable(answer) else answer

    def ready(self) -> OpenedProject:
        return self.opened

    def take_in(self, files: Sequence[str]) -> None:
        self.taken_in.append(files)

    def close(self) -> None:
        self.is_closed = True


def hits(*places: tuple[str, float]) -> tuple[Hit, ...]:
    return tuple(
        Hit(Chunk(f"id of {path}", path, "python", "function", "", (), 1, 2, f"text of {path}"), score, {})
        for path, score in places
    )


def found(*places: tuple[str, float], confidence: float = 0.9, scale: str = "m", **more: Any) -> SearchResult:
    return replace(SearchResult("q", hits(*places), "chunk", "hybrid", confidence, 5, scale=scale), **more)


def paged(result: SearchResult) -> Any:
    """Return an answer that gives the page of a list that is asked for."""

    def page(question: Question) -> SearchResult:
        assert question.limit is not None
        end = question.offset + question.limit
        own = result.hits[question.offset : end]
        return replace(result, hits=own, offset=question.offset, rest=Rest(max(len(result.hits) - end, 0)))

    return page


def symbols(*names: str, n_all: int | None = None) -> SomeSymbols:
    rows = tuple(FoundSymbol(f"{name}.py", "python", Symbol("function", name, name, 1, 2, 1)) for name in names)
    return SomeSymbols(rows, len(rows) if n_all is None else n_all)


def edges(*paths: str, rest: Rest | None = None, completeness: str = "by names") -> RelatedResult:
    own = tuple(Related(path, "calls", line, "f") for line, path in enumerate(paths, start=1))
    return RelatedResult("a.py", own, (verbatim(completeness),), 2, rest=rest or Rest())
