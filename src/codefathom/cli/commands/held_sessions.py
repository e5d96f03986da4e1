"""The sessions of `fathom mcp` that `fathom serve` holds: one process beside the server answers all of them.

The server listens; the process begins with the first session, and ends when there has been none for a while, or with
the server. It answers with the same code as a session that is alone, so a session sees the projects that it was
started with, whatever the server serves. It speaks the protocol of stdin and stdout, after a greeting.
"""

from __future__ import annotations

import io
import json
import logging
import os
import select
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import Any

from codefathom.cli.arguments import parse
from codefathom.cli.commands.mcp_command import AgentSession
from codefathom.cli.options import McpOptions
from codefathom.errors import FathomError
from codefathom.mcp.followed_projects import FollowedProjects
from codefathom.mcp.shared_session import LONGEST_LINE, NOTE, LineReader, difference, sessions_folder
from codefathom.mcp.stdio_loop import StdioLoop
from codefathom.system.children import end_at_once, start_python
from codefathom.system.local_socket import UserSocket, is_of_this_user, listen
from codefathom.text.foreign_json import read_json
from codefathom.text.printable import show_text

_IDLE_S = 60.0  # without a session
_GREETING_S = 10.0
_MOST_SESSIONS = 500
_MOST_FAILURES = 5  # of the process, one after the other
_PIECE = 65_536
# Else the library of C keeps a heap for each of many threads, and hardly gives back any.
_FEW_ARENAS = {"MALLOC_ARENA_MAX": "2"}
_log = logging.getLogger(__name__)


@contextmanager
def holding_sessions(tell: Callable[[str], None]) -> Iterator[None]:
    """Take sessions while the block runs, unless another server of this user does, or the system cannot."""
    folder = sessions_folder(os.environ)
    try:
        own = listen(folder)
    except OSError as error:
        tell(f"each `fathom mcp` is alone: {folder!r} cannot be used for sessions: {error.strerror or error}")
        own = None
    if own is None:
        yield
        return
    process = _Process(own)
    try:
        yield
    finally:
        process.close()


