"""The facts that one of several askers tells beside its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codefathom.question.asker import Readable
from codefathom.types import RunProgress


class Part(Readable, Protocol):
    """An asker that can be asked together with others, or kept to places. An `Engine` is one.

    All that is in its index is asked for by questions: it may lie in another process, or on another machine. The models
    of an answer in words are called by whoever asks.
    """

    @property
    def root(self) -> str:
        """Absolute path of the project."""
        ...

    @property
    def folder(self) -> str:
        """Absolute path of the folder with the project's files, "" for a revision."""
        ...

    @property
    def first_run(self) -> RunProgress | None:
        """The progress of a run that makes the index for the first time; None while there is no such run."""
        ...

    def refresh(self) -> bool:
        """Bring the index up to date, as each question does; return whether it is behind. Raises FathomError."""
        ...

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders, as a search does that names them. Raises FathomError."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...
