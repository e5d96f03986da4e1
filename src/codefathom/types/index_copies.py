"""Copies of an index in one file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of an index in one file."""

    root: str  # of the project when it was made
    made_at_ns: int  # nanoseconds since 1970
    n_documents: int
    n_chunks: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An index of a team in one file, and what of it was taken."""

    commit: str  # of git, as its maker says; "" where none is known
    program: str  # version of fathom that has made it
    made_at_ns: int  # nanoseconds since 1970
    models: tuple[str, ...]
    n_documents: int
    n_chunks: int
    n_bytes: int  # of the file
    key: str  # public key of the signature, "" without one
    n_taken: int = 0  # documents whose files are the same here
    n_checked: int = 0  # documents that were made again
    n_vectors: int = 0  # that were made again
