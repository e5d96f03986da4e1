"""/projects: list, add, look at, change, remove."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import asdict, replace
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Request

from codefathom.askers.held_folder import HeldFolder
from codefathom.errors import FathomError, UsageError, without_login
from codefathom.facts.reasons import FIRST_RUN_UNFINISHED, Note, notes_of
from codefathom.server.http.auth import ANYONE, Caller
from codefathom.server.projects.project_settings import shown
from codefathom.server.projects.project_table import ServedProject
from codefathom.server.requests.asker_elsewhere import left_s
from codefathom.server.requests.turns import in_turn
from codefathom.server.schemas.project_schemas import (
    LeftOutFilesOut,
    PathIn,
    PathOut,
    ProjectChangeIn,
    ProjectIn,
    ProjectOut,
    ProjectsOut,
    RunPlanIn,
    RunPlanOut,
)
from codefathom.server.searches.run_plan import LeftOutFiles, RunPlan, RunPlanTask
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import CallerHere, ClientHere, ServerState, note_for_audit
from codefathom.shapes import notes_shape
from codefathom.types import Forecast

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]


def router(state: ServerState) -> APIRouter:
    """Return the routes of the registry."""
    routes = APIRouter(tags=["projects"])
    # Before /projects/{project_id}, which would take their names for projects.
    _add_lists(routes, state)
    _add_single(routes, state)
    return routes


def _add_lists(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/projects", summary="List projects")
    def projects(caller: CallerHere) -> ProjectsOut:
        return ProjectsOut(projects=[project_out(state, project, caller) for project in state.projects.listed(caller)])

    @routes.get("/projects/indexed", summary="List projects that have a complete index")
    def indexed_projects(caller: CallerHere) -> ProjectsOut:
        listed = [project_out(state, project, caller) for project in state.projects.listed(caller)]
        return ProjectsOut(projects=[project for project in listed if project.indexed_at])

    @routes.post("/validate-path", summary="Check a path: the project that it would become")
    @routes.post("/projects/validate-path", summary="Check a path: the project that it would become")
    def validate_path(body: PathIn) -> PathOut:
        folders = state.projects.folders_like(body.path)
        try:
            place = state.projects.place(body.path, body.revision)
        except FathomError as error:
            return PathOut(ok=False, problem=str(error), hint=error.hint, folders=folders)
        return PathOut(ok=True, folders=folders, **place._asdict())

    @routes.post("/projects/plan", summary="Say what a first run would read and take, before a project is added")
    async def plan(body: RunPlanIn, client: ClientHere) -> RunPlanOut:
        if bool(body.path) == bool(body.url):
            raise _either()
        return await in_turn(state, *client, lambda lease: _plan(state, body, lease))

    @routes.post(
        "/projects",
        status_code=201,
        summary="Add a project: a folder, a revision of its repository, or a clone",
    )
    def add(body: ProjectIn, request: Request) -> ProjectOut:
        if bool(body.path) == bool(body.url):
            raise _either()
        if body.revision and body.branch not in {"", body.revision}:
            raise UsageError("revision and branch name the same thing", hint="give exactly one of the two")
        revision = body.revision or body.branch
        note_for_audit(request, body.path or without_login(body.url))
        if body.path:
            return project_out(state, state.projects.add(body.path, body.name, body.settings, revision))
        project = state.projects.add_clone(body.url, revision, body.name, body.settings)
        state.jobs.submit(project.id, project.root, settings=project.settings)
        return project_out(state, project)


def _either() -> UsageError:
    return UsageError("a project needs either a path or a url", hint="give exactly one of the two")


def _plan(state: ServerState, body: RunPlanIn, lease: SearchLease) -> RunPlanOut:
    projects = state.projects
    with closing(HeldFolder()) as folder:
        if body.url:
            origin = projects.origin_of_new(body.url, body.revision)
            task = RunPlanTask(projects.settings_outside(), folder.path, origin=origin)
        else:
            place = projects.place(body.path, body.revision)
            settings = projects.settings_of_new(place.root, body.settings)
            task = RunPlanTask(settings, folder.path, place.root, place.revision)
        plan: RunPlan = state.search_pool.result(replace(task, limit_s=left_s(state, lease.until)), lease.end)
    forecast = plan.forecast or Forecast(0.0, 0)
    return RunPlanOut.model_validate(
        {
            **plan._asdict(),
            "branch": body.revision or plan.branch,
            "is_known": plan.forecast is not None,
            "left_out": list(map(_left_out, plan.left_out)),
            **asdict(forecast),
        }
    )


def _left_out(item: LeftOutFiles) -> LeftOutFilesOut:
    return LeftOutFilesOut.model_validate(
        {**item._asdict(), "reason": str(item.why), "reason_parts": notes_shape(notes_of(item.why))}
    )


def _add_single(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/projects/{project_id}", summary="Show a project")
    def show(project_id: ProjectId, caller: CallerHere) -> ProjectOut:
        told = project_out(state, state.projects.get(project_id, caller), caller)
        if told.indexed_at:
            with suppress(FathomError), state.projects.lease(project_id, caller) as engine:
                told.store_problem = engine.stores.problem()
        return told

    @routes.patch("/projects/{project_id}", summary="Change name or settings of a project")
    def change(project_id: ProjectId, body: ProjectChangeIn, request: Request, caller: CallerHere) -> ProjectOut:
        project = state.projects.change(project_id, body.name, body.settings)
        # The values are left out: the settings of the project show them, and some are long.
        note_for_audit(request, ", ".join((["name"] if body.name else []) + sorted(body.settings or {})))
        if body.settings is not None:
            state.watches.renew(project)
        state.cache.clear()
        state.model_health.forget()
        state.store_health.forget()
        return project_out(state, project, caller)

    @routes.delete("/projects/{project_id}", status_code=204, summary="Remove a project; its files and its index stay")
    def remove(project_id: ProjectId) -> None:
        state.projects.get(project_id)  # raises for an unknown one
        state.watches.forget(project_id)
        state.jobs.forget(project_id)
        state.jobs.wait_for_end(project_id)
        state.projects.remove(project_id)
        state.cache.clear()


def project_out(state: ServerState, project: ServedProject, caller: Caller = ANYONE) -> ProjectOut:
    """Return a project as the server gives it, with what its index holds and what its last job does.

    Of a fleet, what the caller may see.
    """
    summary = state.projects.summary(project, caller)
    job = state.jobs.latest(project.id) if state.projects.sees_all(project.id, caller) else None
    problem = summary.problem or (job.trouble.told if job and job.trouble and job.state == "failed" else "")
    status = "not_indexed" if not summary.held else "indexed" if summary.held.indexed_at else "incomplete"
    if job and job.is_active:
        status = "indexing" if job.state == "running" else "queued"
    elif summary.damage:
        status, problem = "damaged", summary.damage
    elif problem:
        status = "moved" if summary.is_moved else "failed"
    elif status == "incomplete":
        problem = Note(FIRST_RUN_UNFINISHED)
    held = summary.held._asdict() if summary.held else {}
    return ProjectOut.model_validate(
        {
            "id": project.id,
            "name": project.name,
            "root": project.root,
            "url": project.url,
            "branch": project.branch,
            "revision": project.revision or project.branch,
            "added_at": project.added_at,
            "settings": shown(project.settings),
            "status": status,
            "problem": str(problem),
            "problem_parts": notes_shape(notes_of(problem)),
            "job_id": job.id if job and job.is_active else "",
            **held,
        }
    )
