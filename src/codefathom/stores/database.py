"""One SQLite file used by several threads and processes: connections, transactions, and the care of a damaged file."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from threading import Lock, RLock, local
from typing import Any, BinaryIO

from codefathom.errors import DamagedError, IndexClosedError, IndexingError, LockedError, UnwritableError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.paths import is_test
from codefathom.facts.reasons import Note, Told
from codefathom.stores.folder import File, file_at
from codefathom.stores.lent_connections import LentConnection, LentConnections
from codefathom.stores.lock import writer_lock
from codefathom.stores.packed_chunks import text_of
from codefathom.stores.seal import damaged_blocks, logged_blocks, new_seal, read_seal, write_seal
from codefathom.stores.sqlite import connect
from codefathom.stores.write_errors import free_bytes, free_text, no_room, writing_error
from codefathom.text.expressions import is_match

_WAIT_S = 30.0  # for another writer's transaction; readers never wait in WAL mode
_WAIT_FOR_READERS_S = 1.0  # until all of a log can be moved; the rest is moved the next time
_DAMAGED = {11, 26}  # SQLITE_CORRUPT, SQLITE_NOTADB
_NOT_TEXT = "Could not decode to UTF-8"  # message of Python for a text that is not UTF-8; we write UTF-8 only
_INTERRUPTED = 9  # SQLITE_INTERRUPT, by `close`
_FULL = 13  # SQLITE_FULL
_UNWRITABLE = {8, 10, 14}  # SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN: also where a full disk takes no file beside
_NEEDED = 100_000  # bytes that SQLite takes beside a file before anything is written
_MARK = ".damaged"
_SEAL = ".seal"
_ROWS_AT_A_TIME = 1_000
_LONG_LOG = 40_000_000  # bytes after which a log is moved into the file, in the middle of a run
# synchronous = NORMAL, by choice: in WAL mode a power cut may cost the last transactions, which the next run makes
# again from the tree, and never breaks the file; FULL would cost a disk flush for each batch. A killed process
# loses nothing either way. `Catalog.flush` makes durable what a view is about to be labelled with.
# wal_autocheckpoint = 0: only `Database.settle` moves the log into the file.
_SETTINGS = (
    "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; "
    "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 16000000;"
)
_refused = local()

# POSIX frees all locks of a process on a file when any descriptor of the file is closed, those of SQLite too. So ours
# are kept until the last connection of this process is closed.
_users: Counter[str] = Counter()
_readers: dict[str, list[BinaryIO]] = {}
_users_lock = Lock()


class Database:
    """A connection for each thread; one transaction at a time. Every error of SQLite becomes an IndexingError.

    Safe to close while other threads use it.
    """

    def __init__(self, file: File | str, *, read_only: bool = False) -> None:
        self.file = file_at(file)
        self.path = self.file.path
        self.read_only = read_only
        self._connections = LentConnections(self._connect)
        self._is_released = False
        self._lock = RLock()  # of a transaction, and while a connection is opened
        self._reader: BinaryIO | None = None  # of the bytes of the file
        self._seal_lock = RLock()  # while the file is compared with its seal, nothing moves into it
        self._seal = self.file.with_ending(_SEAL)
        self._log = self.file.with_ending("-wal")
        self.is_held = False  # True: the writer lock is held for this object
        self.moved: set[int] = set()  # blocks of `seal.BLOCK` bytes that this object has moved from the log to the file
        self._place = os.path.realpath(self.path)
        self._number: tuple[int, int] | None = None  # of the file that is open
        with _users_lock:
            _users[self._place] += 1

    def close(self) -> None:
        """Close the connections of all threads; the last one to close a file moves its log into it.

        What another thread reads or writes at this moment is interrupted, and raises IndexClosedError there; no
        connection is closed under it. A transaction that is interrupted leaves nothing.
        """
        with self._connections.closing() as is_first:
            if not is_first:
                return
            self.settle_alone()
        self._release_when_unused()

    def check_open(self) -> None:
        """Raise IndexClosedError if another thread closes the file, or has closed it."""
        if self._connections.is_closing:
            raise self._closed()

    @property
    def is_replaced(self) -> bool:
        """True if another process has put another file in the place of this one."""
        number = _number(self.file)
        return None not in (number, self._number) and number != self._number

    def read(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query. Raises SlowExpressionError for an expression in it that takes too long."""
        own = self._take("read")
        try:
            return own.connection.execute(statement, parameters).fetchall()
        except (sqlite3.DatabaseError, OSError) as error:
            raise _refused.__dict__.pop("error", None) or self._failure("read", error) from error
        finally:
            self._give_back(own)

    def read_if(
        self, condition: str, statement: str, parameters: Sequence[object] = ()
    ) -> list[tuple[Any, ...]] | None:
        """Return all rows of a query, None where another query has no row: both see the file at one moment, so that a
        table which the condition asks for is there."""
        with self.one_moment():
            return self.read(statement, parameters) if self.read(condition) else None

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Have all queries of this thread in the block see the file as the first one does."""
        with self.lent() as db:
            is_outer = not db.in_transaction
            try:
                if is_outer:
                    db.execute("BEGIN")
                yield
            except (sqlite3.DatabaseError, OSError) as error:
                raise self._failure("read", error) from error
            finally:
                if is_outer and db.in_transaction:
                    db.execute("COMMIT")

    def rows(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that may have very many; later writes are not seen."""
        own = self._take("read")
        try:
            cursor = own.connection.execute(statement)
        except sqlite3.DatabaseError as error:
            raise self._failure("read", error) from error
        finally:
            self._give_back(own)
        while page := self._page(own, cursor):
            yield from page

    def _page(self, own: LentConnection, cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
        if not self._connections.take_again(own):
            raise self._closed()
        try:
            return cursor.fetchmany(_ROWS_AT_A_TIME)
        except sqlite3.DatabaseError as error:
            raise self._failure("read", error) from error
        finally:
            self._give_back(own)

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection, which `close` does not close before the end of the block."""
        own = self._take("read")
        try:
            yield own.connection
        finally:
            self._give_back(own)

    @contextmanager
    def waiting(self, wait_s: float) -> Iterator[sqlite3.Connection]:
        """Lend this thread's connection, which waits for as long as this for other processes until the block ends."""
        with self.lent() as db:
            db.execute(f"PRAGMA busy_timeout = {int(wait_s * 1_000)}")
            try:
                yield db
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(_WAIT_S * 1_000)}")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Hold the write lock; all of the block is visible at its end, or nothing of it."""
        with self._lock:
            own = self._take("written")
            db = own.connection
            try:
                db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:  # a full disk has rolled back already
                        db.execute("ROLLBACK")
                    raise
            except (sqlite3.DatabaseError, OSError) as error:
                raise self._failure("written", error) from error
            finally:
                self._give_back(own)

    # ---- the seal

    @property
    def is_sealed(self) -> bool:
        """True if there is a seal to compare the file with."""
        return read_seal(self._seal) is not None

    def damage(self) -> str:
        """Compare the file with its seal, and return the difference, or nothing; reads all of it.

        Nothing also when there is no seal, or when another process writes at this moment.
        """
        with self._seal_lock:
            seal = read_seal(self._seal)
            if seal is None:
                return ""
            blocks = list(damaged_blocks(self._raw(), seal))
            if not blocks or read_seal(self._seal) != seal:
                return ""
            return "its size differs" if blocks[0] < 0 else f"{len(blocks)} of {len(seal.sums)} blocks differ"

    def seal(self) -> None:
        """Seal the file as it is. Needs the writer lock."""
        with self._seal_lock:
            self.settle()
            write_seal(self._seal, new_seal(self._raw()))

    def settle(self) -> None:
        """Move the log into the file and renew its seal. Needs the writer lock. Raises DamagedError.

        Without a seal only the log is moved. Where a reader keeps the log from being moved whole, the rest waits.
        """
        if self.read_only or not self._log_size():
            return
        with self._seal_lock:
            seal, changed = read_seal(self._seal), logged_blocks(self._log)
            self.moved |= changed
            if seal is not None and any(True for _ in damaged_blocks(self._raw(), seal, changed)):
                raise self.damaged(Note(say.PARTS_DIFFER))
            with suppress(OSError):
                self._seal.remove()
            try:
                self._move_log()
            except sqlite3.DatabaseError as error:
                raise self._failure("written", error) from error
            finally:
                if seal is not None:
                    write_seal(self._seal, new_seal(self._raw(), seal, changed))

    def settle_when_long(self) -> None:
        """Move a log that has grown long into the file. Needs the writer lock. Raises DamagedError."""
        if self._log_size() > _LONG_LOG:
            self.settle()

    def settle_alone(self) -> None:
        """Move the log of a killed process into the file, unless another process writes.

        Else SQLite moves it when the last connection is closed, and breaks the seal.
        """
        with suppress(IndexingError):  # such as that of a folder that is a link by now
            if self.read_only or not self._log_size():
                return
            try:
                with writer_lock(self.file.folder):
                    self.settle()
            except LockedError:
                if self.is_held:
                    self.settle()

    def _move_log(self) -> None:
        with self.waiting(_WAIT_FOR_READERS_S) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _log_size(self) -> int:
        status = self._log.status()
        return 0 if status is None else status.st_size

    def _raw(self) -> int:
        """Return the descriptor of the file, open as long as the lock of the seal is held. Raises IndexClosedError."""
        if self._connections.is_refused:
            raise self._closed()
        if self._reader is None:
            self._reader = self.file.open()
        return self._reader.fileno()

    # ---- inside

    def damaged(self, how: Told) -> DamagedError:
        """Mark the file, so that the next process makes it anew, and return the error for the user."""
        mark(self.file)
        what = Note(say.CATALOGUE_DAMAGED, {"path": repr(self.path), "error": how})
        return DamagedError(what, hint=Note(say.INDEX_BUILDS_AGAIN))

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection, for one that has just opened the file, and that alone may close it.

        Raises OSError, sqlite3.Error for the first one; see `sqlite.connect`.
        """
        own = self._opened()
        self._give_back(own)
        return own.connection

    def _take(self, action: str) -> LentConnection:
        try:
            return self._connections.take() or self._opened()
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._failure(action, error) from error

    def _opened(self) -> LentConnection:
        """Return the lent connection of this thread. Raises as `connection`, and IndexClosedError."""
        own = self._connections.take()
        if own is None:
            with self._lock:
                own = self._connections.add()
            if own is None:
                raise self._closed()
            self._number = self._number or _number(self.file)
        return own

    def _give_back(self, own: LentConnection) -> None:
        if self._connections.give_back(own):
            self._release_when_unused()

    def _release_when_unused(self) -> None:
        """Release the file once it is closed; a thread that still uses a connection does it when it gives that back."""
        with self._seal_lock:
            if not self._connections.n_open and not self._is_released:
                self._is_released = True
                _release(self._place, self._reader)

    def _closed(self) -> IndexClosedError:
        return IndexClosedError(
            f"the index {self.file.folder.path!r} was closed while it was used",
            hint="ask again; in a program, close an engine when none of its threads uses it any more",
        )

    def _connect(self) -> sqlite3.Connection:
        # Threads have a connection each; only `close` comes from another one.
        connection = connect(self.file, wait_s=_WAIT_S, settings=_SETTINGS, read_only=self.read_only)
        add_functions(connection)
        return connection

    def scrub(self) -> bool:
        """Write the file anew without deleted content; return True if none of that is left on the disk.

        Needs the writer lock. Raises DamagedError.
        """
        with suppress(OSError):
            self.file.forget_aside()
        try:
            with self.lent() as db:
                db.execute("VACUUM")
        except sqlite3.OperationalError:  # another process reads; it is tried again in the next run
            return False
        self.settle()
        return not self._log_size()

    def separate(self) -> sqlite3.Connection:
        """Return a connection that the caller closes."""
        return self._connect()

    def _failure(self, action: str, error: sqlite3.DatabaseError | OSError) -> IndexingError:
        if isinstance(error, OSError):
            return writing_error(f"the catalogue {self.path!r} cannot be {action}", self.file.folder, error)
        if self._connections.is_closing and getattr(error, "sqlite_errorcode", 0) & 0xFF == _INTERRUPTED:
            return self._closed()
        if is_damage(error):
            return self.damaged(str(error))
        return failure(f"the catalogue {self.path!r} cannot be {action}", self.file, error)


def failure(message: str, file: File, error: sqlite3.DatabaseError) -> IndexingError:
    """Return the error for the user when SQLite fails on a file that is not damaged."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    free = free_bytes(file.folder) if code in _UNWRITABLE else None
    if code == _FULL or (free is not None and free < _NEEDED):
        return no_room(message, file.folder)
    if code in _UNWRITABLE:
        return UnwritableError(
            f"{message}: {error} ({free_text(file.folder)} free on its disk)",
            hint="make room on this disk, or set FATHOM_INDEX_DIR to a folder that can be written",
        )
    return IndexingError(f"{message}: {error}", hint="end other programs that use this file, then try again")


