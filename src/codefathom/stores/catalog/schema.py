"""The tables of the catalogue, and the check of the format of a file."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from codefathom.errors import DamagedError, IndexingError, UnwritableError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.stores import packed_chunks
from codefathom.stores.catalog import checksums, digests
from codefathom.stores.catalog.packed_outlines import OutlineTexts
from codefathom.stores.catalog.writing import put_meta, put_outline_texts, put_references, put_used_names
from codefathom.stores.database import Database, failure, is_damage, is_marked, set_aside
from codefathom.stores.folder import File, UnsafeError
from codefathom.stores.sqlite import use_log
from codefathom.stores.write_errors import writing_error
from codefathom.text.kept_names import KEPT_TEXTS
from codefathom.types.symbols import Reference

# 1: before the first release. 2: embeddings carry the generation in which they came. 3: rows that are shown carry a
# checksum, and the file has a seal. 5: chunks have a column. 6: references have a qualifier.
# A catalogue of an older format is set aside and made again: all of it can be had from the tree and the user's cache.
# That is no longer so of the texts that are on no disk, which came with this format: a next one must carry them over.
# 7: documents and files that were left out have ctime and inode. 8: edges of compilers. 9: embeddings have an index
# that can be made late. 10: references are packed,
# and symbols are found by name and kind. 11: texts of chunks are packed. 12: ids and hashes are bytes, models numbers,
# and signatures and comments of symbols are packed.
# A file of format 6 to 11 gets what it lacks when it is opened.
FORMAT = 12
READABLE_FORMATS = frozenset({6, 7, 8, 9, 10, 11, FORMAT})
_ADDED = ", ctime_ns INTEGER NOT NULL DEFAULT 0, inode INTEGER NOT NULL DEFAULT 0"  # to these tables, as SQLite adds it
_WITH_ADDED = ("documents", "rejected")
_STAMP = "size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL"

_WHILE_BROUGHT_UP_S = 1_800.0  # another process does it; a million chunks take minutes

# The condition of documents that are no files, but texts that only the catalogue has.
KEPT_TEXT = f"substr(path, 1, {len(KEPT_TEXTS)}) = '{KEPT_TEXTS}'"
RESTORED = "restored"  # key of a mark, while no run has made the views of a catalogue that was put back
LOST_TEXTS = "lost_texts"  # key of the number of those that were lost, or of UNKNOWN, until a run has told it
UNKNOWN = "unknown"
EMBEDDED = "embedded"  # key of a generation and a model: each chunk up to it has a vector of this model

# documents: module and sub_module are the first and second directory of the path, "" when there is none.
# checksum: of the row and its path, see `checksums.py`.
# chunks: keys are never used twice (AUTOINCREMENT), so that a view can name a chunk by its key alone.
# packed: text, signature and doc comment, see `packed_chunks.py`.
# id, text_hash: see `digests.py`.
# text_hash: empty where the size of the document keeps it from being embedded, which its chunker says as well.
# removed: keys of chunks that are gone, for views that still show them.
# outlines: signatures and doc comments of the symbols of a document by their place, see `packed_outlines.py`.
# refs: the references of a document and the numbers of the names that it uses, see `packed_references.py`.
# used_names: these numbers once more, so that a name leads to the documents that use it.
# embeddings: with rowid, so that vectors are appended; kept in the order of their hashes they cost a fifth of a build.
# rejected: files that were opened and left out because of their content.
# compilers: who has written the uses of a document, and of which version of it.
# compiler_uses: uses in a document of definitions in another one, see `compiler_uses.py`; target_id 0 for uses of what
# is no symbol of the project. Bundled by pairs of documents, as one million of them must be cheap to keep and to find.
SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, dir TEXT NOT NULL, name TEXT NOT NULL, ext TEXT NOT NULL,
    language TEXT NOT NULL, fingerprint TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    module TEXT NOT NULL, sub_module TEXT NOT NULL, n_lines INTEGER NOT NULL, parser TEXT NOT NULL,
    chunker TEXT NOT NULL, problems TEXT NOT NULL, generation INTEGER NOT NULL{_ADDED});
CREATE TABLE chunks(
    key INTEGER PRIMARY KEY AUTOINCREMENT, document_id INTEGER NOT NULL, id BLOB NOT NULL, kind TEXT NOT NULL,
    symbol TEXT NOT NULL, names TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    start_column INTEGER NOT NULL, text_hash BLOB NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,
    packed BLOB NOT NULL);
CREATE INDEX chunks_document ON chunks(document_id, start_line, start_column, end_line, kind);
CREATE INDEX chunks_generation ON chunks(generation);
CREATE INDEX chunks_text_hash ON chunks(text_hash);
CREATE TABLE symbols(
    id INTEGER PRIMARY KEY, document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL COLLATE NOCASE,
    qualified_name TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, name_line INTEGER NOT NULL,
    place INTEGER NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX symbols_name ON symbols(name, kind);
CREATE INDEX symbols_document ON symbols(document_id, start_line);
CREATE TABLE outlines(document_id INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE refs(
    document_id INTEGER PRIMARY KEY, names BLOB NOT NULL, checksum INTEGER NOT NULL, packed BLOB NOT NULL);
CREATE TABLE used_names(
    name INTEGER NOT NULL, document_id INTEGER NOT NULL, PRIMARY KEY(name, document_id)) WITHOUT ROWID;
CREATE TABLE models(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE embeddings(
    model INTEGER NOT NULL, text_hash BLOB NOT NULL, vector BLOB NOT NULL, generation INTEGER NOT NULL);
CREATE UNIQUE INDEX embeddings_text_hash ON embeddings(model, text_hash);
CREATE INDEX embeddings_generation ON embeddings(generation);
CREATE TABLE removed(key INTEGER PRIMARY KEY, generation INTEGER NOT NULL);
CREATE TABLE failures(path TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE skipped(path TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE rejected(path TEXT PRIMARY KEY, reason TEXT NOT NULL, {_STAMP}{_ADDED});
CREATE TABLE compilers(document_id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, tool TEXT NOT NULL);
CREATE TABLE compiler_uses(
    document_id INTEGER NOT NULL, target_id INTEGER NOT NULL, uses BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY(document_id, target_id));
CREATE INDEX compiler_uses_target ON compiler_uses(target_id);
"""

