"""SCIP indexes, which compilers write: who uses which definition, document by document.

The format is public: https://github.com/sourcegraph/scip. Only paths, texts and occurrences are read of it. A file may
come from anybody and be of any size: it is read one document at a time, and no length in it is believed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple

from codefathom.errors import SourceError
from codefathom.source.protobuf import BYTES, VARINT, WireError, WireField, fields, numbers, varint
from codefathom.text.printable import show_line

MAX_DOCUMENT_BYTES = 64_000_000
MAX_OCCURRENCES = 1_000_000  # of one document
_MOST_NUMBERS = 4  # of a place
_LONGEST_HEAD = 20  # bytes of a tag and a length
_MOST_TOOL_CHARS = 60
_METADATA, _DOCUMENT = 1, 2  # fields of an index
_DEFINITION = 1  # bits of the role of an occurrence
_IMPORT = 2
_HINT = "give a file that an indexer such as scip-typescript or scip-python has written, or let it write it again"

UTF8, UTF16, UTF32 = 1, 2, 3  # what counts as one column; 0: not said


class Occurrence(NamedTuple):
    """A place on one line, and the symbol that it means or defines."""

    line: int  # from 1
    start: int  # from 0, in units of the encoding of columns
    end: int
    symbol: str
    is_definition: bool = False
    is_import: bool = False  # where the indexer says so


class ScipDocument(NamedTuple):
    """What an index says of a file."""

    path: str  # relative to the root of the index
    occurrences: tuple[Occurrence, ...]
    text: str | None = None  # of the file, where the indexer wrote it
    columns: int = 0  # UTF8, UTF16, UTF32; 0: not said


class ScipFile:
    """An opened index. Each pass over its documents reads it from the beginning."""

    def __init__(self, path: str) -> None:
        """Open a file, and read who wrote it. Raises SourceError for one that is not an index."""
        self.path = path
        self.tool = ""  # name and version
        self.root = ""  # folder on the machine on which it was written, as a URI
        self._file = _opened(path)
        try:
            self._n_bytes = os.fstat(self._file.fileno()).st_size
            if not self._n_bytes:
                raise self._wrong("is empty")
            first = next(self._top_level(), None)
            if first is None or first.number != _METADATA:
                raise self._wrong("does not begin as one")
            self._read_metadata(self._content(first))
        except BaseException:
            self._file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def paths(self, limit: int) -> list[str]:
        """Return the paths of the first documents. Raises SourceError."""
        paths: list[str] = []
        for data in self._documents():
            named = (item for item in self._fields(data) if item.number == 1 and item.kind == BYTES)
            paths.append(next((_text(data, item) for item in named), ""))
            if len(paths) == limit:
                break
        return paths

    def documents(self) -> Iterator[ScipDocument]:
        """Yield the documents one by one. Raises SourceError where the file is damaged."""
        for data in self._documents():
            try:
                yield _document(data)
            except WireError as error:
                raise self._wrong(str(error)) from error

    def _documents(self) -> Iterator[bytes]:
        for item in self._top_level():
            if item.number == _DOCUMENT and item.kind == BYTES:
                yield self._content(item)

    def _top_level(self) -> Iterator[WireField]:
        place = 0
        while place < self._n_bytes:
            self._file.seek(place)
            head = self._file.read(_LONGEST_HEAD)
            try:
                tag, behind = varint(head, 0, len(head))
                kind = tag & 7
                if kind not in (VARINT, BYTES):
                    raise WireError(f"has a field of the unknown kind {kind}")
                value, behind = varint(head, behind, len(head))
            except WireError as error:
                raise self._wrong(f"{str(error).partition(', at')[0]}, at byte {place:,}") from error
            start = place + behind
            if kind == VARINT:
                place = start
                continue
            if value > self._n_bytes - start:
                left = self._n_bytes - start
                raise self._wrong(f"is cut off: at byte {place:,} it names {value:,} bytes, and {left:,} are there")
            place = start + value
            yield WireField(tag >> 3, kind, start, place)

    def _content(self, item: WireField) -> bytes:
        n_bytes = item.end - item.start
        if n_bytes > MAX_DOCUMENT_BYTES:
            raise self._wrong(f"has a document of {n_bytes:,} bytes, and at most {MAX_DOCUMENT_BYTES:,} are read")
        self._file.seek(item.start)
        data = self._file.read(n_bytes)
        if len(data) < n_bytes:
            raise self._wrong("became shorter while it was read")
        return data

    def _fields(self, data: bytes) -> Iterator[WireField]:
        try:
            yield from fields(data, 0, len(data))
        except WireError as error:
            raise self._wrong(str(error)) from error

    def _read_metadata(self, data: bytes) -> None:
        for item in self._fields(data):
            if item.number == 2 and item.kind == BYTES:
                tool = data[item.start : item.end]
                names = {part.number: _text(tool, part) for part in self._fields(tool) if part.number in (1, 2)}
                self.tool = show_line(f"{names.get(1, '')} {names.get(2, '')}".strip())[:_MOST_TOOL_CHARS]
            elif item.number == 3 and item.kind == BYTES:
                self.root = _text(data, item)
        if not self.tool:
            raise self._wrong("does not say which program wrote it")

    def _wrong(self, why: str) -> SourceError:
        return SourceError(f"{self.path!r} is not a whole SCIP index: it {why}", hint=_HINT)


def check_scip(paths: Iterable[str]) -> None:
    """Raise SourceError for a file that is no SCIP index, before much is done for it."""
    for path in paths:
        ScipFile(path).close()


def _opened(path: str) -> BinaryIO:
    descriptor = -1
    try:
        # Nobody writes to a pipe that has the name of a file by mistake: do not wait for that.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise SourceError(f"{path!r} is not a file", hint=_HINT)
        return os.fdopen(descriptor, "rb")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"cannot read {path!r}: {reason}", hint="check the path and its permissions") from error
    except SourceError:
        with suppress(OSError):
            os.close(descriptor)
        raise


def _document(data: bytes) -> ScipDocument:
    path, columns = "", 0
    text: str | None = None
    occurrences: list[Occurrence] = []
    symbols: dict[bytes, str] = {}  # each symbol stands at many places
    for item in fields(data, 0, len(data)):
        if item.number == 2 and item.kind == BYTES:
            occurrence = _occurrence(data, item, symbols)
            if occurrence is not None:
                occurrences.append(occurrence)
            if len(occurrences) > MAX_OCCURRENCES:
                raise WireError(f"has a document with more than {MAX_OCCURRENCES:,} occurrences")
        elif item.number == 1 and item.kind == BYTES:
            path = _text(data, item)
        elif item.number == 5 and item.kind == BYTES:
            text = _text(data, item)
        elif item.number == 6 and item.kind == VARINT:
            columns = item.start
    return ScipDocument(path, tuple(occurrences), text, columns)


def _occurrence(data: bytes, message: WireField, symbols: dict[bytes, str]) -> Occurrence | None:
    """Return an occurrence on one line; None for what has no symbol or no place on one line."""
    place: list[int] = []
    symbol, role = "", 0
    for item in fields(data, message.start, message.end):
        if item.number == 1:
            place += numbers(data, item, _MOST_NUMBERS)
        elif item.number == 2 and item.kind == BYTES:
            key = data[item.start : item.end]
            symbol = symbols.get(key, "") or symbols.setdefault(key, key.decode("utf-8", "replace"))
        elif item.number == 3 and item.kind == VARINT:
            role = item.start
    if len(place) > _MOST_NUMBERS:
        return None
    if len(place) == 4 and place[0] == place[2]:
        place.pop(2)
    if len(place) != 3 or not symbol or max(place) >= 1 << 31:
        return None
    return Occurrence(place[0] + 1, place[1], place[2], symbol, bool(role & _DEFINITION), bool(role & _IMPORT))


def _text(data: bytes, item: WireField) -> str:
    return data[item.start : item.end].decode("utf-8", "replace") if item.kind == BYTES else ""