def is_damage(error: sqlite3.Error) -> bool:
    """Return True if the bytes of the file are the cause, not the disk, a lock or a statement."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED or str(error).startswith(_NOT_TEXT)


def clone_sealed(source: File, target: File) -> None:
    """Make a copy of a file that nobody writes, with its seal, by which the copy can be compared. Raises OSError."""
    target.clone(source)
    with suppress(OSError):  # without a seal the rows are compared
        target.with_ending(_SEAL).clone(source.with_ending(_SEAL))


def is_marked(file: File) -> bool:
    """Return True if an earlier process has found the file damaged."""
    return bool(file.with_ending(_MARK).kind())


def set_aside(file: File) -> None:
    """Rename a bad file, so that a person can examine it; only the last one is kept."""
    try:
        file.set_aside()
        for end in ("-wal", "-shm", "-journal", _SEAL, _MARK):
            file.with_ending(end).remove()
    except OSError as error:
        raise IndexingError(
            f"the catalogue {file.path!r} cannot be read, and cannot be renamed either: {error.strerror}",
            hint="end other fathom processes, or remove the index folder",
        ) from error


def mark(file: File) -> None:
    """Note beside the file that it is damaged."""
    # The next one to open the file for writing makes it anew; where no file can be made, nothing can be indexed.
    with suppress(OSError):
        file.with_ending(_MARK).make()


def _number(file: File) -> tuple[int, int] | None:
    status = file.status()
    return None if status is None else (status.st_dev, status.st_ino)


def _release(place: str, reader: BinaryIO | None) -> None:
    with _users_lock:
        _users[place] -= 1
        readers = _readers.setdefault(place, [])
        if reader is not None:
            readers.append(reader)
        if not _users[place]:
            for each in readers:
                each.close()
            del _users[place], _readers[place]


def add_functions(connection: sqlite3.Connection) -> None:
    """Add the functions of conditions: REGEXP for expressions of a user, IS_TEST for paths, TEXT_OF for chunks."""
    connection.create_function("REGEXP", 2, _matches, deterministic=True)
    connection.create_function("IS_TEST", 1, _is_test, deterministic=True)
    # A condition names the text of a chunk more than once.
    connection.create_function("TEXT_OF", 1, lru_cache(maxsize=1)(text_of), deterministic=True)


def _matches(expression: str, value: object) -> bool:
    try:
        return is_match(expression, value)
    except UsageError as error:
        _refused.error = error  # SQLite reports only that a function has failed
        raise


def _is_test(path: object) -> bool:
    return path is not None and is_test(str(path))
