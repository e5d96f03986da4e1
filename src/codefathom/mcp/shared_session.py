"""The end of a session in `fathom mcp` where `fathom serve` holds sessions: lines pass from stdin to it, and back.

Twenty sessions then cost one engine. The process keeps each request until it is answered. If the other end is lost,
it answers itself what is not answered yet, and all that follows. Next to nothing is imported: that is the point.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from collections.abc import Mapping, Sequence

import codefathom
from codefathom.config.user_places import user_data_dir
from codefathom.system.local_socket import connect
from codefathom.text.foreign_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO, TextIO, TypeAlias

    Streams: TypeAlias = tuple[int, BinaryIO, TextIO]  # where lines come from, where answers go, and notes

LONGEST_LINE = 1_000_000  # bytes
NOTE = b"!"  # begins a line for stderr
_PIECE = 65_536
_MOST_UNSENT = 4_000_000  # bytes for an end that does not read
_MOST_BYTES = 100_000_000  # of an answer
_GREETING_S = 5.0
_MOST_GREETING = 1_000_000
# What an answer may depend on: settings, places of a user, keys and addresses of models and stores, the network.
_BEGINNINGS = ("FATHOM_", "PG", "SSL_CERT_", "OPENAI_", "OLLAMA_", "QDRANT_", "RERANK_", "CHROMA_")
_NAMES = {
    *("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "GIT_CONFIG_GLOBAL"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
}
_OF_SERVER = "FATHOM_SERVER__"  # no answer of a session depends on these


def sessions_folder(environ: Mapping[str, str]) -> str:
    """Return the folder in which the sessions of this user are taken."""
    return os.path.join(user_data_dir(environ), "sessions")


def greeting(words: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what one end tells of itself: its version, its place, what its answers depend on, and its folder.

    The values stay in processes of one user, who can read the environment of all of them.
    """
    status = os.stat(".")
    return {
        "version": codefathom.__version__,
        "place": [sys.executable, *codefathom.__path__],
        "environment": {name: value for name, value in environ.items() if _counts(name)},
        "folder": os.getcwd(),
        "file": [status.st_dev, status.st_ino],
        "words": list(words),
    }


