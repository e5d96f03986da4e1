"""Catalogues as older versions have written them, made of one of this version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from codefathom.stores.catalog import checksums
from codefathom.stores.catalog.packed_references import inflated, unpacked

EMBEDDINGS_OF_8 = """CREATE TABLE embeddings(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY(model, text_hash))"""
REFERENCES_OF_9 = """CREATE TABLE refs(
    document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, line INTEGER NOT NULL,
    container TEXT NOT NULL, count INTEGER NOT NULL, qualifier TEXT NOT NULL, checksum INTEGER NOT NULL)"""
REFERENCES_BY = ("CREATE INDEX refs_name ON refs(name)", "CREATE INDEX refs_document ON refs(document_id, line)")
GENERATIONS = "CREATE INDEX embeddings_generation ON embeddings(generation)"


def made_older(catalogue: Path, version: int) -> None:
    """Make a catalogue that nobody has open one of format 6 to 9. What these formats lack is lost."""
    with closing(sqlite3.connect(catalogue)) as db, db:
        _unpack_references(db)
        db.execute("DROP INDEX symbols_name")
        db.execute("CREATE INDEX symbols_name ON symbols(name)")
        if version < 9:
            _renew_embeddings(db)
        for table in ("compilers", "compiler_uses") if version < 8 else ():
            db.execute(f"DROP TABLE {table}")
        for table in ("documents", "rejected") if version < 7 else ():
            db.execute(f"ALTER TABLE {table} DROP COLUMN ctime_ns")
            db.execute(f"ALTER TABLE {table} DROP COLUMN inode")
        db.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(version),))
    seal = catalogue.with_name(catalogue.name + ".seal")
    seal.unlink(missing_ok=True)  # it is that of the file before this


def _renew_embeddings(db: sqlite3.Connection) -> None:
    rows = db.execute("SELECT model, text_hash, vector, generation FROM embeddings ORDER BY rowid").fetchall()
    db.execute("DROP TABLE embeddings")
    db.execute(EMBEDDINGS_OF_8)
    db.execute(GENERATIONS)
    db.executemany("INSERT INTO embeddings VALUES (?, ?, ?, ?)", rows)


def _unpack_references(db: sqlite3.Connection) -> None:
    packed = db.execute("SELECT d.id, d.path, r.packed FROM refs r JOIN documents d ON d.id = r.document_id").fetchall()
    for table in ("refs", "used_names"):
        db.execute(f"DROP TABLE {table}")
    for statement in (REFERENCES_OF_9, *REFERENCES_BY):
        db.execute(statement)
    for document, path, data in packed:
        rows = [(r.kind, r.name, r.line, r.container, r.count, r.qualifier) for r in unpacked(inflated(data))]
        sums = checksums.of_references(path, rows)
        values = [(document, *row, checksum) for row, checksum in zip(rows, sums, strict=True)]
        db.executemany("INSERT INTO refs VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
