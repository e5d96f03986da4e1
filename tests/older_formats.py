"""Catalogues as older versions have written them, made of one of this version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

EMBEDDINGS_OF_8 = """CREATE TABLE embeddings(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY(model, text_hash))"""
GENERATIONS = "CREATE INDEX embeddings_generation ON embeddings(generation)"


def made_older(catalogue: Path, version: int) -> None:
    """Make a catalogue that nobody has open one of format 6, 7 or 8. What these formats lack is lost."""
    with closing(sqlite3.connect(catalogue)) as db, db:
        rows = db.execute("SELECT model, text_hash, vector, generation FROM embeddings ORDER BY rowid").fetchall()
        db.execute("DROP TABLE embeddings")
        db.execute(EMBEDDINGS_OF_8)
        db.execute(GENERATIONS)
        db.executemany("INSERT INTO embeddings VALUES (?, ?, ?, ?)", rows)
        for table in ("compilers", "compiler_uses") if version < 8 else ():
            db.execute(f"DROP TABLE {table}")
        for table in ("documents", "rejected") if version < 7 else ():
            db.execute(f"ALTER TABLE {table} DROP COLUMN ctime_ns")
            db.execute(f"ALTER TABLE {table} DROP COLUMN inode")
        db.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(version),))
    seal = catalogue.with_name(catalogue.name + ".seal")
    seal.unlink(missing_ok=True)  # it is that of the file before this
