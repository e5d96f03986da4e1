"""Files that are too large to be held in memory: looked through once, then handed on in windows of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

from codefathom.errors import SourceError
from codefathom.facts import reasons as say
from codefathom.facts.languages import CODE
from codefathom.facts.reasons import Note
from codefathom.source.changes import FileStat
from codefathom.source.content import decode, is_binary, machine_made
from codefathom.source.documents import fingerprint_of, kind_of, open_file
from codefathom.source.scan import FileTree
from codefathom.source.size_limits import MAX_LINE_BYTES, WINDOW_BYTES
from codefathom.types import USUAL_ENCODING, Skipped

_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")  # UTF-16 and UTF-32: a newline byte is no line end there
_HEAD_LINES = 2  # where an encoding is declared
_MAX_HEAD_BYTES = 1_000


class Survey(NamedTuple):
    """The result of one pass through a large file."""

    file: FileStat
    language: str
    fingerprint: str
    size: int  # bytes that were read
    head: bytes  # the first lines, with the byte order mark; they may declare the encoding


class Window(NamedTuple):
    """Consecutive lines of a large file."""

    survey: Survey
    data: bytes
    lines_before: int

    @property
    def file(self) -> FileStat:
        """The file that holds these lines."""
        return self.survey.file

    def text(self, assumed: str) -> tuple[str, bool]:
        """Return the decoded text, and whether `assumed` decided how it was decoded."""
        if not self.lines_before:
            return decode(self.data, assumed)
        # Decoded together with the head: an encoding that the head declares counts for all windows, and a byte order
        # mark is recognised only at the start of the file.
        head = self.survey.head or b"\n"
        text, is_assumed = decode(head + self.data, assumed)
        return text.split("\n", head.count(b"\n"))[-1], is_assumed


@contextmanager
def opened(root: str | FileTree, file: FileStat) -> Iterator[BinaryIO | Skipped]:
    """Open a large file, or give the reason why it cannot be opened."""
    try:
        stream = open_file(root, file.path)
    except OSError:
        yield Skipped(file.path, Note(say.UNREADABLE))
        return
    if stream is None:
        yield Skipped(file.path, Note(say.NOT_REGULAR))
        return
    with stream:
        yield stream


def survey(
    root: str | FileTree, file: FileStat, *, include_generated: bool = False, assumed: str = USUAL_ENCODING
) -> Survey | Skipped:
    """Look through a large file as `documents.read` does through a small one."""
    with opened(root, file) as stream:
        if isinstance(stream, Skipped):
            return stream
        return look_through(stream, file, include_generated=include_generated, assumed=assumed)


def look_through(stream: BinaryIO, file: FileStat, *, include_generated: bool, assumed: str) -> Survey | Skipped:
    """Read a file to its end without holding it in memory. Its first window decides over its language and kind."""
    try:
        first = stream.read(WINDOW_BYTES)
        language = _language(file.path, first, assumed, include_generated)
        if isinstance(language, Skipped):
            return language
        digest, size, length = blake2b(digest_size=16), 0, 0  # length of the line that continues in the next block
        for block in _blocks(stream, first):
            digest.update(block)
            size += len(block)
            end = block.find(b"\n")
            if length + (end if end >= 0 else len(block)) > MAX_LINE_BYTES:
                return Skipped(file.path, Note(say.OVERSIZED_LINE))
            length = len(block) - block.rfind(b"\n") - 1 if end >= 0 else length + len(block)
    except OSError:
        return Skipped(file.path, Note(say.UNREADABLE))
    head = b"".join(first.splitlines(keepends=True)[:_HEAD_LINES])
    is_short = len(head) <= _MAX_HEAD_BYTES and head.endswith(b"\n")
    return Survey(file, language, fingerprint_of(digest), size, head if is_short else b"")


def _language(path: str, first: bytes, assumed: str, include_generated: bool) -> str | Skipped:
    if is_binary(first):
        return Skipped(path, Note(say.BINARY))
    text = decode(first[: first.rfind(b"\n") + 1] or first, assumed).text
    language = kind_of(path, text)
    if language not in CODE or first.startswith(_WIDE_BOMS):
        return Skipped(path, Note(say.OVERSIZED))
    kind = "" if include_generated else machine_made(path, language, text)
    return Skipped(path, Note(kind)) if kind else language


def _blocks(stream: BinaryIO, first: bytes) -> Iterator[bytes]:
    block = first
    while block:
        yield block
        block = stream.read(WINDOW_BYTES)


def windows(stream: BinaryIO, survey: Survey) -> Iterator[Window]:
    """Yield the windows of a file, in order, without gaps. Raises SourceError if the file changed since the survey."""
    digest = blake2b(digest_size=16)
    n_lines = 0
    try:
        stream.seek(0)
        while data := stream.read(WINDOW_BYTES):
            if not data.endswith(b"\n"):
                data += stream.readline(MAX_LINE_BYTES + 1)
            digest.update(data)
            yield Window(survey, data, n_lines)
            n_lines += data.count(b"\n")
    except OSError as error:
        raise SourceError("unreadable", hint="check that you may read the file; the next run tries again") from error
    if fingerprint_of(digest) != survey.fingerprint:
        raise SourceError("it changed while it was read", hint="the next run reads it again")
