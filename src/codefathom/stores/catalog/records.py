"""What goes into the catalogue and what comes out of it, beside the values of types.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from codefathom.types import Chunk, Failure, ParsedDocument, Skipped


class Entry(NamedTuple):
    """What the catalogue knows of one document without opening it."""

    document_id: int
    path: str
    size: int
    mtime_ns: int
    fingerprint: str
    parser: str
    chunker: str


class Rejected(NamedTuple):
    """A file that was opened and left out for what is in it; not opened again until its stamp changes."""

    path: str
    reason: str
    size: int
    mtime_ns: int


class DocumentRecord(NamedTuple):
    """One document with all that was found in it."""

    parsed: ParsedDocument
    chunks: tuple[Chunk, ...]
    text_hashes: tuple[str, ...]  # parallel to chunks
    mtime_ns: int
    parser: str
    chunker: str
    vectors: Mapping[str, bytes]  # by text hash
    model: str


class Touched(NamedTuple):
    """A file with a new time stamp and the bytes the catalogue knows."""

    path: str
    size: int
    mtime_ns: int


class Batch(NamedTuple):
    """What one transaction changes; a list that is None stays as it is, another replaces what was there."""

    records: tuple[DocumentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    touched: tuple[tuple[str, int, int], ...] = ()  # path, size, mtime_ns
    failures: tuple[Failure, ...] | None = None
    skipped: tuple[Skipped, ...] | None = None
    rejected: tuple[Rejected, ...] | None = None
    meta: Mapping[str, str] = MappingProxyType({})


class Written(NamedTuple):
    """What a batch changed for the views."""

    generation: int
    added: list[tuple[int, Chunk, str]]  # key, chunk, text hash
    removed: list[int]


class StoredDocument(NamedTuple):
    """One document as the catalogue has it, without its text."""

    document_id: int
    path: str
    language: str
    fingerprint: str
    size: int
    mtime_ns: int
    n_lines: int
    problems: tuple[str, ...]


class Counts(NamedTuple):
    """How much the catalogue holds."""

    documents: int
    chunks: int
    symbols: int
    languages: dict[str, int]  # documents by language, most first
    kinds: dict[str, int]  # chunks by kind, most first


class CatalogChanges(NamedTuple):
    """What a view that shows an older generation lacks."""

    added: Iterator[tuple[int, Chunk, str]]  # key, chunk, text hash
    removed: list[int]
    complete: bool  # False when removals of that time were pruned: the view must be built again
