"""/federated/symbols, /federated/related and /federated/map: looking around in several indexes at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query

from codefathom.answer.tokens import counter
from codefathom.errors import FathomError
from codefathom.search.graph.project_map import first_parts
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.problem_json import problem_of
from codefathom.server.routes.routes_files import (
    Depth,
    Folder,
    Many,
    MapQueryIn,
    MostTokens,
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
from codefathom.shapes import map_shape
from codefathom.text.packing import first_of_each

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
        *,
        max_tokens: MostTokens = None,
    ) -> FederatedSymbolsOut:
        with federation(state, caller, project_id) as projects:
            result = projects.symbols(name.query, path=path, kind=name.kind, limit=limit)
        listed = [
            ProjectSymbolOut(project_id=project, **symbol_out(item).model_dump()) for project, item in result.symbols
        ]
        answer = FederatedSymbolsOut(query=name.query, symbols=listed, failed=_problems(result.failed))

        def first(n: int) -> FederatedSymbolsOut:
            return answer.model_copy(update={"symbols": listed[:n], "n_left_out": len(listed) - n})

        return within_tokens(len(listed), first, max_tokens)

    @routes.get("/related", summary="Show what a file or symbol is connected with, in each project that has it")
    def related(
        target: Path,
        caller: CallerHere,
        project_id: ProjectIds = (),
        depth: Depth = 1,
        limit: Many = 200,
        *,
        max_tokens: MostTokens = None,
    ) -> FederatedRelatedOut:
        with federation(state, caller, project_id) as projects:
            result = projects.related(target, depth=depth, limit=limit)
        projects_out = [
            ProjectRelatedOut(
                project_id=project,
                edges=list(map(edge_out, item.edges)),
                completeness=item.completeness,
                n_unresolved=item.n_unresolved,
            )
            for project, item in result.results.items()
        ]
        failed = _problems(result.failed)

        def first(n: int) -> FederatedRelatedOut:
            shares = first_of_each(n, [len(item.edges) for item in projects_out])
            kept = [_first_edges(item, share) for item, share in zip(projects_out, shares, strict=True)]
            n_left_out = sum(item.n_left_out for item in kept)
            return FederatedRelatedOut(target=target, projects=kept, failed=failed, n_left_out=n_left_out)

        return within_tokens(sum(len(item.edges) for item in projects_out), first, max_tokens)

    @routes.get("/map", summary="Outline the most central files of several projects, within one number of tokens")
    def map_projects(
        caller: CallerHere, wish: MapQueryIn, project_id: ProjectIds = (), max_tokens: Tokens = 4_000
    ) -> FederatedMapOut:
        with federation(state, caller, project_id) as projects:
            content, errors = projects.map_parts(wish.query, files=wish.files, folders=wish.folders)
            count = counter(projects.settings.context.tokenizer_path)
        failed = _problems(errors)

        def first(n: int) -> FederatedMapOut:
            return FederatedMapOut(**map_shape(first_parts(wish.query, content, n, count)), failed=failed)

        return within_tokens(min(len(content.parts), max_tokens), first, max_tokens)

    return routes


def _first_edges(item: ProjectRelatedOut, n: int) -> ProjectRelatedOut:
    return item.model_copy(update={"edges": item.edges[:n], "n_left_out": len(item.edges) - n})


def _problems(failed: Mapping[str, FathomError]) -> dict[str, ProblemOut]:
    return {project: ProblemOut.model_validate(problem_of(error)) for project, error in failed.items()}
