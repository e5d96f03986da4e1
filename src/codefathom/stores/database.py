"""One SQLite file used by several threads and processes: connections, transactions, and what becomes of a bad file."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock, get_ident
from typing import Any

from codefathom.errors import IndexingError

_WAIT_S = 30.0  # for another writer's transaction; readers never wait in WAL mode
_DAMAGED = {11, 26}  # SQLITE_CORRUPT, SQLITE_NOTADB
_MARK = ".damaged"
_ASIDE = ".broken"


class Database:
    """A connection for each thread; one transaction at a time. Every error of SQLite becomes an IndexingError."""

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self._connections: dict[int, sqlite3.Connection] = {}  # by thread; a dead thread's number is used again
        self._lock = RLock()
        self._closed = False

    def close(self) -> None:
        """Close the connections of all threads; the last one to close a file moves its log into it."""
        with self._lock:
            self._closed = True
            for connection in self._connections.values():
                connection.close()
            self._connections.clear()

    def read(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        try:
            return self.connection().execute(statement, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._failure("read", error) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock; all of the block is visible at its end, or nothing of it."""
        with self._lock:
            try:
                db = self.connection()
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:  # a full disk has rolled back already
                        db.execute("ROLLBACK")
                    raise
            except sqlite3.DatabaseError as error:
                raise self._failure("written", error) from error

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        connection = self._connections.get(get_ident())
        if connection is None:
            with self._lock:
                if self._closed:
                    raise IndexingError(f"the catalogue {self.path!r} was closed")
                connection = self._connections[get_ident()] = _connect(self.path, self.read_only)
        return connection

    def _failure(self, done: str, error: sqlite3.DatabaseError) -> IndexingError:
        if is_damage(error):
            _mark(self.path)
            return IndexingError(
                f"the catalogue {self.path!r} is damaged: {error}", hint="run `fathom index`: it is built again"
            )
        return IndexingError(f"the catalogue {self.path!r} cannot be {done}: {error}")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the bytes of the file are at fault, not the disk, a lock or a statement."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def is_marked(path: str) -> bool:
    """Whether an earlier process has found the file damaged."""
    return os.path.exists(path + _MARK)


def set_aside(path: str) -> None:
    """Keep a bad file for whoever wants to know why, the last one only; nothing is at `path` afterwards."""
    try:
        if os.path.exists(path):
            os.replace(path, path + _ASIDE)
        for end in ("-wal", "-shm", _MARK):
            with suppress(FileNotFoundError):
                os.remove(path + end)
    except OSError as error:
        raise IndexingError(
            f"the catalogue {path!r} cannot be read, and not be set aside: {error.strerror}",
            hint="end other fathom processes, or remove the index folder",
        ) from error


def _mark(path: str) -> None:
    # The next one to open the file for writing makes it anew; where no file can be made, nothing can be indexed.
    with suppress(OSError), open(path + _MARK, "wb"):
        pass


def _connect(path: str, read_only: bool) -> sqlite3.Connection:
    if not read_only:
        return _prepared(path)
    address = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        return _prepared(address + "?mode=ro")
    except sqlite3.OperationalError:
        # WAL needs a file for shared memory beside the database. Where none can be made, nobody writes either.
        return _prepared(address + "?immutable=1")


def _prepared(address: str) -> sqlite3.Connection:
    # Threads have a connection each; only `close` comes from another one.
    connection = sqlite3.connect(
        address, timeout=_WAIT_S, isolation_level=None, check_same_thread=False, uri=address.startswith("file:")
    )
    connection.create_function("REGEXP", 2, _matches, deterministic=True)
    # synchronous = NORMAL, by choice: in WAL mode a power cut may cost the last transactions, which the next run makes
    # again from the tree, and never breaks the file; FULL would cost a disk flush for each batch. A killed process
    # loses nothing either way. `Catalog.flush` makes durable what a view is about to be labelled with.
    connection.executescript(
        "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; "
        "PRAGMA wal_autocheckpoint = 10000; PRAGMA journal_size_limit = 16000000;"
    )
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file: a bad one is found here
    return connection


def _matches(pattern: str, value: object) -> bool:
    return value is not None and re.search(pattern, str(value)) is not None
