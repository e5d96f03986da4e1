"""/federated/symbols, /federated/related and /federated/map: looking around in several indexes at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query

from codefathom.errors import FathomError
from codefathom.server.http.problem_json import problem_of
from codefathom.server.routes.routes_files import (
    Depth,
    Folder,
    Many,
    MapQueryIn,
    NameIn,
    Path,
    Tokens,
    edge_out,
    symbol_out,
)
from codefathom.server.routes.search_requests import federation
from codefathom.server.schemas.search_schemas import (
    FederatedMapOut,
    FederatedRelatedOut,
    FederatedSymbolsOut,
    ProblemOut,
    ProjectRelatedOut,
    ProjectSymbolOut,
)
from codefathom.server.state import CallerHere, ServerState

ProjectIds: TypeAlias = Annotated[
    tuple[str, ...], Query(max_length=100, examples=[["shop"]], description="projects; without one, all of them")
]


def router(state: ServerState) -> APIRouter:
    """Return the routes that look into several projects and need no model."""
    routes = APIRouter(prefix="/federated", tags=["files"])

    @routes.get("/symbols", summary="Find definitions by name in several projects")
    def symbols(
        caller: CallerHere,
        name: NameIn,
        project_id: ProjectIds = (),
        path: Folder = "",
        limit: Many = 100,
    ) -> FederatedSymbolsOut:
        with federation(state, caller, project_id) as projects:
            result = projects.symbols(name.query, path=path, kind=name.kind, limit=limit)
        return FederatedSymbolsOut(
            query=name.query,
            symbols=[
                ProjectSymbolOut(project_id=project, **symbol_out(item).model_dump())
                for project, item in result.symbols
            ],
            failed=_problems(result.failed),
        )

    @routes.get("/related", summary="Show what a file or symbol is connected with, in each project that has it")
    def related(
        target: Path,
        caller: CallerHere,
        project_id: ProjectIds = (),
        depth: Depth = 1,
        limit: Many = 200,
    ) -> FederatedRelatedOut:
        with federation(state, caller, project_id) as projects:
            result = projects.related(target, depth=depth, limit=limit)
        return FederatedRelatedOut(
            target=target,
            projects=[
                ProjectRelatedOut(
                    project_id=project,
                    edges=list(map(edge_out, item.edges)),
                    completeness=item.completeness,
                    n_unresolved=item.n_unresolved,
                )
                for project, item in result.results.items()
            ],
            failed=_problems(result.failed),
        )

    @routes.get("/map", summary="Outline the most central files of several projects, within one number of tokens")
    def map_projects(
        caller: CallerHere, wish: MapQueryIn, project_id: ProjectIds = (), max_tokens: Tokens = 4_000
    ) -> FederatedMapOut:
        with federation(state, caller, project_id) as projects:
            result = projects.map(wish.query, files=wish.files, folders=wish.folders, max_tokens=max_tokens)
        return FederatedMapOut(**asdict(result.map), failed=_problems(result.failed))

    return routes


def _problems(failed: Mapping[str, FathomError]) -> dict[str, ProblemOut]:
    return {project: ProblemOut.model_validate(problem_of(error)) for project, error in failed.items()}