TABLES = tuple(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
_STATEMENTS = tuple(statement.strip() for statement in SCHEMA.split(";") if statement.strip())


def _about(*tables: str) -> tuple[str, ...]:
    return tuple(s for s in _STATEMENTS if any(f" {table}(" in s.partition("\n")[0] for table in tables))


_REFERENCES = _about("refs", "used_names")
_CHUNKS, *_BY_CHUNK = _about("chunks")
_SYMBOLS, _BY_NAME, _BY_DOCUMENT = _about("symbols")
_MODELS, _EMBEDDINGS, *_BY_TEXT = _about("models", "embeddings")
_OUTLINES = next(statement for statement in _STATEMENTS if " outlines(" in statement)
_CHUNKS_OF_11 = _CHUNKS.replace("id BLOB", "id TEXT").replace("text_hash BLOB", "text_hash TEXT")
_SYMBOLS_OF_11 = _SYMBOLS.replace("place INTEGER NOT NULL", "signature TEXT NOT NULL, doc TEXT NOT NULL")
_EMBEDDINGS_OF_11 = _EMBEDDINGS.replace("model INTEGER", "model TEXT").replace("text_hash BLOB", "text_hash TEXT")
_STATEMENTS_OF_11 = (
    *(s for s in _STATEMENTS if s not in (_CHUNKS, _SYMBOLS, _OUTLINES, _MODELS, _EMBEDDINGS)),
    *(_CHUNKS_OF_11, _SYMBOLS_OF_11, _EMBEDDINGS_OF_11),
)
_CHUNKS_OF_10 = _CHUNKS_OF_11.replace(
    "text_hash TEXT NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,\n    packed BLOB NOT NULL",
    "text TEXT NOT NULL, signature TEXT NOT NULL, doc TEXT NOT NULL,\n    text_hash TEXT NOT NULL, "
    "generation INTEGER NOT NULL, checksum INTEGER NOT NULL",
)
_STATEMENTS_OF_10 = (*(statement for statement in _STATEMENTS_OF_11 if statement != _CHUNKS_OF_11), _CHUNKS_OF_10)
_REFERENCES_OF_9 = (
    "CREATE TABLE refs(\n    document_id INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL, "
    "line INTEGER NOT NULL,\n    container TEXT NOT NULL, count INTEGER NOT NULL, qualifier TEXT NOT NULL, "
    "checksum INTEGER NOT NULL)",
    "CREATE INDEX refs_document ON refs(document_id, line)",
    "CREATE INDEX refs_name ON refs(name)",
)
_BY_NAME_OF_9 = _BY_NAME.replace(", kind", "")
_STATEMENTS_OF_9 = (
    *(statement for statement in _STATEMENTS_OF_10 if statement not in (*_REFERENCES, _BY_NAME)),
    *(*_REFERENCES_OF_9, _BY_NAME_OF_9),
)
_STATEMENTS_OF_8 = (
    *(statement for statement in _STATEMENTS_OF_9 if statement not in (_EMBEDDINGS_OF_11, _BY_TEXT[0])),
    _EMBEDDINGS_OF_11.removesuffix(")") + ",\n    PRIMARY KEY(model, text_hash))",
)
_NEW_IN_8 = tuple(statement for statement in _STATEMENTS if " compiler" in statement)
_STATEMENTS_OF_7 = tuple(statement for statement in _STATEMENTS_OF_8 if statement not in _NEW_IN_8)
_STATEMENTS_OF_6 = tuple(statement.replace(_ADDED, "") for statement in _STATEMENTS_OF_7)
_STATEMENTS_OF = {
    **{6: _STATEMENTS_OF_6, 7: _STATEMENTS_OF_7, 8: _STATEMENTS_OF_8, 9: _STATEMENTS_OF_9},
    **{10: _STATEMENTS_OF_10, 11: _STATEMENTS_OF_11, FORMAT: _STATEMENTS},
}
# Each row of these lies at a random place: with each batch of a few files, most pages of a large index would be written
# again. So a catalogue has them from the end of its first run on.
_LATE_NAMES = ("chunks_text_hash", "symbols_name", "used_names", "embeddings_text_hash")
_LATE = {
    name: statement
    for statement in _STATEMENTS
    for name in _LATE_NAMES
    if name in statement.replace("(", " ").split()[2:4]  # behind CREATE INDEX, CREATE UNIQUE INDEX or CREATE TABLE
}
# Without their index, the embedding of a text comes once with each batch that has it. The first one stays.
_EMBEDDED_ONCE = (
    "DELETE FROM embeddings WHERE rowid NOT IN (SELECT min(rowid) FROM embeddings GROUP BY model, text_hash)"
)
_META = _STATEMENTS[0]
_SEQUENCE = "sqlite_sequence"  # made by SQLite for AUTOINCREMENT
_SEQUENCE_SQL = "CREATE TABLE sqlite_sequence(name,seq)"

OnNote = Callable[[Note], None]  # hears what the user waits for, before the wait


def hear_nothing(_: Note) -> None:
    """Hear notes of whoever has nobody to tell."""


def prepare(database: Database, notes: Mapping[str, str] = MappingProxyType({}), on_note: OnNote = hear_nothing) -> str:
    """Make the tables of a new file, with these notes in `meta`; return the problem of an unusable file, or nothing.

    `on_note` hears that a file of an older format is brought up, before that begins.
    """
    try:
        db = database.connection()
        if not _n_tables(db):
            use_log(db)
            with database.transaction():
                if not _n_tables(db):  # another process may have been faster
                    for statement in _STATEMENTS:
                        db.execute(statement)
                    put_meta(db, {"format": str(FORMAT), "identity": os.urandom(8).hex(), **notes})
        try:
            problem = _problem(db, database.path, FORMAT)
            if problem and (version := _older_format(db, database.path)):
                on_note(Note(say.OLD_FORMAT, {"before": version, "now": FORMAT}))
                _bring_up(database)
                problem = _problem(db, database.path, FORMAT)
        except DamagedError:
            problem = "it was damaged"
        except IndexingError:
            if not database.damage():  # else a wrong number is all that is newer
                raise
            problem = "it was damaged"
        if not problem:
            use_log(db)
        return problem
    except UnsafeError as error:
        return str(error.strerror)
    except OSError as error:
        raise writing_error("cannot open the catalogue", database.file.folder, error) from error
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return f"it was damaged: {error}"
        raise failure(f"cannot open the catalogue {database.path!r}", database.file, error) from error


def _bring_up(database: Database) -> None:
    """Give a file of an older format the columns and tables of this one. What they hold is recorded by later runs.

    Raises DamagedError, and changes nothing, where it has rows as no version writes them.
    """
    with database.waiting(_WHILE_BROUGHT_UP_S), database.transaction() as db:
        version = _older_format(db, database.path)
        if not version:  # another process may have been faster
            return
        try:
            _change_tables(db, version)
        except (sqlite3.IntegrityError, AttributeError, OverflowError, TypeError, ValueError) as error:
            raise database.damaged(str(error)) from error  # other kinds of values, or a key twice
        put_meta(db, {"format": str(FORMAT)})
    with suppress(sqlite3.OperationalError), database.lent() as db:  # without room, or beside a writer, it stays large
        db.execute("VACUUM")  # half of the pages may be free now


def _change_tables(db: sqlite3.Connection, version: int) -> None:
    if version < 7:
        for table in _WITH_ADDED:
            for column in filter(None, _ADDED.split(", ")):
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in _NEW_IN_8 if version < 8 else ():
        db.execute(statement)
    if version < 10:
        _pack_references(db)
    _renew_chunks(db, version)
    _renew_embeddings(db)
    _pack_outlines(db)


def _renew_embeddings(db: sqlite3.Connection) -> None:
    """Put the rows of a table with names of models and hashes as text into one of this format."""
    for index in ("generation", "text_hash"):
        db.execute(f"DROP INDEX IF EXISTS embeddings_{index}")
    db.execute("ALTER TABLE embeddings RENAME TO embeddings_before")
    for statement in (_MODELS, _EMBEDDINGS, *_BY_TEXT):
        db.execute(statement)
    db.execute("INSERT INTO models(name) SELECT DISTINCT model FROM embeddings_before")
    rows = db.execute(
        "SELECT m.id, b.text_hash, b.vector, b.generation FROM embeddings_before b JOIN models m ON m.name = b.model "
        "ORDER BY b.rowid"
    )
    shorter = ((model, digests.stored(digest), *rest) for model, digest, *rest in rows)
    # Without their index, the embedding of a text may be there more than once.
    db.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?, ?)", shorter)
    db.execute("DROP TABLE embeddings_before")


