"""The tables of the catalogue, and how a file of another format is told apart."""

from __future__ import annotations

import os
import sqlite3

from codefathom.errors import IndexingError
from codefathom.stores.database import Database, is_damage
from codefathom.stores.writing import put_meta

# 1: before the first release. 2: embeddings carry the generation in which they came.
# A catalogue of an older format is set aside and made again: all of it can be had from the tree and the user's cache.
FORMAT = 2

# documents: module and sub_module are the first and second directory of the path, "" when there is none.
# chunks: keys are never used twice (AUTOINCREMENT), so that a view can name a chunk by its key alone.
# removed: keys of chunks that are gone, for views that still show them.
# embeddings: with rowid, so that vectors are appended; kept in the order of their hashes they cost a fifth of a build.
# rejected: files that were opened and left out for what is in them.
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, dir TEXT NOT NULL, name TEXT NOT NULL, ext TEXT NOT NULL,
    language TEXT NOT NULL, fingerprint TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    module TEXT NOT NULL, sub_module TEXT NOT NULL, n_lines INTEGER NOT NULL, parser TEXT NOT NULL,
    chunker TEXT NOT NULL, problems TEXT NOT NULL, generation INTEGER NOT NULL);
CREATE TABLE chunks(
    key INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
    symbol TEXT NOT NULL, names TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    text TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL, text_hash TEXT NOT NULL,
    generation INTEGER NOT NULL);
CREATE INDEX chunks_document ON chunks(document_id, start_line, end_line, kind);
CREATE INDEX chunks_generation ON chunks(generation);
CREATE INDEX chunks_text_hash ON chunks(text_hash);
CREATE TABLE symbols(
    id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
    qualified_name TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, name_line INTEGER NOT NULL,
    signature TEXT NOT NULL, doc TEXT NOT NULL);
CREATE INDEX symbols_name ON symbols(name);
CREATE INDEX symbols_document ON symbols(document_id, start_line);
CREATE TABLE refs(
    document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, line INTEGER NOT NULL,
    container TEXT NOT NULL, count INTEGER NOT NULL);
CREATE INDEX refs_name ON refs(name);
CREATE INDEX refs_document ON refs(document_id, line);
CREATE TABLE embeddings(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL,
    PRIMARY KEY(model, text_hash));
CREATE INDEX embeddings_generation ON embeddings(generation);
CREATE TABLE removed(key INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE TABLE failures(path TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE skipped(path TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE rejected(path TEXT PRIMARY KEY, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL);
"""


def prepare(database: Database) -> str:
    """Make the tables of a new file; return why an existing one cannot be used, or nothing."""
    try:
        db = database.connection()
        if not _n_tables(db):
            db.execute("PRAGMA journal_mode = WAL")
            with database.transaction():
                if not _n_tables(db):  # another process may have been faster
                    for statement in SCHEMA.split(";"):
                        db.execute(statement)
                    put_meta(db, {"format": str(FORMAT), "identity": os.urandom(8).hex()})
        return _format_problem(db, database.path)
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return f"it was damaged: {error}"
        raise IndexingError(
            f"cannot open the catalogue {database.path!r}: {error}", hint="set FATHOM_INDEX_DIR to another folder"
        ) from error


def open_to_read(path: str) -> Database:
    """Open an existing file and never change it. Raises IndexingError when it is missing, damaged or old."""
    hint = "run `fathom index`"
    if not os.path.exists(path):
        raise IndexingError(f"there is no index at {path!r}", hint=hint)
    database = Database(path, read_only=True)
    try:
        problem = _format_problem(database.connection(), path)
    except sqlite3.DatabaseError as error:
        problem = str(error)
    if problem:
        database.close()
        raise IndexingError(f"the catalogue {path!r} cannot be used: {problem}", hint=hint)
    return database


def _n_tables(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _format_problem(db: sqlite3.Connection, path: str) -> str:
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return "it is not a catalogue"
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    found = str(row[0]) if row else ""
    if found.isdigit() and int(found) > FORMAT:
        raise IndexingError(
            f"the index {path!r} has format {found}, this version reads {FORMAT}",
            hint="use the newer fathom, or remove the folder to index again",
        )
    return "" if found == str(FORMAT) else f"its format was {found or 'unknown'}, now it is {FORMAT}"
