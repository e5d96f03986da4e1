"""The terms of a chunk for the lexical view, in four fields. Pure; knows no library that keeps an index."""

from __future__ import annotations

from zlib import crc32

from codefathom.stores.base import Fields
from codefathom.stores.lexical.terms import MAX_TERM, joined_terms, terms_of_runs
from codefathom.text.word_runs import word_runs
from codefathom.types.hits import Chunk


def fields_of(chunk: Chunk) -> Fields:
    """Split a chunk into the terms of each field."""
    names = chunk.names or ((chunk.symbol,) if chunk.symbol else ())
    runs = word_runs(chunk.text)
    return Fields(
        joined_terms(chunk.path),
        joined_terms(" ".join(names)),
        joined_terms(f"{chunk.signature}\n{chunk.doc}"),
        terms_of_runs(runs),
        file_number(chunk.path),
        _is_part_of_line(chunk) or max(map(len, runs), default=0) > MAX_TERM,
    )


def _is_part_of_line(chunk: Chunk) -> bool:
    """Return True if words at the ends of a chunk may go on in others; also for a last line without an end."""
    return chunk.column > 1 or (chunk.start_line == chunk.end_line and not chunk.text.endswith("\n"))


def file_number(path: str) -> int:
    """Return the number by which a view knows a file; several files may have the same."""
    return crc32(path.encode("utf-8", "surrogatepass"))
