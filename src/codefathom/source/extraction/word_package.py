"""The archive that a Word document is: checked before a library opens it."""

from __future__ import annotations

import re
import zlib
from io import BytesIO
from zipfile import BadZipFile, ZipFile, ZipInfo

from codefathom.facts import reasons as say
from codefathom.source.extraction.refusal import ExtractionLimits, Refusal, refusal

_OLD_FORMAT = b"\xd0\xcf\x11\xe0"  # a Word document with a password lies in an archive of the older kind
_SMALL = 1_000_000  # bytes; below that, no ratio is suspicious
_IS_ENCRYPTED = 1
_XML = (".xml", ".rels")
_START = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*<")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([^"']*)""")
_ENCODINGS = {b"utf-8", b"utf-16", b"us-ascii", b"ascii"}
_BROKEN = refusal(say.BROKEN_WORD)


def refusal_of_package(data: bytes, limits: ExtractionLimits) -> Refusal | None:
    """Return the reason not to open a Word document, None for a sound one.

    No more is unpacked than the archive declares, and that is added up first. Entities can only be declared in a
    document type, which no Word document has.
    """
    if data.startswith(_OLD_FORMAT):
        return refusal(say.ENCRYPTED_OR_OTHER)
    try:
        with ZipFile(BytesIO(data)) as archive:
            return _refusal_of_parts(archive, len(data), limits)
    except (BadZipFile, EOFError, NotImplementedError, OSError, RuntimeError, ValueError, zlib.error):
        return _BROKEN


def _refusal_of_parts(archive: ZipFile, n_bytes: int, limits: ExtractionLimits) -> Refusal | None:
    parts = archive.infolist()
    if len(parts) > limits.parts:
        return refusal(say.MANY_PARTS, count=limits.parts)
    n_unpacked = sum(part.file_size for part in parts)
    if n_unpacked > limits.unpacked_bytes or n_unpacked > max(_SMALL, limits.unpacked_ratio * n_bytes):
        return refusal(say.LARGE_UNPACKED)
    if any(part.flag_bits & _IS_ENCRYPTED for part in parts):
        return refusal(say.ENCRYPTED)
    if any(_declares_types(archive, part) for part in parts if part.filename.lower().endswith(_XML)):
        return refusal(say.WORD_WITH_DOCTYPE)
    return None


def _declares_types(archive: ZipFile, part: ZipInfo) -> bool:
    """Return True for XML with a document type, and for XML of which that cannot be told."""
    raw = archive.read(part)
    plain = raw.replace(b"\0", b"")  # of UTF-16 and UTF-32
    encoding = _ENCODING.search(plain[:200])
    is_other = encoding is not None and encoding[1].lower() not in _ENCODINGS
    return is_other or not _START.match(plain) or b"<!doctype" in plain.lower()