def difference(theirs: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return why this process would not answer as the one that sent a greeting; "" if it would."""
    ours = greeting((), environ)
    if theirs.get("version") != ours["version"]:
        return f"`fathom serve` is version {ours['version']}, and `fathom mcp` is version {theirs.get('version')}"
    if theirs.get("place") != ours["place"]:
        return "`fathom serve` runs from another installation than `fathom mcp`"
    sent, own = theirs.get("environment"), ours["environment"]
    variables = sent if isinstance(sent, Mapping) else {}
    if names := sorted(name for name in {*variables, *own} if variables.get(name) != own.get(name)):
        return f"`fathom serve` has other values of these variables: {', '.join(names[:5])}"
    return ""


def join(words: Sequence[str], environ: Mapping[str, str], streams: Streams) -> Relay | None:
    """Return a session at the `fathom serve` of this user; None where none runs, or it would answer otherwise."""
    connection, _ = _connected(words, environ)
    return None if connection is None else Relay(connection, streams)


def server_refusal(environ: Mapping[str, str]) -> str | None:
    """Return why the `fathom serve` of this user takes no session, "" if it does; None where none runs."""
    connection, refusal = _connected(["mcp"], environ)
    if connection is not None:
        connection.close()
    return refusal if connection is not None or refusal else None


def _connected(words: Sequence[str], environ: Mapping[str, str]) -> tuple[socket.socket | None, str]:
    """Return the connection of a session that is taken, else None and why it is refused; "" where no server runs."""
    try:
        sent = json.dumps(greeting(words, environ)).encode() + b"\n"
        connection = connect(sessions_folder(environ), _GREETING_S)
    except OSError:  # such as a working directory that is gone
        return None, ""
    if connection is None:
        return None, ""
    try:
        connection.sendall(sent)
        refusal = _message(_line(connection))["refusal"]
    except (OSError, KeyError):
        refusal = f"`fathom serve` did not answer within {_GREETING_S:g} s"
    if refusal:
        connection.close()
        return None, str(refusal)
    connection.settimeout(None)
    return connection, ""


class Relay:
    """The lines of a session on their way."""

    def __init__(self, connection: socket.socket, streams: Streams) -> None:
        self._connection = connection
        self._source, self._out, self._err = streams
        self._typed, self._told = LineReader(), LineReader(_MOST_BYTES)
        self._has_ended = False  # stdin
        self._unsent = b""
        self._unanswered: dict[str | int, bytes] = {}

    def run(self) -> bool:
        """Pass lines on until stdin has ended and all is answered: True; False if the other end is lost before."""
        try:
            while self._step():
                pass
        except ConnectionError:
            pass
        self.close()
        return self._has_ended and not self._unanswered

    def close(self) -> None:
        """Leave, without a word."""
        self._connection.close()

    def rest(self) -> Iterator[bytes]:
        """Yield the requests that are not answered yet, and the lines to come."""
        for line in list(self._unanswered.values()):
            yield _without_progress(line)
        while not self._has_ended:
            yield from self._read()

    def _step(self) -> bool:
        """Wait until something can be passed on, and pass it on; False once the other end has closed."""
        poll = select.poll()
        poll.register(self._connection.fileno(), select.POLLIN | (select.POLLOUT if self._unsent else 0))
        if not self._has_ended and len(self._unsent) < _MOST_UNSENT:
            poll.register(self._source, select.POLLIN)
        for descriptor, event in poll.poll():
            if descriptor == self._source:
                self._pass_on()
            elif event & ~select.POLLOUT:
                data = self._connection.recv(_PIECE)
                self._pass_back(data)
                if not data:
                    return False
            else:
                self._send()
        return True

    def _read(self) -> list[bytes]:
        data = os.read(self._source, _PIECE)
        self._has_ended = not data
        return self._typed.feed(data)

    def _pass_on(self) -> None:
        for line in self._read():
            self._unsent += line
            message = _message(line)
            key = message.get("id")
            if message.get("method") == "notifications/cancelled":  # which is not answered
                params = message.get("params")
                self._forget(params.get("requestId") if isinstance(params, dict) else None)
            elif "method" in message and isinstance(key, str | int):
                self._unanswered[key] = line
        self._send()

    def _send(self) -> None:
        try:
            n_sent = self._connection.send(self._unsent, socket.MSG_DONTWAIT) if self._unsent else 0
        except BlockingIOError:
            n_sent = 0
        self._unsent = self._unsent[n_sent:]
        if self._has_ended and not self._unsent:
            self._connection.shutdown(socket.SHUT_WR)

    def _pass_back(self, data: bytes) -> None:
        for line in self._told.feed(data) if data else ():  # the rest of a line that was cut off is not passed on
            if line.startswith(NOTE):
                self._err.write(line.removeprefix(NOTE).decode(errors="replace"))
                self._err.flush()
                continue
            self._out.write(line)
            message = _message(line)
            if "method" not in message:
                self._forget(message.get("id"))
        self._out.flush()

    def _forget(self, key: object) -> None:
        if isinstance(key, str | int):
            self._unanswered.pop(key, None)


class LineReader:
    """Lines out of pieces; of one that is too long a piece that is not JSON, so that it is refused."""

    def __init__(self, most_bytes: int = LONGEST_LINE) -> None:
        self._most = most_bytes
        self._begun = b""
        self._is_too_long = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete now; without data, the last one, too."""
        *complete, begun = data.split(b"\n")
        lines = []
        for piece in complete:
            line = self._begun + piece
            lines.append(b"too long\n" if self._is_too_long or len(line) >= self._most else line + b"\n")
            self._begun, self._is_too_long = b"", False
        self._begun += begun
        if len(self._begun) >= self._most:
            self._begun, self._is_too_long = b"", True
        if not data and (self._begun or self._is_too_long):
            lines.append(b"too long\n" if self._is_too_long else self._begun + b"\n")
            self._begun, self._is_too_long = b"", False
        return lines


def _counts(name: str) -> bool:
    return name in _NAMES or (name.startswith(_BEGINNINGS) and not name.startswith(_OF_SERVER))


def _line(connection: socket.socket) -> bytes:
    """Return the first line of the other end. Raises OSError where it does not come in time."""
    line = b""
    while not line.endswith(b"\n") and len(line) < _MOST_GREETING:
        piece = connection.recv(1)  # what follows is for whoever reads next
        if not piece:
            break
        line += piece
    return line


def _message(line: bytes) -> dict[str, Any]:
    try:
        value = read_json(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _without_progress(line: bytes) -> bytes:
    """Return a request that is asked again: its progress would begin anew, and may only grow."""
    message = _message(line)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if not isinstance(meta, dict) or meta.pop("progressToken", None) is None:
        return line
    return json.dumps(message).encode() + b"\n"
