"""Checksums of the rows that results are made of: the values of a row, and the path of its file.

They are compared whenever a row is read, by every question; so each is one formatted text and one CRC-32, about a
microsecond. A row that was exchanged with one of another file does not pass either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32


def of_chunk(row: Sequence[Any]) -> int:
    """Return the checksum of id, path, language, kind, symbol, names, lines, text, signature, doc, column."""
    *values, text, signature, doc, column = row
    texts = (value.encode("utf-8", "surrogatepass") for value in (text, signature, doc))
    return of_encoded_chunk((*values, column), *texts)


def of_encoded_chunk(values: Sequence[Any], text: bytes, signature: bytes, doc: bytes) -> int:
    """Return the same checksum of id, path, language, kind, symbol, names, lines, column, and of texts in UTF-8."""
    chunk_id, path, language, kind, symbol, names, start, end, column = values
    place = f"{chunk_id}\n{path}\n{language}\n{kind}\n{symbol}\n{names}\n{start}\n{end}\n{column}\n"
    return crc32(b"%b%b\n%b\n%b" % (place.encode("utf-8", "surrogatepass"), signature, doc, text))


def of_symbol(row: Sequence[Any]) -> int:
    """Return the checksum of path, language, kind, name, qualified name, first, last, name's line, signature, doc."""
    path, language, kind, name, qualified, start, end, line, signature, doc = row
    values = f"{path}\n{language}\n{kind}\n{name}\n{qualified}\n{start}\n{end}\n{line}\n{signature}\n{doc}"
    return crc32(values.encode("utf-8", "surrogatepass"))


def of_references(path: str, rows: Iterable[Sequence[Any]]) -> list[int]:
    """Return the checksums of kind, name, line, container, count and qualifier of the references of one file.

    Formats before 10 have a row for each.
    """
    start = crc32(f"{path}\n".encode("utf-8", "surrogatepass"))
    return [
        crc32(f"{kind}\n{name}\n{line}\n{container}\n{count}\n{qualifier}".encode("utf-8", "surrogatepass"), start)
        for kind, name, line, container, count, qualifier in rows
    ]
