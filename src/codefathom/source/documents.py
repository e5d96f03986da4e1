"""One file → one document, or the reason why it is none."""

from __future__ import annotations

from hashlib import blake2b
from typing import BinaryIO

from codefathom.facts import reasons as say
from codefathom.facts.languages import CODE, is_document, language_of, refine
from codefathom.facts.reasons import Note
from codefathom.source.changes import FileStat
from codefathom.source.charset import read_as, undecodable_lines
from codefathom.source.content import decode, is_binary, machine_made
from codefathom.source.extraction.extracted_text import extracted_text
from codefathom.source.extraction.refusal import Refusal
from codefathom.source.scan import AbsentError, FileTree
from codefathom.source.size_limits import MAX_TEXT_FILE_BYTES, MAX_WHOLE_FILE_BYTES
from codefathom.system.real_paths import open_below, regular_file
from codefathom.types import USUAL_ENCODING, Document, Skipped

FINGERPRINT_VERSION = 1
_PIECE_BYTES = 1 << 20


def fingerprint(data: bytes) -> str:
    """Name these bytes: version and 128-bit hash."""
    return fingerprint_of(blake2b(data, digest_size=16))


def fingerprint_of(digest: blake2b) -> str:
    """Name the bytes that a hash of 16 bytes was given."""
    return f"{FINGERPRINT_VERSION}:{digest.hexdigest()}"


def fingerprint_at(root: str | FileTree, path: str) -> str:
    """Name the bytes of a file without holding them; "" for one that cannot be read."""
    digest = blake2b(digest_size=16)
    try:
        file = open_file(root, path)
        if file is None:
            return ""
        with file:
            while data := file.read(_PIECE_BYTES):
                digest.update(data)
    except OSError:
        return ""
    return fingerprint_of(digest)


def read(
    root: str | FileTree,
    file: FileStat,
    *,
    include_generated: bool = False,
    assumed: str = USUAL_ENCODING,
    indexed: str = "",
) -> Document | Skipped:
    """Read and decode one file; never raises for what it finds on the disk.

    `include_generated` keeps generated, minified and vendored files; `assumed` is the encoding of files that are not
    UTF-8 and do not declare one. `indexed` is a fingerprint: of a PDF or the like that still has it no text is taken
    out, since nobody needs it.
    """
    try:
        data = _bytes_of(root, file.path)
    except OSError as error:
        return Skipped(file.path, Note(say.ABSENT if isinstance(error, AbsentError) else say.UNREADABLE))
    if data is None:
        return Skipped(file.path, Note(say.NOT_REGULAR))
    if is_document(file.path):
        return _extracted(file.path, data, indexed)
    if is_binary(data):
        return Skipped(file.path, Note(say.BINARY))
    text, is_assumed = decode(data, assumed)
    language = kind_of(file.path, text)
    kind = say.OVERSIZED if len(data) > MAX_TEXT_FILE_BYTES and language not in CODE else ""
    if kind or (not include_generated and (kind := machine_made(file.path, language, text))):
        return Skipped(file.path, Note(kind))
    encoding = read_as(data, assumed) if is_assumed else ""
    return Document(file.path, language, text, fingerprint(data), len(data), encoding)


def _extracted(path: str, data: bytes, indexed: str) -> Document | Skipped:
    name = fingerprint(data)
    text = "" if name == indexed else extracted_text(path, data)
    if isinstance(text, Refusal):
        return Skipped(path, text.why)
    return Document(path, language_of(path), text, name, len(data))


def text_of(path: str, data: bytes, assumed: str = USUAL_ENCODING) -> str | None:
    """Return the text of the bytes of a file as `read` does; None for what is no text."""
    if is_document(path):
        text = extracted_text(path, data)
        return None if isinstance(text, Refusal) else text
    return None if is_binary(data) else decode(data, assumed).text


def is_read_whole(file: FileStat) -> bool:
    """Return True for a file that is read at once, False for one that is read in windows (`source/large.py`)."""
    return file.size <= MAX_WHOLE_FILE_BYTES or is_document(file.path)


def kind_of(path: str, text: str) -> str:
    """Return the language of a text, by its path and its first lines."""
    return refine(path, language_of(path, text[:200].split("\n", 1)[0].rstrip("\r")), text)


def undecodable_lines_of(root: str | FileTree, path: str) -> bytes:
    """Return the lines of a file that only an assumed encoding can read; empty when it cannot be read."""
    try:
        data = _bytes_of(root, path, MAX_WHOLE_FILE_BYTES) or b""
    except OSError:
        return b""
    return undecodable_lines(data if len(data) < MAX_WHOLE_FILE_BYTES else data[: data.rfind(b"\n") + 1])


def open_file(root: str | FileTree, path: str) -> BinaryIO | None:
    """Open a regular file of a folder or of another tree, None for anything else; no link is followed in a folder.

    Raises OSError.
    """
    return regular_file(open_below(root, path.split("/"))) if isinstance(root, str) else root.open(path)


def _bytes_of(root: str | FileTree, path: str, most: int = -1) -> bytes | None:
    file = open_file(root, path)
    if file is None:
        return None
    with file:
        return file.read(most)
