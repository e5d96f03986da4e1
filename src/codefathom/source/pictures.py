"""The kind of a picture by its bytes, whatever its name says, and whether a browser can show it without harm. Pure.

A small file can claim a size that no machine has the memory for, and an SVG can draw itself many times over: such ones
are no pictures here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MOST_PIXELS = 50_000_000
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
_MOST_SVG_BYTES = 1_000_000
_MOST_COPIES = 20  # of parts of an SVG: each may hold copies of others
_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length


class PictureSize(NamedTuple):
    """What the first bytes of a picture say."""

    media_type: str
    width: int  # pixels; 0 for a drawing, which has none
    height: int


def is_picture_name(path: str) -> bool:
    """Return True for the name of a picture."""
    return path.lower().endswith(ENDINGS)


def picture_size(data: bytes) -> PictureSize | None:
    """Return kind and size of a picture; None for what is none, or is too large to be shown."""
    size = _size_of_pixels(data) or _drawing(data)
    return size if size is not None and size.width * size.height <= MOST_PIXELS else None


def _size_of_pixels(data: bytes) -> PictureSize | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and len(data) >= 24:
        return PictureSize("image/png", int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return PictureSize("image/gif", int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return _jpeg(data) if data.startswith(b"\xff\xd8\xff") else None


def _webp(data: bytes) -> PictureSize | None:
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (1 + int.from_bytes(data[place : place + 3], "little") for place in (24, 27))
    elif kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif kind == b"VP8 ":
        width, height = (int.from_bytes(data[place : place + 2], "little") & 0x3FFF for place in (26, 28))
    else:
        return None
    return PictureSize("image/webp", width, height)


def _jpeg(data: bytes) -> PictureSize | None:
    """Return the size that the first frame says; what comes before it is passed by, part by part."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker in _JPEG_SIZES:
            height, width = (int.from_bytes(data[start : start + 2]) for start in (place + 5, place + 7))
            return PictureSize("image/jpeg", width, height)
        length = 0 if marker in _JPEG_ALONE else int.from_bytes(data[place + 2 : place + 4])
        place += 1 if marker == 0xFF else 2 + length
    return None


def _drawing(data: bytes) -> PictureSize | None:
    if len(data) > _MOST_SVG_BYTES or b"\0" in data or b"<!ENTITY" in data:
        return None
    is_svg = re.match(rb"(?:\xef\xbb\xbf)?\s*(?:<(?:\?|!)[^>]*>\s*){0,20}<(?:\w{1,20}:)?svg[\s>]", data) is not None
    n_copies = len(re.findall(rb"<(?:\w{1,20}:)?use[\s/>]", data))
    return PictureSize("image/svg+xml", 0, 0) if is_svg and n_copies <= _MOST_COPIES else None
