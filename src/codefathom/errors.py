"""Errors a user can see.

FathomError
├── UsageError      a question, option, path or filter that cannot be understood   exit 2
│   └── SlowExpressionError   a regular expression that takes too long
├── SettingsError   a setting with a value that cannot be used                     exit 2
│   └── NoFilesError    rules for files that leave out all of them
├── IndexingError   the index cannot be made, read or written                      exit 2
│   ├── LockedError     another process is writing
│   ├── IndexClosedError     another thread has closed the index
│   ├── FirstRunError   the index is being made for the first time
│   ├── DamagedError    a file of the index holds something else than was written
│   ├── UnwritableError  where the index lies, nothing can be written: no room, no right
│   ├── MismatchError   index and embedding model differ
│   └── StoreError      a vector store of other makers refuses or fails
│       ├── StoreAwayError   it cannot be reached now
│       │   └── StoreSilentError   it does not answer in time
│       ├── StoreDamagedError   its own file is damaged
│       └── StoreUntrueError   it does not give what was written to it
├── SourceError     a file or folder that cannot be read                           exit 2
│   └── MovedError      a project's folder, or one above it, is a link now
├── StoppedError    whoever asked does not wait any more                           exit 2
└── ProviderError   an embedding, chat or rerank endpoint failed                   exit 2
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Self

from codefathom.facts.reasons import Told

if TYPE_CHECKING:
    from codefathom.types.index_runs import RunProgress


class FathomError(Exception):
    """An error for the user: the message names the failure and the value, `hint` names the remedy.

    Where they are notes, a face can say them in another language.
    """

    def __init__(self, message: Told, *, hint: Told = "") -> None:
        super().__init__(str(message))
        self.told = message
        self.remedy = hint

    @property
    def hint(self) -> str:
        """The remedy in English."""
        return str(self.remedy)


class UsageError(FathomError):
    """The question, option, path or filter cannot be understood."""


class SlowExpressionError(UsageError):
    """A regular expression takes longer than it may."""


class SettingsError(FathomError):
    """A setting has a value that cannot be used."""


class NoFilesError(SettingsError):
    """The rules for files leave out every file that there is."""


class IndexingError(FathomError):
    """The index cannot be made, read or written."""


class LockedError(IndexingError):
    """Another process is writing this index."""


class IndexClosedError(IndexingError):
    """Another thread has closed the index while it was used."""


class FirstRunError(IndexingError):
    """The index of a project is being made for the first time, so that not all of it can be asked yet."""

    progress: RunProgress

    @classmethod
    def of(cls, project: str, progress: RunProgress) -> Self:
        """Return the error for a project, with the progress of the run."""
        error = cls(f"the project {project!r} is being indexed{progress.share}", hint="ask again when it is indexed")
        error.progress = progress
        return error


class DamagedError(IndexingError):
    """A file of the index holds something else than what was written to it."""


class UnwritableError(IndexingError):
    """Nothing can be written where the index lies: the disk is full, or may not be written."""


class MismatchError(IndexingError):
    """The index was made with another embedding model or dimension."""


class StoreError(IndexingError):
    """A vector store of other makers refuses something, or fails."""


class StoreAwayError(StoreError):
    """A vector store cannot be reached now; it may come back by itself."""


class StoreSilentError(StoreAwayError):
    """A vector store does not answer in time; asking it again at once would take as long."""


class StoreDamagedError(StoreError):
    """A file of a vector store holds something else than was written; it is made again from the catalogue."""


class StoreUntrueError(StoreError):
    """A vector store answers, but not with what was written to it."""


class SourceError(FathomError):
    """A file or folder cannot be read."""


class UnindexedPathError(SourceError):
    """A file or folder that a question names is not in the index."""


class MovedError(SourceError):
    """The real path of a project leads elsewhere now: its folder, or one above it, is a link."""


class StoppedError(FathomError):
    """Nobody waits for this work any more."""


class ProviderError(FathomError):
    """An embedding, chat or rerank endpoint failed."""


class TextRefusedError(ProviderError):
    """An embedding model does not take these texts; it may take others."""


def without_login(address: str) -> str:
    """Return an address as it may be said: without the user and password in it."""
    return re.sub("^([^/@]*//)?[^/]*@", r"\1", address)
