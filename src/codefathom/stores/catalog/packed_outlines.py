"""Signatures and doc comments of all symbols of a document as one value; a symbol has its place among them.

They are deflated together: alone they are too short for that. The checksum of a symbol covers its two texts. Pure.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codefathom.stores.catalog.packed_references import inflated


class OutlineTexts(NamedTuple):
    """Signature and doc comment of a symbol."""

    signature: str
    doc: str


def packed(texts: Iterable[OutlineTexts]) -> bytes:
    """Return the texts in few bytes, by the place of their symbols. What is inflated is the same on each machine."""
    flat = [text for both in texts for text in both]
    content = json.dumps(flat, ensure_ascii=False, separators=(",", ":"))
    return zlib.compress(content.encode("utf-8", "surrogatepass"), 6)


def unpacked(data: bytes) -> Sequence[OutlineTexts]:
    """Return the texts by the place of their symbols; none of damaged bytes, which the checksums of symbols tell."""
    try:
        flat = json.loads(inflated(data).decode("utf-8", "surrogatepass") or "[]")
    except (ValueError, RecursionError):
        return ()
    if not isinstance(flat, list) or not all(type(text) is str for text in flat):
        return ()
    return [OutlineTexts(*both) for both in zip(flat[::2], flat[1::2], strict=False)]


def texts_at(texts: Sequence[OutlineTexts], place: object) -> OutlineTexts:
    """Return the texts of a place; of one that is not there other texts, which the checksum of the symbol tells."""
    return texts[place] if isinstance(place, int) and 0 <= place < len(texts) else OutlineTexts("", "")
