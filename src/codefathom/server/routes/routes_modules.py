"""/modules, /glance, /tour and /commits: what a project is made of, and what happened in it last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import APIRouter, Query

from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.search.graph.glance import Glance
from codefathom.server.requests.asker_elsewhere import asker_for
from codefathom.server.requests.turns import in_turn
from codefathom.server.routes.routes_files import FolderPathIn, ProjectId, only_project, path_inside
from codefathom.server.schemas.module_schemas import (
    CommitsOut,
    GlanceOut,
    ModuleLinkOut,
    ModuleOut,
    ModulesOut,
    SizedFileOut,
    TourOut,
)
from codefathom.server.schemas.search_schemas import CommitOut
from codefathom.server.searches.look import Look
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import Client, ClientHere, ServerState
from codefathom.shapes import tour_shape
from codefathom.types import CommitMark, TourStep

_Out = TypeVar("_Out")
Some: TypeAlias = Annotated[
    int, Query(ge=1, le=100, examples=[10], description="maximum number of commits in the answer")
]


def router(state: ServerState) -> APIRouter:
    """Return the routes of a project's first page."""
    routes = APIRouter(tags=["files"])

    @routes.get("/modules", summary="List folders of code, and how many imports lead from one to another")
    async def modules(client: ClientHere, folder: FolderPathIn, project_id: ProjectId = "") -> ModulesOut:
        def look(lease: SearchLease) -> ModulesOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                map_of_code = asker.look(Look("module_map", path_inside(folder, asker)))
            return ModulesOut.model_validate(
                {
                    **map_of_code._asdict(),
                    "project_id": name,
                    "modules": [ModuleOut.model_validate(item._asdict()) for item in map_of_code.modules],
                    "links": [ModuleLinkOut.model_validate(link._asdict()) for link in map_of_code.links],
                }
            )

        return await in_turn(state, *client, look)

    @routes.get("/glance", summary="Show a project at a glance: its own words, its largest files")
    async def glance(client: ClientHere, project_id: ProjectId = "") -> GlanceOut:
        def out(name: str, seen: Glance) -> GlanceOut:
            files = [SizedFileOut.model_validate(file._asdict()) for file in seen.files]
            return GlanceOut.model_validate({**seen._asdict(), "project_id": name, "files": files})

        return await _seen(state, client, project_id, Look("glance"), out)

    @routes.get("/tour", summary="List places to read in a project, one after the other")
    async def tour(client: ClientHere, project_id: ProjectId = "") -> TourOut:
        def look(lease: SearchLease) -> TourOut:
            name = project_id or only_project(state, client.caller)
            with asker_for(state, name, client.caller, lease) as asker:
                steps: Sequence[TourStep] = result_of(asker, Question(kind="map", tour=True))
            return TourOut.model_validate({"project_id": name, **tour_shape(steps)})

        return await in_turn(state, *client, look)

    @routes.get("/commits", summary="List the latest commits of a project")
    async def commits(client: ClientHere, project_id: ProjectId = "", limit: Some = 10) -> CommitsOut:
        def out(name: str, marks: Sequence[CommitMark]) -> CommitsOut:
            return CommitsOut(project_id=name, commits=[CommitOut.model_validate(mark._asdict()) for mark in marks])

        return await _seen(state, client, project_id, Look("commits", limit=limit), out)

    return routes


async def _seen(
    state: ServerState, client: Client, project_id: str, look: Look, out: Callable[[str, Any], _Out]
) -> _Out:
    """Return what a look at a project gives, by a function of its name and of what was seen."""

    def ask(lease: SearchLease) -> _Out:
        name = project_id or only_project(state, client.caller)
        with asker_for(state, name, client.caller, lease) as asker:
            seen = asker.look(look)
        return out(name, seen)

    return await in_turn(state, *client, ask)
