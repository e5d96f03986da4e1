"""The watch of one project: a thread that starts a job when files, or the sources of a fleet, have changed."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from threading import Event, Lock, Thread
from typing import NamedTuple, Protocol

from codefathom.errors import FathomError
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.project_table import ServedProject
from codefathom.source.watching.watch import Way

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
    interval_s: float = 0.0  # between two looks of polling
    error: str = ""  # what is wrong now: with the watching, or with the last job that it has started


class WatchNotice(NamedTuple):
    """What follows a look at a project."""

    by: Way
    reason: str = ""  # why it is polling
    interval_s: float = 0.0  # between two looks of polling
    is_due: bool = True  # a job is to begin now
    only: tuple[str, ...] = ()  # repositories of a fleet that it is about; (): all
    problem: str = ""  # of the look


class FollowedProject(Protocol):
    """The files of a project, or the sources of a fleet, as the server follows them."""

    def notices(self, stop: Event) -> Iterator[WatchNotice]:
        """Yield notices until `stop` is set; the first one says that the following has begun.

        While a notice is at work, nothing is looked at. Raises FathomError and OSError.
        """
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
        is_first = True
        for notice in self._files.notices(self._stop):
            is_noted = is_first or not notice.is_due
            changed_at = self.state.changed_at if is_noted else self._clock()
            self._note(by=notice.by, reason=notice.reason, interval_s=notice.interval_s, changed_at=changed_at)
            problem = self._index(notice.only) if notice.is_due else ""
            if not self._stop.is_set():
                self._note(error=problem or notice.problem)
            is_first = False

    def _index(self, only: tuple[str, ...]) -> str:
        """Have a job take in the changes, and wait for its end; return why it failed."""
        project, jobs = self._project, self._jobs
        if only:
            job = self._ended(jobs.submit_some(project.id, project.root, only, settings=project.settings))
        else:
            # A job that runs already may have looked too early.
            while (running := jobs.active(project.id)) and running.state == "running":
                if self._ended(running) is None:
                    return ""
            job = self._ended(jobs.submit(project.id, project.root, settings=project.settings, retry=False))
        if job is None:
            return ""
        self._files.prepare()
        return str(job.trouble.told) if job.state == "failed" and job.trouble else ""

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
