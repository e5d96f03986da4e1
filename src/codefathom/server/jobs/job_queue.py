"""Indexing, and moving vectors, as jobs: kept in a table, carried out in turn, each in a process of its own.

A job outlives the browser that asked for it, and the server: what was queued or running when a server died, or was
stopped, is carried out by the next one. A run loses nothing by that, for the index keeps what was finished. A job that
was under way at the death of three servers is not tried once more, since it may be what killed them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from secrets import token_hex
from threading import Condition, RLock, Thread

from codefathom.config.settings import NOTHING
from codefathom.errors import FathomError, LockedError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, from_line, notes_of
from codefathom.server.http.sse import Channel
from codefathom.server.jobs.job_events import ServerEvent, at_end, of_file_error, of_step
from codefathom.server.jobs.job_messages import MOST_ERRORS, FileError, Message, Order, Report, Step, Trouble
from codefathom.server.jobs.job_process import Process, RunningJob, Start
from codefathom.server.jobs.job_table import STATES, IndexJob, JobTable, State
from codefathom.stores.lock import writer_lock
from codefathom.telemetry import Value, span
from codefathom.types import StoreReport

MOST_ATTEMPTS = 3
MOST_KEPT = 500  # jobs in the table
MOST_CHANNELS = 50  # of jobs that have ended


@dataclass(slots=True)
class _Run:
    """A job that has a thread."""

    project_id: str
    process: RunningJob | None = None  # not started yet
    is_unwanted: bool = False
    end: Report | StoreReport | Trouble | None = None


class Jobs:
    """The queue. Safe to use from several threads."""

    def __init__(
        self,
        path: str,
        *,
        start: Start = Process,
        n_at_once: int = 1,
        on_end: Callable[[IndexJob], None] = lambda _: None,
        order_of: Callable[[IndexJob], Order] = lambda job: Order(
            job.root, job.full, job.settings, retry=job.retry, only=job.only, move_to=job.move_to
        ),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open the table. `on_end` is called when the process of a job has ended, before listeners are told.

        Raises UsageError while another server uses the same folder: both would carry out the same jobs.
        """
        self._table = JobTable(path)
        self._held = ExitStack()
        try:
            self._held.enter_context(writer_lock(os.path.dirname(path)))
        except LockedError as error:
            self._table.close()
            raise UsageError(
                f"another server uses the data folder {os.path.dirname(path)!r}",
                hint="stop that server, or set server.data_dir to another folder",
            ) from error
        self._start = start
        self._n_at_once = n_at_once
        self._on_end = on_end
        self._on_result: list[Callable[[IndexJob], None]] = []
        self._order_of = order_of
        self._clock = clock
        self._lock = RLock()
        self._changed = Condition(self._lock)  # told when a job has ended
        self._live: dict[str, IndexJob] = {}  # queued and running, in the order of their coming
        self._runs: dict[str, _Run] = {}  # of a cancelled job too, until its process has ended
        self._channels: dict[str, Channel] = {}
        self._threads: dict[str, Thread] = {}
        self._is_closing = False

    def on_result(self, tell: Callable[[IndexJob], None]) -> None:
        """Call this with each job that has ended, as it is kept."""
        self._on_result.append(tell)

    def resume(self) -> None:
        """Take up what an earlier server has left."""
        with self._lock:
            for job in self._table.active():
                if job.attempts >= MOST_ATTEMPTS:
                    why = Note(say.INTERRUPTED, {"count": job.attempts})
                    self._end(job, "failed", trouble=Trouble.of("interrupted", why, Note(say.START_AGAIN)))
                else:
                    self._enqueue(replace(job, state="queued", step=Step()))
            self._start_next()

    def submit(
        self,
        project_id: str,
        root: str,
        *,
        full: bool = False,
        settings: Mapping[str, object] = NOTHING,
        retry: bool = True,
        move_to: str = "",
    ) -> IndexJob:
        """Return the job that brings a project's index up to date: the one that waits or runs already, or a new one.

        A full run is not what a job for less will do, and so queues behind it. Without `retry`, a new job does not ask
        a model again about unchanged files on which it failed. With `move_to`, the job moves the vectors to that store.
        """
        with self._lock:
            if job := self.active(project_id, full=full, move_to=move_to):
                if retry and job.state == "queued":
                    job = self._live[job.id] = replace(job, retry=True)
                return job
            job = self._new(project_id, root, full=full, settings=settings)
            return self._added(replace(job, retry=retry, move_to=move_to))

    def submit_some(
        self,
        project_id: str,
        root: str,
        repositories: Sequence[str],
        *,
        full: bool = False,
        settings: Mapping[str, object] = NOTHING,
    ) -> IndexJob:
        """Return the job that brings these repositories of a fleet up to date, as they are after this call.

        A job that runs already may have looked at them before, so that one that waits does it, or a new one.
        """
        with self._lock:
            if job := self._waiting(project_id, full=full):
                if job.only:
                    job = self._live[job.id] = replace(job, only=tuple(dict.fromkeys((*job.only, *repositories))))
                    self._table.update(job)
                return job
            job = self._new(project_id, root, full=full, settings=settings)
            return self._added(replace(job, only=tuple(repositories)))

    def active(self, project_id: str, *, full: bool = False, move_to: str = "") -> IndexJob | None:
        """Return the job that runs or waits for a project and does all of what is asked, None when there is none."""
        with self._lock:
            jobs = (job for job in self._live.values() if (job.project_id, job.move_to) == (project_id, move_to))
            return next((job for job in jobs if job.full >= full and not job.only), None)

    def active_ids(self, project_id: str) -> frozenset[str]:
        """Return the ids of the jobs that run or wait for a project, without a look into the table of all jobs."""
        with self._lock:
            return frozenset(job.id for job in self._live.values() if job.project_id == project_id)

    def _waiting(self, project_id: str, *, full: bool) -> IndexJob | None:
        """Return a run that has not begun and looks as closely as is asked."""
        jobs = (job for job in self._live.values() if job.project_id == project_id and not job.move_to)
        return next((job for job in jobs if job.state == "queued" and job.full >= full), None)

    def get(self, job_id: str) -> IndexJob | None:
        """Return a job, None for an unknown one."""
        with self._lock:
            return self._live.get(job_id) or self._table.get(job_id)

    def listed(self, project_id: str = "", *, state: str = "", limit: int = 50) -> tuple[IndexJob, ...]:
        """Return jobs, the latest first. Raises UsageError for an unknown state."""
        if state and state not in STATES:
            raise UsageError(f"{state!r} is not a state of a job", hint=f"choose one of {', '.join(STATES)}")
        with self._lock:
            return tuple(self._live.get(job.id, job) for job in self._table.latest(project_id, state, limit))

    def latest(self, project_id: str) -> IndexJob | None:
        """Return the run of the indexer over a project that runs, or waits, or else came last."""
        with self._lock:
            if job := self.active(project_id):
                return job
            kept = (job for most in (1, MOST_KEPT) for job in self._table.latest(project_id, "", most))
            return next((job for job in kept if not job.move_to), None)

    def cancel(self, job_id: str) -> IndexJob | None:
        """End a job that waits or runs, and return it; one that has ended stays as it is. None for an unknown one.

        A job whose index is whole, and which only makes the first map, is done.
        """
        with self._lock:
            job = self._live.get(job_id)
            if job is None:
                return self._table.get(job_id)
            run = self._runs.get(job_id)
            if run is not None and isinstance(run.end, Report):
                self._conclude(job_id, run)
            else:
                self._end(job, "cancelled")
            if run is not None:
                self._drop(run)
            self._start_next()
            return self.get(job_id)

    def forget(self, project_id: str) -> None:
        """Cancel and forget the jobs of a project that is removed."""
        with self._lock:
            for job in [job for job in self._live.values() if job.project_id == project_id]:
                self.cancel(job.id)
            self._table.forget(project_id)

    def channel(self, job_id: str) -> Channel | None:
        """Return the events of a job; of one that ended long ago only how it ended. None for an unknown one."""
        with self._lock:
            if job_id in self._channels:
                return self._channels[job_id]
            job = self._table.get(job_id)
        return None if job is None else _closed_channel(job)

    def wait(self, job_id: str, timeout_s: float | None = None) -> IndexJob | None:
        """Return a job when it has ended, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: job_id not in self._live or self._is_closing, timeout_s)
            return self.get(job_id)

    def wait_for_end(self, project_id: str, timeout_s: float = 10.0) -> None:
        """Wait until no process of a job works for this project any more, also of one that was cancelled."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_at_work(project_id), timeout_s)

    def hang_up(self) -> None:
        """End the streams of all listeners, without "done": they come back and find the next server."""
        with self._lock:
            channels = list(self._channels.values())
        for channel in channels:
            channel.close()

    def close(self) -> None:
        """Stop. What waits or runs is left to the next server, which goes on where this one stopped."""
        with self._lock:
            self._is_closing = True
            self._changed.notify_all()
            for run in self._runs.values():
                self._drop(run)
            threads = list(self._threads.values())
        for thread in threads:
            thread.join()
        self.hang_up()
        self._table.close()
        self._held.close()

    # ---- inside

    def _new(self, project_id: str, root: str, *, full: bool, settings: Mapping[str, object]) -> IndexJob:
        if self._is_closing:
            raise UsageError("the server is shutting down", hint="try again when it has started again")
        job = IndexJob(token_hex(8), project_id, root, full, "queued", self._clock())
        return replace(job, settings=dict(settings))

    def _added(self, job: IndexJob) -> IndexJob:
        self._table.add(job)
        self._enqueue(job)
        self._start_next()
        return self._live.get(job.id, job)

    def _enqueue(self, job: IndexJob) -> None:
        self._live[job.id] = job
        self._channels[job.id] = Channel()
        self._publish(job.id, [ServerEvent("queued", {"job_id": job.id, "project_id": job.project_id})])

    def _publish(self, job_id: str, events: Iterable[ServerEvent]) -> None:
        for event in events:
            self._channels[job_id].publish(event.type, event.data)

    def _start_next(self) -> None:
        """Start what may run: as many as allowed at once, and of one project only one."""
        for job in tuple(self._live.values()):
            if self._is_closing or len(self._runs) >= self._n_at_once:
                return
            if job.state == "queued" and not self._is_at_work(job.project_id):
                self._begin(job)

    def _is_at_work(self, project_id: str) -> bool:
        return any(run.project_id == project_id for run in self._runs.values())

    def _begin(self, job: IndexJob) -> None:
        step = Step("starting")
        job = replace(job, state="running", attempts=job.attempts + 1, started_at=self._clock(), step=step)
        self._live[job.id] = job
        self._table.update(job)
        self._publish(job.id, of_step(Step(), step))
        run = self._runs[job.id] = _Run(job.project_id)
        thread = self._threads[job.id] = Thread(target=self._carry_out, args=(job, run), name="job", daemon=True)
        thread.start()

    def _carry_out(self, job: IndexJob, run: _Run) -> None:
        """Run in a thread of its own."""
        try:
            with span("job", project=job.project_id, job=job.id, full=job.full, attempt=job.attempts) as under_way:
                process = self._start(self._order_of(job))
                with self._lock:
                    run.process = process
                    if run.is_unwanted:
                        process.end()
                for message in process.messages():
                    self._take(job.id, run, message)
                self._on_end(job)
                under_way.note(**_noted(run.end))
        except (OSError, FathomError) as error:  # such as no memory for a process
            why = Note(say.NOT_STARTED, {"error": str(error)})
            run.end = Trouble.of("crashed", why, Note(say.SEE_LOG))
        finally:
            with self._lock:
                del self._runs[job.id], self._threads[job.id]
                self._changed.notify_all()
                self._conclude(job.id, run)
                self._start_next()

    def _take(self, job_id: str, run: _Run, message: Message) -> None:
        with self._lock:
            job = self._live.get(job_id)
            if job is None:  # cancelled
                return
            if isinstance(message, Step):
                self._live[job_id] = replace(job, step=message)
                self._publish(job_id, of_step(job.step, message))
            elif isinstance(message, FileError):
                self._live[job_id] = replace(job, errors=(*job.errors, message)[:MOST_ERRORS])
                self._publish(job_id, [of_file_error(message)])
            elif isinstance(message, Report | StoreReport | Trouble):
                run.end = message

    def _conclude(self, job_id: str, run: _Run) -> None:
        job = self._live.get(job_id)
        if job is None:
            return
        if isinstance(run.end, Report):
            trouble = _trouble_of(run.end)
            self._end(job, "failed" if trouble else "done", result=run.end, trouble=trouble)
        elif isinstance(run.end, StoreReport):
            self._end(job, "done", result=run.end)
        elif self._is_closing:
            self._live[job_id] = job = replace(job, state="queued", attempts=job.attempts - 1)
            self._table.update(job)
        else:
            self._end(
                job,
                "failed",
                trouble=run.end or Trouble.of("crashed", Note(say.WITHOUT_RESULT), Note(say.START_AGAIN)),
            )

    def _end(
        self, job: IndexJob, state: State, *, result: Report | StoreReport | None = None, trouble: Trouble | None = None
    ) -> IndexJob:
        step = replace(job.step, phase=state, remaining_s=None)
        job = replace(job, state=state, ended_at=self._clock(), step=step, trouble=trouble)
        job = replace(job, moved=result) if isinstance(result, StoreReport) else replace(job, report=result)
        self._live.pop(job.id, None)
        if job.id in self._channels:
            self._publish(job.id, at_end(job))
            self._channels[job.id].close()
        self._changed.notify_all()
        self._table.update(job)
        self._table.prune(MOST_KEPT)
        for tell in self._on_result:
            tell(job)
        for old in [job_id for job_id in self._channels if job_id not in self._live][:-MOST_CHANNELS]:
            del self._channels[old]
        return job

    def _drop(self, run: _Run) -> None:
        run.is_unwanted = True
        if run.process is not None:
            run.process.end()


def _trouble_of(report: Report) -> Trouble | None:
    """Return the reason why a job failed that has a report; what was indexed stays."""
    if report.paused:
        return Trouble.of("paused", from_line(report.paused), Note(say.SEE_FILE_ERRORS))
    if grammars := tuple(note for line in report.missing_grammars for note in notes_of(from_line(line))):
        return Trouble.of("no_grammar", Note(say.ALL_OF, {"notes": grammars}), Note(say.INSTALL_AGAIN))
    return None


def _noted(end: Report | StoreReport | Trouble | None) -> dict[str, Value]:
    if isinstance(end, StoreReport):
        return {"n_vectors": end.n_rows}
    if isinstance(end, Report):
        return {"n_files": end.n_files, "n_chunks": end.n_chunks, "n_failed": end.n_failed}
    return {"problem": end.code if end else "cancelled"}


def _closed_channel(job: IndexJob) -> Channel:
    channel = Channel(f"{job.id}-ended")
    for told in at_end(job):
        channel.publish(told.type, told.data)
    channel.close()
    return channel
