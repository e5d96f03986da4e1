"""The contract of databases and libraries of other makers: they keep vectors and payload, and name candidates.

`RescoredStore` (`stores/rescored.py`) makes a vector view of one. Its test is `testing/candidate_store.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from codefathom.stores.folder import Folder

Payload = Mapping[str, str | int | float]


class Label(NamedTuple):
    """The state of one project's rows in a store, kept in the store itself."""

    owner: str  # catalogue and embedding model they were made for
    generation: int  # of the catalogue


class Point(NamedTuple):
    """One chunk as a store of other makers keeps it."""

    id: str  # UUIDv5 of project and content: equal after two builds
    key: int
    vector: bytes  # int8, as in `Row`; `unit_rows` makes unit vectors of float32
    payload: Payload


class Change(NamedTuple):
    """One commit."""

    points: Iterable[Point]
    removed: Collection[int]  # keys
    is_whole: bool  # the points are all that the project has: nothing older stays
    label: Label  # as it is after the change


class Within(NamedTuple):
    """The part of the rows in which a store looks. With neither, in all."""

    keys: Sequence[int] | None = None
    fields: Mapping[str, Sequence[str]] | None = None  # each field of the payload has one of its values


class StoreOptions(NamedTuple):
    """The settings of a store of other makers."""

    url: str = ""
    collection: str = "codefathom"
    project: str = ""  # the key of a project among others in one collection
    exact: bool = True
    hnsw_m: int = 16
    hnsw_ef_construct: int = 200
    hnsw_ef: int = 0  # 0: eight times as many as are wanted
    on_disk: bool = False
    batch: int = 1_000
    timeout_s: float = 30.0


class StoreSetup(NamedTuple):
    """All that a store of other makers is made with."""

    folder: Folder  # of its own, beside the index
    dimensions: int
    options: StoreOptions
    key: str = ""  # for its server


class CandidateStore(Protocol):
    """A database or library of other makers. Opening it connects to nothing; every method may raise StoreError, and
    StoreAwayError when its server cannot be reached. Safe to use from several threads."""

    @property
    def is_exact(self) -> bool:
        """True if candidates are those of brute force, apart from rounding."""
        ...

    def label(self) -> Label | None:
        """Return the label of the project's rows, as another process may have written it; None without rows."""
        ...

    def count(self) -> int:
        """Count the project's rows."""
        ...

    def keys(self) -> Iterable[int]:
        """Yield the keys of the project's rows."""
        ...

    def projects(self) -> Mapping[str, int]:
        """Return the projects whose rows lie in the same place, with their numbers of rows."""
        ...

    def described(self) -> Mapping[str, str | int | bool]:
        """Return address, version and kind of index, as the store or its server says them."""
        ...

    def prepare(self) -> None:
        """Make the collection or table with its indexes, where it is missing."""
        ...

    def apply(self, change: Change) -> None:
        """Write a change, its label last. While it runs, and after a kill, others find the old rows, or old and new."""
        ...

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        """Return about the n nearest as (key, cosine similarity), best first; fewer only if there are no more."""
        ...

    def drop(self) -> None:
        """Remove all that the store has of the project."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...
