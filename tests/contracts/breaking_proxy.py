"""A proxy of TCP on this machine that breaks off connections after so many bytes, as a bad network does."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from urllib.parse import urlsplit

from tests.waiting import LONG_S

_PIECE = 65_536


class BreakingProxy:
    """Passes on all that comes, but breaks off a connection that reaches the first of `limits` in bytes; each once."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname or "127.0.0.1", parts.port or 80)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = Lock()
        self.limits: list[int] = []
        self.endpoint = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._upstream, timeout=LONG_S)
                sides, passed = (client, server), [0]
                for one, other in (sides, sides[::-1]):
                    Thread(target=self._pass_on, args=(one, other, passed), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, passed: list[int]) -> None:
        with suppress(OSError):
            while piece := one.recv(_PIECE):
                if self._breaks(passed, len(piece)):
                    break
                other.sendall(piece)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _breaks(self, passed: list[int], n_bytes: int) -> bool:
        with self._lock:
            passed[0] += n_bytes
            if self.limits and passed[0] >= self.limits[0]:
                del self.limits[0]
                return True
            return False

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()


@contextmanager
def breaking_proxy(upstream: str) -> Iterator[BreakingProxy]:
    """Run a proxy during the block."""
    proxy = BreakingProxy(upstream)
    try:
        yield proxy
    finally:
        proxy.close()
