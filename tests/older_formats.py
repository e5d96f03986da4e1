"""Catalogues as older versions have written them, made of one of this version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from codefathom.stores.catalog import checksums, digests
from codefathom.stores.catalog.packed_outlines import texts_at
from codefathom.stores.catalog.packed_outlines import unpacked as unpacked_outline
from codefathom.stores.catalog.packed_references import inflated, unpacked
from codefathom.stores.packed_chunks import unpacked as unpacked_chunk

EMBEDDINGS_OF_11 = """CREATE TABLE embeddings(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL)"""
EMBEDDINGS_BY = (
    "CREATE UNIQUE INDEX embeddings_text_hash ON embeddings(model, text_hash)",
    "CREATE INDEX embeddings_generation ON embeddings(generation)",
)
SYMBOLS_OF_11 = """CREATE TABLE symbols(
    id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
    qualified_name TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, name_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL, checksum INTEGER NOT NULL)"""
SYMBOLS_BY = (
    "CREATE INDEX symbols_name ON symbols(name, kind)",
    "CREATE INDEX symbols_document ON symbols(document_id, start_line)",
)
CHUNKS_OF_11 = """CREATE TABLE chunks(
    key INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
    symbol TEXT NOT NULL, names TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    start_column INTEGER NOT NULL, text_hash TEXT NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,
    packed BLOB NOT NULL)"""
EMBEDDINGS_OF_8 = """CREATE TABLE embeddings(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY(model, text_hash))"""
REFERENCES_OF_9 = """CREATE TABLE refs(
    document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, line INTEGER NOT NULL,
    container TEXT NOT NULL, count INTEGER NOT NULL, qualifier TEXT NOT NULL, checksum INTEGER NOT NULL)"""
REFERENCES_BY = ("CREATE INDEX refs_name ON refs(name)", "CREATE INDEX refs_document ON refs(document_id, line)")
GENERATIONS = "CREATE INDEX embeddings_generation ON embeddings(generation)"


CHUNKS_OF_10 = """CREATE TABLE chunks(
    key INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
    symbol TEXT NOT NULL, names TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    start_column INTEGER NOT NULL, text TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL,
    text_hash TEXT NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL)"""
CHUNKS_BY = (
    "CREATE INDEX chunks_document ON chunks(document_id, start_line, start_column, end_line, kind)",
    "CREATE INDEX chunks_generation ON chunks(generation)",
    "CREATE INDEX chunks_text_hash ON chunks(text_hash)",
)


def made_older(catalogue: Path, version: int) -> None:
    """Make a catalogue that nobody has open one of format 6 to 11. What these formats lack is lost."""
    with closing(sqlite3.connect(catalogue)) as db, db:
        _unpack_outlines(db)
        _name_models(db)
        _renew_chunks(db, version)
        if version < 10:
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


def _unpack_outlines(db: sqlite3.Connection) -> None:
    texts = {document: unpacked_outline(data) for document, data in db.execute("SELECT * FROM outlines")}
    rows = db.execute("SELECT * FROM symbols ORDER BY id").fetchall()
    for table in ("outlines", "symbols"):
        db.execute(f"DROP TABLE {table}")
    for statement in (SYMBOLS_OF_11, *SYMBOLS_BY):
        db.execute(statement)
    values = [(*row[:8], *texts_at(texts[row[1]], row[8]), row[9]) for row in rows]
    db.executemany(f"INSERT INTO symbols VALUES ({', '.join('?' * 11)})", values)


def _name_models(db: sqlite3.Connection) -> None:
    rows = db.execute(
        "SELECT m.name, text_hash, vector, generation FROM embeddings e JOIN models m ON m.id = e.model "
        "ORDER BY e.rowid"
    ).fetchall()
    for table in ("models", "embeddings"):
        db.execute(f"DROP TABLE {table}")
    for statement in (EMBEDDINGS_OF_11, *EMBEDDINGS_BY):
        db.execute(statement)
    values = [(model, digests.shown(digest), *rest) for model, digest, *rest in rows]
    db.executemany("INSERT INTO embeddings VALUES (?, ?, ?, ?)", values)


def _renew_chunks(db: sqlite3.Connection, version: int) -> None:
    rows = db.execute(
        "SELECT key, document_id, id, kind, symbol, names, start_line, end_line, start_column, text_hash, generation, "
        "checksum, packed FROM chunks ORDER BY key"
    ).fetchall()
    (last,) = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    db.execute("DROP TABLE chunks")
    for statement in (CHUNKS_OF_11 if version > 10 else CHUNKS_OF_10, *CHUNKS_BY):
        db.execute(statement)
    for key, document, own, *place, text_hash, generation, checksum, packed in rows:
        head = (key, document, digests.shown(own), *place)
        tail = (digests.shown(text_hash), generation, checksum)
        values = (*head, *tail, packed) if version > 10 else (*head, *unpacked_chunk(packed), *tail)
        db.execute(f"INSERT INTO chunks VALUES ({', '.join('?' * len(values))})", values)
    db.execute("DELETE FROM sqlite_sequence")
    db.execute("INSERT INTO sqlite_sequence VALUES ('chunks', ?)", (last,))


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