def _pack_outlines(db: sqlite3.Connection) -> None:
    """Put the rows of a table of symbols with two texts each into one of this format."""
    for index in ("name", "document"):
        db.execute(f"DROP INDEX IF EXISTS symbols_{index}")
    db.execute("ALTER TABLE symbols RENAME TO symbols_before")
    db.execute(_SYMBOLS)
    db.execute(_OUTLINES)
    rows = db.execute(
        "SELECT id, document_id, kind, name, qualified_name, start_line, end_line, name_line, checksum, "
        "CAST(signature AS TEXT), CAST(doc AS TEXT) FROM symbols_before ORDER BY document_id, id"
    )
    for document_id, group in groupby(rows, itemgetter(1)):
        symbols = list(group)
        db.executemany(
            f"INSERT INTO symbols VALUES ({', '.join('?' * 10)})",
            [(*row[:8], place, row[8]) for place, row in enumerate(symbols)],
        )
        put_outline_texts(db, document_id, [OutlineTexts(*row[9:]) for row in symbols])
    db.execute("DROP TABLE symbols_before")
    for statement in (_BY_NAME, _BY_DOCUMENT):
        db.execute(statement)


def _pack_references(db: sqlite3.Connection) -> None:
    """Put the rows of a table of format 9, one for each reference, into one row for each document."""
    db.execute("ALTER TABLE refs RENAME TO refs_before")
    for statement in _REFERENCES:
        db.execute(statement)
    for document_id, path in db.execute("SELECT id, path FROM documents").fetchall():
        rows = db.execute(
            "SELECT kind, name, line, container, count, qualifier, checksum FROM refs_before WHERE document_id = ? "
            "ORDER BY line, rowid",
            (document_id,),
        ).fetchall()
        sums = checksums.of_references(path, [row[:-1] for row in rows])
        sound = [Reference(*row[:-1]) for row, checksum in zip(rows, sums, strict=True) if row[-1] == checksum]
        put_references(db, document_id, path, sound)
    db.execute("DROP TABLE refs_before")
    put_used_names(db)


