"""Text, signature and doc comment of a chunk as one deflated value: the last two mostly stand in the text as well.

Each chunk has a value of its own, so that a search reads nothing of those that it does not need. Pure.
"""

from __future__ import annotations

import struct
import zlib

_LENGTHS = struct.Struct("<II")  # bytes of the signature and of the doc comment, which follow; the rest is the text
_WINDOW = -12  # raw deflate with a window of 4 KB, as most chunks have 1 KB; what is read has its checksum elsewhere
_LEVEL, _MEMORY = 6, 5
_MOST_TIMES = 1_032  # a deflated byte holds no more bytes than that
_MOST_BYTES = 1 << 25  # of one chunk; a file is read in windows of 4 MB


def packed(text: str, signature: str, doc: str) -> bytes:
    """Return the three texts in few bytes. What `unpacked` gives of them is the same on each machine."""
    first, second = signature.encode(), doc.encode()
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    content = b"".join((_LENGTHS.pack(len(first), len(second)), first, second, text.encode()))
    return press.compress(content) + press.flush()


def inflated(data: bytes, most: int = _MOST_BYTES) -> bytes:
    """Return what was deflated, at most so many bytes; nothing of what cannot be inflated."""
    try:
        if len(data) * _MOST_TIMES <= most:  # cannot become more, and one call is faster
            return zlib.decompress(data, _WINDOW)
        return zlib.decompressobj(_WINDOW).decompress(data, most)
    except zlib.error:
        return b""


def unpacked(data: bytes) -> tuple[str, str, str]:
    """Return text, signature and doc comment; of damaged bytes other texts, which the checksum of the row tells."""
    text, signature, doc = (part.decode("utf-8", "replace") for part in encoded(data))
    return text, signature, doc


def encoded(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the same three as UTF-8, which damaged bytes may not be."""
    content = inflated(data)
    if len(content) < _LENGTHS.size:
        return b"", b"", b""
    n_signature, n_doc = _LENGTHS.unpack_from(content)
    end = _LENGTHS.size + n_signature
    return content[end + n_doc :], content[_LENGTHS.size : end], content[end : end + n_doc]


def text_of(data: object) -> str:
    """Return the text alone, of whatever a column holds."""
    return unpacked(data)[0] if isinstance(data, bytes) else ""
