"""Connections to SQLite files that may have come from strangers.

SQLite opens by path, and makes files beside the database. What is checked before it opens anything:

- The database is a regular file with no other name. A missing one is made here, so that SQLite never makes one.
- So are `-wal` and `-shm`, where they exist; what is not is removed. (SQLite opens them without following links, but
  would write into a file that has another name elsewhere.)
- There is no `-journal`: we never use one, and a journal can name another file that SQLite then deletes.
- Afterwards: the file that SQLite has opened is the one that was looked at.

One risk remains: somebody who may write into the folder can exchange a file between this check and the opening. Then
only SQLite's own refusal of links in the last part of the path protects.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from codefathom.stores.folder import File, UnsafeError, kind_of

if TYPE_CHECKING:
    from typing import Any

_SIDES = ("-wal", "-shm")
_JOURNAL = "-journal"
_DEFENSIVE = "SQLITE_DBCONFIG_DEFENSIVE"  # since Python 3.12

# A schema can call functions and read tables when its file is only opened; a page can lie about its cells.
_CAUTION = "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "


def connect(file: File, *, wait_s: float, settings: str = "", read_only: bool = False) -> sqlite3.Connection:
    """Open a database, or make it unless `read_only`, with these PRAGMA statements; usable from any thread.

    Nothing in the file was read when this returns but its first page. Raises FileNotFoundError, UnsafeError (what is
    there is no regular file, or has another name; the folder cannot be changed), another OSError, sqlite3.Error.
    """
    for _ in range(_ATTEMPTS):
        if not read_only:
            file.make()
        before = _checked(file, is_there=read_only)
        connection = None if before is None else _opened_once(file, wait_s, settings, read_only=read_only)
        if connection is not None and before is not None:
            if _is_same(connection, before, file):
                return connection
            connection.close()
    raise OSError(errno.EBUSY, "another process replaces it again and again", file.path)


_ATTEMPTS = 20  # other processes may set a bad file aside at the same time


def use_log(connection: sqlite3.Connection) -> None:
    """Have the file use WAL, as all that we write does; several processes may do so at once. Raises sqlite3.Error."""
    until = time.monotonic() + _PATIENCE_S
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")  # so that the change itself needs no journal
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:  # another process does the same
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)


_PATIENCE_S = 30.0


def _checked(file: File, *, is_there: bool) -> os.stat_result | None:
    status = file.status()
    if status is None:
        if is_there:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file.path)
        return None
    if kind_of(status) != "file":
        raise UnsafeError(errno.EINVAL, f"it is a {kind_of(status)}, not a file", file.path)
    if status.st_nlink > 1:
        raise UnsafeError(errno.EINVAL, "the same file has another name elsewhere", file.path)
    return status


def _opened_once(file: File, wait_s: float, settings: str, *, read_only: bool) -> sqlite3.Connection:
    is_cleared = _clear_sides(file)
    if read_only:
        return _opened_to_read(file, wait_s, settings, is_cleared=is_cleared)
    if not is_cleared:
        raise OSError(errno.EACCES, "a file beside it (-wal, -shm or -journal) cannot be removed", file.path)
    return _opened(file, "mode=rw", wait_s, settings)


def _clear_sides(file: File) -> bool:
    """Remove files that must not lie beside a database; return True if none of them is left."""
    bad = [file.with_ending(end) for end in _SIDES if file.with_ending(end).kind()]
    bad = [side for side in bad if not side.is_whole()]
    if file.with_ending(_JOURNAL).kind():
        bad.append(file.with_ending(_JOURNAL))
    for side in bad:
        with suppress(OSError):
            side.remove()
    return not any(side.kind() for side in bad)


def _opened_to_read(file: File, wait_s: float, settings: str, *, is_cleared: bool) -> sqlite3.Connection:
    with suppress(sqlite3.OperationalError):
        if is_cleared:
            return _opened(file, "mode=ro", wait_s, settings)
    # WAL needs a file for shared memory beside the database. Where none can be made, nobody writes either. What lies
    # beside is not looked at, so that a log with transactions in it must not be there.
    wal = file.with_ending("-wal").status()
    if wal is not None and (wal.st_size or kind_of(wal) != "file"):
        raise UnsafeError(errno.EROFS, "its last changes are in a log (-wal) that cannot be opened here", file.path)
    return _opened(file, "immutable=1", wait_s, settings)


def _opened(file: File, mode: str, wait_s: float, settings: str) -> sqlite3.Connection:
    address = "file:" + file.path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"{address}?{mode}",
        timeout=wait_s,
        isolation_level=None,
        check_same_thread=False,
        factory=_Connection,
        uri=True,
    )
    try:
        if hasattr(sqlite3, _DEFENSIVE):
            connection.setconfig(getattr(sqlite3, _DEFENSIVE), True)  # type: ignore[attr-defined]
        connection.executescript(_CAUTION + settings)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file: a bad one is found here
    except BaseException:
        connection.close()
        raise
    return connection


class _Connection(sqlite3.Connection):
    """Raises sqlite3.DatabaseError also where SQLite repeats damaged bytes in a message, which Python cannot decode."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*arguments)
        except UnicodeDecodeError as error:
            raise _damage() from error

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        try:
            return super().executemany(*arguments)
        except UnicodeDecodeError as error:
            raise _damage() from error

    def executescript(self, statements: str) -> sqlite3.Cursor:
        try:
            return super().executescript(statements)
        except UnicodeDecodeError as error:
            raise _damage() from error


def _damage() -> sqlite3.DatabaseError:
    damage = sqlite3.DatabaseError("a message about it is not UTF-8")
    damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return damage


def _is_same(connection: sqlite3.Connection, before: os.stat_result, file: File) -> bool:
    # SQLite tells the path that it has opened, without links.
    opened = connection.execute("PRAGMA database_list").fetchone()[2]
    now = file.status()
    try:
        return now is not None and os.path.samestat(now, before) and os.path.samestat(os.lstat(opened), before)
    except OSError:
        return False
