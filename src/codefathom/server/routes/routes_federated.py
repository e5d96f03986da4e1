"""/federated/symbols, /federated/related and /federated/map: looking around in several indexes at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from fastapi import APIRouter, Depends, Query, Request

from codefathom.answer.tokens import counter
from codefathom.askers.joined import FederatedRelated, JoinedProjects
from codefathom.errors import FathomError
from codefathom.question.extents import USUAL_MAP_TOKENS
from codefathom.search.graph.project_map import first_parts
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import problem_of
from codefathom.server.requests.joined_askers import Scope, joined
from codefathom.server.requests.turns import in_turn
from codefathom.server.routes.routes_files import (
    Folder,
    Many,
    MapQueryIn,
    NameIn,
    Offset,
    PageIn,
    PageQuery,
    Path,
    RelatedIn,
    Tokens,
    edge_out,
    symbol_out,
)
from codefathom.server.routes.routes_search import indexing_out
from codefathom.server.schemas.file_schemas import (
    FederatedMapOut,
    FederatedRelatedOut,
    FederatedSymbolsOut,
    ProjectRelatedOut,
    ProjectSymbolOut,
)
from codefathom.server.schemas.search_schemas import ProblemOut, RefusedOut, notes_out
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import left_out_shape, map_shape, rest_shape
from codefathom.types import RelatedResult

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
    """The client, and what it asks about."""

    caller: Caller
    request: Request
    scope: Scope


async def _places(caller: CallerHere, request: Request, project_id: ProjectIds = (), paths: Paths = ()) -> ClientPlaces:
    return ClientPlaces(caller, request, Scope(project_id, paths))


PlacesIn: TypeAlias = Annotated[ClientPlaces, Depends(_places)]


async def _answer(state: ServerState, places: ClientPlaces, ask: Callable[[JoinedProjects], _T]) -> _T:
    """Return the value of `ask`, which is called when it is the client's turn."""
    caller, request, scope = places

    def look(lease: SearchLease) -> _T:
        with joined(state, caller, scope, lease) as projects:
            return ask(projects.joined)

    return await in_turn(state, caller, request, look)


class _Where(NamedTuple):
    """The folders of the projects of paths, and the paths that were left out."""

    roots: dict[str, str]
    left_out: list[RefusedOut]


def _where(places: ClientPlaces, projects: JoinedProjects) -> _Where:
    if not places.scope.paths:
        return _Where({}, [])
    return _Where(projects.roots, [RefusedOut(**left_out_shape(item)) for item in projects.left_out])


def router(state: ServerState) -> APIRouter:
    """Return the routes that look into several projects and need no model."""
    routes = APIRouter(prefix="/federated", tags=["files"])

    @routes.get("/symbols", summary="Find definitions by name in several projects")
    async def symbols(
        places: PlacesIn,
        name: NameIn,
        path: Folder = "",
        limit: Many = 100,
        *,
        page: PageIn,
    ) -> FederatedSymbolsOut:
        def ask(projects: JoinedProjects) -> FederatedSymbolsOut:
            result = projects.symbols(name.query, path=path, kind=name.kind, limit=limit, offset=page.offset)
            where, failed = _where(places, projects), _failures(result.failed)
            answer = FederatedSymbolsOut(
                query=name.query,
                symbols=[],
                completeness=" ".join(map(str, result.limitations)),
                completeness_parts=notes_out(result.limitations),
                **failed,
                **where._asdict(),
            )

            def first(n: int) -> FederatedSymbolsOut:
                listed = [
                    ProjectSymbolOut(project_id=project, **symbol_out(item).model_dump())
                    for project, item in result.first(n)
                ]
                rest = result.rest.plus(len(result.symbols) - len(listed))
                return answer.model_copy(update={"symbols": listed, **rest_shape(rest, page.offset, n)})

            return within_tokens(result.n_rows, first, page.max_tokens)

        return await _answer(state, places, ask)

    @routes.get("/related", summary="Show what a file or symbol is connected with, in each project that has it")
    async def related(
        question: RelatedIn,
        places: PlacesIn,
        page: PageIn,
    ) -> FederatedRelatedOut:
        def ask(projects: JoinedProjects) -> FederatedRelatedOut:
            result: FederatedRelated = projects.of_each(replace(question, offset=page.offset))
            return _all_related(question.text, result, _where(places, projects), page)

        return await _answer(state, places, ask)

    @routes.get("/map", summary="Outline the most central files of several projects, within one number of tokens")
    async def map_projects(
        places: PlacesIn, wish: MapQueryIn, max_tokens: Tokens = USUAL_MAP_TOKENS, offset: Offset = 0
    ) -> FederatedMapOut:
        def ask(projects: JoinedProjects) -> FederatedMapOut:
            most = offset + max_tokens  # each part has at least one token
            all_parts, errors = projects.map_parts(wish.query, files=wish.files, folders=wish.folders, limit=most)
            content = all_parts.behind(offset)
            count = counter(projects.settings.context.tokenizer_path)
            failed, where = _failures(errors), _where(places, projects)

            def first(n: int) -> FederatedMapOut:
                outline = first_parts(wish.query, content, n, count)
                return FederatedMapOut(
                    completeness_parts=notes_out(outline.limitations), **map_shape(outline), **failed, **where._asdict()
                )

            return within_tokens(min(len(content.parts), max_tokens), first, max_tokens)

        return await _answer(state, places, ask)

    return routes


def _all_related(target: str, result: FederatedRelated, where: _Where, page: PageQuery) -> FederatedRelatedOut:
    failed = _failures(result.failed)

    def first(n: int) -> FederatedRelatedOut:
        kept = [_related_out(project, item, page.offset) for project, item in result.first(n).items()]
        rest = result.rest.plus(result.n_in(result.n_rows) - result.n_in(n))
        return FederatedRelatedOut(
            target=target, projects=kept, **failed, **rest_shape(rest, page.offset, n), **where._asdict()
        )

    return within_tokens(result.n_rows, first, page.max_tokens)


def _related_out(project_id: str, item: RelatedResult, offset: int) -> ProjectRelatedOut:
    return ProjectRelatedOut(
        project_id=project_id,
        edges=list(map(edge_out, item.edges)),
        completeness=item.completeness,
        completeness_parts=notes_out(item.limitations),
        n_unresolved=item.n_unresolved,
        **rest_shape(item.rest, offset, len(item.edges)),
    )


def _failures(failed: Mapping[str, FathomError]) -> dict[str, Any]:
    """Return the fields of an answer that tell of the projects that were not asked."""
    problems = {project: ProblemOut.model_validate(problem_of(error)) for project, error in failed.items()}
    return {"failed": problems, "indexing": indexing_out(failed)}
