"""The terms of a chunk for the lexical view, in four fields. Pure; knows no library that keeps an index."""

from __future__ import annotations

from codefathom.stores.base import Fields
from codefathom.stores.lexical.terms import joined_terms
from codefathom.types import Chunk


def fields_of(chunk: Chunk) -> Fields:
    """Split a chunk into the terms of each field."""
    names = chunk.names or ((chunk.symbol,) if chunk.symbol else ())
    return Fields(
        joined_terms(chunk.path),
        joined_terms(" ".join(names)),
        joined_terms(f"{chunk.signature}\n{chunk.doc}"),
        joined_terms(chunk.text),
    )
