"""A small server that speaks as much of PostgreSQL's protocol as a search needs, so that it can lie."""

from __future__ import annotations

import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.waiting import join

_TEXT, _LONG, _DOUBLE = 25, 20, 701
_TYPES = {str: _TEXT, int: _LONG, float: _DOUBLE}
_SSL, _CANCEL = 80877103, 80877102

Rows = Sequence[Sequence[Any]]


class LyingPostgres:
    """A running server: `rows` gives the rows for a statement, `lie` sends something instead of them."""

    def __init__(self, url: str, rows: Callable[[str], Rows]) -> None:
        self.url = url
        self.rows = rows
        self.lie: Callable[[Connection, str], bool] = lambda *_: False
        self.ended = threading.Event()


class Connection(socketserver.StreamRequestHandler):
    """One client."""

    liar: LyingPostgres

    def handle(self) -> None:
        try:
            if self._is_begun():
                while self._is_answered():
                    pass
        except (OSError, struct.error):
            pass

    def send(self, kind: bytes, content: bytes = b"") -> None:
        self.wfile.write(kind + struct.pack(">I", len(content) + 4) + content)

    def fail(self, code: str, message: str = "no") -> None:
        fields = {"S": "ERROR", "V": "ERROR", "C": code, "M": message}
        self.send(b"E", b"".join(name.encode() + text.encode() + b"\0" for name, text in fields.items()) + b"\0")

    def send_rows(self, rows: Rows) -> None:
        kinds = [_TYPES.get(type(value), _TEXT) for value in rows[0]] if rows else [_LONG]
        columns = b"".join(b"c\0" + struct.pack(">IhIhIh", 0, 0, kind, -1, 0xFFFFFFFF, 0) for kind in kinds)
        self.send(b"T", struct.pack(">h", len(kinds)) + columns)
        for row in rows:
            self.send(b"D", struct.pack(">h", len(row)) + b"".join(map(_value, row)))
        self.send(b"C", f"SELECT {len(rows)}\0".encode())

    def _is_begun(self) -> bool:
        while True:
            (size,) = struct.unpack(">I", self.rfile.read(4))
            (code,) = struct.unpack(">I", self.rfile.read(size - 4)[:4])
            if code == _CANCEL:
                return False
            if code != _SSL:
                break
            self.wfile.write(b"N")
        if self.liar.lie(self, ""):
            return False
        self.send(b"R", struct.pack(">I", 0))
        for name, value in {"client_encoding": "UTF8", "server_version": "18.0", "integer_datetimes": "on"}.items():
            self.send(b"S", f"{name}\0{value}\0".encode())
        self.send(b"Z", b"I")
        return True

    def _is_answered(self) -> bool:
        kind = self.rfile.read(1)
        if kind in {b"", b"X"}:
            return False
        (size,) = struct.unpack(">I", self.rfile.read(4))
        content = self.rfile.read(size - 4)
        if kind == b"P":
            self._statement = content.split(b"\0")[1].decode()
            self.send(b"1")
        elif kind == b"B":
            self.send(b"2")
        elif kind == b"E":
            self._run(self._statement)
        elif kind == b"S":
            self.send(b"Z", b"I")
        elif kind == b"Q":
            self._run(content.rstrip(b"\0").decode())
            self.send(b"Z", b"I")
        return True

    def _run(self, statement: str) -> None:
        if not self.liar.lie(self, statement):
            self.send_rows(self.liar.rows(statement))


def _value(value: Any) -> bytes:
    if value is None:
        return struct.pack(">i", -1)
    data = str(value).encode("utf-8", "surrogatepass")
    return struct.pack(">i", len(data)) + data


@contextmanager
def lying_postgres(rows: Callable[[str], Rows]) -> Iterator[LyingPostgres]:
    """Run a server."""
    liar = LyingPostgres("", rows)
    handler = type("Handler", (Connection,), {"liar": liar})
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    liar.url = f"postgresql://fathom@127.0.0.1:{server.server_address[1]}/postgres?sslmode=disable"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield liar
    finally:
        liar.ended.set()
        server.shutdown()
        server.server_close()
        join(thread)
