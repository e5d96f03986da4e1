"""A real HTTP server that answers by a script, faults included, and remembers what it was asked."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.waiting import join


@dataclass
class Turn:
    """One answer. The body goes out in these pieces, each in a packet of its own, with a pause after each."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pause_s: float = 0.0
    silent_s: float = 0.0  # before anything is sent
    reset: str = ""  # "first": before the first byte; "middle": after the pieces
    repeat: int = 1  # how often the pieces are sent
    when: Callable[[dict[str, Any]], bool] = lambda _: True  # otherwise the request is refused with 400
    reply: Callable[[dict[str, Any]], bytes] | None = None  # makes the body from the request, instead of the pieces


@dataclass
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    is_closed: threading.Event = field(default_factory=threading.Event)  # the other side hung up while we sent


@dataclass
class ServedSettings:
    """A running server."""

    base_url: str
    turns: list[Turn]
    asked: list[Asked] = field(default_factory=list)
    refusal: bytes = b'{"error": "unknown field"}'
    refused_with: int = 400


@contextmanager
def serving(*turns: Turn) -> Iterator[ServedSettings]:
    """Serve these turns, the last one again and again."""
    served = ServedSettings("", list(turns))
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a connection that was reset, as the script says
    served.base_url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        join(thread)


def _handler(served: ServedSettings) -> type[BaseHTTPRequestHandler]:
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            with lock:
                served.asked.append(asked)
                turn = served.turns.pop(0) if len(served.turns) > 1 else served.turns[0]
            if not turn.when(body):
                with lock:
                    served.turns.insert(0, turn)
                turn = Turn([served.refusal], served.refused_with)
            self._answer(turn, asked)

        def _answer(self, turn: Turn, asked: Asked) -> None:
            time.sleep(turn.silent_s)
            if turn.reset == "first":
                self._hang_up()
                return
            try:
                self.send_response(turn.status)
                for name, value in {"transfer-encoding": "chunked", **turn.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                pieces = [turn.reply(asked.body)] if turn.reply else turn.pieces
                for piece in list(pieces) * turn.repeat:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                    time.sleep(turn.pause_s)
                if turn.reset == "middle":
                    self._hang_up()
                    return
                self.wfile.write(b"0\r\n\r\n")
            except OSError:
                asked.is_closed.set()
                self.close_connection = True

        def _hang_up(self) -> None:
            # Linger of 0 seconds: the connection is reset and not closed in order.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.rfile.close()
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
