"""Limits for an answer that a library reads from a connection of its own, and for which it has none itself.

A thread looks after the connection while the answer is read, and shuts it down at the limit: then the library says that
the connection was lost, and whoever asked sees here why.
"""

from __future__ import annotations

import socket
import struct
import time
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType

_LOOK_S = 0.02
_RECEIVED = (128, 136)  # place of `tcpi_bytes_received` in Linux's `struct tcp_info`


class WatchedSocket:
    """Looks after the connection behind a file descriptor: `with WatchedSocket(...) as watch: read the answer`."""

    def __init__(self, descriptor: int, seconds: float, n_bytes: int) -> None:
        self.problem = ""  # the limit that was broken, as a sentence
        self.is_late = False  # that is the time
        self._descriptor = descriptor
        self._seconds = seconds
        self._n_bytes = n_bytes
        self._is_read = Event()
        self._thread = Thread(target=self._look, name="answer limit", daemon=True)

    def __enter__(self) -> WatchedSocket:
        """Begin to look."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, before the descriptor can become that of another file."""
        self._is_read.set()
        self._thread.join()

    def _look(self) -> None:
        deadline = time.monotonic() + self._seconds
        connection = socket.socket(fileno=self._descriptor)
        try:
            before = _n_received(connection)
            while not self._is_read.wait(_LOOK_S):
                if time.monotonic() > deadline:
                    self.is_late = True
                    self.problem = f"the answer was not complete after {self._seconds:g} s"
                elif _n_received(connection) - before > self._n_bytes:
                    self.problem = f"the answer is larger than {self._n_bytes:,} bytes"
                if self.problem:
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)
                    return
        finally:
            connection.detach()  # it stays the library's


def _n_received(connection: socket.socket) -> int:
    """Return the number of bytes that have come over a connection; 0 where the system does not say."""
    try:
        state = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RECEIVED[1])
    except (OSError, AttributeError):  # another system, or a connection that is not TCP
        return 0
    return int(struct.unpack("=Q", state[slice(*_RECEIVED)])[0]) if len(state) == _RECEIVED[1] else 0
