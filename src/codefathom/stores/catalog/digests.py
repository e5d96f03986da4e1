"""Digests of 32 hex digits, in which ids of chunks and hashes of texts are told, as the 16 bytes that they stand for.

Pure.
"""

from __future__ import annotations

_BYTES = 16


def stored(digest: str) -> bytes | str:
    """Return what a column holds of a digest. A text that is none stays as it is, so that `shown` gives it back."""
    if not digest:
        return b""
    try:
        data = bytes.fromhex(digest)
    except ValueError:
        return digest
    return data if len(data) == _BYTES and data.hex() == digest else digest


def shown(value: object) -> str:
    """Return the digest that a column holds, whatever a damaged file has there."""
    return value.hex() if isinstance(value, bytes) else str(value)
