"""/federated/symbols, /federated/related and /federated/map: looking around in several indexes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from fastapi.concurrency import run_in_threadpool

from codefathom.answer.tokens import counter
from codefathom.errors import FathomError, UsageError
from codefathom.search.graph.project_map import MapParts, first_parts
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import problem_of
from codefathom.server.projects.served_paths import served_places
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
from codefathom.server.routes.routes_search import indexing_out
from codefathom.server.routes.search_requests import federation, in_turn, path_federation
from codefathom.server.schemas.search_schemas import (
    FederatedMapOut,
    FederatedRelatedOut,
    FederatedSymbolsOut,
    ProblemOut,
    ProjectRelatedOut,
    ProjectSymbolOut,
    RefusedOut,
)
from codefathom.server.state import CallerHere, ServerState
from codefathom.several.joined_projects import FederatedRelated, FederatedSymbols, JoinedProjects
from codefathom.shapes import map_shape
from codefathom.text.packing import first_of_each

ProjectIds: TypeAlias = Annotated[
    tuple[str, ...], Query(max_length=100, examples=[["shop"]], description="projects; without one, all of them")
]


Paths: TypeAlias = Annotated[
    tuple[Path, ...],
    Query(
        max_length=100,
        examples=[[]],
        description="instead of projects, files and folders on the server's machine, by absolute paths",
    ),
]
_T = TypeVar("_T")


class ClientPlaces(NamedTuple):
    """The projects, or the files and folders, that a client asks about."""

    caller: Caller
    request: Request
    project_ids: tuple[str, ...]
    paths: tuple[str, ...]


def _places(caller: CallerHere, request: Request, project_id: ProjectIds = (), paths: Paths = ()) -> ClientPlaces:
    if project_id and paths:
        raise UsageError("paths cannot be used with a project", hint="paths alone say what is asked about")
    return ClientPlaces(caller, request, project_id, paths)


PlacesIn: TypeAlias = Annotated[ClientPlaces, Depends(_places)]


async def _result(state: ServerState, places: ClientPlaces, ask: Callable[[JoinedProjects], _T]) -> _T:
    """Return the result of `ask`, for paths in turn with the searches: loose files are indexed first."""
    caller, request, project_ids, paths = places

    def of_projects() -> _T:
        with federation(state, caller, project_ids) as projects:
            return ask(projects)

    def of_paths(until: float) -> _T:
        scopes = served_places(state.projects, state.config, caller, paths)
        with path_federation(state, caller, scopes, until) as projects:
            return ask(projects)

    if not paths:
        return await run_in_threadpool(of_projects)
    await request.body()  # what comes after it is that the client leaves
    return await in_turn(state, caller, request, of_paths)


class _Where(NamedTuple):
    """The folders of the projects of paths, and the paths that were left out."""

    roots: dict[str, str]
    left_out: list[RefusedOut]


def _where(places: ClientPlaces, projects: JoinedProjects) -> _Where:
    if not places.paths:
        return _Where({}, [])
    return _Where(projects.roots, [RefusedOut(path=item.path, reason=item.reason) for item in projects.left_out])


def router(state: ServerState) -> APIRouter:
    """Return the routes that look into several projects and need no model."""
    routes = APIRouter(prefix="/federated", tags=["files"])

    @routes.get("/symbols", summary="Find definitions by name in several projects")
    async def symbols(
        places: PlacesIn, name: NameIn, path: Folder = "", limit: Many = 100, *, max_tokens: MostTokens = None
    ) -> FederatedSymbolsOut:
        def ask(projects: JoinedProjects) -> tuple[FederatedSymbols, _Where]:
            symbols = projects.symbols(name.query, path=path, kind=name.kind, limit=limit)
            return symbols, _where(places, projects)

        result, where = await _result(state, places, ask)
        listed = [
            ProjectSymbolOut(project_id=project, **symbol_out(item).model_dump()) for project, item in result.symbols
        ]
        answer = FederatedSymbolsOut(query=name.query, symbols=listed, **_failures(result.failed), **where._asdict())

        def first(n: int) -> FederatedSymbolsOut:
            return answer.model_copy(update={"symbols": listed[:n], "n_left_out": len(listed) - n})

        return within_tokens(len(listed), first, max_tokens)

    @routes.get("/related", summary="Show what a file or symbol is connected with, in each project that has it")
    async def related(
        target: Path, places: PlacesIn, depth: Depth = 1, limit: Many = 200, *, max_tokens: MostTokens = None
    ) -> FederatedRelatedOut:
        def ask(projects: JoinedProjects) -> tuple[FederatedRelated, _Where]:
            return projects.related(target, depth=depth, limit=limit), _where(places, projects)

        result, where = await _result(state, places, ask)
        projects_out = [
            ProjectRelatedOut(
                project_id=project,
                edges=list(map(edge_out, item.edges)),
                completeness=item.completeness,
                n_unresolved=item.n_unresolved,
            )
            for project, item in result.results.items()
        ]
        failed = _failures(result.failed)

        def first(n: int) -> FederatedRelatedOut:
            shares = first_of_each(n, [len(item.edges) for item in projects_out])
            kept = [_first_edges(item, share) for item, share in zip(projects_out, shares, strict=True)]
            n_left_out = sum(item.n_left_out for item in kept)
            return FederatedRelatedOut(target=target, projects=kept, **failed, n_left_out=n_left_out, **where._asdict())

        return within_tokens(sum(len(item.edges) for item in projects_out), first, max_tokens)

    @routes.get("/map", summary="Outline the most central files of several projects, within one number of tokens")
    async def map_projects(places: PlacesIn, wish: MapQueryIn, max_tokens: Tokens = 4_000) -> FederatedMapOut:
        def ask(projects: JoinedProjects) -> _MapOfSeveral:
            content, errors = projects.map_parts(wish.query, files=wish.files, folders=wish.folders)
            count = counter(projects.settings.context.tokenizer_path)
            return _MapOfSeveral(content, errors, count, _where(places, projects))

        content, errors, count, where = await _result(state, places, ask)
        failed = _failures(errors)

        def first(n: int) -> FederatedMapOut:
            return FederatedMapOut(**map_shape(first_parts(wish.query, content, n, count)), **failed, **where._asdict())

        return within_tokens(min(len(content.parts), max_tokens), first, max_tokens)

    return routes


class _MapOfSeveral(NamedTuple):
    content: MapParts
    errors: Mapping[str, FathomError]
    count: Callable[[str], int]
    where: _Where


def _first_edges(item: ProjectRelatedOut, n: int) -> ProjectRelatedOut:
    return item.model_copy(update={"edges": item.edges[:n], "n_left_out": len(item.edges) - n})


def _failures(failed: Mapping[str, FathomError]) -> dict[str, Any]:
    """Return the fields of an answer that tell of the projects that were not asked."""
    problems = {project: ProblemOut.model_validate(problem_of(error)) for project, error in failed.items()}
    return {"failed": problems, "indexing": indexing_out(failed)}
