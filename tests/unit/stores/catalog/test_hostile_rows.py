"""Rows as no version writes them: of an older format that is brought up, and of one that is compared with the files."""

from __future__ import annotations

import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest
from tests.older_formats import made_older
from tests.packed_texts import deflated

from codefathom.stores.catalog import checksums
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.types import Chunk, Document, ParsedDocument, Reference

N_CHUNKS = 8


def record() -> DocumentRecord:
    texts = [f"line {number}\n" for number in range(N_CHUNKS)]
    document = Document("a.py", "python", "".join(texts), "f", N_CHUNKS)
    parsed = ParsedDocument(document, (), (Reference("call", "feed", 1),), (), "p")
    pieces = tuple(
        Chunk(f"id{line}", "a.py", "python", "block", "", (), line, line, text) for line, text in enumerate(texts, 1)
    )
    return DocumentRecord(parsed, pieces, tuple(f"h{text}" for text in texts), N_CHUNKS, "p", "c", {}, "m")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(Catalog.open(str(tmp_path / "c.db"))) as catalog:
        catalog.write(Batch(records=(record(),)))
    return tmp_path / "c.db"


def changed_unseen(path: Path, statement: str) -> None:
    """Change rows without the conditions of their table."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql LIKE '%(%'").fetchall()
        db.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name IN ('chunks', 'refs')")
        db.commit()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
        db.execute("PRAGMA writable_schema = ON")
        db.executemany("UPDATE sqlite_master SET sql = ? WHERE name = ?", [(sql, name) for name, sql in tables])


@pytest.mark.parametrize(
    ("version", "statement"),
    [
        (10, "UPDATE chunks SET text = NULL WHERE key = 2"),
        (10, "UPDATE chunks SET kind = NULL WHERE key = 2"),
        (9, "UPDATE refs SET name = NULL, checksum = {null_name}"),
        (9, "UPDATE refs SET kind = 'other', checksum = {other_kind}"),
    ],
)
def test_rows_that_no_version_writes_are_damage(path: Path, version: int, statement: str) -> None:
    made_older(path, version)
    null_name = checksums.of_references("a.py", [("call", None, 1, "", 1, "")])[0]
    other_kind = checksums.of_references("a.py", [("other", "feed", 1, "", 1, "")])[0]
    changed_unseen(path, statement.format(null_name=null_name, other_kind=other_kind))
    with closing(Catalog.open(str(path))) as catalog:
        assert (catalog.entries(), catalog.get_meta("set_aside")) == ({}, "it was damaged")
        catalog.write(Batch(records=(record(),)))
        assert catalog.text("a.py") == record().parsed.document.text
    assert path.with_name("c.db.broken").exists()


def test_no_more_is_inflated_than_is_to_be_there(path: Path) -> None:
    bomb = deflated(bytes(1 << 25))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE chunks SET packed = ?", (bomb,))
    with closing(Catalog.open(str(path))) as catalog, closing(catalog.comparison()) as comparison:
        tracemalloc.start()
        try:
            differing = comparison.compare([record()]).differing
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert differing == {"a.py"}
    assert most < 4_000_000
