"""The first index of a project that a job makes, waited for by a caller who hears how far it is; no thread is held."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import anyio
from anyio import to_thread

from codefathom.errors import FathomError, FirstRunError
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotIndexedError
from codefathom.server.http.sse import Channel, events_after
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.mcp.served_projects import first_job, resolve_projects
from codefathom.server.requests.asker_elsewhere import indexed
from codefathom.server.state import ServerState
from codefathom.types import Progress


async def wait_for_index(
    state: ServerState, caller: Caller, names: Sequence[str], tell: Callable[[Progress], None], most_s: float
) -> None:
    """Return once the jobs that make the first indexes of these projects have ended, or so many seconds are over.

    Where no job was ever asked for, one begins. Each step is told. What is wrong with the names is for the call itself
    to say.
    """
    with anyio.move_on_after(most_s):
        for channel in await to_thread.run_sync(_channels, state, caller, names):
            async for event in events_after(channel):
                step = json.loads(event.data) if event is not None and event.data else {}
                if isinstance(step, dict) and "current" in step:
                    tell(Progress(step["phase"], step["current"], step["total"]))


def first_steps(state: ServerState, caller: Caller, names: Sequence[str]) -> Progress | None:
    """Return the progress of the first indexes of these projects, None where no job makes one."""
    steps = [job.step for job in _first_jobs(state, caller, names)]
    return Progress("index", sum(step.current for step in steps), sum(step.total for step in steps)) if steps else None


def _channels(state: ServerState, caller: Caller, names: Sequence[str]) -> list[Channel]:
    """Return the events of the jobs that make an index where there is none."""
    channels = [state.jobs.channel(job.id) for job in _first_jobs(state, caller, names)]
    return [channel for channel in channels if channel is not None]


def _first_jobs(state: ServerState, caller: Caller, names: Sequence[str]) -> list[IndexJob]:
    jobs: list[IndexJob | None] = []
    try:
        for project in resolve_projects(names, state.projects.listed(caller)):
            try:
                with indexed(state, project.id, caller):
                    pass
            except (NotIndexedError, FirstRunError):
                jobs.append(first_job(state, project))
    except FathomError:
        return []
    return [job for job in jobs if job is not None]
