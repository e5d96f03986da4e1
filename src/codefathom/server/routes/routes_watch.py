"""/projects/ID/watch: have the index of a project follow its files, or that of a fleet its sources."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path

from codefathom.server.schemas.project_schemas import WatchOut
from codefathom.server.state import CallerHere, ServerState
from codefathom.server.watching.project_watch import WatchState

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]


def router(state: ServerState) -> APIRouter:
    """Return the routes of watching."""
    routes = APIRouter(tags=["jobs"])

    @routes.get("/projects/{project_id}/watch", summary="Show whether and how the files of a project are watched")
    def show(project_id: ProjectId, caller: CallerHere) -> WatchOut:
        project = state.projects.get(project_id, caller)
        return _out(project.id, state.watches.state(project.id))

    @routes.post(
        "/projects/{project_id}/watch",
        summary="Watch the files of a project, or the sources of a fleet: a job starts after each change, also after a "
        "restart",
    )
    def start(project_id: ProjectId, caller: CallerHere) -> WatchOut:
        project = state.projects.get(project_id, caller)
        return _out(project.id, state.watches.start(project))

    @routes.delete("/projects/{project_id}/watch", status_code=204, summary="Stop watching the files of a project")
    def stop(project_id: ProjectId, caller: CallerHere) -> None:
        project = state.projects.get(project_id, caller)
        state.watches.stop(project.id)

    return routes


def _out(project_id: str, watch: WatchState) -> WatchOut:
    return WatchOut(
        project_id=project_id,
        on=watch.is_on,
        by=watch.by or "",
        reason=watch.reason,
        interval_s=watch.interval_s,
        changed_at=watch.changed_at,
        error=watch.error,
    )
