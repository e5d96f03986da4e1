"""The writes of one transaction to the tables of the catalogue."""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from codefathom.facts.reasons import as_line
from codefathom.stores import packed_chunks
from codefathom.stores.catalog import checksums, digests, packed_outlines, packed_references
from codefathom.stores.catalog.outward import OutwardDifference, ShownState, states_in, with_state
from codefathom.stores.catalog.packed_outlines import OutlineTexts
from codefathom.stores.catalog.records import Batch, DocumentRecord, RejectedChanges, RejectedFile, Written
from codefathom.stores.conditions import path_fields
from codefathom.types.hits import Chunk
from codefathom.types.skipped_files import Failure, Skipped
from codefathom.types.symbols import Reference

if TYPE_CHECKING:
    from codefathom.types.parsed_documents import ParsedDocument

WRITTEN = "written"  # key of a random word of the last generation: an older file that is put back may count on to it
LATEST = (
    "latest"  # key of the words of the latest generations, the last one last: whatever was made of one is known by it
)
SHOWN = "shown"  # key of what the writes that led to the last of these show others otherwise than before
_MOST_LATEST = 100
HAS_USED_NAMES = "SELECT 1 FROM sqlite_master WHERE name = 'used_names'"

_PUT_DOCUMENT = (
    "INSERT INTO documents(path, dir, name, ext, language, fingerprint, size, mtime_ns, module, sub_module, "
    "n_lines, parser, chunker, problems, generation, ctime_ns, inode) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT(path) DO UPDATE SET language = excluded.language, fingerprint = excluded.fingerprint, "
    "size = excluded.size, mtime_ns = excluded.mtime_ns, n_lines = excluded.n_lines, parser = excluded.parser, "
    "chunker = excluded.chunker, problems = excluded.problems, generation = excluded.generation, "
    "ctime_ns = excluded.ctime_ns, inode = excluded.inode RETURNING id"
)
_PUT_CHUNK = (
    "INSERT INTO chunks(document_id, id, kind, symbol, names, start_line, end_line, start_column, "
    "text_hash, generation, checksum, packed) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
)
_PUT_SYMBOL = (
    "INSERT INTO symbols(document_id, kind, name, qualified_name, start_line, end_line, name_line, place, checksum) "
    "VALUES (?,?,?,?,?,?,?,?,?)"
)
_MOVE_CHUNK = "UPDATE chunks SET start_line = ?, end_line = ?, start_column = ?, checksum = ? WHERE key = ?"
# A vector that is there already keeps its generation, so that no view takes it for a new one.
_PUT_VECTOR = (
    "INSERT INTO embeddings(model, text_hash, vector, generation) VALUES (?,?,?,?) ON CONFLICT DO UPDATE "
    "SET vector = excluded.vector, generation = excluded.generation WHERE vector <> excluded.vector"
)

_COUNT_STAMPS = (
    "INSERT INTO meta VALUES ('stamps', '1') ON CONFLICT(key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
)


def apply_batch(db: sqlite3.Connection, batch: Batch) -> Written:
    """Apply a batch inside a transaction; the generation grows when documents came, changed or went."""
    before = _generation(db)
    written = Written(before + 1, [], [])
    difference = OutwardDifference(db, is_first=not before or not has_used_names(db))
    for path in batch.removed:
        difference.remove(path)
    n_removed = sum(_remove_document(db, path, written) for path in batch.removed)
    # By path, so that a path named twice is written once, as it was named last.
    for record in {item.parsed.document.path: item for item in batch.records}.values():
        difference.write(record.parsed)
        _write_document(db, record, written)
    db.executemany(
        "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
        [(*stamp, path) for path, *stamp in batch.touched],
    )
    if batch.touched:
        db.execute(_COUNT_STAMPS)
    _replace_lists(db, batch)
    put_meta(db, batch.meta)
    if not n_removed and not batch.records:
        return written._replace(generation=before)
    db.executemany("INSERT INTO removed VALUES (?, ?)", [(key, written.generation) for key in written.removed])
    _put_generation(db, written.generation, difference.packed())
    return written


