"""The cache that all projects of a user share: parse results, embeddings and purposes, by content.

Losing it costs time, never a result.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

from codefathom.errors import IndexingError
from codefathom.facts.reasons import as_line, from_line, notes_of
from codefathom.stores.database import is_damage
from codefathom.stores.folder import File, Folder, UnsafeError, folder_at
from codefathom.stores.sqlite import connect, use_log
from codefathom.types import Break, Document, ParsedDocument, Reference, Symbol

# Part of the file's name. 1: before the first release. 2: with the values of secrets, and checksums without the key.
# Older files are removed.
FORMAT = 3
MAX_BYTES = 1_000_000_000
_MAX_PARAMETERS = 30_000
_WAIT_S = 5.0
_DAY_MS = 86_400_000
_CHECK_AFTER_BYTES = 16_000_000
_KEPT_SHARE = 0.8  # of the largest size: a cut goes below the limit, so that not every write cuts

_TABLES = """
CREATE TABLE IF NOT EXISTS parsed(
    key TEXT PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS vectors(
    model TEXT NOT NULL, text_hash TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL, used INTEGER NOT NULL,
    PRIMARY KEY(model, text_hash));
CREATE TABLE IF NOT EXISTS purposes(
    model TEXT NOT NULL, fingerprint TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER NOT NULL,
    used INTEGER NOT NULL, PRIMARY KEY(model, fingerprint));
CREATE INDEX IF NOT EXISTS parsed_used ON parsed(used);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors(used);
CREATE INDEX IF NOT EXISTS purposes_used ON purposes(used);
"""
_NAMES = ("parsed", "vectors", "purposes")


class Cache:
    """One SQLite file. On every failure the entry counts as missing.

    Safe to use from several threads and processes.
    """

    def __init__(self, file: File, max_bytes: int = MAX_BYTES) -> None:
        self.path = file.path
        self._file = file
        self._max_bytes = max_bytes
        self._unchecked_bytes = _CHECK_AFTER_BYTES  # so that the first write looks at the size
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._connect()

    @classmethod
    def open(cls, folder: Folder | str, *, max_bytes: int = MAX_BYTES) -> Cache:
        """Open the cache in a folder, or make it; a damaged one is made again. Above `max_bytes` the oldest go."""
        folder = folder_at(folder)
        for older in range(1, FORMAT):
            for end in ("", "-wal", "-shm"):
                with suppress(OSError, IndexingError):
                    folder.remove(f"cache-{older}.db{end}")
        return cls(folder.file(f"cache-{FORMAT}.db"), max_bytes)

    def get_parsed(self, keys: Collection[str]) -> dict[str, bytes]:
        """Return the stored parse results, by key."""
        return self._get("parsed", "key", keys)

    def put_parsed(self, items: Mapping[str, bytes]) -> None:
        """Keep parse results."""
        self._put("INSERT OR REPLACE INTO parsed VALUES (?, ?, ?, ?)", [((key,), items[key]) for key in items])

    def get_vectors(self, model: str, hashes: Collection[str]) -> dict[str, bytes]:
        """Return the stored vectors, by text hash."""
        return self._get("vectors", "text_hash", hashes, "model = ? AND ", (model,))

    def put_vectors(self, model: str, items: Mapping[str, bytes]) -> None:
        """Keep vectors."""
        self._put(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", [((model, key), items[key]) for key in items]
        )

    def get_purposes(self, model: str, fingerprints: Collection[str]) -> dict[str, str]:
        """Return the stored purposes, by the fingerprint of their document; with "" as model those of any."""
        rows = [] if model else self._run("SELECT DISTINCT model FROM purposes ORDER BY model")
        values: dict[str, bytes] = {}
        for name in [model] if model else [row[0] for row in rows]:
            values |= self._get("purposes", "fingerprint", fingerprints, "model = ? AND ", (name,))
        return {key: value.decode("utf-8", "replace") for key, value in values.items()}

    def put_purposes(self, model: str, items: Mapping[str, str]) -> None:
        """Keep purposes."""
        self._put(
            "INSERT OR REPLACE INTO purposes VALUES (?, ?, ?, ?, ?)",
            [((model, key), items[key].encode("utf-8", "replace")) for key in items],
        )

    def scrub(self, key_part: str) -> None:
        """Forget all parse results but those whose key holds `kept`, and leave nothing of them in the file."""
        self._run("DELETE FROM parsed WHERE instr(key, ?) = 0", (key_part,))
        for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            self._run(statement)

    def close(self) -> None:
        """Close the file; the cache is empty from here on."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ---- inside

    def _get(
        self, table: str, column: str, keys: Collection[str], condition: str = "", first: tuple[str, ...] = ()
    ) -> dict[str, bytes]:
        values: dict[str, bytes] = {}
        all_keys = list(keys)
        for start in range(0, len(all_keys), _MAX_PARAMETERS):
            part = all_keys[start : start + _MAX_PARAMETERS]
            place = f"{condition}{column} IN ({','.join('?' * len(part))})"
            rows = self._run(f"SELECT {column}, value, checksum, used FROM {table} WHERE {place}", (*first, *part))
            values.update(
                (key, value) for key, value, checksum, _ in rows if _checksum((*first, key), value) == checksum
            )
            now = _now_ms()
            # One note a day is enough to tell the entries that are not used any more.
            if any(_is_before(row[3], now - _DAY_MS) for row in rows):
                self._run(f"UPDATE {table} SET used = {now} WHERE {place}", (*first, *part))
        return values

    def _put(self, statement: str, items: list[tuple[tuple[str, ...], bytes]]) -> None:
        now = _now_ms()
        rows = [(*key, value, _checksum(key, value), now) for key, value in items]
        self._run_many(statement, rows)
        self._unchecked_bytes += sum(len(value) for _, value in items)
        if self._unchecked_bytes >= _CHECK_AFTER_BYTES:
            self._unchecked_bytes = 0
            self._cut()

    def _cut(self) -> None:
        """Drop the entries that were not used for longest, until the size is well below the limit."""
        for _ in range(100):
            sizes = self._run("SELECT page_size * (page_count - freelist_count) FROM " + _SIZES)
            if not sizes or sizes[0][0] <= self._max_bytes:
                return
            share = 1 - _KEPT_SHARE * self._max_bytes / sizes[0][0]
            all_of_them = " UNION ALL ".join(f"SELECT used FROM {table}" for table in _NAMES)
            times = [row[0] for row in self._run(f"{all_of_them} ORDER BY 1")]
            n_gone = int(len(times) * share) + 1
            for table in _NAMES if times else ():
                self._run(
                    f"DELETE FROM {table} WHERE rowid IN "
                    f"(SELECT rowid FROM {table} WHERE used <= ? ORDER BY used, rowid LIMIT ?)",
                    (times[min(n_gone, len(times)) - 1], n_gone),
                )

    def _run(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                with self._connection:
                    return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.Error as error:
                self._failed(error)
        return []

    def _run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        with self._lock:
            if self._connection is None:
                return
            try:
                with self._connection:
                    self._connection.execute("BEGIN IMMEDIATE")  # else each row is a transaction of its own
                    self._connection.executemany(statement, rows)
            except sqlite3.Error as error:
                self._failed(error)

    def _failed(self, error: sqlite3.Error) -> None:
        if _is_damage(error):
            self.close()
            self._set_aside()
            self._connect()

    def _connect(self) -> None:
        for _ in range(2):
            try:
                self._file.folder.make()
                self._connection = _open(self._file)
                return
            except UnsafeError:
                self._set_aside()
            except sqlite3.Error as error:
                if not _is_damage(error):
                    return
                self._set_aside()
            except OSError:
                return

    def _set_aside(self) -> None:
        with suppress(OSError):
            self._file.set_aside()
            for end in ("-wal", "-shm"):
                self._file.with_ending(end).remove()


_SIZES = "pragma_page_size, pragma_page_count, pragma_freelist_count"


def encode_parsed(parsed: ParsedDocument) -> bytes:
    """Pack a parse result without its document."""
    content = (
        [
            (s.kind, s.name, s.qualified_name, s.start_line, s.end_line, s.name_line, s.signature, s.doc)
            for s in parsed.symbols
        ],
        [(r.kind, r.name, r.line, r.container, r.count, r.qualifier) for r in parsed.references],
        [(b.line, b.depth) for b in parsed.breaks],
        parsed.parser,
        list(map(as_line, parsed.problems)),
    )
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), 1)


