"""The sources of a fleet, as the server follows them: it looks at them again and again, in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

from codefathom.errors import IndexingError
from codefathom.fleet.look_turns import FleetLook, LookTurns
from codefathom.server.jobs.job_messages import SourcesLook, Trouble
from codefathom.server.jobs.job_process import RunningJob, Start
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.project_table import Projects, ServedProject
from codefathom.server.watching.project_watch import WatchNotice

_TICK_S = 0.25  # how often it is asked whether to stop


class FleetSources:
    """Looks at the sources of a fleet. What it remembers of earlier looks is lost with it."""

    def __init__(self, project: ServedProject, projects: Projects, start: Start) -> None:
        self._project, self._projects, self._start = project, projects, start
        self._turns = LookTurns()

    def prepare(self) -> None:
        """See `FollowedProject`: the next job is minutes away, and no process waits for it."""

    def notices(self, stop: Event) -> Iterator[WatchNotice]:
        """See `FollowedProject`. A look that fails as a whole is told, and the next one comes in its time."""
        while not stop.is_set():
            every_s = self._projects.settings_of(self._project).index.fleet_watch_s
            try:
                look = self._look(stop)
            except IndexingError as error:
                look, problem = FleetLook(0, (), (), is_blind=True), f"{error}; {error.hint}"
            else:
                problem = look.problem
            if stop.is_set():
                return
            due = self._turns.due(look)
            only = () if due is None else due.only
            yield WatchNotice("polling", "", every_s, is_due=due is not None, only=only, problem=problem)
            stop.wait(self._turns.pause_s(every_s))

    def _look(self, stop: Event) -> FleetLook:
        """Return what the sources have now. Raises IndexingError, and what `Projects.order` raises."""
        project = self._project
        job = IndexJob("", project.id, project.root, False, "running", time.time(), settings=project.settings)
        running = self._start(replace(self._projects.order(job), look=True))
        with _ended_by(stop, running):
            *_, last = running.messages()
        if isinstance(last, SourcesLook):
            return last.look
        why = last if isinstance(last, Trouble) else None
        raise IndexingError(
            str(why.told) if why else "the look at the sources has not come to its end",
            hint=str(why.remedy) if why else "it is tried again later",
        )


@contextmanager
def _ended_by(stop: Event, running: RunningJob) -> Iterator[None]:
    """End a process where `stop` is set before the block has ended: it may wait for another machine."""
    has_ended = Event()

    def wait() -> None:
        while not has_ended.wait(_TICK_S):
            if stop.is_set():
                running.end()
                return

    thread = Thread(target=wait, name="look", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
