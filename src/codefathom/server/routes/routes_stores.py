"""/projects/{project_id}/store: ask, make, compare, move, remove the store of a project's vectors."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Query

from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.server.http.problem_json import ClosedError
from codefathom.server.routes.routes_jobs import job_out
from codefathom.server.schemas.job_schemas import JobOut
from codefathom.server.schemas.project_schemas import StoreActionIn, StoreReportOut, StoreStateOut
from codefathom.server.state import CallerHere, ServerState
from codefathom.system.adapters import VECTOR_STORES
from codefathom.types import StoreState

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]
Target: TypeAlias = Annotated[
    str,
    Query(max_length=50, description="name of a store; without it, the one that is used", examples=["flat"]),
]


def router(state: ServerState) -> APIRouter:
    """Return the routes of stores."""
    routes = APIRouter(tags=["projects"])
    _add_questions(routes, state)
    _add_actions(routes, state)
    return routes


def _add_questions(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/projects/{project_id}/store", summary="Test the connection to a store, and list its projects")
    def show(project_id: ProjectId, caller: CallerHere, target: Target = "") -> StoreStateOut:
        with state.projects.lease(project_id, caller) as engine:
            return _state_out(engine, engine.stores.state(_named(target)))

    @routes.post("/projects/{project_id}/store/init", summary="Make the collection or table of a store")
    def init(project_id: ProjectId, body: StoreActionIn, caller: CallerHere) -> StoreStateOut:
        with state.projects.lease(project_id, caller) as engine:
            return _state_out(engine, engine.stores.state(_named(body.target), prepare=True))


def _add_actions(routes: APIRouter, state: ServerState) -> None:
    @routes.post("/projects/{project_id}/store/verify", summary="Compare a store with the index; repair it with fix")
    def verify(project_id: ProjectId, body: StoreActionIn, caller: CallerHere) -> StoreReportOut:
        with state.projects.lease(project_id, caller) as engine:
            return StoreReportOut.model_validate(engine.stores.verify(_named(body.target), repair=body.fix))

    @routes.post(
        "/projects/{project_id}/store/move",
        summary="Begin a job that copies the vectors to a store, which is used from then on",
        status_code=202,
    )
    def move(project_id: ProjectId, body: StoreActionIn, caller: CallerHere) -> JobOut:
        project = state.projects.get(project_id, caller)
        if revision := project.revision:
            raise UsageError(
                f"the vectors of the revision {revision!r} cannot be moved to another store",
                hint="a store of other makers knows a project by its folder: add the folder without a revision",
            )
        target = _named(body.target)
        with state.projects.lease(project_id, caller) as engine:
            engine.stores.check_move(target)
        job = state.jobs.submit(project.id, project.root, settings=project.settings, move_to=target)
        return job_out(job)

    @routes.post("/projects/{project_id}/store/remove", summary="Remove the vectors of a project from a store")
    def remove(project_id: ProjectId, body: StoreActionIn, caller: CallerHere) -> StoreStateOut:
        with state.projects.lease(project_id, caller) as engine:
            engine.stores.remove(_named(body.target), body.project)
            return _state_out(engine, engine.stores.state(_named(body.target)))


def _named(target: str) -> str:
    """Return the name of a store. Raises ClosedError for an address: requests do not choose where code is sent."""
    if target and target not in VECTOR_STORES:
        raise ClosedError(
            "a store is given by its name over HTTP, not by an address",
            hint=f"send one of {', '.join(VECTOR_STORES)}; the address is store.url in the settings of the server",
        )
    return target


def _state_out(engine: Engine, state: StoreState) -> StoreStateOut:
    return StoreStateOut(
        store=state.store,
        is_used=state.store == engine.stores.in_use,
        project=state.project,
        state=dict(state.state),
        projects=dict(state.projects),
        choices=list(VECTOR_STORES),
    )
