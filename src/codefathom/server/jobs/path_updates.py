"""Named files of a project → its index, while a request waits: a process of its own, as each that writes an index.

It is no job of the queue: it is short, it is waited for, and it has the time limit of a search. The writer lock keeps
it and a job apart, and a process that is killed at its limit leaves the index whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import Lock, Timer
from time import monotonic
from types import MappingProxyType
from typing import TypeAlias

from codefathom.errors import FathomError, IndexingError, LockedError, SourceError, UsageError
from codefathom.facts.reasons import NOTHING_TAKEN_IN, TRY_AGAIN, Note, from_line
from codefathom.server.http.problem_json import SlowUpdateError
from codefathom.server.jobs.job_messages import Order, PathOutcome, Trouble
from codefathom.server.jobs.job_process import RunningJob, Start
from codefathom.server.jobs.job_table import IndexJob
from codefathom.types import PathReport, Skipped

_ERRORS: dict[str, type[FathomError]] = {kind.__name__: kind for kind in (UsageError, LockedError, SourceError)}
OnUpdate: TypeAlias = Callable[[str], None]


class PathUpdates:
    """Takes in named files. Safe to use from several threads."""

    def __init__(self, start: Start, order_of: Callable[[IndexJob], Order], on_update: OnUpdate) -> None:
        """`order_of` knows the settings of a project; `on_update` takes the id of one whose index may have changed."""
        self._start = start
        self._order_of = order_of
        self._on_update = on_update
        self._lock = Lock()
        self._running: set[RunningJob] = set()
        self._is_closed = False

    def take_in(
        self,
        job: IndexJob,
        paths: Sequence[str],
        limit_s: float,
        texts: Mapping[str, str | None] = MappingProxyType({}),
        *,
        is_written: bool = False,
    ) -> PathReport:
        """Return the outcome for these files, folders and texts; see `Engine.update`. The job is in no table.

        `is_written`: another run writes the index now, for the error of the limit.
        Raises its errors, IndexingError, and SlowUpdateError after `limit_s`.
        """
        order = replace(self._order_of(job), origin=None, paths=tuple(paths), texts=dict(texts))
        until = monotonic() + limit_s
        running = self._begun(order)
        timer = Timer(max(limit_s, 0.0), running.end)
        timer.daemon = True
        timer.start()
        try:
            *_, last = running.messages()
        finally:
            timer.cancel()
            with self._lock:
                self._running.discard(running)
            self._on_update(job.project_id)
        if isinstance(last, PathOutcome):
            refused = tuple(Skipped(path, from_line(why)) for path, why in last.refused)
            return PathReport(
                tuple(last.added), tuple(last.changed), tuple(last.removed), tuple(last.unchanged), refused
            )
        if monotonic() >= until:
            raise SlowUpdateError(limit_s, is_written=is_written)
        trouble = last if isinstance(last, Trouble) else Trouble.of("crashed", Note(NOTHING_TAKEN_IN), Note(TRY_AGAIN))
        raise _ERRORS.get(trouble.code, IndexingError)(trouble.told, hint=trouble.remedy)

    def close(self) -> None:
        """End the updates that are under way; nothing begins after that."""
        with self._lock:
            self._is_closed = True
            for running in self._running:
                running.end()

    def _begun(self, order: Order) -> RunningJob:
        with self._lock:
            if self._is_closed:
                raise IndexingError("the server is shutting down", hint="try again when it has started again")
            running = self._start(order)
            self._running.add(running)
            return running
