"""One project of a session: an engine answers, and another one makes the first index and follows the files, behind it.

Several sessions may follow one project. Each takes the writer lock for what it has seen; the others then find that
nothing is left to do. Where the system reports no changes, each question looks for itself, as everywhere.
"""

from __future__ import annotations

import time
from contextlib import closing
from threading import Event, Lock, Thread

from codefathom.engine import Engine
from codefathom.errors import FathomError, LockedError, StoppedError
from codefathom.index.plan import plan
from codefathom.index.word_search import UnindexedFiles
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_projects import FirstIndex
from codefathom.project.location import Location
from codefathom.project.opening import is_old
from codefathom.providers.stoppable import Stoppable
from codefathom.system.memory import give_back
from codefathom.types import Progress

_LOOK_S = 0.05  # how often somebody who waits is asked whether he still does
_LOCKED_S = 0.5  # how often a lock of another session is looked at
_LAST_WAIT_S = 30.0  # for a batch of files to be written
_ANY_TIME_S = 1e7  # for another session that makes the index


class ProjectSession:
    """A project, its first index and its changes. Safe to use from several threads."""

    def __init__(self, place: Location) -> None:
        """Take a place. Raises what opening its index raises, but for one of an older format."""
        self._engine = Engine(place, on_wait=self._wait, wrap_model=Stoppable, first_index_wait_s=0.0)
        self._writer = Engine(place)
        self._step = Progress("scan", 0, 0)
        self._problem: FathomError | None = None
        self._ready, self._over = Event(), Event()
        self._lock = Lock()
        self._n_waiting = 0
        self._is_old = is_old(place)  # its opening takes long: whoever asks meanwhile hears of it
        self._files: UnindexedFiles | None = None
        if not self._is_old:
            self._open()
        self._thread = Thread(target=self._follow, name="index", daemon=True)
        self._thread.start()

    @property
    def has_failed(self) -> bool:
        """True if the first index could not be made, or was given up: the next call tries again."""
        return self._problem is not None

    def state(self, control: CallControl) -> Engine | FirstIndex:
        """Return the engine; while the first index is being made, how far it is after some seconds.

        Raises what made it fail, and StoppedError once the caller has left: then, if nobody else waits, it ends, too.
        """
        if not self._is_ready_in_time(control):
            return FirstIndex(self._files or self._engine.unindexed, self._engine.settings, self._step)
        if self._problem is not None:
            raise self._problem
        return self._engine

    def stop(self) -> None:
        """End what is done behind the questions; what was written of a first index stays, and is taken up again."""
        self._over.set()

    def close(self) -> None:
        """Stop, wait for what is being written, and close the project."""
        self.stop()
        self._thread.join(_LAST_WAIT_S)
        self._engine.close()

    def _is_ready_in_time(self, control: CallControl) -> bool:
        until = time.monotonic() + control.patience_s
        told: Progress | None = None
        with self._lock:
            self._n_waiting += 1
        try:
            while not self._ready.wait(_LOOK_S):
                if control.is_cancelled():
                    self._leave()
                if self._step != told:
                    told = self._step
                    control.on_progress(told)
                if self._files is not None and time.monotonic() > until:  # None: nothing can be asked meanwhile
                    return False
            return True
        finally:
            with self._lock:
                self._n_waiting -= 1

    def _leave(self) -> None:
        with self._lock:
            if self._n_waiting == 1:
                self._problem = StoppedError("the first index was given up", hint="ask again; it goes on from there")
                self.stop()
        raise StoppedError("the call was cancelled", hint="ask again")

    def _wait(self, text: str) -> None:
        self._step = Progress("wait", 0, 0, message=text)

    def _open(self) -> None:
        if _is_indexed(self._engine):
            self._ready.set()
        else:
            self._files = self._engine.unindexed

    def _follow(self) -> None:
        try:
            if self._is_old:
                self._open()
            if not self._ready.is_set():
                self._make_first_index()
                self._ready.set()
                self._rest()
            if self._writer.settings.search.refresh != "never" and self._writer.place.revision is None:
                for _ in self._writer.notices(self._over.is_set, interval_s=0.0):
                    self._take_in()
        except FathomError as error:
            if not self._ready.is_set():
                self._problem = error
        finally:
            self._ready.set()
            self._writer.close()

    def _take_in(self) -> None:
        """Index what has changed, unless another session does; it is looked at again once that has finished."""
        while not self._over.is_set() and plan(self._writer.opened.catalog, self._writer.opened.recipe).n_pending:
            try:
                for _ in self._writer.index_events(wait_s=0.0, retry=False):
                    pass
                break  # what is still to do then cannot be done now, such as a file that cannot be read
            except LockedError:
                self._over.wait(_LOCKED_S)
        self._rest()

    def _rest(self) -> None:
        """Hold nothing until the next change: there are many sessions, and few changes."""
        self._writer.close()
        give_back()

    def _make_first_index(self) -> None:
        with closing(self._writer.index_events(wait_s=_ANY_TIME_S)) as events:
            for event in events:
                if isinstance(event, Progress):
                    self._step = event
                if self._over.is_set():
                    return


def _is_indexed(engine: Engine) -> bool:
    opened = engine.opened
    return opened.is_known and bool(opened.catalog.generation) and opened.views.are_made