class DocumentWriting:
    """A document that is too large to be held, written piece by piece inside one transaction. It has no symbols."""

    def __init__(self, db: sqlite3.Connection, record: DocumentRecord) -> None:
        """Remove the chunks and symbols that the catalogue has of the document. `record` has no chunks and vectors."""
        self.removed: list[int] = []  # keys of its chunks so far
        self._db = db
        self._record = record
        self._generation = _generation(db) + 1
        difference = OutwardDifference(db, is_first=self._generation == 1 or not has_used_names(db))
        difference.write(record.parsed)
        self._note = difference.packed()
        self._id = _put_document(db, record, self._generation)
        self.removed = [key for (key,) in db.execute("SELECT key FROM chunks WHERE document_id = ?", (self._id,))]
        db.execute("DELETE FROM chunks WHERE document_id = ?", (self._id,))
        _put_outline(db, self._id, record.parsed)

    def add(
        self, chunks: Sequence[Chunk], text_hashes: Sequence[str], vectors: Mapping[str, bytes]
    ) -> list[tuple[int, Chunk, str]]:
        """Add the next chunks and the vectors of their texts; return the chunks with their keys."""
        added = [
            (_put_chunk(self._db, self._id, chunk, text_hash, self._generation), chunk, text_hash)
            for chunk, text_hash in zip(chunks, text_hashes, strict=True)
        ]
        _put_vectors(self._db, self._record.model, vectors, self._generation)
        return added

    def finish(self, n_lines: int, parser: str) -> None:
        """Store what is only known at the end: the number of lines, and the version of the parse stage."""
        self._db.execute("UPDATE documents SET n_lines = ?, parser = ? WHERE id = ?", (n_lines, parser, self._id))
        self._db.executemany("INSERT INTO removed VALUES (?, ?)", [(key, self._generation) for key in self.removed])
        _put_generation(self._db, self._generation, self._note)


def put_vectors(db: sqlite3.Connection, model: str, vectors: Mapping[str, bytes]) -> int:
    """Store embeddings inside a transaction, as a generation of their own."""
    generation = _generation(db)
    if not vectors:
        return generation
    _put_vectors(db, model, vectors, generation + 1)
    _put_generation(db, generation + 1, "")
    return generation + 1


def store_vectors(db: sqlite3.Connection, model: str, vectors: Mapping[str, bytes]) -> None:
    """Store embeddings inside a transaction that every view of the present generation has."""
    _put_vectors(db, model, vectors, _generation(db))


def count_generation(db: sqlite3.Connection) -> None:
    """Let the generation grow inside a transaction, for a change that no batch makes."""
    _put_generation(db, _generation(db) + 1, None)


def name_state(db: sqlite3.Connection) -> None:
    """Give the present state another random word inside a transaction, by which what is made of it is known."""
    _put_generation(db, _generation(db), None)


def forget_shown(db: sqlite3.Connection) -> None:
    """Forget, inside a transaction, what documents that were changed or removed have shown: names stand in it."""
    db.execute("DELETE FROM meta WHERE key = ?", (SHOWN,))