class _Process:
    """The process that answers, started when somebody connects."""

    def __init__(self, own: UserSocket) -> None:
        self._own = own
        self._over, self._wake = os.pipe()
        self._thread = Thread(target=self._follow, name="sessions", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the process, with its sessions: those go on alone."""
        os.close(self._wake)
        self._thread.join()
        os.close(self._over)
        self._own.close()

    def _follow(self) -> None:
        listener, n_failures = self._own.listener.fileno(), 0
        while n_failures < _MOST_FAILURES and self._waits_for(listener):
            try:
                n_failures = 0 if self._run(listener) == 0 else n_failures + 1
            except OSError as error:
                n_failures += 1
                _log.warning("the process for sessions cannot begin: %s", error)
        if n_failures == _MOST_FAILURES:
            _log.warning("the process for sessions has failed %d times; each session is alone now", n_failures)
            self._own.listener.close()

    def _run(self, listener: int) -> int:
        module = "codefathom.cli.commands.held_sessions"
        with start_python(module, "main", descriptors=(listener,), variables=_FEW_ARENAS) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            with suppress(OSError):
                child.stdin.write(f"{listener}\n".encode())
                child.stdin.flush()
            if not self._waits_for(child.stdout.fileno()):
                child.kill()
        return child.returncode

    def _waits_for(self, descriptor: int) -> bool:
        """Wait until something can be read, or the other end has gone; False once all is over."""
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.register(self._over, select.POLLIN)
        return all(ready != self._over for ready, _ in poll.poll())


def main() -> None:
    """Answer the sessions of a socket, whose descriptor stands in the first line of stdin, until stdin ends."""
    listener = socket.socket(fileno=int(sys.stdin.buffer.readline()))
    Thread(target=_end_with_server, daemon=True).start()
    sessions = _Sessions()
    listener.settimeout(_IDLE_S)
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            if not sessions.n_held:
                end_at_once()
            continue
        Thread(target=sessions.hold, args=(connection,), daemon=True).start()


def _end_with_server() -> None:
    sys.stdin.buffer.read()
    end_at_once()


class _Sessions:
    """The sessions of this process."""

    def __init__(self) -> None:
        self.n_held = 0
        self._lock = Lock()
        self._followed = FollowedProjects()

    def hold(self, connection: socket.socket) -> None:
        """Answer one session until its end."""
        with self._lock:
            self.n_held += 1
            is_one_too_many = self.n_held > _MOST_SESSIONS
        try:
            with connection, suppress(OSError):  # its process has gone
                if is_of_this_user(connection):
                    connection.settimeout(_GREETING_S)
                    reader = _Lines(connection)
                    self._answer(connection, reader, "too many sessions are held already" * is_one_too_many)
        finally:
            with self._lock:
                self.n_held -= 1

    def _answer(self, connection: socket.socket, reader: _Lines, refusal: str) -> None:
        greeting = _greeting(next(reader, b""))
        refusal = refusal or _problem(greeting)
        connection.sendall(json.dumps({"refusal": refusal}).encode() + b"\n")
        if refusal:
            return
        connection.settimeout(None)
        writer = _Writer(connection)
        session = AgentSession(
            lambda: _options(greeting["words"]),
            folder=greeting["folder"],
            err=_Notes(writer.send_note),
            followed=self._followed,
        )
        loop = StdioLoop(session.call, lambda: session.tools, writer.send)
        reader.on_end = lambda: Thread(target=_give_up, args=(connection, loop), daemon=True).start()
        try:
            loop.run(reader)
        finally:
            session.close()
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _give_up(connection: socket.socket, loop: StdioLoop) -> None:
    """End what is under way once nobody can hear of it; a session whose stdin has ended still waits for its answers."""
    poll = select.poll()
    with suppress(ValueError, OSError):  # closed
        poll.register(connection.fileno(), 0)
        poll.poll()
        loop.give_up()


class _Lines:
    """The lines of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = LineReader(LONGEST_LINE)
        self._complete: list[bytes] = []
        self._has_ended = False
        self.on_end: Callable[[], object] = Event

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        while not self._complete and not self._has_ended:
            try:
                data = self._connection.recv(_PIECE)
            except ConnectionError:
                data = b""
            self._complete = self._reader.feed(data)
            self._has_ended = not data
            if self._has_ended:
                self.on_end()
        if not self._complete:
            raise StopIteration
        return self._complete.pop(0)


class _Writer:
    """The way back to a session; what cannot be sent has nobody who waits for it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = Lock()

    def send(self, text: str) -> None:
        """Send lines."""
        with self._lock, suppress(OSError):
            self._connection.sendall(text.encode())

    def send_note(self, text: str) -> None:
        """Send lines for stderr."""
        for line in text.splitlines():
            self.send(f"{NOTE.decode()}{show_text(line)}\n")


class _Notes(io.StringIO):
    """A stream for notes."""

    def __init__(self, send: Callable[[str], None]) -> None:
        super().__init__()
        self._send = send

    def write(self, text: str) -> int:
        """Send the text."""
        self._send(text)
        return len(text)


def _greeting(line: bytes) -> Mapping[str, Any]:
    try:
        value = read_json(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _problem(greeting: Mapping[str, Any]) -> str:
    """Return why a session is not taken."""
    if refusal := difference(greeting, os.environ):
        return refusal
    words, folder = greeting.get("words"), greeting.get("folder")
    if not isinstance(folder, str) or not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return "the greeting is not understood"
    try:
        status = os.stat(folder)
        _options(words)
    except (OSError, ValueError, FathomError) as error:
        return f"{folder!r} or the options cannot be used: {error}"
    if [status.st_dev, status.st_ino] != greeting.get("file"):  # such as in a container
        return f"{folder!r} is another folder for `fathom serve`"
    return ""


def _options(words: Sequence[str]) -> McpOptions:
    options: McpOptions = parse(words).options
    return options
