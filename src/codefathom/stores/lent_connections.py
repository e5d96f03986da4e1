"""SQLite connections of several threads, each lent to its own: none is closed while a thread uses it.

A connection that is closed under a running statement ends the process: SQLite reads memory that it has given back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, get_ident
from time import monotonic

_ASK_AGAIN_S = 0.05  # an interruption ends only the statements that run at this moment
_PATIENCE_S = 10.0  # with a thread that goes on; it closes its connection itself afterwards
_NO_LOG_ON_CLOSE = "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE"  # since Python 3.12


@dataclass(slots=True, eq=False)
class LentConnection:
    """The connection of one thread."""

    connection: sqlite3.Connection
    thread: int
    n_uses: int = 0  # now; one inside another counts, too
    is_left: bool = False  # the thread closes it itself


class LentConnections:
    """One connection for each thread. Safe to use from several threads."""

    def __init__(self, connect: Callable[[], sqlite3.Connection], patience_s: float = _PATIENCE_S) -> None:
        """`connect` opens a connection for the thread that calls `add`. `closing` waits for `patience_s` at most."""
        self._connect = connect
        self._patience_s = patience_s
        self._changed = Condition()  # guards all below
        self._of_thread: dict[int, LentConnection] = {}  # a dead thread's number is used again
        self._closer: int | None = None  # the thread that closes
        self._is_closed = False

    @property
    def is_closing(self) -> bool:
        """True from the moment on from which no thread but the closing one gets a connection."""
        return self._closer is not None

    @property
    def is_refused(self) -> bool:
        """True if this thread gets no connection any more."""
        return self._is_closed or self._closer not in (None, get_ident())

    @property
    def n_open(self) -> int:
        """Number of open connections."""
        with self._changed:
            return len(self._of_thread)

    def take(self) -> LentConnection | None:
        """Lend this thread its connection until `give_back`. None when there is none yet, or when all are closed."""
        with self._changed:
            own = self._of_thread.get(get_ident())
            if own is None or self.is_refused:
                return None
            own.n_uses += 1
            return own

    def add(self) -> LentConnection | None:
        """Open a connection for this thread and lend it. None when all are closed."""
        with self._changed:
            if self.is_refused:
                return None
        own = LentConnection(self._connect(), get_ident(), n_uses=1)
        with self._changed:
            if not self.is_refused:
                self._of_thread[own.thread] = own
                return own
        own.connection.close()
        return None

    def take_again(self, own: LentConnection) -> bool:
        """Lend the same connection once more, to go on with what it has begun; False when all are closed."""
        with self._changed:
            if self.is_refused or self._of_thread.get(own.thread) is not own:
                return False
            own.n_uses += 1
            return True

    def give_back(self, own: LentConnection) -> bool:
        """End a use. True if this was the last one after `close`: the connection is closed then."""
        with self._changed:
            own.n_uses -= 1
            if self._closer is not None and not own.n_uses:
                self._changed.notify_all()
            if not own.is_left or own.n_uses:
                return False
            self._of_thread.pop(own.thread, None)
        _leave_log(own.connection)
        own.connection.close()
        return True

    @contextmanager
    def closing(self) -> Iterator[bool]:
        """Lend nothing any more but to this thread in the block, and close all connections after it.

        Statements of other threads are interrupted, and waited for until the block begins. What a thread still uses
        then is closed by that thread when it gives it back. The value is False when another one has closed.
        """
        with self._changed:
            is_first = self._closer is None
            if is_first:
                self._closer = get_ident()
                self._wait_for_others()
        if not is_first:
            yield False
            return
        try:
            yield True
        finally:
            self._close_all()

    # ---- inside

    def _wait_for_others(self) -> None:
        until = monotonic() + self._patience_s
        while (busy := self._used_by_others()) and monotonic() < until:
            for own in busy:
                own.connection.interrupt()  # it is open: its thread has not given it back
            self._changed.wait(_ASK_AGAIN_S)

    def _used_by_others(self) -> list[LentConnection]:
        return [own for own in self._of_thread.values() if own.n_uses and own.thread != self._closer]

    def _close_all(self) -> None:
        with self._changed:
            self._is_closed = True
            idle = [own for own in self._of_thread.values() if not own.n_uses]
            for own in self._of_thread.values():
                own.is_left = own.n_uses > 0
            self._of_thread = {own.thread: own for own in self._of_thread.values() if own.is_left}
        for own in idle:
            own.connection.close()


def _leave_log(connection: sqlite3.Connection) -> None:
    """Have SQLite leave the log where it is when this connection is closed: the seal of the file would not fit."""
    if hasattr(sqlite3, _NO_LOG_ON_CLOSE):
        connection.setconfig(getattr(sqlite3, _NO_LOG_ON_CLOSE), True)  # type: ignore[attr-defined]
