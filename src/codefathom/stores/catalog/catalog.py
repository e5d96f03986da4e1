"""The catalogue: one SQLite file per project that decides what exists. Views are made from it, never the other way."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock, local
from typing import Any, TypeVar, cast

from codefathom.errors import IndexingError, LockedError
from codefathom.facts.languages import CODE
from codefathom.facts.reasons import Note, Told, from_line, notes_of
from codefathom.stores.base import Row
from codefathom.stores.catalog import (
    checked_texts,
    compiler_uses,
    digests,
    foreign,
    import_table,
    language_table,
    soundness,
    stem_table,
)
from codefathom.stores.catalog.conditions_sql import to_sql
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.import_table import NO_IMPORTS, ImportTable
from codefathom.stores.catalog.language_table import LanguageTable
from codefathom.stores.catalog.outward import OutwardChange, ShownState, shown_after, states_in
from codefathom.stores.catalog.packed_references import (
    imports_in,
    mentions_in,
    number_of,
    numbers_in,
    unpacked,
    uses_in,
)
from codefathom.stores.catalog.records import (
    LONG,
    SHORT,
    Batch,
    CatalogChanges,
    CatalogSource,
    CheckedText,
    CompilerRecord,
    CompilerUses,
    Counts,
    DefinitionPlace,
    DocumentRecord,
    Entry,
    LineRange,
    MadeVectors,
    RejectedFile,
    StoredDocument,
    Written,
)
from codefathom.stores.catalog.schema import (
    EMBEDDED,
    OnNote,
    drop_late_indexes,
    hear_nothing,
    made_again,
    make_late_indexes,
    open_to_read,
    prepared,
    with_late_indexes,
)
from codefathom.stores.catalog.soundness import (
    CHUNK,
    FROM_CHUNKS,
    FROM_REFERENCES,
    FROM_SYMBOLS,
    PACKED_REFERENCES,
    Soundness,
)
from codefathom.stores.catalog.stem_table import StemTable
from codefathom.stores.catalog.writing import (
    HAS_USED_NAMES,
    LATEST,
    SHOWN,
    DocumentWriting,
    apply_batch,
    put_meta,
    put_vectors,
    store_vectors,
)
from codefathom.stores.conditions import matches, record_of
from codefathom.stores.database import Database, is_marked, set_aside
from codefathom.stores.folder import File, file_at
from codefathom.stores.kept_file import KeptFile
from codefathom.stores.lock import writer_lock
from codefathom.text.expressions import USUAL_LIMIT_S, deadline
from codefathom.text.file_stems import PathsByStem
from codefathom.text.kept_names import KEPT_TEXTS
from codefathom.types.choices import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, Level
from codefathom.types.hits import Chunk
from codefathom.types.skipped_files import Failure, Skipped
from codefathom.types.symbols import FoundSymbol, Reference, Symbol
from codefathom.types.where import Where

CATALOGUE = "catalog.db"  # in the folder of the index
_BESIDE = "graph."  # begins the names of files with what was made of it
_DOCUMENT = (
    "d.id, d.path, d.language, d.fingerprint, d.size, d.mtime_ns, d.n_lines, d.problems, d.chunker, d.ctime_ns, d.inode"
)
_ENTRY = "id, path, size, mtime_ns, fingerprint, parser, chunker, ctime_ns, inode"
_MAX_PARAMETERS = 30_000  # SQLite takes at most 32 766 in one statement
_MAX_IN_MEMORY = 4_000  # chunks in memory, about 8 MB
_MEMBERS_AND_VALUES = ", ".join(f"'{kind}'" for kind in sorted(CALLABLE_KINDS | VALUE_KINDS))
_TYPES = ", ".join(f"'{kind}'" for kind in sorted(TYPE_KINDS))
_MOST_BEHIND = 20  # generations of a stored table of imports, which is then written again
_PAGE = 2_000  # rows held at a time while views are built
# CROSS JOIN: the places first; else SQLite may walk through all symbols.
_KINDS_IN = (
    "SELECT j.key, s.qualified_name, s.kind FROM json_each(?) j CROSS JOIN documents d ON d.path = "
    "json_extract(j.value, '$[0]') CROSS JOIN symbols s ON s.document_id = d.id AND s.start_line BETWEEN "
    "json_extract(j.value, '$[1]') AND json_extract(j.value, '$[2]') "
    "ORDER BY j.key, s.start_line, s.end_line DESC, s.id"
)
_PATHS = "SELECT CAST(path AS TEXT), id FROM documents"
_Made = TypeVar("_Made")
_PathTable = TypeVar("_PathTable", StemTable, LanguageTable)


class Catalog:
    """Nothing is visible before its transaction ends. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self.path = database.path
        self._database = database
        self._read = database.read
        self.soundness = Soundness(database)
        self._chunks: dict[int, tuple[Chunk, int]] = {}
        self._chunks_generation = -1  # in which they were read
        self._documents: dict[str, StoredDocument] = {}  # by path
        self._documents_state = (-1, "")  # generation and stamps with which they were read
        self._kept: dict[Callable[..., object], tuple[int, object]] = {}  # what was made, and of which generation
        self._imports = NO_IMPORTS
        self._made_vectors: MadeVectors | None = None
        self._keeping = Lock()  # while the table of imports is brought up to date
        self._moment = local()  # `values`: the small values of the moment that this thread is in

    @classmethod
    def open(cls, place: File | str, *, read_only: bool = False, on_note: OnNote = hear_nothing) -> Catalog:
        """Open the catalogue, or make it. One of an older format is brought up, which `on_note` is told before.

        A damaged one, or one of a format that cannot be brought up, is set aside and made again.

        So is an entry that is no regular file, or has another name elsewhere. Raises IndexingError for a newer format,
        for a file that cannot be opened, and, when read_only, for one that is missing, damaged or old; LockedError when
        it must be set aside while another process writes.
        """
        file = file_at(place)
        if read_only:
            return cls(open_to_read(file))
        if not is_marked(file):
            database, problem = prepared(file, on_note)
            if not problem:
                database.settle_alone()
                return cls(database)
            database.close()
        try:
            with writer_lock(file.folder):
                return cls(made_again(file))
        except LockedError:
            # A marked catalogue can still be read in part, and the process that writes now may be making it again.
            database, problem = prepared(file, on_note)
            if problem:
                database.close()
                raise
            return cls(database)

    @property
    def is_replaced(self) -> bool:
        """True if another process has set this file aside and made a new one."""
        return self._database.is_replaced

    def renewed(self) -> Catalog:
        """Set the file aside, and return a new one at its place."""
        self.close()
        file = self._database.file
        set_aside(file)
        return Catalog.open(file)

    def close(self) -> None:
        """Close the file, in all threads; what they read at this moment ends with IndexClosedError there."""
        self._database.close()
        self._kept.clear()  # some of it has this object

    def check_open(self) -> None:
        """Raise IndexClosedError if another thread has closed the file."""
        self._database.check_open()

    def separate(self) -> sqlite3.Connection:
        """Return a connection of its own, which the caller closes."""
        return self._database.separate()

    def source(self) -> CatalogSource | None:
        """Return what another process needs to read the same; None where only this one can."""
        file = self._database.file
        if not os.path.isabs(file.path):
            return None
        n_documents, n_bytes = self._read("SELECT count(*), CAST(total(size) AS INTEGER) FROM documents")[0]
        return CatalogSource(file, n_documents, n_bytes)

    # ---- small values

    @property
    def generation(self) -> int:
        """Number of writes that changed something; 0 before the first."""
        return self.soundness.number("generation", self.get_meta("generation", "0"))

    @property
    def stamps(self) -> str:
        """A word that is another one after time stamps have changed whose files have not; no generation tells that."""
        return self.get_meta("stamps")

    @property
    def identity(self) -> str:
        """Random name of this catalogue: a view made from another one, set aside since, does not carry it."""
        return self.get_meta("identity")

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Have this thread see all small values inside the block as they are at its beginning; they are read once.

        For what asks for several at once. Inside the block this thread writes nothing, and looks for no change.
        """
        if "values" in self._moment.__dict__:
            yield
            return
        self._moment.values = dict(self._read("SELECT key, value FROM meta"))
        try:
            yield
        finally:
            del self._moment.values

    def get_meta(self, key: str, default: str = "") -> str:
        """Return a stored value."""
        values = self._moment.__dict__.get("values")
        if values is not None:
            return str(values.get(key, default))
        rows = self._read("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else default

    def entries(self) -> dict[str, Entry]:
        """Return the stored facts about every document, by path."""
        return {row[1]: Entry._make(row) for row in self._read(f"SELECT {_ENTRY} FROM documents")}

    def entries_at(self, paths: Sequence[str]) -> dict[str, Entry]:
        """Return the stored facts about the documents of these paths that are there, by path."""
        entries: dict[str, Entry] = {}
        for start in range(0, len(paths), _MAX_PARAMETERS):
            part = paths[start : start + _MAX_PARAMETERS]
            rows = self._read(f"SELECT {_ENTRY} FROM documents WHERE path IN ({_marks(part)})", part)
            entries.update((row[1], Entry._make(row)) for row in rows)
        return entries

    def paths_parsed_by(self, part: str) -> list[str]:
        """Return the paths of the documents whose version of the parse stage has this part."""
        return [row[0] for row in self._read("SELECT path FROM documents WHERE instr(parser, ?)", (part,))]

    def kept_texts(self) -> list[str]:
        """Return the paths of the texts that are on no disk."""
        first, behind = KEPT_TEXTS, f"{KEPT_TEXTS[:-1]}0"  # "0" is the character after the slash
        return [
            row[0] for row in self._read("SELECT path FROM documents WHERE path >= ? AND path < ?", (first, behind))
        ]

    # ---- write

    def begin_load(self) -> None:
        """Prepare for the first documents: indexes that are written at random places are made when all are there.

        Where a run was killed meanwhile, they are made at once: searches of the next run need them.
        """
        if self._read("SELECT 1 FROM documents LIMIT 1"):
            self.end_load()
            return
        with self._database.transaction() as db:
            drop_late_indexes(db)

    def end_load(self) -> None:
        """Make the indexes that are not there."""
        if with_late_indexes(self._read):
            return
        with self._database.transaction() as db:
            make_late_indexes(db)
        self._database.settle_when_long()

    def begin_keys_after(self, key: int) -> None:
        """Give all chunks larger keys than this one, while there are none: so those of several catalogues differ."""
        with self._database.transaction() as db:
            db.execute(
                "INSERT INTO sqlite_sequence(name, seq) SELECT 'chunks', ? "
                "WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'chunks')",
                (key,),
            )

    def write(self, batch: Batch) -> Written:
        """Apply a batch in one transaction. A chunk that is unchanged but for its lines keeps its key."""
        with self._database.transaction() as db:
            written = apply_batch(db, batch)
        self._database.settle_when_long()
        return written

    @contextmanager
    def writing(self, record: DocumentRecord) -> Iterator[DocumentWriting]:
        """Write a document piece by piece in one transaction, which ends with the block."""
        with self._database.transaction() as db:
            yield DocumentWriting(db, record)
        self._database.settle_when_long()

    def add_vectors(self, model: str, vectors: Mapping[str, bytes]) -> int:
        """Store embeddings that were made after their chunks, and return the new generation."""
        with self._database.transaction() as db:
            return put_vectors(db, model, vectors)

    def make_vectors(self, made: MadeVectors) -> None:
        """Have the vectors of a model made of the texts of chunks, where they are not stored."""
        self._made_vectors = made

    def makes_vectors(self, model: str) -> bool:
        """Return True if vectors of this model are never stored."""
        made = self._makes(model)
        return made is not None and not made.are_stored

    def store_made(self) -> None:
        """Store vectors that were made until now, for whoever asks for few of them again and again.

        No view lacks them, so that the generation stays.
        """
        made = self._made_vectors
        if made is None or made.are_stored:
            return
        for part in _pages(self._embeddable()):
            with self._database.transaction() as db:
                store_vectors(db, made.model, {digest: vector for _, digest, _, vector in self._made_of(made, part)})
            self._database.settle_when_long()
        self._made_vectors = made._replace(are_stored=True)

    def drop_made(self) -> bool:
        """Drop stored vectors that are made now; return True if there were some."""
        made = self._made_vectors
        if made is None or made.are_stored or not self.dimensions_of(made.model):
            return False
        self.drop_vectors(made.model)
        return True

    def prune(self, oldest_view: int) -> None:
        """Drop embeddings that no chunk needs, and removals that a view of generation `oldest_view` contains."""
        with self._database.transaction() as db:
            db.execute("DELETE FROM embeddings WHERE text_hash NOT IN (SELECT text_hash FROM chunks)")
            db.execute("DELETE FROM removed WHERE generation <= ?", (oldest_view,))
            put_meta(db, {"oldest_change": str(max(oldest_view, self._oldest_change))})

    def scrub(self) -> bool:
        """Leave no deleted content in the file; return False when another reader was in the way."""
        return self._database.scrub()

    def flush(self) -> None:
        """Make all writes survive a power cut. A view that is ahead of its catalogue would be wrong."""
        with self._database.lent() as connection:
            connection.execute("PRAGMA synchronous = FULL")
            try:
                with self._database.transaction() as db:
                    put_meta(db, {"flushed": self.get_meta("generation", "0")})
            finally:
                connection.execute("PRAGMA synchronous = NORMAL")

    # ---- a catalogue that was made elsewhere

    def is_marked_with(self, word: str) -> bool:
        """Return True if the catalogue carries this word, by which the user's registry knows it."""
        (name,) = foreign.mark(word)
        return bool(word) and bool(self._read("SELECT 1 FROM meta WHERE key = ?", (name,)))

    def mark(self, word: str) -> None:
        """Mark the catalogue with a word, besides the words of other users."""
        with self._database.transaction() as db:
            put_meta(db, foreign.mark(word))

    def claim(self, word: str) -> bool:
        """Mark it when it is empty and nobody's yet; see `foreign.claim`."""
        with self._database.transaction() as db:
            return foreign.claim(db, word)

    def cleanse(self, models: Collection[str]) -> None:
        """Remove all rows that cannot be compared with files."""
        with self._database.transaction() as db:
            foreign.cleanse(db, models)

    def comparison(self) -> foreign.Comparison:
        """Return the comparison of documents with the rows of this catalogue."""
        return foreign.Comparison(self._database.separate())

    def some_vectors(self, model: str, n: int) -> list[tuple[int, str, Chunk, bytes]]:
        """Return n vectors of a model, chosen by chance: key, text hash, chunk, vector."""
        if (made := self._makes(model)) is not None and not made.are_stored:
            chosen = "SELECT min(key) FROM chunks WHERE text_hash <> x'' GROUP BY text_hash ORDER BY random() LIMIT ?"
            return self._made_of(made, [row[0] for row in self._read(chosen, (n,))])
        rows = self._read(
            f"SELECT c.key, {CHUNK}, c.text_hash, e.vector {FROM_CHUNKS} JOIN embeddings e ON e.text_hash = "
            f"c.text_hash WHERE e.model = {_MODEL} GROUP BY c.text_hash ORDER BY random() LIMIT ?",
            (model, n),
        )
        return [(row[0], digests.shown(row[-2]), _chunk(row[1:-2]), row[-1]) for row in map(soundness.with_texts, rows)]

    def drop_vectors(self, model: str) -> None:
        """Drop the embeddings of a model."""
        with self._database.transaction() as db:
            db.execute(f"DELETE FROM embeddings WHERE model = {_MODEL}", (model,))
            put_meta(db, {EMBEDDED: ""})

    def vectors_of(self, model: str, hashes: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors of a model that are stored, by text hash."""
        vectors: dict[str, bytes] = {}
        if self.makes_vectors(model):
            return vectors
        for start in range(0, len(hashes), _MAX_PARAMETERS - 1):
            part = hashes[start : start + _MAX_PARAMETERS - 1]
            rows = self._read(
                f"SELECT text_hash, vector FROM embeddings WHERE model = {_MODEL} AND text_hash IN ({_marks(part)})",
                (model, *map(digests.stored, part)),
            )
            vectors.update((digests.shown(digest), vector) for digest, vector in rows)
        return vectors

    # ---- chunks

    def chunks(self, keys: Collection[int]) -> dict[int, Chunk]:
        """Return the chunks of these keys; keys that no longer exist are left out."""
        return {key: chunk for key, (chunk, _) in self.placed(keys).items()}

    def placed(self, keys: Collection[int]) -> dict[int, tuple[Chunk, int]]:
        """Return the chunks of these keys, each with the number of lines of its document.

        Chunks stay in memory until the catalogue changes: the questions of one person meet the same chunks.
        """
        generation = self.generation
        if self._chunks_generation != generation or len(self._chunks) > _MAX_IN_MEMORY:
            self._chunks, self._chunks_generation = {}, generation
        chunks = self._chunks  # another thread may replace it meanwhile
        missing = [key for key in keys if key not in chunks]
        for start in range(0, len(missing), _MAX_PARAMETERS):
            part = missing[start : start + _MAX_PARAMETERS]
            rows = self.soundness.sound_chunk_rows(f"c.key IN ({_marks(part)})", part)
            chunks.update((row[0], (_chunk(row[1:]), row[soundness.N_LINES])) for row in rows)
        return {key: chunks[key] for key in keys if key in chunks}

    def chunks_of(self, path: str) -> list[tuple[int, Chunk]]:
        """Return the chunks of a document in line order; they join up to its text."""
        return [(row[0], _chunk(row[1:])) for row in self.soundness.pieces(path)]

    def texts(self, paths: Sequence[str]) -> Iterator[CheckedText]:
        """Yield the documents of sorted paths; one that is damaged, or gone, has no text."""
        return checked_texts.read(self._database, paths, self.soundness.leave_out)

    def keys_of(self, paths: Collection[str]) -> dict[int, str]:
        """Return the keys of the chunks of these few documents, each with the path of its document, in line order."""
        rows = self._read(
            f"SELECT c.key, d.path {FROM_CHUNKS} WHERE d.path IN ({_marks(paths)}) "
            "ORDER BY d.path, c.start_line, c.start_column",
            tuple(paths),
        )
        return dict(rows)

    def chunks_defining(self, name: str, *, partial: bool, limit: int) -> list[int]:
        """Return the keys of chunks that define a name, in any case; with `partial`, also names that contain it."""
        condition, value = ("s.name LIKE ? ESCAPE '\\'", f"%{_like(name)}%") if partial else ("s.name = ?", name)
        rows = self._read(
            "SELECT DISTINCT c.key FROM symbols s JOIN chunks c ON c.document_id = s.document_id AND s.name_line "
            "BETWEEN c.start_line AND c.end_line JOIN documents d ON d.id = s.document_id "
            f"WHERE {condition} ORDER BY d.path, c.start_line, c.start_column LIMIT ?",
            (value, limit),
        )
        return [row[0] for row in rows]

    def n_chunks(self) -> int:
        """Return the number of chunks."""
        return int(self._read("SELECT count(*) FROM chunks")[0][0])

    def chunks_at(self, name: str, line: int) -> list[tuple[int, str]]:
        """Return (key, path) of the chunks that hold this line of a file of this name, in the order of paths."""
        return self._read(
            f"SELECT c.key, d.path {FROM_CHUNKS} WHERE d.name = ? AND ? BETWEEN c.start_line AND c.end_line "
            "ORDER BY d.path",
            (name, line),
        )

    def lines(self, path: str, start_line: int, end_line: int) -> str:
        """Return the text of some lines of a document; only "\\n" ends a line."""
        rows = self.soundness.pieces(path, start_line, end_line)
        if not rows:
            return ""
        first = rows[0][soundness.START]
        lines = "".join(row[soundness.TEXT] for row in rows).split("\n")
        text = "\n".join(lines[max(start_line - first, 0) : end_line - first + 1])
        return text + "\n" if end_line - first + 1 < len(lines) else text

    def passes(self, where: Where, place: Chunk) -> bool:
        """Return True if lines of a document, as they are shown, fulfil a condition."""
        return any(matches(where, record_of(place, document)) for document in self.documents_at([place.path]))

    def matching(self, where: Where, level: Level = "chunk") -> set[int]:
        """Return the keys of the chunks for which a condition holds, or for a place of a level in which they lie.

        A condition on the text of a symbol or file is left to the reader. Raises UsageError, SlowExpressionError.
        """
        sql = to_sql(where, level)
        with deadline(USUAL_LIMIT_S):
            return {row[0] for row in self._read(f"SELECT c.key {FROM_CHUNKS} WHERE {sql.condition}", sql.parameters)}

    # ---- for views

    def changes(self, since: int) -> CatalogChanges:
        """Return the chunks that were added, and the keys that were removed, after a generation."""
        removed = self._read("SELECT key FROM removed WHERE generation > ?", (since,))
        return CatalogChanges(
            self._added(since), [row[0] for row in removed], since == 0 or since >= self._oldest_change
        )

    def vectors(self, model: str, since: int = 0) -> Iterator[Row]:
        """Yield the vectors of chunks, ordered by key; with `since`, of those where chunk or vector came after it."""
        if self.makes_vectors(model):
            for part in _pages(self._embeddable(since)):
                yield from self._vectors_of(model, part)
            return
        rows = self._read(
            # + keeps SQLite from reading all vectors of the model instead of the few new ones.
            "SELECT key FROM chunks WHERE generation > ? UNION SELECT c.key FROM embeddings e "
            "CROSS JOIN chunks c ON c.text_hash = e.text_hash "
            f"WHERE e.generation > ? AND +e.model = {_MODEL} ORDER BY 1",
            (since, since, model),
        )
        for part in _pages([row[0] for row in rows]):
            yield from self._vectors_of(model, part)

    def rows(self, model: str, keys: Collection[int]) -> dict[int, bytes]:
        """Return the vectors of these chunks; those that are gone, or have none, are left out."""
        return {row.key: row.vector for part in _pages(list(keys)) for row in self._vectors_of(model, part)}

    def _vectors_of(self, model: str, keys: Sequence[int]) -> Sequence[Row]:
        """Return the vectors of these few chunks, ordered by key."""
        made = self._makes(model)
        stored = [] if made is not None and not made.are_stored else self._stored_vectors(model, keys)
        if made is None or len(stored) == len(keys):
            return stored
        lacking = set(keys).difference(row.key for row in stored)
        return sorted([*stored, *(Row(key, vector) for key, _, _, vector in self._made_of(made, list(lacking)))])

    def _stored_vectors(self, model: str, keys: Sequence[int]) -> list[Row]:
        rows = self._read(
            # CROSS JOIN: chunks first; SQLite would walk through all embeddings for each part.
            "SELECT c.key, e.vector FROM chunks c CROSS JOIN embeddings e ON e.text_hash = c.text_hash "
            f"WHERE e.model = {_MODEL} AND c.text_hash <> x'' AND c.key IN ({_marks(keys)}) ORDER BY c.key",
            (model, *keys),
        )
        return list(map(Row._make, rows))

    def _made_of(self, made: MadeVectors, keys: Sequence[int]) -> list[tuple[int, str, Chunk, bytes]]:
        """Return key, text hash, chunk and vector of those of these few chunks that are embedded."""
        rows = [row for row in map(self.soundness.sound, self._rows_of(keys)) if row[soundness.TEXT_HASH]]
        chunks = [_chunk(row[1:]) for row in rows]
        pieces = zip(rows, chunks, made.of(chunks), strict=True)
        return [(row[0], row[soundness.TEXT_HASH], chunk, vector) for row, chunk, vector in pieces]

    def _makes(self, model: str) -> MadeVectors | None:
        made = self._made_vectors
        return made if made is not None and made.model == model else None

    def _embeddable(self, since: int = -1) -> list[int]:
        """Return the keys of the chunks, written after a generation, whose texts are embedded."""
        condition = "generation > ? AND text_hash <> x'' ORDER BY key"
        return [row[0] for row in self._read(f"SELECT key FROM chunks WHERE {condition}", (since,))]

    def modified_s(self, paths: Collection[str]) -> dict[str, float]:
        """Return the time stamps of documents, in seconds since 1970."""
        names = sorted(paths)[:_MAX_PARAMETERS]
        rows = self._read(f"SELECT path, mtime_ns FROM documents WHERE path IN ({_marks(names)})", names)
        return {path: mtime_ns / 1e9 for path, mtime_ns in rows}

    def n_rows(self, model: str) -> int:
        """Count the chunks that have a vector of this model."""
        if self._makes(model) is not None:
            return int(self._read("SELECT count(*) FROM chunks WHERE text_hash <> x''")[0][0])
        counted = (
            f"SELECT count(*) FROM chunks c JOIN embeddings e ON e.text_hash = c.text_hash WHERE e.model = {_MODEL}"
        )
        return int(self._read(f"{counted} AND c.text_hash <> x''", (model,))[0][0])

    def rewritten(self, since: int) -> list[int]:
        """Return the keys of the chunks of documents that were written after a generation: their lines may differ."""
        rows = self._read(
            "SELECT c.key FROM chunks c JOIN documents d ON d.id = c.document_id WHERE d.generation > ?", (since,)
        )
        return [row[0] for row in rows]

    def without_vector(self, model: str, since: int = -1) -> list[tuple[int, str, Chunk]]:
        """Return the chunks, written after a generation, that have no vector of this model, with their text hashes."""
        if self.makes_vectors(model):
            return []
        condition = f"c.key IN (SELECT key FROM chunks WHERE generation > ?) AND {self._no_vector()} ORDER BY c.key"
        rows = self.soundness.chunk_rows(condition, (since, model))
        return [(row[0], row[soundness.TEXT_HASH], _chunk(row[1:])) for row in map(self.soundness.sound, rows)]

    def dimensions_of(self, model: str) -> int:
        """Return the length of the vectors of a model, 0 when there are none."""
        rows = self._read(f"SELECT length(vector) FROM embeddings WHERE model = {_MODEL} LIMIT 1", (model,))
        return int(rows[0][0]) if rows else 0

    def n_without_vector(self, model: str) -> int:
        """Count the chunks that have no vector of this model."""
        if self._makes(model) is not None:
            return 0
        return int(self._read(f"SELECT count(*) FROM chunks c WHERE {self._no_vector()}", (model,))[0][0])

    def n_by_text(self) -> int:
        """Count the documents that are too short or too long to be embedded."""
        return int(self._read("SELECT count(*) FROM documents WHERE chunker LIKE ? OR chunker LIKE ?", _BY_TEXT)[0][0])

    def paths_without_vector(self, model: str) -> list[str]:
        """Return the paths of documents with a chunk that has no vector of this model, in order."""
        if self._makes(model) is not None:
            return []
        rows = self._read(f"SELECT DISTINCT d.path {FROM_CHUNKS} WHERE {self._no_vector()} ORDER BY d.path", (model,))
        return [row[0] for row in rows]

    # ---- documents, symbols, references

    def documents(self) -> list[StoredDocument]:
        """Return all documents, ordered by path."""
        return [_document(row) for row in self._read(f"SELECT {_DOCUMENT} FROM documents d ORDER BY d.path")]

    def paths(self) -> list[str]:
        """Return the paths of all documents, in order; they are read once a generation."""
        return self.kept(_paths)

    def documents_at(self, paths: Collection[str]) -> list[StoredDocument]:
        """Return the documents of these few paths that are there, in no order; each is read once, until it changes."""
        with self.one_moment():
            state = (self.generation, self.stamps)
        if self._documents_state != state or len(self._documents) > _MAX_IN_MEMORY:
            self._documents, self._documents_state = {}, state
        documents = self._documents  # another thread may replace it meanwhile
        missing = tuple(path for path in paths if path not in documents)
        if missing:
            rows = self._read(f"SELECT {_DOCUMENT} FROM documents d WHERE d.path IN ({_marks(missing)})", missing)
            documents.update((row[1], _document(row)) for row in rows)
        return [documents[path] for path in paths if path in documents]

    def written_after(self, paths: Collection[str], generation: int) -> set[str]:
        """Return those of these few paths whose documents were written after a generation."""
        if self.generation == generation:
            return set()
        condition = f"path IN ({_marks(paths)}) AND generation > ?"
        return {row[0] for row in self._read(f"SELECT path FROM documents WHERE {condition}", (*paths, generation))}

    def paths_since(self, generation: int) -> list[str]:
        """Return the paths of the documents that were written after a generation."""
        return [row[0] for row in self._read("SELECT path FROM documents WHERE generation > ?", (generation,))]

    def document(self, path: str) -> StoredDocument | None:
        """Return one document, or None when it is not in the catalogue."""
        rows = self._read(f"SELECT {_DOCUMENT} FROM documents d WHERE d.path = ?", (path,))
        return _document(rows[0]) if rows else None

    def paths_by_stem(self) -> PathsByStem:
        """Return the paths of all documents by their flat stems; they are read once a generation."""
        return self.kept(_stem_table)

    def languages(self) -> Mapping[str, str]:
        """Return the language of each document by its path, ordered by path; they are read once a generation."""
        return self.kept(_language_table).languages

    may_leave_out = has_left_out = False

    def kept(self, make: Callable[[Catalog, _Made | None], _Made]) -> _Made:
        """Return what a function makes of the catalogue and of what it made before; it is called once a generation.

        Two threads may call it at the same time, so it must not change what it made before.
        """
        generation = self.generation  # before all that is read: a later write is seen as one
        before, made = cast(tuple[int, _Made | None], self._kept.get(make, (-1, None)))
        if made is None or before != generation:
            made = make(self, made)
            self._kept[make] = (generation, made)
        return made

    def beside(self, name: str, version: int, *, is_outward: bool = False) -> KeptFile:
        """Return the file beside the catalogue for what is made of its present state; ask before anything is read.

        With `is_outward`, also what was made of an earlier state, while `shown_since` tells what is shown otherwise.
        """
        file = self._database.file.folder.file(f"{_BESIDE}{name}")
        words: Sequence[str] = self.get_meta(LATEST).split()
        if is_outward:
            words = [state.word for state in self._states(words)] or words[-1:]
        return KeptFile(file, f"{name} {version}", self.identity, words, lambda: not self.soundness.damaged_paths)

    def shown_since(self, generation: int) -> OutwardChange | None:
        """Return what documents show others otherwise than in a generation; None where that is not known."""
        return shown_after(self._states(self.get_meta(LATEST).split()), generation)

    def _states(self, words: Sequence[str]) -> Sequence[ShownState]:
        return states_in(self.get_meta(SHOWN), words[-1]) if words else ()

    def forget_beside(self) -> None:
        """Remove all files that `beside` gives; one that stays is not of the next state."""
        folder = self._database.file.folder
        for name in folder.names():
            if name.startswith(_BESIDE):
                with suppress(OSError, IndexingError):
                    folder.remove(name)

    def text(self, path: str) -> str:
        """Return the text of a document; empty when there is none."""
        return "".join(row[soundness.TEXT] for row in self.soundness.pieces(path))

    def symbols(
        self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50, offset: int = 0
    ) -> list[FoundSymbol]:
        """Return symbols whose name is, begins with or contains `query`, in that order; then by path and line.

        A dotted query must stand in the qualified name. Case is ignored in ASCII letters. `path` is that of a file or
        of a folder above it.
        """
        last = query.rpartition(".")[2]
        condition, values = _of_symbols(query, path, kind)
        rows = self._read(
            f"SELECT s.id {FROM_SYMBOLS} WHERE {condition} "
            "ORDER BY s.name <> ?, s.name NOT LIKE ? ESCAPE '\\', d.path, s.start_line, s.end_line DESC, s.id "
            "LIMIT ? OFFSET ?",
            (*values, last, f"{_like(last)}%", limit, offset),
        )
        return self.soundness.symbols([row[0] for row in rows])

    def n_symbols(self, query: str = "", *, path: str = "", kind: str = "") -> int:
        """Count the symbols that `symbols` returns without a limit."""
        condition, values = _of_symbols(query, path, kind)
        return int(self._read(f"SELECT count(*) {FROM_SYMBOLS} WHERE {condition}", values)[0][0])

    def symbols_named(self, name: str, languages: Collection[str] | None = None) -> list[FoundSymbol]:
        """Return the symbols of exactly this name, in any case; a dotted name is the end of the qualified one.

        With languages, only those of documents in these.
        """
        spoken = list(languages or ())
        choice = "" if languages is None else f"AND d.language IN ({_marks(spoken)}) "
        rows = self._read(
            f"SELECT s.id {FROM_SYMBOLS} WHERE s.name = ? AND '.' || s.qualified_name LIKE ? ESCAPE '\\' "
            f"{choice}ORDER BY d.path, s.start_line, s.end_line DESC, s.id",
            (name.rpartition(".")[2], f"%.{_like(name)}" if "." in name else "%", *spoken),
        )
        return self.soundness.symbols([row[0] for row in rows])

    def types_named(self, names: Collection[str]) -> list[FoundSymbol]:
        """Return the types of exactly these names, in no order; they are read together."""
        rows = self._read(_TYPES_NAMED, (json.dumps(sorted(names)),))
        return self.soundness.symbols([number for number, name in rows if name in names])

    def definitions(self, name: str, *, limit: int) -> list[DefinitionPlace]:
        """Return places where a name is defined, in any case: as written first, types and modules before members and
        values, then by path and line."""
        rows = self._read(
            f"SELECT d.path, s.kind, s.name, s.name_line, s.qualified_name = s.name {FROM_SYMBOLS} WHERE s.name = ? "
            f"ORDER BY s.name COLLATE BINARY <> ?, s.kind IN ({_MEMBERS_AND_VALUES}), d.path, s.start_line, s.id "
            "LIMIT ?",
            (name, name, limit),
        )
        return [DefinitionPlace(path, kind, own, line, bool(is_outer)) for path, kind, own, line, is_outer in rows]

    def symbols_of(self, path: str) -> list[Symbol]:
        """Return the symbols of a document, outer before inner."""
        return self.soundness.symbols_of(path)

    def kinds_in(self, places: Sequence[LineRange]) -> dict[LineRange, list[tuple[str, str]]]:
        """Return by place the qualified names of the symbols that begin there, each with its kind, in order."""
        kinds: dict[LineRange, list[tuple[str, str]]] = {place: [] for place in places}
        different = list(kinds)
        for number, name, kind in self._read(_KINDS_IN, (json.dumps(different),)) if places else ():
            kinds[different[number]].append((name, kind))
        return kinds

    def similar_names(self, word: str, *, limit: int) -> list[str]:
        """Return names of symbols that contain a word, shortest first."""
        rows = self._read(
            # Of names that differ in case, the first that was written.
            "SELECT name, min(id) FROM symbols WHERE name LIKE ? ESCAPE '\\' GROUP BY name ORDER BY length(name), name "
            "LIMIT ?",
            (f"%{_like(word)}%", limit),
        )
        return [row[0] for row in rows]

    def references(self, name: str) -> list[tuple[str, Reference]]:
        """Return the calls and type uses of a name, each with the path of its document."""
        return self.references_to([name])

    def references_to(
        self, names: Collection[str], languages: Collection[str] | None = None
    ) -> list[tuple[str, Reference]]:
        """Return the calls and type uses of some names, in the order of paths and lines; each document is read once.

        With languages, only documents in these are read.
        """
        rows = self._packed({document for name in names for document in self._using(name)}, languages)
        wanted_names = frozenset(names)
        return list(self.soundness.references(rows, lambda content: uses_in(content, wanted_names)))

    def references_of(self, path: str) -> list[Reference]:
        """Return the references in a document, in line order."""
        return [reference for _, reference in self.soundness.references(self._packed_of(path), unpacked)]

    def mentions_of(self, path: str) -> frozenset[tuple[str | None, str]]:
        """Return the names that uses in a document have, each with the symbol around it, and those of imports."""
        read = self.soundness.references(self._packed_of(path), mentions_in)
        return frozenset(mention for _, mention in read)

    def imports_of(self, path: str) -> list[Reference]:
        """Return the imports in a document, in line order."""
        return [reference for _, reference in self.soundness.references(self._packed_of(path), imports_in)]

    def imports(self, forms: Collection[ImportForm] | None = None) -> Iterator[tuple[str, Reference]]:
        """Yield the imports that say one of these, or all, with the path of their document, in order."""
        documents = self.import_forms().documents(forms)
        choice = None if forms is None else frozenset(forms)
        for row in self._packed(documents):
            for path, item in self.soundness.references([row], imports_in):
                if choice is None or (item.name, item.qualifier, row[-1]) in choice:
                    yield path, item

    def import_forms(self) -> ImportTable:
        """Return all that imports say, each once; they are read once, then those of documents that changed."""
        generation = self.generation
        with self._keeping:
            if self._imports.generation < 0:
                self._imports = self._stored_imports(generation)
            if self._imports.generation != generation:
                self._imports = self._updated(self._imports, generation)
            return self._imports

    def _stored_imports(self, generation: int) -> ImportTable:
        """Return the table that another process has made, brought up to date; without one it is made, and stored."""
        file = self.beside("imports", import_table.VERSION)
        stored = file.load()
        before = None if stored is None else ImportTable.unpacked(stored.content)
        if before is not None and before.generation == generation:
            return before
        table = self._updated(NO_IMPORTS if before is None else before, generation)
        if before is None or generation - before.generation > _MOST_BEHIND:
            table = table.whole()
            file.save(table.packed())
        return table

    def _updated(self, table: ImportTable, generation: int) -> ImportTable:
        if table.generation < 0:
            return table.updated(generation, frozenset(), self._import_rows(self._referring()))
        generations = dict(self._read("SELECT id, generation FROM documents"))
        written = [document for document, own in generations.items() if own > table.generation]
        gone = table.documents() - generations.keys()
        return table.updated(generation, {*written, *gone}, self._import_rows(written))

    def languages_with_uses(self, languages: Iterable[str]) -> set[str]:
        """Return those of some languages in whose documents calls or type uses were seen."""
        has_uses = self.kept(_language_table).has_uses
        answers = ((language, has_uses.get(language)) for language in languages)
        return {language for language, is_so in answers if is_so or (is_so is None and self._has_uses(language))}

    def _has_uses(self, language: str) -> bool:
        # One language at a time: the first document with a use ends it.
        return bool(self._read(_WITH_USES, (language,)))

    # ---- uses that compilers have written

    def compiler_paths(self) -> frozenset[str]:
        """Return the documents whose uses a compiler has written of this very version of the file."""
        return frozenset(row[0] for row in self._read(compiler_uses.CURRENT_PATHS))

    def compiler_uses_in(self, path: str) -> list[CompilerUses]:
        """Return the uses in a document, by the documents that define what is used."""
        return self.soundness.compiler_uses(self._read(compiler_uses.IN_FILE, (path,)))

    def compiler_uses_of(self, path: str) -> list[CompilerUses]:
        """Return the uses of what a document defines, by the documents that use it."""
        return self.soundness.compiler_uses(self._read(compiler_uses.OF_FILE, (path,)))

    def compiler_counts(self) -> list[tuple[str, int, int]]:
        """Return each compiler with its number of documents, and how many of these have changed since."""
        return self._read(compiler_uses.COUNTS)

    def put_compiler_uses(self, records: Sequence[CompilerRecord]) -> None:
        """Replace the uses in some documents in one transaction; what has changed meanwhile stays as it is."""
        with self._database.transaction() as db:
            compiler_uses.put_uses(db, records)
        self._database.settle_when_long()

    def forget_compiler_uses(self) -> int:
        """Remove all uses that compilers have written, and return the number of documents that had some."""
        with self._database.transaction() as db:
            return compiler_uses.forget_uses(db)

    def symbol_names(self) -> frozenset[str]:
        """Return all names of symbols, as they are written."""
        return frozenset(row[0] for row in self._read("SELECT DISTINCT name COLLATE BINARY FROM symbols"))

    def used_names(self, since: int = -1) -> Iterator[str]:
        """Yield the names that documents written after a generation define or use, each at least once."""
        written = [row[0] for row in self._read("SELECT id FROM documents WHERE generation > ?", (since,))]
        for start in range(0, len(written), _MAX_PARAMETERS):
            part = written[start : start + _MAX_PARAMETERS]
            named = f"SELECT DISTINCT name COLLATE BINARY FROM symbols WHERE document_id IN ({_marks(part)})"
            yield from (row[0] for row in self._read(named, part))
        for _, reference in self.soundness.references(self._packed(written), unpacked):
            yield reference.name

    # ---- files without an index, and counts

    def failures(self) -> list[Failure]:
        """Return the files that could not be indexed in the last run."""
        return [Failure(*row) for row in self._reasons("failures")]

    def skipped(self) -> list[Skipped]:
        """Return the files that the last scan saw and left out."""
        return [Skipped(*row) for row in self._reasons("skipped")]

    def rejected(self) -> list[RejectedFile]:
        """Return the files that were opened and left out because of their content."""
        return [_rejected(row) for row in self._read(f"{_REJECTED} ORDER BY path")]

    def rejected_at(self, paths: Sequence[str]) -> list[RejectedFile]:
        """Return those of these files that were opened and left out because of their content."""
        starts = range(0, len(paths), _MAX_PARAMETERS)
        parts = (paths[start : start + _MAX_PARAMETERS] for start in starts)
        return [
            _rejected(row)
            for part in parts
            for row in self._read(f"{_REJECTED} WHERE path IN ({_marks(part)}) ORDER BY path", part)
        ]

    def is_rejected(self, path: str) -> bool:
        """Return True for a file that was opened and left out because of its content."""
        return bool(self._read("SELECT 1 FROM rejected WHERE path = ?", (path,)))

    def counts(self) -> Counts:
        """Count the documents, chunks and symbols."""
        languages = self._read("SELECT language, count(*) FROM documents GROUP BY 1 ORDER BY 2 DESC, 1")
        kinds = self._read("SELECT kind, count(*) FROM chunks GROUP BY 1 ORDER BY 2 DESC, 1")
        n_symbols = self._read("SELECT count(*) FROM symbols")[0][0]
        return Counts(sum(n for _, n in languages), sum(n for _, n in kinds), n_symbols, dict(languages), dict(kinds))

    def integrity_problem(self) -> str:
        """Return the first problem that SQLite finds in the file, or nothing. Reads all of it."""
        answer = self._read("PRAGMA quick_check(1)")[0][0]
        return "" if answer == "ok" else str(answer)

    # ---- inside

    def _no_vector(self) -> str:
        """Return the condition for chunks that have no vector of a model.

        While a first run is under way there is no index to look a chunk up in, so all embeddings are read once.
        """
        return _NO_VECTOR if with_late_indexes(self._read) else _IN_NO_LIST

    def _reasons(self, table: str) -> Iterator[tuple[str, Told]]:
        for path, reason in self._read(f"SELECT path, reason FROM {table} ORDER BY path, rowid"):
            yield path, from_line(reason)

    @property
    def _oldest_change(self) -> int:
        return self.soundness.number("oldest_change", self.get_meta("oldest_change", "0"))

    def _rows_of(self, keys: Sequence[int]) -> list[tuple[Any, ...]]:
        return self.soundness.chunk_rows(f"c.key IN ({_marks(keys)})", keys)

    def _added(self, since: int) -> Iterator[tuple[int, Chunk, str]]:
        # All keys first, then the chunks in parts: no query stays open while the caller works.
        keys = [row[0] for row in self._read("SELECT key FROM chunks WHERE generation > ? ORDER BY key", (since,))]
        for part in _pages(keys):
            yield from (
                (row[0], _chunk(row[1:]), row[soundness.TEXT_HASH])
                for row in map(self.soundness.sound, self._rows_of(part))
            )

    def _packed_of(self, path: str) -> list[tuple[Any, ...]]:
        return self._read(f"{PACKED_REFERENCES} {FROM_REFERENCES} WHERE d.path = ?", (path,))

    def _packed(
        self, documents: Collection[int], languages: Collection[str] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the packed references of documents, or of those in some languages, in the order of their paths."""
        numbers, spoken = list(documents), list(languages or ())
        parts = (numbers[start : start + _MAX_PARAMETERS] for start in range(0, len(numbers), _MAX_PARAMETERS))
        choice = "" if languages is None else f" AND language IN ({_marks(spoken)})"
        paths = [
            row
            for part in parts
            for row in self._read(f"{_PATHS} WHERE id IN ({_marks(part)}){choice}", (*part, *spoken))
        ]
        for part in _pages([number for _, number in sorted(paths)]):
            condition = f"r.document_id IN ({_marks(part)}) ORDER BY d.path"
            yield from self._read(f"{PACKED_REFERENCES} {FROM_REFERENCES} WHERE {condition}", part)

    def _using(self, name: str) -> list[int]:
        """Return the documents that use a name, and perhaps some more."""
        number = number_of(name)
        using = self._database.read_if(HAS_USED_NAMES, "SELECT document_id FROM used_names WHERE name = ?", (number,))
        if using is not None:
            return [row[0] for row in using]
        # A first run is under way.
        rows = self._read("SELECT document_id, CAST(names AS BLOB) FROM refs")
        return [document for document, names in rows if number in numbers_in(names)]

    def _referring(self) -> list[int]:
        return [row[0] for row in self._read("SELECT document_id FROM refs")]

    def _import_rows(self, documents: Collection[int]) -> Iterator[tuple[Any, ...]]:
        """Yield the numbers of documents with what their imports say, each once."""
        for row in self._packed(documents):
            *_, document, language = row
            items = [item for _, item in self.soundness.references([row], imports_in)]
            yield from {(document, item.name, item.qualifier, language): None for item in items}


def _paths(catalog: Catalog, _: list[str] | None) -> list[str]:
    return [row[0] for row in catalog._read("SELECT path FROM documents ORDER BY path")]


def _followed(catalog: Catalog, earlier: _PathTable | None, generation: int) -> _PathTable | None:
    """Return a table of paths as it is in a generation; None where it must be made anew."""
    if earlier is None or earlier.generation == generation:
        return earlier
    if generation - earlier.generation > _MOST_BEHIND:
        return None
    (n_paths, *_), *written = catalog._read(_PATHS_SINCE, (earlier.generation,))
    return earlier.later(generation, n_paths, {path: language for _, path, language in written})


def _stem_table(catalog: Catalog, before: StemTable | None) -> StemTable:
    """Return the paths by their stems, from a table that this or another process has made where there is one."""
    file, generation = catalog.beside("stems", stem_table.VERSION), catalog.generation
    stored = file.load() if before is None else None
    earlier = before if stored is None else StemTable.unpacked(stored.content)
    if (followed := _followed(catalog, earlier, generation)) is not None:
        return followed
    table = StemTable.of(generation, catalog.paths())
    if before is None:  # each process writes it once at most
        file.save(table.packed())
    return table


def _language_table(catalog: Catalog, before: LanguageTable | None) -> LanguageTable:
    """Return the languages of all documents, from a table that this or another process has made where there is one."""
    file, generation = catalog.beside("languages", language_table.VERSION), catalog.generation
    stored = file.load() if before is None else None
    earlier = before if stored is None else LanguageTable.unpacked(stored.content)
    if (followed := _followed(catalog, earlier, generation)) is not None:
        return followed
    languages = dict(catalog._read("SELECT path, language FROM documents ORDER BY path"))
    if before is not None:
        return before.replaced(generation, languages, catalog.paths_since(before.generation))
    # Each process writes it once at most.
    has_uses = {language: catalog._has_uses(language) for language in CODE.intersection(languages.values())}
    table = LanguageTable(generation, languages, has_uses)
    file.save(table.packed())
    return table


_WITH_USES = (
    "SELECT 1 FROM documents d WHERE d.language = ? AND EXISTS "
    "(SELECT 1 FROM refs r WHERE r.document_id = d.id AND r.names <> x'') LIMIT 1"
)
_PATHS_SINCE = (  # one state
    "SELECT count(*), '', '' FROM documents UNION ALL SELECT 0, path, language FROM documents WHERE generation > ?"
)


_TYPES_NAMED = (
    f"SELECT s.id, s.name FROM symbols s WHERE s.name IN (SELECT value FROM json_each(?)) AND s.kind IN ({_TYPES})"
)
_REJECTED = "SELECT path, reason, size, mtime_ns, ctime_ns, inode FROM rejected"
_MAX_LIKE = 10_000  # characters of a name; SQLite takes 50,000 bytes, and a sign may be doubled
_BY_TEXT = (f"%{SHORT}", f"%{LONG}")
_MODEL = "(SELECT id FROM models WHERE name = ?)"
_NO_VECTOR = (
    f"c.text_hash <> x'' AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = {_MODEL} "
    "AND e.text_hash = c.text_hash)"
)
_IN_NO_LIST = f"c.text_hash <> x'' AND c.text_hash NOT IN (SELECT text_hash FROM embeddings WHERE model = {_MODEL})"


def _of_symbols(query: str, path: str, kind: str) -> tuple[str, tuple[str, ...]]:
    """Return the condition for symbols, and its parameters."""
    last = query.rpartition(".")[2]
    tests = [
        (bool(query), "s.name LIKE ? ESCAPE '\\'", (f"%{_like(last)}%",)),
        ("." in query, "s.qualified_name LIKE ? ESCAPE '\\'", (f"%{_like(query)}%",)),
        (bool(path), "(d.path = ? OR substr(d.path, 1, length(?)) = ?)", (path, f"{path}/", f"{path}/")),
        (bool(kind), "s.kind = ?", (kind,)),
    ]
    conditions = [condition for is_set, condition, _ in tests if is_set]
    return " AND ".join(conditions) or "1", tuple(value for is_set, _, values in tests if is_set for value in values)


def _chunk(row: Sequence[Any]) -> Chunk:
    chunk_id, path, language, kind, symbol, names, start_line, end_line, text, signature, doc, column, *_ = row
    split_names = tuple(names.split("\n")) if names else ()
    place = (start_line, end_line)
    return Chunk(chunk_id, path, language, kind, symbol, split_names, *place, text, signature, doc, column)


def _document(row: Sequence[Any]) -> StoredDocument:
    *values, problems, chunker, ctime_ns, inode = row
    is_short = str(chunker).endswith(SHORT)
    return StoredDocument._make([*values, _notes(problems), is_short, ctime_ns, inode])


def _rejected(row: Sequence[Any]) -> RejectedFile:
    path, reason, *stamp = row
    return RejectedFile(path, from_line(reason), *stamp)


def _notes(lines: str) -> tuple[Note, ...]:
    return tuple(note for line in lines.split("\n") for note in notes_of(from_line(line)))


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _pages(keys: list[int]) -> Iterator[list[int]]:
    return (keys[start : start + _PAGE] for start in range(0, len(keys), _PAGE))


def _like(text: str) -> str:
    text = text[:_MAX_LIKE]
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
