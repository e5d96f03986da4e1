"""A page of a PDF → a picture of it, by pdfium. Needs the extra `documents`; runs in `extraction_child.py` only."""

from __future__ import annotations

import zlib
from typing import Any

from codefathom.facts import reasons as say
from codefathom.source.extraction.pdf_text import opened
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, refusal

# In pixels: a page of A4 is shown with 1,200 by 1,697. A page may claim to be as long as a street.
_WIDTH, _HEIGHT = 1_200, 2_000
_MOST_SCALE = 4.0  # of 72 to an inch: what is small stays small
_RGB = 3


def picture_of(data: bytes, number: int, limits: ExtractionLimits) -> bytes | Refusal:
    """Return a page, counted from 1, as PNG, or the reason why it cannot be drawn. Forms and scripts do nothing."""
    document = opened(data, limits)
    if isinstance(document, Refusal):
        return document
    if not 1 <= number <= len(document):
        return refusal(say.BROKEN_PDF)
    page = document[number - 1]
    width, height = page.get_size()
    if not (width > 0 and height > 0):
        return refusal(say.BROKEN_PDF)
    bitmap = page.render(
        scale=min(_WIDTH / width, _HEIGHT / height, _MOST_SCALE), may_draw_forms=False, rev_byteorder=True
    )
    return refusal(say.BROKEN_PDF) if bitmap.n_channels != _RGB else _png(bitmap)


def _png(bitmap: Any) -> bytes:
    """Return a bitmap with three bytes for each pixel in the simplest form that PNG has."""
    pixels, row = memoryview(bitmap.buffer).cast("B"), _RGB * bitmap.width
    starts = range(0, bitmap.stride * bitmap.height, bitmap.stride)
    rows = b"".join(b"\0" + pixels[start : start + row] for start in starts)  # no filter in each row
    head = bitmap.width.to_bytes(4) + bitmap.height.to_bytes(4) + b"\x08\x02\0\0\0"  # 8 bits, red, green, blue
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(content).to_bytes(4) + name + content + zlib.crc32(name + content).to_bytes(4) for name, content in parts
    )
