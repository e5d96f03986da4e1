"""Changes of the texts of chunks and symbols, which the catalogue keeps packed, in SQL."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

from codefathom.stores.catalog import packed_outlines, packed_references
from codefathom.stores.packed_chunks import inflated, packed, text_of, unpacked


def with_text_functions(db: sqlite3.Connection) -> sqlite3.Connection:
    """Give a connection the functions TEXT_OF(packed), PACKED(text, signature, doc), WITH_TEXT(packed, text) and
    OUTLINE(packed, text).
    """
    db.create_function("TEXT_OF", 1, text_of)
    db.create_function("PACKED", 3, packed)
    db.create_function("WITH_TEXT", 2, lambda data, text: packed(text, *unpacked(data)[1:]))
    db.create_function("OUTLINE", 2, _outline)
    return db


def _outline(data: bytes, text: str) -> bytes:
    """Return an outline of as many symbols, each with this text as signature and doc comment."""
    return packed_outlines.packed(
        [packed_outlines.OutlineTexts(text, text)] * (len(packed_outlines.unpacked(data)) // 2)
    )


def new_text(text: str, condition: str = "1") -> str:
    """Return the statement that gives chunks another text, which is an expression of SQL."""
    return f"UPDATE chunks SET packed = WITH_TEXT(packed, {text}) WHERE {condition};"


def replaced_text(old: str, new: str, condition: str = "1") -> str:
    """Return the statement that replaces a word in the texts of chunks."""
    return new_text(f"replace(TEXT_OF(packed), '{old}', '{new}')", condition)


def deflated(content: bytes) -> bytes:
    """Deflate any bytes as the texts of chunks are."""
    press = zlib.compressobj(6, zlib.DEFLATED, -12)
    return press.compress(content) + press.flush()


def packed_texts(catalogue: Path) -> list[bytes]:
    """Return what the rows of the chunks hold packed."""
    with closing(sqlite3.connect(catalogue)) as db:
        return [data for (data,) in db.execute("SELECT packed FROM chunks")]


def packed_outline_texts(catalogue: Path) -> list[bytes]:
    """Return what the rows of the outlines hold packed."""
    with closing(sqlite3.connect(catalogue)) as db:
        return [data for (data,) in db.execute("SELECT packed FROM outlines")]


def readable_bytes(file: Path) -> bytes:
    """Return the bytes of a file; of a catalogue also the texts that it keeps packed."""
    if file.name != "catalog.db":
        return file.read_bytes()
    chunks, outlines = packed_texts(file), packed_outline_texts(file)
    return b"".join((file.read_bytes(), *map(inflated, chunks), *map(packed_references.inflated, outlines)))
