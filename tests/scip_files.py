"""SCIP indexes as bytes, by the public format: what a compiler would write of a small project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

VARINT, BYTES = 0, 2
PACKAGE = "test-compiler . shop 1 "  # scheme, manager, name and version of the symbols of a project
DEFINED = 1


def varint(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


def field(number: int, value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3 | VARINT) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + varint(len(data)) + data


class Mark(NamedTuple):
    """A word on a line (from 1) that is, or means, a symbol; columns count units of UTF-16."""

    line: int
    word: str
    symbol: str
    role: int = 0
    nth: int = 1  # which of the equal words on the line


def definition(line: int, word: str, symbol: str) -> Mark:
    return Mark(line, word, PACKAGE + symbol, DEFINED)


def use(line: int, word: str, symbol: str, nth: int = 1) -> Mark:
    return Mark(line, word, PACKAGE + symbol, nth=nth)


def occurrence(numbers: Iterable[int], symbol: str, role: int = 0) -> bytes:
    place = b"".join(map(varint, numbers))
    return field(1, place) + field(2, symbol) + (field(3, role) if role else b"")


def document(path: str, text: str, marks: Iterable[Mark], *, with_text: bool = False) -> bytes:
    data = field(4, "python") + field(1, path)
    for mark in marks:
        line, start = text.split("\n")[mark.line - 1], -1
        for _ in range(mark.nth if mark.word else 0):
            start = line.index(mark.word, start + 1)
        columns = [len(part.encode("utf-16-le")) // 2 for part in (line[: max(start, 0)], mark.word)]
        place = (mark.line - 1, columns[0], sum(columns))
        data += field(2, occurrence(place, mark.symbol, mark.role))
        data += field(3, field(1, mark.symbol) + field(3, "documentation, which is not read")) if mark.role else b""
    return data + (field(5, text) if with_text else b"")


def index(documents: Iterable[bytes], *, tool: str = "test-compiler", root: str = "file:///builds/shop") -> bytes:
    metadata = field(2, field(1, tool) + field(2, "1.2") + field(3, "--all")) + field(3, root) + field(4, 1)
    return field(1, metadata) + b"".join(field(2, item) for item in documents)
