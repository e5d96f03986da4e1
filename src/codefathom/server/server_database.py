"""One SQLite file for what the server keeps: a connection that all threads share, one at a time.

What is kept here is small and asked for rarely, so that one connection is enough, whatever the number of threads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

from codefathom.errors import IndexingError
from codefathom.stores.folder import file_at
from codefathom.stores.sqlite import connect, use_log

_WAIT_S = 30.0  # for another process
_HINT = "check that the data folder of the server can be written, and that its disk is not full"


class ServerDatabase:
    """The tables of one part of the server. Every error of SQLite becomes an IndexingError."""

    def __init__(self, path: str, tables: str) -> None:
        """Open the file, or make it, with these tables, which must be made with IF NOT EXISTS."""
        self.path = path
        self._lock = RLock()
        try:
            file = file_at(path)
            file.folder.make(private=True)
            settings = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
            self._connection = connect(file, wait_s=_WAIT_S, settings=settings)
            use_log(self._connection)
            self._connection.executescript(tables)
        except (OSError, sqlite3.Error) as error:
            raise IndexingError(f"{path!r} cannot be opened: {error}", hint=_HINT) from error

    def read(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with self._lock, self._telling("read"):
            return self._connection.execute(statement, parameters).fetchall()

    def version(self) -> tuple[int, int]:
        """Return a value that stays the same for as long as nobody, in whatever process, has written."""
        with self._lock, self._telling("read"):
            of_others: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
            return of_others, self._connection.total_changes

    def write(self, statement: str, parameters: Sequence[object] = ()) -> int:
        """Change rows and return how many."""
        with self._lock, self._telling("written"):
            return self._connection.execute(statement, parameters).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all that is written in the block visible at its end, or nothing of it."""
        with self._lock, self._telling("written"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def empty_log(self) -> None:
        """Remove from the log beside the file what was deleted, as far as nobody reads it now."""
        self.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _telling(self, done: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise IndexingError(f"{self.path!r} cannot be {done}: {error}", hint=_HINT) from error
