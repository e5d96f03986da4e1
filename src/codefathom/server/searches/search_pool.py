"""The server's end of the processes that search: started when needed, kept, replaced when they have ended."""

from __future__ import annotations

import logging
import os
import pickle
import signal
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import Any

from codefathom.config.settings import Settings
from codefathom.errors import FathomError, IndexingError
from codefathom.server.http.problem_json import SLOW_SEARCH, LeftError, WorkerDiedError
from codefathom.server.http.time_spent import slow_error, spending_on
from codefathom.server.projects.packed_settings import sendable
from codefathom.server.searches.loose_index import LooseIndexTask
from codefathom.server.searches.run_plan import RunPlanTask
from codefathom.server.searches.search_child import AnswerEnd, AnswerPiece, Broken, SearchTask, Task
from codefathom.server.searches.search_end import SearchEnd
from codefathom.system.children import start_python
from codefathom.telemetry import is_collected, take_over

_log = logging.getLogger(__name__)


class SearchPool:
    """As many processes as searches are carried out at a time. Safe to use from several threads."""

    def __init__(self) -> None:
        """Start no process before there is something to search for."""
        self._lock = Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._is_closed = False

    def answer(self, task: Task, end: SearchEnd) -> Generator[Any, None, None]:
        """Yield the events of an answer, the result last; a process whose answer is left before its end is ended.

        Raises its FathomError, SlowError when it takes too long, LeftError when `end` comes before the result, and
        WorkerDiedError when the process dies, which is logged.
        """
        if end.has_come():
            raise LeftError("the client of this search has left", hint="send the request again")
        process = self._take()
        try:
            with end.reaching(process.kill), spending_on(SLOW_SEARCH):
                closing_words = yield from process.events(task)
        except BaseException as error:
            self._forget(process)
            if isinstance(error, WorkerDiedError):
                self._tell(error, task, end)
            raise
        if process.is_killed:  # its end came when its last words had been written: it may live for another moment
            self._forget(process)
        else:
            with self._lock:
                self._idle.append(process)
        take_over(closing_words.spans)
        if isinstance(closing_words.error, FathomError):
            raise closing_words.error
        if isinstance(closing_words.error, Broken):
            raise RuntimeError(f"in a process of the searches:\n{closing_words.error.trace}")

    def result(self, task: Task, end: SearchEnd) -> Any:
        """Return the last event of an answer. Raises as `answer`."""
        *_, result = self.answer(task, end)
        return result

    def close(self) -> None:
        """End all processes; a search that is under way fails."""
        with self._lock:
            self._is_closed = True
            processes, self._idle = list(self._all), []
            self._all.clear()
        for process in processes:
            process.end()

    def kill(self) -> None:
        """End all processes at once and wait for nothing, as a signal needs it."""
        for process in tuple(self._all):
            process.kill()

    # ---- inside

    def _tell(self, error: WorkerDiedError, task: Task, end: SearchEnd) -> None:
        """Log that a process has died by itself. Raises another error where this server has ended it."""
        if end.has_come():
            raise LeftError("the client of this search has left", hint="send the request again") from error
        if self._is_closed:
            raise _shutting_down() from error
        _log.error("%s; it worked on %s", error, _named(task))

    def _take(self) -> _Process:
        with self._lock:
            if self._is_closed:
                raise _shutting_down()
            # The last one that was used: with few searches the others stay as they are, and are swapped out.
            while self._idle and (process := self._idle.pop()):
                if process.is_running:
                    return process
                self._all.discard(process)
                process.end()
                _log.error("an idle process of the searches has died: %s", process.how)
            self._all.add(process := _Process())
            return process

    def _forget(self, process: _Process) -> None:
        with self._lock:
            self._all.discard(process)
        process.end()


class _Process:
    def __init__(self) -> None:
        # A group of its own, as git may wait for ever for a file in a hostile repository.
        self._process = start_python("codefathom.server.searches.search_child", "main", has_own_session=True)
        self.is_killed = False

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def how(self) -> str:
        """The signal or status with which it has ended."""
        return _how(self._process.wait())

    def events(self, task: Task) -> Generator[Any, None, AnswerEnd]:
        """Yield the events of an answer and return its end. Raises SlowError, WorkerDiedError when it has ended."""
        process = self._process
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        message = replace(task, is_traced=True) if is_collected() else task
        if isinstance(message.settings, Settings):
            message = replace(message, settings=sendable(message.settings))
        if isinstance(message, SearchTask) and message.changed is not None:
            message = replace(message, changed=sendable(message.changed))
        try:
            process.stdin.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
            process.stdin.flush()
            while isinstance(event := pickle.load(process.stdout), AnswerPiece):
                yield event.value
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            self.kill()
            if process.wait() == -getattr(signal, "SIGALRM", 0):
                raise slow_error(task.limit_s) from error
            raise WorkerDiedError(
                f"the process of a search died: {self.how}",
                hint="send the request again: another process answers it; the log of the server names the project",
            ) from error
        assert isinstance(event, AnswerEnd)  # of every answer
        return event

    def kill(self) -> None:
        """End it at once, from any thread; whoever waits for its outcome gets an error. It writes nothing.

        What it has started ends, too, also where the system has ended it before, as long as nobody has waited for it.
        """
        self.is_killed = True
        if hasattr(os, "killpg") and self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def end(self) -> None:
        """End it, and close what leads to it."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):
                    pipe.close()
        self._process.wait()


def _shutting_down() -> IndexingError:
    return IndexingError("the server is shutting down", hint="try again when it has started again")


def _named(task: Task) -> str:
    """Return the subject of a task, for the log. What a client asks may be secret, and is left out."""
    if isinstance(task, RunPlanTask):
        return f"the plan of {task.root!r}" if task.root else "a repository elsewhere"
    if isinstance(task, LooseIndexTask) or task.loose:
        return "files of no project"
    return f"{task.question.kind!r} in {task.root!r}"


def _how(status: int) -> str:
    """Return the signal or status with which a process has ended, from the number that `Popen` gives."""
    with suppress(ValueError):
        return f"signal {-status} ({signal.Signals(-status).name})" if status < 0 else f"status {status}"
    return f"signal {-status}"
