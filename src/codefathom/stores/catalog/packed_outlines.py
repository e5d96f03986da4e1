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


def unpacked(data: bytes) -> Sequence[str]:
    """Return the texts, two of each symbol; none of damaged bytes, which the checksums of symbols tell.

    They stay flat: of a file with a thousand symbols often one is wanted.
    """
    try:
        flat = json.loads(inflated(data).decode("utf-8", "surrogatepass") or "[]")
    except (ValueError, RecursionError):
        return ()
    return flat if isinstance(flat, list) and set(map(type, flat)) <= {str} else ()


def texts_at(flat: Sequence[str], place: object) -> OutlineTexts:
    """Return the texts of a place; of one that is not there other texts, which the checksum of the symbol tells."""
    if not isinstance(place, int) or not 0 <= 2 * place < len(flat) - 1:
        return OutlineTexts("", "")
    return OutlineTexts(flat[2 * place], flat[2 * place + 1])