def decode_parsed(data: bytes, document: Document) -> ParsedDocument:
    """Unpack a parse result for a document with the same bytes. Raises ValueError for anything else."""
    try:
        symbols, references, breaks, parser, problems = json.loads(zlib.decompress(data))
        return ParsedDocument(
            document,
            tuple(Symbol(*row) for row in symbols),
            tuple(Reference(*row) for row in references),
            tuple(Break(*row) for row in breaks),
            parser,
            tuple(note for line in problems for note in notes_of(from_line(line))),
        )
    except (zlib.error, TypeError) as error:
        raise ValueError(f"not a parse result: {error}") from error


def _open(file: File) -> sqlite3.Connection:
    # synchronous = OFF: a killed process loses nothing; a power cut may damage the file, which is then made again.
    connection = connect(file, wait_s=_WAIT_S, settings="PRAGMA synchronous = OFF;")
    try:
        use_log(connection)
        connection.executescript(_TABLES)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _checksum(key: tuple[Any, ...], value: object) -> int:
    """Return the checksum of a value and its key: it tells also a row with the value of another row."""
    if not isinstance(value, bytes):
        return -1
    try:
        return zlib.crc32(value, zlib.crc32("\n".join(key).encode("utf-8", "surrogatepass")))
    except TypeError:  # a key that is no text, in a damaged file
        return -1


def _is_before(used: object, time_ms: int) -> bool:
    return not isinstance(used, int) or used < time_ms


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _is_damage(error: sqlite3.Error) -> bool:
    # An unknown column or table means a foreign file of our name.
    return is_damage(error) or "no such" in str(error)
