"""The server's end of a job's process: started, read line by line, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from threading import Lock
from typing import IO, NamedTuple, Protocol, TypeAlias

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.server.jobs.job_messages import Message, Order, PathOutcome, Report, SourcesLook, Trouble, message_of
from codefathom.system.children import start_python
from codefathom.types import StoreReport

_MOST_SAID = 2_000  # bytes of what a process that crashed has said last


class RunningJob(Protocol):
    """A job that is being carried out."""

    def messages(self) -> Iterator[Message]:
        """Yield the messages of the job, a Report, a StoreReport, a PathOutcome, a SourcesLook or a Trouble last.

        A Step of a map that is made besides may follow a Report.
        """
        ...

    def end(self) -> None:
        """End it at once, from any thread; the messages end too."""
        ...


Start: TypeAlias = Callable[[Order], RunningJob]


class _Child(NamedTuple):
    """A process that waits for its order, and the file for what it writes to stderr."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]


def _start_child() -> _Child:
    said = _kept_output()
    return _Child(start_python("codefathom.server.jobs.job_child", "main", stderr=said, has_own_session=True), said)


def _kept_output() -> IO[bytes]:
    # A file: a pipe that nobody reads would stop the process.
    return tempfile.TemporaryFile()


class Process:
    """A child process that carries out one order."""

    def __init__(self, order: Order, child: _Child | None = None) -> None:
        self._order = order
        self._process, self._said = child or _start_child()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def messages(self) -> Iterator[Message]:
        """Yield the messages of the job, its result or a Trouble last; a process that dies leaves a Trouble."""
        process = self._process
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        is_told = False
        try:
            with suppress(OSError):  # it has died already, which its exit status tells
                process.stdin.write(json.dumps(asdict(self._order)).encode() + b"\n")
                process.stdin.flush()
            for line in process.stdout:
                message = message_of(line.decode("utf-8", "replace"))
                if message is not None:
                    is_told |= isinstance(message, Report | StoreReport | Trouble | PathOutcome | SourcesLook)
                    yield message
            status = process.wait()
            if not is_told:
                yield self._crashed(status)
        finally:
            _close(process)
            self._said.close()

    def end(self) -> None:
        """Kill the process: an index is whole after a kill at any moment."""
        _kill(self._process)

    def _crashed(self, status: int) -> Trouble:
        end = Note(say.ENDED_BY_SIGNAL if status < 0 else say.ENDED_WITH_STATUS, {"number": abs(status)})
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(size - _MOST_SAID, 0))
        said = self._said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        why = Note(say.ENDED_SAYING, {"end": end, "text": said}) if said else end
        return Trouble.of("crashed", why, Note(say.START_AGAIN_OR_INDEX))


def _close(process: subprocess.Popen[bytes]) -> None:
    _kill(process)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg") and process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


class ReadyProcesses:
    """Starts jobs; the next one at once where a process was made ready for it. Safe to use from several threads.

    A process needs half a second to import all that a job needs; a ready one has done that.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._ready: _Child | None = None

    def __call__(self, order: Order) -> Process:
        """See `Start`."""
        with self._lock:
            child, self._ready = self._ready, None
        return Process(order, child if child is not None and child.process.poll() is None else None)

    def prepare(self) -> None:
        """Make a process ready if none is."""
        with self._lock:
            if self._ready is None:
                self._ready = _start_child()

    def close(self) -> None:
        """End the process that is ready."""
        with self._lock:
            child, self._ready = self._ready, None
        if child is not None:
            _close(child.process)
            child.said.close()
