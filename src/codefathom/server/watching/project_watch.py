"""The watch of one project: a thread that starts a job when files have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import Protocol

from codefathom.errors import FathomError
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.project_table import ServedProject
from codefathom.source.scan import ScanRules
from codefathom.source.watching.watch import WatchOptions, Way, watch

_log = logging.getLogger(__name__)

_TRY_AGAIN_S = 5.0  # after an error, such as a folder that is away
_LOOK_S = 0.5  # at a job that runs, and at the order to stop


@dataclass(frozen=True, slots=True)
class WatchState:
    """The state of the watch of a project. A project that is not watched has the defaults."""

    is_on: bool = False
    by: Way | None = None  # None until it has begun
    reason: str = ""  # why it is polling
    changed_at: float = 0.0  # the last change that it has noticed, in seconds since the epoch; 0.0: none yet
    error: str = ""  # what is wrong now: with the watching, or with the last job that it has started


class FollowedProject(Protocol):
    """The files of a project, as the server follows them."""

    def rules(self) -> ScanRules:
        """Return the rules in force. Raises FathomError."""
        ...

    def options(self, sleep: Callable[[float], object]) -> WatchOptions:
        """Return the way of following in force. Raises FathomError."""
        ...

    def prepare(self) -> None:
        """Make ready for the next job, which shall begin at once. Raises OSError."""
        ...


class ProjectWatch:
    """A watch that is on until it is told to stop. No error ends it."""

    def __init__(
        self, project: ServedProject, files: FollowedProject, jobs: Jobs, clock: Callable[[], float] = time.time
    ) -> None:
        self._project = project
        self._files = files
        self._jobs = jobs
        self._clock = clock
        self._lock = Lock()
        self._state = WatchState(is_on=True)
        self._stop = Event()
        self._thread = Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    @property
    def state(self) -> WatchState:
        """Its state now."""
        with self._lock:
            return self._state

    def end(self) -> None:
        """Order it to stop, without waiting."""
        self._stop.set()

    def join(self) -> None:
        """Wait until it has stopped."""
        self._thread.join()

    # ---- inside

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except (FathomError, OSError) as error:
                _log.warning("watching %s: %s", self._project.id, error)
                self._note(error=str(error), by=None)
                self._stop.wait(_TRY_AGAIN_S)

    def _follow(self) -> None:
        root, files = self._project.root, self._files
        is_first = True
        for notice in watch(root, files.rules, self._stop.is_set, files.options(self._stop.wait)):
            changed_at = self.state.changed_at if is_first else self._clock()
            self._note(by=notice.by, reason=notice.reason, changed_at=changed_at)
            self._index()
            is_first = False

    def _index(self) -> None:
        """Have a job take in the changes, and wait for its end. A job that runs already may have looked too early."""
        while (running := self._jobs.active(self._project.id)) and running.state == "running":
            if self._ended(running) is None:
                return
        project = self._project
        job = self._ended(self._jobs.submit(project.id, project.root, settings=project.settings, retry=False))
        if job is not None:
            self._note(error=str(job.trouble.told) if job.state == "failed" and job.trouble else "")
            self._files.prepare()

    def _ended(self, job: IndexJob) -> IndexJob | None:
        """Wait for the end of a job; None when the watch is to stop before that."""
        while not self._stop.is_set():
            latest = self._jobs.wait(job.id, _LOOK_S)
            if latest is None or not latest.is_active:
                return latest or job
        return None

    def _note(self, **changes: object) -> None:
        with self._lock:
            self._state = replace(self._state, **changes)  # type: ignore[arg-type]
