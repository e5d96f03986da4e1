"""Servers that lie: answers of the wrong form, without an end, a byte at a time, or packed a thousand times smaller.

An honest server is a function from a request to the JSON of its answer; a lie changes what goes out instead.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.waiting import join

LIMIT_BYTES = 200_000  # of an answer, where a test has set it so
SLOW_S = 0.3  # for an answer, where a test has set it so


class Request(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any


Honest = Callable[[Request], Any]  # returns what is sent as JSON
Lie = Callable[[BaseHTTPRequestHandler, bytes], None]  # sends something instead of the honest bytes


class LyingServer:
    """A running server. `lie` holds for the requests that `is_for` names."""

    def __init__(self, url: str, honest: Honest) -> None:
        self.url = url
        self.honest = honest
        self.lie: Lie = _send
        self.is_for: Callable[[Request], bool] = lambda _: True
        self.requests: list[Request] = []
        self.ended = threading.Event()


@contextmanager
def lying(honest: Honest) -> Iterator[LyingServer]:
    """Run a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    liar = LyingServer(f"http://127.0.0.1:{server.server_port}", honest)
    server.RequestHandlerClass = _handler(liar)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who was lied to has hung up
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield liar
    finally:
        liar.ended.set()
        server.shutdown()
        server.server_close()
        join(thread)


def _handler(liar: LyingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        ended = liar.ended

        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"] or 0))
            request = Request(self.command, self.path, json.loads(data) if data else None)
            liar.requests.append(request)
            honest = json.dumps(liar.honest(request)).encode()
            (liar.lie if liar.is_for(request) else _send)(self, honest)

        def log_message(self, *_: Any) -> None:
            pass

    for method in ("GET", "POST", "PUT", "DELETE"):
        setattr(Handler, f"do_{method}", Handler._answer)
    return Handler


def _send(handler: BaseHTTPRequestHandler, data: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    fields = {"Content-Type": "application/json", "Content-Length": str(len(data))}
    for name, value in (fields | {name.replace("_", "-"): value for name, value in headers.items()}).items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


# ---- lies about the whole answer


def _instead(data: bytes, status: int = 200, **headers: str) -> Lie:
    return lambda handler, _: _send(handler, data, status, **headers)


def _endless(handler: BaseHTTPRequestHandler, honest: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    piece = honest.rstrip() + b" " * 65_536
    while not handler.ended.is_set():  # type: ignore[attr-defined]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        piece = b" " * 65_536


def _slow(handler: BaseHTTPRequestHandler, honest: bytes) -> None:
    """Send a byte now and then; each comes sooner than the time for one wait ends."""
    data = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + honest
    for place in range(len(data)):
        handler.wfile.write(data[place : place + 1])
        if handler.ended.wait(SLOW_S / 20):  # type: ignore[attr-defined]
            return


def _slow_headers(handler: BaseHTTPRequestHandler, honest: bytes) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.ended.wait(SLOW_S / 20):  # type: ignore[attr-defined]
        handler.wfile.write(b"X-Wait: 1\r\n")


def _cut(handler: BaseHTTPRequestHandler, honest: bytes) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(honest) + 100))
    handler.end_headers()
    handler.wfile.write(honest)
    handler.close_connection = True


def _not_http(handler: BaseHTTPRequestHandler, honest: bytes) -> None:
    handler.wfile.write(b"SSH-2.0-OpenSSH\r\n" * 9)
    handler.close_connection = True


_BOMB = gzip.compress(b"[" + b" " * 30_000_000 + b"]", 9)

LIES: Mapping[str, Lie] = {
    "nothing": _instead(b""),
    "a page": _instead(b"<html><body>welcome</body></html>"),
    "not JSON": _instead(b'{"a": '),
    "not a text": _instead(b"\xff\xfe\x00\xd8"),
    "nested too deeply": _instead(b"[" * 100_000 + b"]" * 100_000),
    "a huge number": _instead(b"9" * 10_000),
    "null": _instead(b"null"),
    "a number": _instead(b"3"),
    "a text": _instead(b'"x"'),
    "an empty list": _instead(b"[]"),
    "an empty object": _instead(b"{}"),
    "without an end": _endless,
    "slow": _slow,
    "slow headers": _slow_headers,
    "cut": _cut,
    "not HTTP": _not_http,
    "a bomb": _instead(_BOMB, Content_Encoding="gzip"),
    "an unknown packing": _instead(b"\x0b\x02\x80[]\x03", Content_Encoding="br"),
    "wrongly packed": _instead(b"{}", Content_Encoding="gzip"),
    **{f"HTTP {status}": _instead(b'{"detail": "no"}', status) for status in (400, 401, 403, 404, 410, 422, 500, 507)},
}


def redirect(url: str) -> Lie:
    """Return the lie that the answer lies somewhere else."""
    return _instead(b"", 307, Location=url)


# ---- lies inside of it

_OTHERS: tuple[Any, ...] = (None, [], {}, "x", -3, 0.5, True, float("nan"), float("inf"), 10**400, [[]], "\ud800")


def changed(honest: Any) -> Iterator[tuple[str, Any]]:
    """Yield answers in which one part is of another form, or is missing, each with a name of the change."""
    for path in _paths(honest):
        for other in _OTHERS:
            yield f"{path} = {str(other)[:20]}", _with(honest, path, other)
        if path:
            yield f"without {path}", _with(honest, path, _GONE)
    yield from ((f"{path} longer", _with(honest, path, [*part, *part])) for path, part in _lists(honest))
    yield from ((f"{path} shorter", _with(honest, path, part[: len(part) // 2])) for path, part in _lists(honest))
    yield from ((f"{path} repeated", _with(honest, path, [part[0]] * len(part))) for path, part in _lists(honest))


_GONE = object()
_Path = tuple[str | int, ...]


def _paths(value: Any, path: _Path = ()) -> Iterator[_Path]:
    yield path
    parts: Iterator[tuple[str | int, Any]] = iter(())
    if isinstance(value, dict):
        parts = iter(value.items())
    elif isinstance(value, list):
        parts = iter(list(enumerate(value))[:2])
    for name, part in parts:
        yield from _paths(part, (*path, name))


def _lists(honest: Any) -> Iterator[tuple[_Path, list[Any]]]:
    for path in _paths(honest):
        part = honest
        for name in path:
            part = part[name]
        if isinstance(part, list) and part:
            yield path, part


def _with(value: Any, path: _Path, other: Any) -> Any:
    if not path:
        return other
    name, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if not rest and other is _GONE:
        del copy[name]
    else:
        copy[name] = _with(value[name], tuple(rest), other)
    return copy


def saying(answer: Any) -> Lie:
    """Return the lie that sends this instead."""
    return _instead(json.dumps(answer).encode())