def put_meta(db: sqlite3.Connection, values: Mapping[str, str]) -> None:
    """Store small values."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))


def _put_generation(db: sqlite3.Connection, generation: int, note: str | None) -> None:
    """`note` tells what the write shows otherwise; None where that can be anything."""
    word = os.urandom(8).hex()
    keys = (LATEST, SHOWN)
    before = {key: str(value) for key, value in db.execute("SELECT key, value FROM meta WHERE key IN (?, ?)", keys)}
    latest = before.get(LATEST, "").split()
    states: Sequence[ShownState] = ()
    if latest and note is not None:
        states = states_in(before.get(SHOWN, ""), latest[-1]) or [ShownState(_generation(db), latest[-1], "")]
    values = {LATEST: " ".join([*latest, word][-_MOST_LATEST:])}
    values[SHOWN] = with_state(states, ShownState(generation, word, note or ""))
    put_meta(db, {"generation": str(generation), WRITTEN: word, **values})


def _generation(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return int(row[0]) if row else 0


def _write_document(db: sqlite3.Connection, record: DocumentRecord, written: Written) -> None:
    document_id = _put_document(db, record, written.generation)
    before = _chunks_before(db, document_id)
    moved = []
    for chunk, text_hash in zip(record.chunks, record.text_hashes, strict=True):
        key = before.pop(_sameness(chunk, text_hash), None)
        if key is None:
            written.added.append((_put_chunk(db, document_id, chunk, text_hash, written.generation), chunk, text_hash))
        else:
            moved.append((chunk.start_line, chunk.end_line, chunk.column, _sum_of(chunk), key))
    db.executemany(_MOVE_CHUNK, moved)
    db.executemany("DELETE FROM chunks WHERE key = ?", [(key,) for key in before.values()])
    written.removed.extend(before.values())
    _put_vectors(db, record.model, record.vectors, written.generation)
    _put_outline(db, document_id, record.parsed)


def _put_vectors(db: sqlite3.Connection, model: str, vectors: Mapping[str, bytes], generation: int) -> None:
    if not vectors:
        return
    db.execute("INSERT OR IGNORE INTO models(name) VALUES (?)", (model,))
    (number,) = db.execute("SELECT id FROM models WHERE name = ?", (model,)).fetchone()
    rows = [(number, digests.stored(digest), vector, generation) for digest, vector in vectors.items()]
    db.executemany(_PUT_VECTOR, rows)


def _chunks_before(db: sqlite3.Connection, document_id: int) -> dict[tuple[str, ...], int]:
    rows = db.execute(
        "SELECT id, kind, symbol, names, text_hash, CAST(packed AS BLOB), key FROM chunks WHERE document_id = ?",
        (document_id,),
    )
    return {
        (digests.shown(own), *row, digests.shown(text_hash), *packed_chunks.unpacked(data)[1:]): key
        for own, *row, text_hash, data, key in rows
    }


def _sameness(chunk: Chunk, text_hash: str) -> tuple[str, ...]:
    """Return the values of a chunk that a view shows, without its lines. The id stands for path and text."""
    return chunk.id, chunk.kind, chunk.symbol, "\n".join(chunk.names), text_hash, chunk.signature, chunk.doc


def _put_chunk(db: sqlite3.Connection, document_id: int, chunk: Chunk, text_hash: str, generation: int) -> int:
    cursor = db.execute(
        _PUT_CHUNK,
        (
            *(document_id, digests.stored(chunk.id), chunk.kind, chunk.symbol, "\n".join(chunk.names)),
            *(chunk.start_line, chunk.end_line, chunk.column),
            *(digests.stored(text_hash), generation, _sum_of(chunk)),
            packed_chunks.packed(chunk.text, chunk.signature, chunk.doc),
        ),
    )
    return int(cursor.lastrowid or 0)


def _sum_of(chunk: Chunk) -> int:
    return checksums.of_chunk(
        (
            *(chunk.id, chunk.path, chunk.language, chunk.kind, chunk.symbol, "\n".join(chunk.names)),
            *(chunk.start_line, chunk.end_line, chunk.text, chunk.signature, chunk.doc, chunk.column),
        )
    )


def _put_document(db: sqlite3.Connection, record: DocumentRecord, generation: int) -> int:
    document = record.parsed.document
    fields = path_fields(document.path)
    n_lines = record.chunks[-1].end_line if record.chunks else 0
    (document_id,) = db.execute(
        _PUT_DOCUMENT,
        (
            *(document.path, fields["dir"], fields["name"], fields["ext"], document.language, document.fingerprint),
            *(document.size, record.mtime_ns, fields["module"], fields["sub_module"], n_lines),
            *(record.parser, record.chunker, "\n".join(map(as_line, record.parsed.problems)), generation),
            *(record.ctime_ns, record.inode),
        ),
    ).fetchone()
    return int(document_id)


def _put_outline(db: sqlite3.Connection, document_id: int, parsed: ParsedDocument) -> None:
    db.execute("DELETE FROM symbols WHERE document_id = ?", (document_id,))
    path, language = parsed.document.path, parsed.document.language
    rows = []
    for place, s in enumerate(parsed.symbols):
        values = (s.kind, s.name, s.qualified_name, s.start_line, s.end_line, s.name_line)
        checksum = checksums.of_symbol((path, language, *values, s.signature, s.doc))
        rows.append((document_id, *values, place, checksum))
    db.executemany(_PUT_SYMBOL, rows)
    put_outline_texts(db, document_id, [OutlineTexts(s.signature, s.doc) for s in parsed.symbols])
    put_references(db, document_id, path, parsed.references)


def put_outline_texts(db: sqlite3.Connection, document_id: int, texts: Sequence[OutlineTexts]) -> None:
    """Replace signatures and doc comments of the symbols of a document inside a transaction."""
    if texts:
        row = (document_id, packed_outlines.packed(texts))
        db.execute("INSERT OR REPLACE INTO outlines VALUES (?, ?)", row)
    else:
        db.execute("DELETE FROM outlines WHERE document_id = ?", (document_id,))


def put_references(db: sqlite3.Connection, document_id: int, path: str, references: Sequence[Reference]) -> None:
    """Replace the references of a document inside a transaction."""
    row = db.execute("SELECT CAST(names AS BLOB) FROM refs WHERE document_id = ?", (document_id,)).fetchone()
    before = set(packed_references.numbers_in(row[0])) if row else set()
    names = packed_references.used_names(references)
    if references:
        packed = packed_references.packed(references)
        checksum = packed_references.checksum(path, packed_references.inflated(packed))
        db.execute("INSERT OR REPLACE INTO refs VALUES (?,?,?,?)", (document_id, names, checksum, packed))
    elif row:
        db.execute("DELETE FROM refs WHERE document_id = ?", (document_id,))
    now = set(packed_references.numbers_in(names))
    if before != now and has_used_names(db):
        gone, new = ([(number, document_id) for number in numbers] for numbers in (before - now, now - before))
        db.executemany("DELETE FROM used_names WHERE name = ? AND document_id = ?", gone)
        db.executemany("INSERT OR IGNORE INTO used_names VALUES (?, ?)", new)


def has_used_names(db: sqlite3.Connection) -> bool:
    """Return True if the table is there that leads from a name to documents: not before the end of a first run."""
    return db.execute(HAS_USED_NAMES).fetchone() is not None


def put_used_names(db: sqlite3.Connection) -> None:
    """Fill this table anew inside a transaction, in the order of its keys, so that each page is written once."""
    db.execute("DELETE FROM used_names")
    documents: list[int] = []
    buckets = [array("Q") for _ in range(256)]  # by the first bits of the number, as one list would be large
    for document_id, names in db.execute("SELECT document_id, names FROM refs ORDER BY document_id"):
        for number in packed_references.numbers_in(names):
            buckets[number >> 24].append(number << 32 | len(documents))
        documents.append(document_id)
    for bucket in buckets:
        pairs = ((pair >> 32, documents[pair & 0xFFFFFFFF]) for pair in sorted(bucket))
        db.executemany("INSERT OR IGNORE INTO used_names VALUES (?, ?)", pairs)


def _remove_document(db: sqlite3.Connection, path: str, written: Written) -> bool:
    row = db.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
    if row is None:
        return False
    written.removed.extend(key for (key,) in db.execute("SELECT key FROM chunks WHERE document_id = ?", row))
    put_references(db, row[0], path, ())
    for table in ("chunks", "symbols", "outlines", "compilers", "compiler_uses"):
        db.execute(f"DELETE FROM {table} WHERE document_id = ?", row)
    db.execute("DELETE FROM compiler_uses WHERE target_id = ?", row)
    db.execute("DELETE FROM documents WHERE id = ?", row)
    return True


def _replace_lists(db: sqlite3.Connection, batch: Batch) -> None:
    """Replace the lists that are others now: mostly they are the same as after the last run."""
    for table, rows in (("failures", batch.failures), ("skipped", batch.skipped)):
        if rows is not None:
            _replace(db, table, _storable(rows))
    if isinstance(batch.rejected, RejectedChanges):
        db.executemany("DELETE FROM rejected WHERE path = ?", [(path,) for path in batch.rejected.settled])
        db.executemany("INSERT OR REPLACE INTO rejected VALUES (?,?,?,?,?,?)", _rows_of(batch.rejected.new))
    elif batch.rejected is not None:
        _replace(db, "rejected", _rows_of(batch.rejected))


def _rows_of(rejected: Iterable[RejectedFile]) -> list[tuple[object, ...]]:
    return [tuple(item._replace(why=as_line(item.why))) for item in rejected]


def _replace(db: sqlite3.Connection, table: str, rows: list[tuple[object, ...]]) -> None:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    before = db.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid").fetchall()
    if before != rows:
        db.execute(f"DELETE FROM {table}")
        db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)


def _storable(rows: Iterable[Failure | Skipped]) -> list[tuple[object, ...]]:
    """Write names that are not UTF-8, for which SQLite has no place, with escapes."""
    return [(row.path.encode("utf-8", "backslashreplace").decode(), as_line(row.why)) for row in rows]
