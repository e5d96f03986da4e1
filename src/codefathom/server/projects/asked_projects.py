"""The projects that a question goes to, and the reasons why some of them cannot be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from codefathom.engine import Engine
from codefathom.errors import DamagedError, FathomError, FirstRunError
from codefathom.facts.reasons import POST_REPAIRS, Note
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotFoundError, NotIndexedError
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.projects.project_table import Projects
from codefathom.types import RunProgress


class AskedProjects(NamedTuple):
    """The projects of a question that are there, and the errors of the names that mean nothing to the caller."""

    ids: tuple[str, ...]
    unknown: Mapping[str, FathomError]


def asked_projects(projects: Projects, caller: Caller, names: Sequence[str]) -> AskedProjects:
    """Return the projects of these ids, each once, without names all that the caller may see.

    One that the caller may not see is as unknown as one that is not there. Raises NotFoundError where none is left.
    """
    visible = [project.id for project in projects.listed(caller)]
    unknown: dict[str, FathomError] = {name: _unknown(name) for name in names if name not in visible}
    ids = tuple(dict.fromkeys(name for name in names if name in visible)) if names else tuple(visible)
    if not ids:
        raise next(iter(unknown.values()), NotFoundError("there is no project yet", hint="POST /projects adds one"))
    return AskedProjects(ids, unknown)


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"no such project: {name!r}", hint="GET /projects lists them")


@contextmanager
def indexed_engine(projects: Projects, jobs: Jobs, project_id: str, caller: Caller) -> Iterator[Engine]:
    """Give the engine of a project that has an index.

    Raises NotFoundError, FirstRunError where the first run has not stored anything yet, DamagedError, NotIndexedError.
    """
    try:
        lease = projects.lease(project_id, caller)
    except NotIndexedError as error:  # a repository that is not here yet
        raise _first_job(jobs, project_id) or error from error
    with lease as engine:
        # Never index inside a request: the first run may take minutes.
        if not engine.generation:
            raise _unindexed(jobs, project_id, engine)
        yield engine


def first_runs(projects: Projects, caller: Caller, ids: Sequence[str]) -> dict[str, FathomError]:
    """Return the errors of those projects of several whose first index is being made, and can be asked later.

    Nothing where that is so of all of them: then each is asked for what its index has by now.
    """
    errors: dict[str, FathomError] = {}
    for project_id in ids if len(ids) > 1 else ():
        with suppress(FathomError), projects.lease(project_id, caller) as engine:
            if engine.generation and (progress := engine.first_run) is not None:
                errors[project_id] = FirstRunError.of(project_id, progress)
    return errors if len(errors) < len(ids) else {}


def have_made(projects: Projects, jobs: Jobs, project_id: str, engine: Engine) -> None:
    """Begin a job where the index lacks what the settings ask for, as after a change of the model.

    No question waits for it, and no second one begins it.
    """
    if engine.lacks_views and projects.is_new_wish(project_id, engine.settings) and jobs.active(project_id) is None:
        project = projects.get(project_id)
        jobs.submit(project.id, project.root, settings=project.settings)


def _unindexed(jobs: Jobs, project_id: str, engine: Engine) -> FathomError:
    if (progress := engine.first_run) is not None:
        return FirstRunError.of(project_id, progress)
    if (error := _first_job(jobs, project_id)) is not None:
        return error
    if damage := engine.damages:
        return DamagedError(damage[0], hint=Note(POST_REPAIRS, {"project": project_id}))
    job = jobs.latest(project_id)
    if job is not None and job.state == "done":
        return NotIndexedError(
            f"no file of the project {project_id!r} can be indexed",
            hint=f"GET /projects/{project_id}/status lists what is left out; add files, "
            f"then POST /projects/{project_id}/index",
        )
    return NotIndexedError(
        f"the project {project_id!r} has no index yet", hint=f"POST /projects/{project_id}/index makes it"
    )


def _first_job(jobs: Jobs, project_id: str) -> FirstRunError | None:
    job = jobs.active(project_id)
    return None if job is None else FirstRunError.of(project_id, RunProgress(job.step.current, job.step.total))
