"""One run of the indexer over a project, or a move of its vectors, and the table in which such runs are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from codefathom.server.jobs.job_messages import FileError, Report, Step, Trouble
from codefathom.server.server_database import ServerDatabase
from codefathom.types import StoreReport

State: TypeAlias = Literal["queued", "running", "cancelled", "failed", "done"]
STATES: tuple[State, ...] = ("queued", "running", "cancelled", "failed", "done")

_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project_id TEXT NOT NULL,
    root TEXT NOT NULL,
    is_full INTEGER NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created_at REAL NOT NULL,
    started_at REAL NOT NULL,
    ended_at REAL NOT NULL,
    result TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_of_project ON jobs (project_id, number);
"""
_COLUMNS = "id, project_id, root, is_full, settings, state, attempts, created_at, started_at, ended_at, result"


@dataclass(frozen=True, slots=True)
class IndexJob:
    """A run as it is now. Times are seconds since the epoch, 0.0 for not yet."""

    id: str
    project_id: str
    root: str
    full: bool
    state: State
    created_at: float
    attempts: int = 0
    started_at: float = 0.0
    ended_at: float = 0.0
    step: Step = field(default_factory=Step)
    report: Report | None = None
    trouble: Trouble | None = None
    errors: tuple[FileError, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    move_to: str = ""  # a store that the vectors are moved to; "" for a run of the indexer
    moved: StoreReport | None = None
    only: tuple[str, ...] = ()  # repositories of a fleet; (): all
    retry: bool = True  # ask a model again about files on which it failed; not kept: a job that is resumed does

    @property
    def is_active(self) -> bool:
        """True if the job waits or runs."""
        return self.state in {"queued", "running"}


class JobTable:
    """The jobs that are kept, in the order of their coming."""

    def __init__(self, path: str) -> None:
        self._database = ServerDatabase(path, _TABLES)

    def add(self, job: IndexJob) -> None:
        """Keep a new job."""
        self._database.write(f"INSERT INTO jobs ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _row(job))

    def update(self, job: IndexJob) -> None:
        """Keep what has become of a job."""
        self._database.write(
            "UPDATE jobs SET state = ?, attempts = ?, started_at = ?, ended_at = ?, result = ? WHERE id = ?",
            (job.state, job.attempts, job.started_at, job.ended_at, _result(job), job.id),
        )

    def get(self, job_id: str) -> IndexJob | None:
        """Return a job, None for an unknown one."""
        return next(iter(self._select("WHERE id = ?", job_id)), None)

    def active(self) -> list[IndexJob]:
        """Return the jobs that were queued or running, the oldest first."""
        return self._select("WHERE state IN ('queued', 'running') ORDER BY number")

    def latest(self, project_id: str, state: str, limit: int) -> list[IndexJob]:
        """Return the latest jobs, the last one first; of all projects and states where these are empty."""
        where = "WHERE ? IN ('', project_id) AND ? IN ('', state) ORDER BY number DESC LIMIT ?"
        return self._select(where, project_id, state, limit)

    def prune(self, n_kept: int) -> None:
        """Forget the oldest jobs that have ended."""
        self._database.write(
            "DELETE FROM jobs WHERE state NOT IN ('queued', 'running') AND number NOT IN "
            "(SELECT number FROM jobs ORDER BY number DESC LIMIT ?)",
            (n_kept,),
        )

    def forget(self, project_id: str) -> None:
        """Forget the jobs of a project."""
        self._database.write("DELETE FROM jobs WHERE project_id = ?", (project_id,))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _select(self, rest: str, *parameters: object) -> list[IndexJob]:
        return [_job(row) for row in self._database.read(f"SELECT {_COLUMNS} FROM jobs {rest}", parameters)]


def _row(job: IndexJob) -> tuple[object, ...]:
    what = (job.id, job.project_id, job.root, job.full, json.dumps(dict(job.settings)))
    return (*what, job.state, job.attempts, job.created_at, job.started_at, job.ended_at, _result(job))


def _result(job: IndexJob) -> str:
    return json.dumps(
        {
            "move_to": job.move_to,
            "only": job.only,
            "report": asdict(job.report) if job.report else None,
            "moved": asdict(job.moved) if job.moved else None,
            "trouble": asdict(job.trouble) if job.trouble else None,
            "errors": [asdict(error) for error in job.errors],
        }
    )


def _job(row: tuple[Any, ...]) -> IndexJob:
    job_id, project_id, root, is_full, settings, state, attempts, created_at, started_at, ended_at, result = row
    kept = json.loads(result)
    return IndexJob(
        id=job_id,
        project_id=project_id,
        root=root,
        full=bool(is_full),
        state=state,
        created_at=created_at,
        attempts=attempts,
        started_at=started_at,
        ended_at=ended_at,
        step=Step(state),
        report=Report(**kept["report"]) if kept["report"] else None,
        move_to=kept.get("move_to", ""),  # not there in rows of an older version
        only=tuple(kept.get("only", ())),
        moved=StoreReport(**kept["moved"]) if kept.get("moved") else None,
        trouble=Trouble(**kept["trouble"]) if kept["trouble"] else None,
        errors=tuple(FileError(**error) for error in kept["errors"]),
        settings=json.loads(settings),
    )
