"""Projects as the tools need them, from whoever holds them: a session on stdin, or a server with its tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import NamedTuple, Protocol

from codefathom.config.settings import SearchSettings
from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.index.word_search import UnindexedFiles
from codefathom.mcp.call_control import CallControl
from codefathom.question.question import Question
from codefathom.types import Progress, SearchResult


class FirstIndex(NamedTuple):
    """A project whose first index is being made."""

    files: UnindexedFiles  # that can be searched meanwhile
    step: Progress

    @property
    def root(self) -> str:
        """The folder of the project."""
        return self.files.root

    def answer(self, question: Question) -> Iterator[SearchResult]:
        """Yield the result of a search by words; see `Asker`. The other kinds wait for the index."""
        limit = SearchSettings().limit if question.limit is None else question.limit
        yield self.files.search(question.text, where=question.where, limit=limit, offset=question.offset)


class ChosenProjects(NamedTuple):
    """The projects of one call, by name, in the order of the question."""

    engines: Mapping[str, Engine]  # with an index
    indexing: Mapping[str, FirstIndex] = MappingProxyType({})
    failed: Mapping[str, FathomError] = MappingProxyType({})  # those that cannot be opened
    is_named: bool = True  # paths begin with the name of their project

    @property
    def generation(self) -> int:
        """The sum of the generations of their indexes, which changes with each of them."""
        return sum(engine.generation for engine in self.engines.values())

    @property
    def shows_secrets(self) -> bool:
        """True if the settings of each project say that agents are shown secrets."""
        return all(engine.settings.mcp.secrets == "show" for engine in self.engines.values()) and not self.indexing


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
