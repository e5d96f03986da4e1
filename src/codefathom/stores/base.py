"""The contracts of the views: an index of words and an index of vectors.

Keys are the integer keys of chunks in the catalogue, which are never used twice. Each contract has its test, which a
new adapter passes: `testing/lexical_store.py`, `testing/vector_store.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from codefathom.types.where import Where

if TYPE_CHECKING:
    from codefathom.text.required_words import Alternatives

FIELDS = ("path", "name", "signature", "body")


class Fields(NamedTuple):
    """The indexed terms of a chunk, separated by white space."""

    path: str
    name: str
    signature: str
    body: str
    file: int = 0  # a number for the path of the chunk's file
    has_more: bool = False  # the text has words, or ends of words, that are no terms of the body


class Row(NamedTuple):
    """One vector: the chunk's key and its quantised unit vector (see `quantise`)."""

    key: int
    vector: bytes  # int8, one byte a dimension, scaled so that the largest component is ±127


class LexicalStore(Protocol):
    """A view of the catalogue's words, in fields, labelled with the generation it was built from."""

    @property
    def generation(self) -> int:
        """Generation of the catalogue this view shows; -1 when there is no usable view."""
        ...

    @property
    def n_chunks(self) -> int:
        """Number of chunks in the view."""
        ...

    def document_frequencies(self, words: Iterable[str]) -> dict[str, int]:
        """Return the number of chunks in whose body each term stands."""
        ...

    def search(
        self, words: Mapping[str, float], k: int, weights: Mapping[str, float], allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        """Return the k best as (key, sum of BM25 scores over fields, weighted by word and field), best first."""
        ...

    def containing(self, part: str, k: int, allowed: Collection[int] | None = None) -> list[int]:
        """Return the keys of at most k chunks in whose body a term has this part, which is lower-case letters and
        digits; it takes as long as looking through all different terms."""
        ...

    def chunks_with(self, needs: Sequence[Alternatives]) -> Mapping[int, int] | None:
        """Return the keys of all chunks in whose bodies words have all the parts of one alternative of each need, each
        with the number of its file, and perhaps some more chunks where few have one of the first parts.

        None where the store cannot tell. Words that are no terms do not count: see `with_more_words`.
        """
        ...

    def with_more_words(self) -> Mapping[int, int] | None:
        """Return the keys of the chunks with words that are no terms of their bodies, each with the number of its file;
        None where it cannot tell."""
        ...

    def update(self, added: Iterable[tuple[int, Fields]], removed: Iterable[int]) -> None:
        """Add chunks, or replace those with the same key, and remove others. Visible after `commit`."""
        ...

    def clear(self) -> None:
        """Drop all chunks, to be built again. Visible after `commit`."""
        ...

    def abandon(self) -> None:
        """Drop uncommitted changes; after `clear` the view must still be built anew."""
        ...

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable at once, under this generation."""
        ...

    def damage(self, *, whole: bool = True) -> str:
        """Return the first difference from what was written, or nothing; reads all of it.

        Without `whole`, files of this machine that nothing has written since they were read are not read again; it
        needs the writer lock.
        """
        ...

    @property
    def is_unsettled(self) -> bool:
        """True if a process was killed while it wrote, so that the view must be built again before the next write."""
        ...

    @property
    def is_worn(self) -> bool:
        """True if the scores have drifted so far from those of a new view that it should be built again."""
        ...

    def reload(self) -> None:
        """See what another process has committed."""
        ...

    def close(self) -> None:
        """Release files. Uncommitted changes are dropped."""
        ...


class VectorStore(Protocol):
    """A view of the catalogue's embeddings, labelled with the generation it was built from."""

    @property
    def generation(self) -> int:
        """Generation of the catalogue this view shows; -1 when there is no usable view."""
        ...

    def damage(self, *, whole: bool = True) -> str:
        """Return the first difference from what was written, or nothing; reads all of it.

        Without `whole`, files of this machine that nothing has written since they were read are not read again; it
        needs the writer lock.
        """
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
        """Drop uncommitted changes; after `clear` the rows must still be built anew."""
        ...

    def commit(self, generation: int) -> None:
        """Make all changes visible and durable at once, under this generation."""
        ...

    def drop(self) -> None:
        """Remove all that the store has of the project, at once."""
        ...

    def nearest(
        self, vector: bytes, k: int, allowed: Collection[int] | None = None, where: Where | None = None
    ) -> list[tuple[int, float]]:
        """Return the k nearest by cosine similarity as (key, similarity), best first, ties by key.

        `allowed` holds inside the store, not after it. `where` is the condition that made it, for a store that filters
        by itself; a store may ignore it.
        """
        ...

    @property
    def problem(self) -> str:
        """The reason why the store itself cannot be asked now, and its rows are looked through elsewhere; else ""."""
        ...

    def reload(self) -> None:
        """See what another process has committed."""
        ...

    def close(self) -> None:
        """Release files and connections. Uncommitted changes are dropped."""
        ...