def _renew_chunks(db: sqlite3.Connection, version: int) -> None:
    """Put the rows of a table with ids as text, before format 11 with three texts, into one of this format.

    Keys stay as they are.
    """
    for index in ("document", "generation", "text_hash"):
        db.execute(f"DROP INDEX IF EXISTS chunks_{index}")
    db.execute("ALTER TABLE chunks RENAME TO chunks_before")
    db.execute(_CHUNKS)
    texts = "packed" if version > 10 else "CAST(text AS TEXT), CAST(signature AS TEXT), CAST(doc AS TEXT)"
    rows = db.execute(
        "SELECT key, document_id, id, kind, symbol, names, start_line, end_line, start_column, text_hash, generation, "
        f"checksum, {texts} FROM chunks_before ORDER BY key"
    )
    db.executemany(f"INSERT INTO chunks VALUES ({', '.join('?' * 13)})", map(_renewed_chunk, rows))
    db.execute(f"DELETE FROM {_SEQUENCE} WHERE name = 'chunks'")
    db.execute(f"UPDATE {_SEQUENCE} SET name = 'chunks' WHERE name = 'chunks_before'")  # no key is given twice
    db.execute("DROP TABLE chunks_before")
    for statement in _BY_CHUNK:
        db.execute(statement)


def _renewed_chunk(row: tuple[Any, ...]) -> tuple[Any, ...]:
    key, document_id, chunk_id, *values, text_hash, generation, checksum = row[:12]
    texts = row[12] if len(row) == 13 else packed_chunks.packed(*row[12:])
    own, of_text = map(digests.stored, (chunk_id, text_hash))
    return (key, document_id, own, *values, of_text, generation, checksum, texts)


