"""Routes that index: jobs, their progress as a stream, and the one that waits."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Query, Request, status
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.responses import Response

from codefathom.errors import IndexingError, UsageError
from codefathom.server.access.route_table import ROUTE_RULES
from codefathom.server.http.auth import Caller
from codefathom.server.http.event_responses import EventStream, ReadingHere, StreamReading, described
from codefathom.server.http.problem_json import ConflictError, NotFoundError
from codefathom.server.http.sse import Channel, Event, encoded, follow
from codefathom.server.jobs.job_events import job_shape
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.requests.asker_elsewhere import NamedContent, take_in
from codefathom.server.requests.turns import in_turn
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.job_schemas import (
    CodebaseIn,
    CodebaseOut,
    IndexIn,
    JobOut,
    JobsOut,
    PathReportOut,
    PathsIn,
)
from codefathom.server.schemas.search_schemas import RefusedOut
from codefathom.server.state import CallerHere, ServerState, note_for_audit
from codefathom.shapes import left_out_shape, rest_shape
from codefathom.types import FUNCTION_KINDS, Rest

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]
JobId: TypeAlias = Annotated[str, Path(max_length=100, examples=["5f0c9e1b7a3d2c48"])]

_N_AT_END = 2  # how a job ended, and "done"
_ALL = 1_000_000  # jobs: more than are kept
_EXAMPLE = """\
id: 7d1f.4
data: {"type": "indexing", "data": {"phase": "index", "current_file": "shop/cart.py", "current": 3, "total": 12}}

id: 7d1f.9
data: {"type": "complete", "data": {"file_count": 12, "chunk_count": 80, "duration_seconds": 0.4}}

id: 7d1f.10
data: {"type": "done", "data": {"job_id": "5f0c9e1b7a3d2c48", "state": "done"}}

