"""A catalogue that was made elsewhere: its rows are compared with those that would be written now.

Whoever made it may have written anything into it. Rows that say something of files are compared column by column, so
that a column that comes later is compared too; rows that cannot be compared with files are removed.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from codefathom.errors import IndexingError
from codefathom.stores import packed_chunks
from codefathom.stores.catalog import digests
from codefathom.stores.catalog.packed_references import inflated
from codefathom.stores.catalog.records import Batch, DocumentRecord
from codefathom.stores.catalog.schema import KEPT_TEXT, LOST_TEXTS, SCHEMA, TABLES
from codefathom.stores.catalog.writing import apply_batch, has_used_names, name_state, put_meta, put_used_names

if TYPE_CHECKING:
    from codefathom.types.parsed_documents import Document

_MARK = "known:"  # in front of the word by which a user knows this index again
_MAX_MARKS = 50
_OWN_META = ("format", "identity", "generation")
_KEPT_META = (*_OWN_META, "set_aside", LOST_TEXTS)
_MAX_KEY = 2**53  # the largest integer that every library takes as a key
_PARTS = ("chunks", "symbols", "outlines", "refs")  # of a document
# Columns about the place of a row, not about the content of the file. A clone has other time stamps.
_NOT_COMPARED: Mapping[str, frozenset[str]] = {
    "documents": frozenset({"id", "mtime_ns", "ctime_ns", "inode", "generation"}),
    "chunks": frozenset({"key", "document_id", "generation"}),
    "symbols": frozenset({"id", "document_id"}),
    "outlines": frozenset({"document_id"}),
    "refs": frozenset({"document_id"}),
}

Row = tuple[Any, ...]


class Differences(NamedTuple):
    """The result of a comparison of some documents with the catalogue."""

    differing: frozenset[str]  # paths of documents with other rows in the catalogue than would be written now, or none
    keys: Mapping[str, int]  # of the chunks of the other documents, by id


class Comparison:
    """The rows that documents would be stored as now, beside the rows of a catalogue."""

    def __init__(self, db: sqlite3.Connection) -> None:
        """Use a connection that no one else uses; `close` closes it."""
        self._db = db
        self._scratch = sqlite3.connect(":memory:", isolation_level=None)
        for connection in (self._db, self._scratch):
            connection.text_factory = bytes  # a value that is not UTF-8 must differ, not fail
        for statement in SCHEMA.split(";"):
            if "CREATE INDEX" not in statement:
                self._scratch.execute(statement)

    def compare(self, records: Sequence[DocumentRecord]) -> Differences:
        """Compare records with the rows that are there. Raises IndexingError."""
        paths = [record.parsed.document.path for record in records]
        scratch = self._scratch
        scratch.execute("BEGIN")
        try:
            apply_batch(scratch, Batch(records=tuple(records)))
            new, old = _Documents(scratch, paths), _Documents(self._db, paths)
            differing = {path for path in paths if new.own.get(path) != old.own.get(path)}
            for table in _PARTS:
                one, other = new.rows(table), old.rows(table)
                same = _SAME[table]
                differing.update(path for path in paths if not same(one.get(path, []), other.get(path, [])))
            keys = old.keys(set(paths) - differing)
        except sqlite3.DatabaseError as error:
            raise IndexingError(f"the catalogue cannot be read: {error}", hint="run `fathom index --full`") from error
        finally:
            scratch.execute("ROLLBACK")
        return Differences(frozenset(differing), keys)

    def holds_text(self, document: Document) -> bool:
        """Return True if the chunks of a document are its text, each at its own lines, and nothing else."""
        rows = self._db.execute(
            "SELECT c.packed, c.start_line, c.start_column, c.end_line FROM chunks c JOIN documents d "
            "ON d.id = c.document_id WHERE d.path = ? ORDER BY c.start_line, c.start_column, c.end_line",
            (document.path,),
        ).fetchall()
        place, line, column = 0, 1, 1
        for piece, *lines in rows:
            text = packed_chunks.text_of(piece)
            end = line + text.count("\n") - text.endswith("\n")
            if not document.text.startswith(text, place) or lines != [line, column, end]:
                return False
            place, line = place + len(text), line + text.count("\n")
            column = len(text) - text.rfind("\n") if "\n" in text else column + len(text)
        return place == len(document.text)

    def close(self) -> None:
        """Close both connections."""
        self._scratch.close()
        self._db.close()


class _Documents:
    """Some documents of a catalogue with their rows in each table, without keys and generations."""

    def __init__(self, db: sqlite3.Connection, paths: Sequence[str]) -> None:
        self._db = db
        columns = ", ".join(_columns(db, "documents"))
        rows = db.execute(
            f"SELECT id, path, {columns} FROM documents WHERE path IN ({_marks(paths)})", paths
        ).fetchall()
        self.own: dict[str, Row] = {row[1].decode(): row[2:] for row in rows}
        self._path_of: dict[int, str] = {row[0]: row[1].decode() for row in rows}

    def rows(self, table: str) -> dict[str, list[Row]]:
        """Return the rows of a table by path."""
        columns = ", ".join(_columns(self._db, table))
        rows: dict[str, list[Row]] = {}
        for row in self._of(f"SELECT document_id, {columns} FROM {table}", list(self._path_of)):
            rows.setdefault(self._path_of[row[0]], []).append(row[1:])
        return rows

    def keys(self, paths: Collection[str]) -> dict[str, int]:
        """Return the keys of the chunks of these documents, by id."""
        numbers = [number for number, path in self._path_of.items() if path in paths]
        return {digests.shown(row[0]): row[1] for row in self._of("SELECT id, key FROM chunks", numbers)}

    def _of(self, statement: str, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
        return self._db.execute(f"{statement} WHERE document_id IN ({_marks(numbers)})", numbers).fetchall()


def _columns(db: sqlite3.Connection, table: str) -> list[str]:
    names = [row[1].decode() for row in db.execute(f"PRAGMA table_info({table})")]
    return [name for name in names if name not in _NOT_COMPARED[table]]


def _are_same(one: list[Row], other: list[Row]) -> bool:
    return one == other or (len(one) == len(other) and Counter(one) == Counter(other))


def _are_same_chunks(one: list[Row], other: list[Row]) -> bool:
    """Compare what the packed texts say, as `_are_same_references` does."""
    if _are_same(one, other):
        return True
    if Counter(row[:-1] for row in one) != Counter(row[:-1] for row in other):
        return False
    one, other = (sorted(rows, key=itemgetter(slice(-1))) for rows in (one, other))
    return all(_say_same(row[-1], row_there[-1]) for row, row_there in zip(one, other, strict=True))


def _say_same(packed: bytes, packed_there: bytes) -> bool:
    content = packed_chunks.inflated(packed)
    return content == packed_chunks.inflated(packed_there, len(content) + 1)


def _are_same_references(one: list[Row], other: list[Row]) -> bool:
    """Compare what the bytes say: another machine deflates in another way. No more is inflated than is to be there."""
    if [row[:-1] for row in one] != [row[:-1] for row in other]:
        return False
    contents = [inflated(row[-1]) for row in one]
    return contents == [inflated(row[-1], len(content) + 1) for row, content in zip(other, contents, strict=True)]


_SAME = {  # of the rows of _PARTS
    **{"chunks": _are_same_chunks, "symbols": _are_same},
    **{"outlines": _are_same_references, "refs": _are_same_references},
}


def cleanse(db: sqlite3.Connection, models: Collection[str]) -> None:
    """Remove, inside a transaction, all that cannot be compared with files: rows without a document, rows with values
    of other types, texts that are on no disk, lists of the last run, numbers out of range, embeddings of other models
    than these.
    """
    generation = _generation(db)
    for table in TABLES:
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        condition = " OR ".join(f"typeof({row[1]}) NOT IN ('{row[2].lower()}'{_null(row)})" for row in columns)
        if columns:  # else it is one that comes at the end of a first run
            db.execute(f"DELETE FROM {table} WHERE {condition}")
    db.executemany("DELETE FROM documents WHERE id = ?", [(key,) for key in _unreadable(db)])
    n_kept_texts = db.execute(f"DELETE FROM documents WHERE {KEPT_TEXT}").rowcount
    db.execute("REINDEX")  # an index of SQLite could lead to other rows than it says
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({_marks(_OWN_META)}) AND key NOT LIKE '{_MARK}%'", _OWN_META)
    db.execute(
        f"DELETE FROM meta WHERE key LIKE '{_MARK}%' AND (length(key) > 100 OR value <> '' OR key NOT IN "
        f"(SELECT key FROM meta WHERE key LIKE '{_MARK}%' LIMIT {_MAX_MARKS}))"
    )
    for table in ("removed", "failures", "skipped", "rejected", "compilers", "compiler_uses"):
        db.execute(f"DELETE FROM {table}")
    db.execute("DELETE FROM chunks WHERE key NOT BETWEEN 1 AND ?", (_MAX_KEY,))
    for table in _PARTS:
        db.execute(f"DELETE FROM {table} WHERE document_id NOT IN (SELECT id FROM documents)")
    db.execute(f"DELETE FROM models WHERE name NOT IN ({_marks(models)})", tuple(models))
    db.execute("DELETE FROM embeddings WHERE model NOT IN (SELECT id FROM models)")
    db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
    for table in ("documents", "chunks", "embeddings"):
        db.execute(f"UPDATE {table} SET generation = ? WHERE generation NOT BETWEEN 0 AND ?", (generation, generation))
    if has_used_names(db):
        put_used_names(db)
    db.execute("DELETE FROM sqlite_sequence")
    db.execute("INSERT INTO sqlite_sequence SELECT 'chunks', max(key) FROM chunks HAVING max(key) IS NOT NULL")
    # A view of another generation than this one is made again from all chunks.
    put_meta(db, {"oldest_change": str(generation), **({LOST_TEXTS: str(n_kept_texts)} if n_kept_texts else {})})
    name_state(db)  # its maker may know the words that it had


def _unreadable(db: sqlite3.Connection) -> Iterator[int]:
    """Yield the keys of documents with a value that is not UTF-8; their chunks and symbols fail in the comparison."""
    names = [row[1] for row in db.execute("PRAGMA table_info(documents)") if row[2] == "TEXT"]
    columns = ", ".join(f"CAST({name} AS BLOB)" for name in names)
    for key, *values in db.execute(f"SELECT id, {columns} FROM documents").fetchall():
        try:
            b"".join(values).decode()
        except UnicodeDecodeError:
            yield key


def _null(column: Sequence[object]) -> str:
    _, _, _, is_needed, _, is_key = column
    return "" if is_needed or is_key else ", 'null'"


def is_empty(db: sqlite3.Connection) -> bool:
    """Return True if a catalogue holds no rows, which could be false."""
    # Without documents, nothing is read of the names that they would use.
    tables = (table for table in TABLES if table not in ("meta", "used_names"))
    query = " UNION ALL ".join(f"SELECT EXISTS(SELECT 1 FROM {table})" for table in tables)
    return not any(row[0] for row in db.execute(query)) and _generation(db) == 0


def claim(db: sqlite3.Connection, word: str) -> bool:
    """Mark an empty catalogue, inside a transaction, and give it a new identity: views that lie beside are not of it.

    False, with nothing done, for one that holds something, or is marked already.
    """
    if not is_empty(db) or db.execute(f"SELECT 1 FROM meta WHERE key LIKE '{_MARK}%'").fetchone():
        return False
    db.execute(f"DELETE FROM meta WHERE key NOT IN ({_marks(_KEPT_META)})", _KEPT_META)  # choices of somebody else
    put_meta(db, {"identity": os.urandom(8).hex(), **mark(word)})
    return True


def mark(word: str) -> Mapping[str, str]:
    """Return the small value that marks a catalogue with a word."""
    return {f"{_MARK}{word}": ""}


def _generation(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return int(row[0]) if row else 0


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))