def drop_late_indexes(db: sqlite3.Connection) -> None:
    """Drop, inside a transaction, the indexes that are made when the first documents are there."""
    for name, statement in _LATE.items():
        db.execute(f"DROP {'TABLE' if statement.startswith('CREATE TABLE') else 'INDEX'} IF EXISTS {name}")


def with_late_indexes(read: Callable[[str], Sequence[tuple[str]]]) -> bool:
    """Return True if all of them are there, as a function tells that returns the rows of a query."""
    return _LATE.keys() <= {name for (name,) in read("SELECT name FROM sqlite_master")}


def make_late_indexes(db: sqlite3.Connection) -> None:
    """Make them anew inside a transaction."""
    drop_late_indexes(db)
    db.execute(_EMBEDDED_ONCE)
    for statement in _LATE.values():
        db.execute(statement)
    put_used_names(db)


def _older_format(db: sqlite3.Connection, path: str) -> int:
    """Return the number of the older format that a whole catalogue has and that can be brought up; 0 for any other."""
    older = READABLE_FORMATS - {FORMAT}
    return next((version for version in sorted(older) if not _problem(db, path, version)), 0)


def prepared(file: File, on_note: OnNote = hear_nothing) -> tuple[Database, str]:
    """Open a file, or make it; return also the reason why it cannot be used, or nothing. `on_note` as in `prepare`."""
    database = Database(file)
    try:
        return database, prepare(database, on_note=on_note)
    except BaseException:
        database.close()
        raise


def made_again(file: File) -> Database:
    """Set an unusable file aside and make a new one, which keeps the reason. Needs the writer lock."""
    reason, lost = "it was damaged" if is_marked(file) else "", ""
    for _ in range(2):
        if reason:
            lost = lost or _n_kept_texts(file)
            set_aside(file)
        database = Database(file)
        notes = {"set_aside": "" if _is_of_older_format(reason) else reason, LOST_TEXTS: lost}
        try:
            problem = prepare(database, {name: note for name, note in notes.items() if note})
        except BaseException:
            database.close()
            raise
        if not problem:
            return database
        database.close()
        reason = problem
    raise IndexingError(
        f"the catalogue {file.path!r} cannot be made: {reason}",
        hint="end other fathom processes, then run `fathom index`; if that fails, remove the index folder",
    )