"""
_STREAMED = described(_EXAMPLE)
_WITHOUT_STREAM: dict[int | str, dict[str, Any]] = {
    **_STREAMED,
    202: {
        "description": "The job, for a client that accepts JSON only",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/JobOut"}}},
    },
}


def router(state: ServerState) -> APIRouter:
    """Return the routes of jobs."""
    routes = APIRouter(tags=["jobs"])
    _add_project_routes(routes, state)
    _add_job_routes(routes, state)
    _add_waiting_route(routes, state)
    _add_update_route(routes, state)
    return routes


def _add_project_routes(routes: APIRouter, state: ServerState) -> None:
    @routes.post(
        "/projects/{project_id}/index",
        summary="Index a project, or follow the job that already does",
        response_class=EventStream,
        responses=_WITHOUT_STREAM,
    )
    def index(
        project_id: ProjectId,
        caller: CallerHere,
        reading: ReadingHere,
        body: IndexIn | None = None,
    ) -> Response:
        project, full = state.projects.get(project_id, caller), body is not None and body.full
        state.projects.check_sees_all(project, caller)
        only = tuple(body.repositories) if body is not None else ()
        if only and not state.projects.is_fleet(project):
            raise UsageError(f"{project_id!r} is no fleet", hint="leave out repositories, which a fleet alone has")
        before = state.jobs.active_ids(project.id)
        if only:
            job = state.jobs.submit_some(project.id, project.root, only, full=full, settings=project.settings)
        else:
            job = state.jobs.submit(project.id, project.root, full=full, settings=project.settings)
        is_new = job.id not in before
        return _shown(job, state, reading, is_new=is_new)

    @routes.get(
        "/projects/{project_id}/index",
        summary="Follow the latest job of a project",
        response_class=EventStream,
        responses=_WITHOUT_STREAM,
    )
    def attach(project_id: ProjectId, caller: CallerHere, reading: ReadingHere) -> Response:
        return _shown(_latest(project_id, caller, state), state, reading)

    @routes.delete(
        "/projects/{project_id}/index",
        status_code=204,
        summary="Remove the index of a project, and cancel its job",
    )
    def remove(project_id: ProjectId, caller: CallerHere) -> None:
        project = state.projects.get(project_id, caller)
        state.projects.check_sees_all(project, caller)
        for job in state.jobs.listed(project.id):
            if job.is_active:
                state.jobs.cancel(job.id)
        state.jobs.wait_for_end(project.id)
        n_bytes = state.projects.remove_index(project)
        state.cache.clear()
        if not n_bytes:
            raise NotFoundError(
                f"the project {project_id!r} has no index", hint=f"POST /projects/{project_id}/index makes it"
            )


def _add_job_routes(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/jobs", summary="List jobs, the latest first")
    def jobs(
        caller: CallerHere,
        project_id: Annotated[str, Query(description="Only jobs of this project", examples=["shop"])] = "",
        state_: Annotated[str, Query(alias="state", description="Only jobs in this state", examples=["done"])] = "",
        limit: Annotated[int, Query(ge=1, le=500, examples=[50])] = 50,
        offset: Offset = 0,
    ) -> JobsOut:
        every = state.jobs.listed(project_id, state=state_, limit=_ALL)
        whole = {project.id for project in state.projects.listed(caller) if state.projects.sees_all(project.id, caller)}
        visible = [job for job in every if job.project_id in whole]
        shown = [job_out(job) for job in visible[offset : offset + limit]]
        end = rest_shape(Rest(max(len(visible) - offset - limit, 0)), offset, len(shown))
        return JobsOut(jobs=shown, **end)

    @routes.get("/jobs/{job_id}", summary="Show a job")
    def job(job_id: JobId, caller: CallerHere) -> JobOut:
        return job_out(_job(job_id, caller, state))

    @routes.get("/jobs/{job_id}/events", summary="Follow a job", response_class=EventStream, responses=_STREAMED)
    def events(job_id: JobId, caller: CallerHere, reading: ReadingHere) -> Response:
        return _stream(_job(job_id, caller, state), state, reading)

    @routes.post("/jobs/{job_id}/cancel", summary="Cancel a job; a job that has ended does not change")
    def cancel(job_id: JobId, caller: CallerHere, request: Request) -> JobOut:
        job = _job(job_id, caller, state)
        note_for_audit(request, job.project_id)
        caller.check(job.project_id, ROUTE_RULES["POST /jobs/{job_id}/cancel"].role)
        if job.move_to:  # which only an administrator can have begun
            caller.check_server()
        return job_out(state.jobs.cancel(job.id) or job)


def _add_waiting_route(routes: APIRouter, state: ServerState) -> None:
    @routes.post("/index", summary="Add a folder as a project, index it, and respond when the index is complete")
    async def index(body: CodebaseIn) -> CodebaseOut:
        project = await run_in_threadpool(state.projects.find_or_add, body.codebase_path, body.revision)
        job = await run_in_threadpool(
            state.jobs.submit, project.id, project.root, full=body.full, settings=project.settings
        )
        # Waits without a thread; a client that leaves does not end the job.
        async for _event in follow(_channel(job, state)):
            pass
        return _codebase(state.jobs.get(job.id) or job)


def _add_update_route(routes: APIRouter, state: ServerState) -> None:
    @routes.post(
        "/projects/{project_id}/files",
        summary="Take in changes of some files and folders, and texts that are on no disk, and wait for it",
    )
    async def update(project_id: ProjectId, body: PathsIn, caller: CallerHere, request: Request) -> PathReportOut:
        content = NamedContent(body.paths, body.texts)
        report = await in_turn(
            state, caller, request, lambda lease: take_in(state, caller, project_id, content, lease.until)
        )
        refused = [RefusedOut(**left_out_shape(item)) for item in report.refused]
        return PathReportOut(
            project_id=project_id,
            added=list(report.added),
            changed=list(report.changed),
            removed=list(report.removed),
            unchanged=list(report.unchanged),
            refused=refused,
        )


def _codebase(job: IndexJob) -> CodebaseOut:
    """Return the counts of a job. Raises IndexingError when it did not succeed."""
    if job.report is None or job.state != "done":
        trouble = job.trouble
        if trouble is None:
            raise ConflictError(f"the job {job.id!r} was {job.state}", hint=f"GET /jobs/{job.id} shows details")
        raise IndexingError(trouble.told, hint=trouble.remedy)
    n_functions = sum(job.report.kinds.get(kind, 0) for kind in FUNCTION_KINDS)
    return CodebaseOut(
        status="success",
        project_id=job.project_id,
        total_files=job.report.n_files,
        total_chunks=job.report.n_chunks,
        file_chunks=job.report.n_chunks - n_functions,
        function_chunks=n_functions,
        output_dir=job.report.index_dir,
        job_id=job.id,
    )


def _latest(project_id: ProjectId, caller: Caller, state: ServerState) -> IndexJob:
    project = state.projects.get(project_id, caller)
    state.projects.check_sees_all(project, caller)
    job = state.jobs.latest(project.id)
    if job is None:
        raise NotFoundError(
            f"the project {project_id!r} has no job", hint=f"POST /projects/{project_id}/index starts one"
        )
    return job


def _job(job_id: str, caller: Caller, state: ServerState) -> IndexJob:
    job = state.jobs.get(job_id)
    if job is None or not state.projects.sees_all(job.project_id, caller):
        raise NotFoundError(f"no such job: {job_id!r}", hint="GET /jobs lists them")
    return job


def job_out(job: IndexJob) -> JobOut:
    """Return a job as JSON."""
    return JobOut.model_validate(job_shape(job))


def _shown(job: IndexJob, state: ServerState, reading: StreamReading, *, is_new: bool = False) -> Response:
    if reading.takes_events:
        return _stream(job, state, reading, is_new=is_new)
    location = {"location": f"/jobs/{job.id}"}
    return JSONResponse(job_out(job).model_dump(), status_code=status.HTTP_202_ACCEPTED, headers=location)


def _channel(job: IndexJob, state: ServerState) -> Channel:
    channel = state.jobs.channel(job.id)
    if channel is None:
        raise NotFoundError(f"no such job: {job.id!r}", hint="GET /jobs lists them")
    return channel


def _stream(job: IndexJob, state: ServerState, reading: StreamReading, *, is_new: bool = False) -> EventStream:
    """Go on after an id; else tell the job as it is now, and then what comes; all of a job that is new."""
    channel, form = _channel(job, state), reading.form
    after = channel.place(reading.last_event_id)
    if after is not None or is_new:
        return EventStream(follow(channel, after or 0, form=form))
    # First the place, then the job: what happens in between is told twice and not left out.
    after = max(channel.last - _N_AT_END, 0) if channel.is_closed else channel.last
    shape = job_shape(state.jobs.get(job.id) or job)
    status_event = encoded(Event(after, "status", json.dumps(shape, ensure_ascii=False)), channel.key, form)
    return EventStream(_after(status_event, follow(channel, after, form=form)))


async def _after(first: bytes, pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in pieces:
        yield piece
