"""The protocol of all that answer questions: a project, places in it, several projects, a process elsewhere. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from codefathom.question.question import Question

if TYPE_CHECKING:
    from codefathom.config.settings import Settings
    from codefathom.providers.base import ChatModel


class Asker(Protocol):
    """An answer to a question of any kind comes as events, of which the last one is the result.

    A search is an answer with one event, its `SearchResult`; an answer in words yields its sources and pieces of text
    before. Closing the iterator ends the work. Raises FathomError. Safe to ask from several threads.
    """

    def answer(self, question: Question) -> Iterator[Any]:
        """Yield the events of an answer, the result last."""
        ...


class Readable(Asker, Protocol):
    """An asker whose texts are read for an answer in words."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        ...

    @property
    def generation(self) -> int:
        """Number of changes of the index."""
        ...

    @property
    def hides_secrets(self) -> bool:
        """True if no secret may be in the texts of an answer, since its models are on other machines."""
        ...

    def chat_model(self, name: str) -> ChatModel:
        """Return a language model, the same each time. Raises SettingsError."""
        ...


def result_of(asker: Asker, question: Question) -> Any:
    """Return the last event of an answer, which is its result."""
    *_, result = asker.answer(question)
    return result