def open_to_read(file: File) -> Database:
    """Open an existing file and never change it. Raises IndexingError when it is missing or old, DamagedError."""
    hint = "run `fathom index`"
    if not file.kind():
        raise IndexingError(f"there is no index at {file.path!r}", hint=hint)
    if is_marked(file):
        raise DamagedError(Note(say.CATALOGUE_MARKED, {"path": repr(file.path)}), hint=Note(say.INDEX_BUILDS_AGAIN))
    database = Database(file, read_only=True)
    try:
        problem = _problem(database.connection(), file.path, FORMAT)
    except OSError as error:
        problem = error.strerror or str(error)
    except sqlite3.DatabaseError as error:
        database.close()
        kind = DamagedError if is_damage(error) else IndexingError
        raise kind(f"the catalogue {file.path!r} cannot be used: {error}", hint=hint) from error
    if problem:
        database.close()
        raise IndexingError(f"the catalogue {file.path!r} cannot be used: {problem}", hint=hint)
    return database


def format_to_bring_up(file: File) -> int:
    """Return the number of the older format of a file that is brought up when it is opened; 0 for any other file."""
    if file.kind() != "file" or is_marked(file):
        return 0
    database = Database(file, read_only=True)
    try:
        return _older_format(database.connection(), database.path)
    except (OSError, IndexingError, sqlite3.DatabaseError):
        return 0
    finally:
        database.close()


def not_brought_up(file: File, version: int, error: UnwritableError) -> UnwritableError:
    """Return the error for the user of a file of an older format that cannot be written."""
    values: dict[str, say.Value] = {"path": repr(file.path), "before": version, "now": FORMAT, "error": error.told}
    return UnwritableError(Note(say.OLD_FORMAT_UNWRITABLE, values), hint=Note(say.OLD_FORMAT_REMEDY))


def _n_kept_texts(file: File) -> str:
    """Return the number of texts that only a file has that is to be set aside, "" for none, or UNKNOWN."""
    if file.kind() != "file":
        return ""
    database = Database(file, read_only=True)
    try:
        db = database.connection()
        if _problem(db, database.path, FORMAT) and not _older_format(db, database.path):
            return ""
        (number,) = db.execute(f"SELECT count(*) FROM documents WHERE {KEPT_TEXT}").fetchone()
        return str(number) if number else ""
    except sqlite3.DatabaseError:
        return UNKNOWN
    except (OSError, IndexingError):
        return ""
    finally:
        database.close()


def _is_of_older_format(problem: str) -> bool:
    """Return True if the only problem of a file is its older format."""
    return re.match(r"its format was \d", problem) is not None


def _n_tables(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _problem(db: sqlite3.Connection, path: str, version: int) -> str:
    """Return the reason why a file is no catalogue of this version of the format, or nothing.

    Only `sqlite_master` is read before it is known that all there is are our tables and indexes: a view that is called
    `meta` could compute for ever, and a trigger would write what it likes.
    """
    rows = db.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    statements = {sql for _, _, sql in rows if sql is not None}
    if _META not in statements or len([name for _, name, _ in rows if name == "meta"]) != 1:
        return "it is not a catalogue"
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    number = str(row[0]) if row else ""
    if number.isdigit() and int(number) > FORMAT:
        raise IndexingError(
            f"the index {path!r} has format {number}, this version reads {FORMAT}",
            hint="use the newer fathom, or remove this file and run `fathom index`",
        )
    if number != str(version):
        return f"its format was {number[:20] or 'unknown'}, now it is {FORMAT}"
    of_sqlite = {name for _, name, sql in rows if sql is None or name == _SEQUENCE}
    own, full = statements - {_SEQUENCE_SQL}, set(_STATEMENTS_OF[version])
    is_ours = own <= full and full - own <= {*_LATE.values(), _REFERENCES_OF_9[-1], _BY_NAME_OF_9}
    if not is_ours or any(not name.startswith("sqlite_") for name in of_sqlite):
        return "it holds other tables than a catalogue has"
    return "" if _is_named(db) else "fathom has not made it"


def _is_named(db: sqlite3.Connection) -> bool:
    """Return True if identity and generation have the form in which fathom writes them."""
    rows = dict(db.execute("SELECT key, value FROM meta WHERE key IN ('identity', 'generation')").fetchall())
    identity, generation = str(rows.get("identity")), str(rows.get("generation", "0"))
    is_number = re.fullmatch(r"\d{1,15}", generation, re.ASCII) is not None
    return is_number and re.fullmatch(r"[0-9a-f]{16}", identity) is not None
