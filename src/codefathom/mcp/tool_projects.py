"""What the tools need of whoever holds the projects: a session on stdin, or a server with its tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import NamedTuple, Protocol

from codefathom.engine import Engine
from codefathom.errors import FathomError
from codefathom.types import Progress


class CallControl(NamedTuple):
    """What the caller of a tool may do while it runs: give up, and hear how far it is."""

    is_cancelled: Callable[[], bool] = lambda: False  # asked between the stages of the work, from any thread
    on_progress: Callable[[Progress], None] = lambda _: None  # called from any thread
    is_heard: bool = False  # somebody hears the progress, and so waits longer for a first index
    patience_s: float = 2.0  # for which a first index is waited for; set by the tool


NO_CONTROL = CallControl()


class FirstIndex(NamedTuple):
    """A project whose first index is being made."""

    engine: Engine  # for a look at its files only: not the one that writes
    step: Progress


class ChosenProjects(NamedTuple):
    """The projects of one call, by name, in the order of the question."""

    engines: Mapping[str, Engine]  # with an index
    indexing: Mapping[str, FirstIndex] = MappingProxyType({})
    failed: Mapping[str, FathomError] = MappingProxyType({})  # those that cannot be opened
    is_named: bool = True  # paths begin with the name of their project


class ToolProjects(Protocol):
    """The projects that a caller may ask; it never learns of others."""

    def chosen(self, names: Sequence[str], control: CallControl) -> AbstractContextManager[ChosenProjects]:
        """Give the projects of these names, groups or folders, open for the time of the block; without names, the usual.

        Raises UsageError for a name that means nothing here: its hint names those that do.
        """
        ...

    def owner(self, path: str) -> str:
        """Return the name of the project that a path begins with, "" where it begins with none."""
        ...
