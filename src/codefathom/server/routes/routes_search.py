"""/search, /federated/search and /context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, TypeAlias, cast

from fastapi import APIRouter, Path, Request, Response

from codefathom.askers.joined import FederatedSearch
from codefathom.askers.joined_answers import in_project_note
from codefathom.errors import FathomError, FirstRunError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.question.asker import result_of
from codefathom.question.question import Kind, Question
from codefathom.question.question_options import question_of
from codefathom.search.federation import ProjectHit
from codefathom.search.graph.impact_part import n_items
from codefathom.search.ranking.explain import MEANING
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.server.http.answer_json import as_json
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotFoundError, problem_of
from codefathom.server.requests.asker_elsewhere import asker_for
from codefathom.server.requests.client_limits import Limits
from codefathom.server.requests.joined_askers import ClientProjects, Scope, joined
from codefathom.server.requests.turns import in_turn
from codefathom.server.schemas.ask_schemas import AskIn
from codefathom.server.schemas.impact_schemas import ImpactIn, ImpactOut
from codefathom.server.schemas.search_schemas import (
    ContextFileOut,
    ContextIn,
    ContextOut,
    FacetsOut,
    IndexingOut,
    PlanOut,
    ProblemOut,
    RefusedOut,
    SearchedOut,
    SearchIn,
    SearchOut,
    SignalOut,
    SignalsOut,
    notes_out,
)
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import (
    branches_shape,
    degraded_shape,
    facets_shape,
    hit_shape,
    impact_shape,
    indexing_shape,
    left_out_shape,
    partial_shape,
    plan_shape,
    rest_shape,
)

ProjectId: TypeAlias = Annotated[str, Path(max_length=200, examples=["shop"])]
_MAX_FILE_LINES = 24  # of a hit that is a whole file, around its best line


def router(state: ServerState) -> APIRouter:
    """Return the routes of questions that need no model."""
    routes = APIRouter(tags=["search"])

    @routes.post(
        "/federated/search", summary="Find places in several projects, merged into one list", response_model=SearchOut
    )
    @routes.post("/search", summary="Find places in one project or in several", response_model=SearchOut)
    async def search(body: SearchIn, caller: CallerHere, request: Request) -> Response:
        scope = scope_of(body)
        if body.paths and body.values["files"]:
            raise UsageError("paths cannot be used with files", hint="name the files as paths")

        def look(lease: SearchLease) -> bytes:
            with joined(state, caller, scope, lease, takes_in=True) as projects:
                result = _searched(projects, body)
            frame = _search_out(body, result, _order(state, caller, scope)).model_dump()
            hits = [_hit_out(hit, body) for hit in result.hits]

            def first(n: int) -> str:
                end = rest_shape(result.rest.plus(len(hits) - n), result.offset, n)
                return as_json({**frame, "hits": hits[:n], **end})

            # In this thread: with many hits this takes time.
            return within_tokens(len(hits), first, body.max_tokens).encode()

        return Response(await in_turn(state, caller, request, look), media_type="application/json")

    @routes.get("/signals", summary="Explain the signals of a hit, with the weight of each")
    def signals() -> SignalsOut:
        short, long = WEIGHTS["short"], WEIGHTS["long"]
        listed = [
            SignalOut(name=name, meaning=text, weight=short.get(name, 0.0), weight_for_long_text=long.get(name, 0.0))
            for name, text in MEANING.items()
        ]
        return SignalsOut(signals=listed)

    @routes.post("/context", summary="Collect whole files for a prompt")
    async def files_for_prompt(body: ContextIn, caller: CallerHere, request: Request) -> ContextOut:
        scope = scope_of(body)

        def collect(lease: SearchLease) -> ContextOut:
            with joined(state, caller, scope, lease) as projects:
                return _context_out(body, projects)

        return await in_turn(state, caller, request, collect)

    _add_impact(routes, state)
    return routes


def _add_impact(routes: APIRouter, state: ServerState) -> None:
    @routes.post(
        "/projects/{project_id}/impact",
        summary="Show what a change reaches, and which tests touch it",
        response_model=ImpactOut,
    )
    async def impact_of_change(project_id: ProjectId, body: ImpactIn, caller: CallerHere, request: Request) -> Response:
        if body.diff and body.revisions:
            raise UsageError("diff cannot be used with revisions", hint="give one of them")
        question = Question(
            body.revisions, "impact", diff=body.diff, depth=body.depth, limit=body.limit, offset=body.offset
        )

        def look(lease: SearchLease) -> bytes:
            with asker_for(state, project_id, caller, lease) as asker:
                result = result_of(asker, question)

            def first(n: int) -> str:
                return ImpactOut(
                    project_id=project_id, completeness_parts=notes_out(result.limitations), **impact_shape(result, n)
                ).model_dump_json()

            return within_tokens(n_items(result), first, body.max_tokens).encode()

        return Response(await in_turn(state, caller, request, look), media_type="application/json")


def _question(kind: Kind, body: SearchIn | ContextIn, projects: ClientProjects) -> Question:
    where = Limits(body.values).where_in(projects.askers.values())
    return question_of(kind, body.query, body.values, where)


def _searched(projects: ClientProjects, body: SearchIn) -> FederatedSearch:
    only = projects.only_one
    question = _question("search", body, projects)
    # Of one project, a path is relative to its folder.
    files = question.files if only is None else tuple(f"{only.name}/{path}" for path in question.files)
    return cast(FederatedSearch, projects.joined.of_each(replace(question, files=files)))


def _context_out(body: ContextIn, projects: ClientProjects) -> ContextOut:
    only = projects.only_one
    question = _question("context", body, projects)
    result = projects.context(question)
    return ContextOut(
        query=result.query,
        project_id="" if only is None else only.name,
        files=[ContextFileOut.model_validate(file) for file in result.files],
        n_tokens=result.n_tokens,
        truncated=list(result.truncated),
        absent=list(result.absent),
        **degraded_shape(result.problems),
        weak=result.weak,
        n_left_out=result.n_left_out,
        n_left_out_is_exact=result.n_left_out_is_exact,
        roots=projects.joined.roots if body.paths else {},
    )


def scope_of(body: SearchIn | ContextIn | AskIn) -> Scope:
    """Return the projects that a question names, each once, or its paths. Raises UsageError where it names both."""
    named = (*([body.project_id] if body.project_id else []), *body.project_ids)
    return Scope(tuple(dict.fromkeys(named)), body.paths)


def _hit_out(project_hit: ProjectHit, body: SearchIn) -> dict[str, Any]:
    """Return the fields of a `HitOut`, without making one, which took a seventh of the time of the server."""
    hit = project_hit.hit
    n_lines = _MAX_FILE_LINES if hit.chunk.kind == "file" and not body.whole else None
    return {"project_id": project_hit.project_id, **hit_shape(hit, n_lines=n_lines, explain=body.explain)}


def _order(state: ServerState, caller: Caller, scope: Scope) -> Sequence[str]:
    """Return the projects that are asked in the order in which an answer lists them."""
    return () if scope.paths else scope.names or [project.id for project in state.projects.listed(caller)]


def _search_out(body: SearchIn, federated: FederatedSearch, order: Sequence[str]) -> SearchOut:
    """Return an answer without its hits."""
    results = list(federated.results.values())
    surest = max(results, key=lambda result: result.confidence)
    names = [*federated.results, *federated.failed]
    if order:
        places = {name: place for place, name in enumerate(order)}
        names.sort(key=lambda name: (isinstance(federated.failed.get(name), NotFoundError), places.get(name, -1)))
    is_one = len(names) == 1
    limits = [
        told if is_one else in_project_note(name, told)
        for name in names
        if name in federated.results
        for told in federated.results[name].problems
    ]
    limits += [
        Note(say.PROJECT_FAILED, {"project": name, "error": str(error)})
        for name, error in federated.failed.items()
        if not isinstance(error, FirstRunError)
    ]
    advice = None if federated.hits else next((result.advice for result in results if result.advice), None)
    return SearchOut(
        query=body.query,
        mode=surest.mode,
        plan=PlanOut(**plan_shape(surest.plan)),
        hits=[],
        confidence=round(federated.verdict.confidence, 4),
        weak=federated.verdict.weak,
        **degraded_shape(dict.fromkeys(limits)),
        stale=any(result.stale for result in results),
        generation=results[0].generation if is_one else None,
        suggestion=str(advice or ""),
        suggestion_parts=notes_out(advice),
        projects=[_searched_out(name, federated) for name in names],
        indexing=indexing_out(federated.failed),
        roots=dict(federated.roots) if body.paths else {},
        left_out=[RefusedOut(**left_out_shape(item)) for item in federated.left_out],
        facets=FacetsOut.model_validate(facets_shape(federated.facets)) if body.values["facets"] else None,
    )


def indexing_out(failed: Mapping[str, FathomError]) -> list[IndexingOut]:
    """Return those of the projects that were not asked whose first index is being made."""
    listed = [{"project_id": item.pop("project"), **item} for item in indexing_shape(failed)]
    return [IndexingOut.model_validate(item) for item in listed]


def _searched_out(name: str, federated: FederatedSearch) -> SearchedOut:
    result = federated.results.get(name)
    if result is None:
        return SearchedOut(project_id=name, problem=ProblemOut.model_validate(problem_of(federated.failed[name])))
    return SearchedOut(
        project_id=name,
        n_hits=len(result.hits),
        confidence=round(result.confidence, 4),
        generation=result.generation,
        stale=result.stale,
        **partial_shape(result.partial),
        **branches_shape(result.branches),
    )
