"""One file → one document, or the reason why it is none."""

from __future__ import annotations

import os
import stat
from hashlib import blake2b

from codefathom.source.changes import FileStat
from codefathom.source.content import decode, is_binary, machine_made
from codefathom.source.languages import CODE, language_of, refine
from codefathom.types import Document, Skipped

FINGERPRINT_VERSION = 1

# Data and prose of this size is a dump. Code may be larger, up to the limit of the scan.
MAX_TEXT_BYTES = 1_000_000


def fingerprint(data: bytes) -> str:
    """Name these bytes: version and 128-bit hash."""
    return f"{FINGERPRINT_VERSION}:{blake2b(data, digest_size=16).hexdigest()}"


def read(root: str, file: FileStat, *, include_generated: bool = False) -> Document | Skipped:
    """Read and decode one file; never raises for what it finds on the disk.

    `include_generated` keeps generated, minified and vendored files.
    """
    try:
        data = _bytes_of(os.path.join(root, file.path))
    except OSError:
        return Skipped(file.path, "unreadable")
    if data is None:
        return Skipped(file.path, "not a regular file")
    if is_binary(data):
        return Skipped(file.path, "binary")
    text = decode(data)
    language = refine(file.path, language_of(file.path, text[:200].split("\n", 1)[0].rstrip("\r")), text)
    if len(data) > MAX_TEXT_BYTES and language not in CODE:
        return Skipped(file.path, "oversized")
    if not include_generated and (reason := machine_made(file.path, language, text)):
        return Skipped(file.path, reason)
    return Document(file.path, language, text, fingerprint(data), len(data))


def _bytes_of(path: str) -> bytes | None:
    """The content of a regular file, None for anything else; never waits for the writer of a pipe."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
