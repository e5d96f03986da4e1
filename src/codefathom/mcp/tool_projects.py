"""Projects as the tools need them, from whoever holds them: a session on stdin, or a server with its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from codefathom.askers.part import Part
from codefathom.config.settings import SearchSettings, Settings
from codefathom.errors import FathomError, SettingsError
from codefathom.index.word_search import UnindexedFiles
from codefathom.mcp.call_control import CallControl
from codefathom.providers.base import ChatModel
from codefathom.question.question import Question
from codefathom.source.masks import MARK
from codefathom.text.written_place import place_of
from codefathom.types import FileLines, Progress, RunProgress, SearchResult


class FirstIndex(NamedTuple):
    """A project whose first index is being made, as a `Part` that finds places by words and reads lines meanwhile."""

    files: UnindexedFiles
    settings: Settings
    step: Progress
    folder: str = ""
    generation: int = 0
    first_run: RunProgress | None = None  # whoever chose it waits for no index

    @property
    def root(self) -> str:
        """The folder of the project."""
        return self.files.root

    def answer(self, question: Question) -> Iterator[SearchResult | FileLines]:
        """Yield the result of a search by words, or lines; see `Asker`. The other kinds wait for the index."""
        if question.kind == "lines":
            place = place_of(question.text)
            start, end = question.start_line or place.start_line, question.end_line or place.end_line
            yield self.files.lines(place.path, max(start, 1), end)
            return
        limit = SearchSettings().limit if question.limit is None else question.limit
        result = self.files.search(question.text, where=question.where, limit=limit, offset=question.offset)
        yield replace(result, has_marks=any(MARK in hit.chunk.text for hit in result.hits))

    @property
    def hides_secrets(self) -> bool:
        """True: it gives no answer in words."""
        return True

    def chat_model(self, name: str) -> ChatModel:
        """Raise SettingsError: it gives no answer in words."""
        raise SettingsError(f"{name!r} cannot be asked before the first index is made", hint="ask again later")

    def refresh(self) -> bool:
        """Return that the index is behind."""
        return True

    def take_in(self, files: Sequence[str]) -> None:
        """Leave that to whoever makes the index."""

    def close(self) -> None:
        """Leave open what somebody else has opened."""


class ChosenProjects(NamedTuple):
    """The projects of one call, by name, in the order of the question."""

    askers: Mapping[str, Part]  # with an index
    indexing: Mapping[str, FirstIndex] = MappingProxyType({})
    failed: Mapping[str, FathomError] = MappingProxyType({})  # those that cannot be opened
    is_named: bool = True  # paths begin with the name of their project

    @property
    def generation(self) -> int:
        """The sum of the generations of their indexes, which changes with each of them."""
        return sum(asker.generation for asker in self.askers.values())

    @property
    def shows_secrets(self) -> bool:
        """True if the settings of each project say that agents are shown secrets."""
        return all(asker.settings.mcp.secrets == "show" for asker in self.askers.values()) and not self.indexing

    @property
    def is_structured(self) -> bool:
        """True if the settings say that answers have JSON beside their text."""
        parts = (*self.askers.values(), *self.indexing.values())
        return all(asker.settings.mcp.structured == "always" for asker in parts)


class ToolProjects(Protocol):
    """The projects that a caller may ask; it never learns of others."""

    def chosen(self, names: Sequence[str], control: CallControl) -> AbstractContextManager[ChosenProjects]:
        """Give the projects of these names, groups or folders for the time of the block; without names, the usual ones.

        Raises UsageError for a name that means nothing here: its hint names those that do.
        """
        ...

    def owner(self, path: str) -> str:
        """Return the name of the project that a path begins with, "" where it begins with none."""
        ...
