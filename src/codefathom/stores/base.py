"""What a vector store must offer. Keys are the integer keys of chunks in the catalogue, which are never used twice."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple, Protocol


class Row(NamedTuple):
    """One vector: the chunk's key and its quantised unit vector (see `quantise`)."""

    key: int
    vector: bytes  # int8, one byte a dimension, scaled so that the largest component is ±127


class VectorStore(Protocol):
    """A view of the catalogue's embeddings, labelled with the generation it was built from."""

    @property
    def generation(self) -> int:
        """Generation of the catalogue this view shows; -1 when there is no usable view."""
        ...

    def damage(self) -> str:
        """Return in what the view differs from what was written, or nothing; reads all of it."""
        ...

    def upsert(self, rows: Iterable[Row]) -> None:
        """Add rows, or replace those with the same key. Visible after `commit`."""
        ...

    def delete(self, keys: Collection[int]) -> None:
        """Remove rows; unknown keys are no error. Visible after `commit`."""
        ...

    def clear(self) -> None:
        """Drop all rows, to be built again. Visible after `commit`."""
        ...

    def abandon(self) -> None:
        """Drop what was not committed; after `clear` the rows are still to be built anew."""
        ...

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable at once, under this generation."""
        ...

    def nearest(self, vector: bytes, k: int, allowed: Collection[int] | None = None) -> list[tuple[int, float]]:
        """The k nearest by cosine similarity as (key, similarity), best first, ties by key; the filter works inside."""
        ...

    def reload(self) -> None:
        """See what another process has committed."""
        ...

    def close(self) -> None:
        """Release files and connections. Uncommitted changes are dropped."""
        ...
