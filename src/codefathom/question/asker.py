"""The protocol of all that answer questions: a project, places in it, several projects, a process elsewhere. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from codefathom.question.question import Question


class Asker(Protocol):
    """An answer to a question of any kind comes as events, of which the last one is the result.

    A search is an answer with one event, its `SearchResult`; an answer in words yields its sources and pieces of text
    before. Closing the iterator ends the work. Raises FathomError. Safe to ask from several threads.
    """

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer, the result last."""
        ...


def result_of(asker: Asker, question: Question) -> Any:
    """Return the last event of an answer, which is its result."""
    *_, result = asker.answer(question)
    return result
