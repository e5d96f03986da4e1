"""The server's end of the processes that search: started when needed, kept, replaced when they have ended."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import suppress
from dataclasses import replace
from threading import Lock

from codefathom.errors import FathomError, IndexingError
from codefathom.search.graph.impact import Impact
from codefathom.server.http.problem_json import SLOW_SEARCH, LeftError
from codefathom.server.http.time_spent import slow_error, spending_on
from codefathom.server.searches.loose_search import LooseIndex, LooseIndexTask, LooseTask, PlacedResult
from codefathom.server.searches.search_child import Outcome, SearchOutcome, SearchTask, Task
from codefathom.server.searches.search_end import SearchEnd
from codefathom.system.children import start_python
from codefathom.telemetry import is_collected, take_over
from codefathom.types import SearchResult


class SearchPool:
    """As many processes as searches are carried out at a time. Safe to use from several threads."""

    def __init__(self) -> None:
        """Start no process before there is something to search for."""
        self._lock = Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._is_closed = False

    def search(self, task: SearchTask, end: SearchEnd | None = None) -> SearchResult:
        """Return the result of a search.

        Raises its FathomError, SlowError when it takes too long, and LeftError when `end` comes before the result.
        """
        result = self._result(task, end or SearchEnd())
        assert isinstance(result, SearchResult)  # what a search in a project gives
        return result

    def search_loose(self, task: LooseTask) -> PlacedResult:
        """Return the result of a search in files of no project. Raises as `search`."""
        result = self._result(task, SearchEnd())
        assert isinstance(result, PlacedResult)
        return result

    def index_loose(self, task: LooseIndexTask) -> LooseIndex:
        """Make an index of files of no project, and return its files. Raises as `search`."""
        result = self._result(task, SearchEnd())
        assert isinstance(result, LooseIndex)
        return result

    def impact(self, task: SearchTask, end: SearchEnd | None = None) -> Impact:
        """Return the reach of a change, of which a stranger may have made the text. Raises as `search`."""
        result = self._result(task, end or SearchEnd())
        assert isinstance(result, Impact)
        return result

    def close(self) -> None:
        """End all processes; a search that is under way fails."""
        with self._lock:
            self._is_closed = True
            processes, self._idle = list(self._all), []
            self._all.clear()
        for process in processes:
            process.end()

    # ---- inside

    def _result(self, task: Task, end: SearchEnd) -> Outcome:
        if end.has_come():
            raise _left()
        process = self._take()
        try:
            with end.reaching(process.kill), spending_on(SLOW_SEARCH):
                answer = process.ask(task)
        except BaseException as error:
            self._forget(process)
            if isinstance(error, IndexingError) and end.has_come():
                raise _left() from error
            raise
        with self._lock:
            self._idle.append(process)
        take_over(answer.spans)
        if isinstance(answer.outcome, FathomError):
            raise answer.outcome
        return answer.outcome

    def _take(self) -> _Process:
        with self._lock:
            if self._is_closed:
                raise IndexingError("the server is shutting down", hint="try again when it has started again")
            # The last one that was used: with few searches the others stay as they are, and are swapped out.
            while self._idle and (process := self._idle.pop()):
                if process.is_running:
                    return process
                self._all.discard(process)
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

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ask(self, task: Task) -> SearchOutcome:
        """Return the outcome of a search. Raises SlowError, and IndexingError when the process has ended."""
        process = self._process
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        # Where settings come from cannot be pickled, and is of no use there.
        message = replace(task, settings=task.settings._replace(origins={}, refused={}), is_traced=is_collected())
        try:
            process.stdin.write(pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))
            process.stdin.flush()
            outcome: SearchOutcome = pickle.load(process.stdout)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            self.kill()
            if process.wait() == -getattr(signal, "SIGALRM", 0):
                raise slow_error(task.limit_s) from error
            raise IndexingError(
                f"the process of a search ended with status {process.returncode}", hint="try again"
            ) from error
        return outcome

    def kill(self) -> None:
        """End it at once, from any thread; whoever waits for its outcome gets an error. It writes nothing.

        What it has started ends, too, also where the system has ended it before, as long as nobody has waited for it.
        """
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


def _left() -> LeftError:
    return LeftError("nobody waits for this search any more", hint="send the request again")
