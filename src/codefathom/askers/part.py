"""The facts that one of several askers tells beside its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from codefathom.config.settings import Settings
from codefathom.question.asker import Asker
from codefathom.types import RunProgress

if TYPE_CHECKING:
    from codefathom.project.opening import OpenedProject


class Part(Asker, Protocol):
    """An asker that can be asked together with others, or kept to places. An `Engine` is one.

    Its answers may come from another process. Its index lies on this machine, where contexts and answers in words read
    the texts of what was found.
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
    def settings(self) -> Settings:
        """The settings in force."""
        ...

    @property
    def first_run(self) -> RunProgress | None:
        """The progress of a run that makes the index for the first time; None while there is no such run."""
        ...

    @property
    def opened(self) -> OpenedProject:
        """The index, open for reading, as it is. Raises IndexingError, MovedError."""
        ...

    def ready(self) -> OpenedProject:
        """Return the index, up to date. Raises FathomError."""
        ...

    def take_in(self, files: Sequence[str]) -> None:
        """Take in what has changed in these files and folders, as a search does that names them. Raises FathomError."""
        ...

    def close(self) -> None:
        """Close what was opened."""
        ...
