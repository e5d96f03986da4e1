"""/search, /federated/search and /context."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from codefathom.search.federation import ProjectHit
from codefathom.search.ranking.explain import MEANING
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import problem_of
from codefathom.server.routes.search_requests import (
    ContextBudget,
    FederatedResult,
    ProjectResult,
    SearchKey,
    SearchLimits,
    chosen_projects,
    context,
    in_turn,
    search_several,
)
from codefathom.server.schemas.search_schemas import (
    ContextFileOut,
    ContextIn,
    ContextOut,
    HitOut,
    PlanOut,
    ProblemOut,
    QuestionIn,
    SearchedOut,
    SearchIn,
    SearchOut,
    SignalOut,
    SignalsOut,
)
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import hit_shape


def router(state: ServerState) -> APIRouter:
    """Return the routes of questions that need no model."""
    routes = APIRouter(tags=["search"])

    @routes.post(
        "/federated/search", summary="Find places in several projects, merged into one list", response_model=SearchOut
    )
    @routes.post("/search", summary="Find places in one project or in several", response_model=SearchOut)
    async def search(body: SearchIn, caller: CallerHere, request: Request) -> Response:
        project_ids = ([body.project_id] if body.project_id else []) + body.project_ids
        key = SearchKey(body.query, body.limit, body.level, body.mode, body.min_score, limits_of(body), body.files)

        def look(until: float) -> bytes:
            projects = chosen_projects(state, caller, project_ids)
            response = _search_out(body, search_several(state, caller, projects, key, until))
            return response.model_dump_json().encode()  # in this thread, and only once

        return Response(await in_turn(state, caller, request, look), media_type="application/json")

    @routes.get("/signals", summary="Explain the signals of a hit, with the weight of each")
    def signals() -> SignalsOut:
        listed = [SignalOut(name=name, meaning=text, weight=WEIGHTS.get(name, 0.0)) for name, text in MEANING.items()]
        return SignalsOut(signals=listed)

    @routes.post("/context", summary="Collect whole files for a prompt")
    async def files_for_prompt(body: ContextIn, caller: CallerHere, request: Request) -> ContextOut:
        return await in_turn(state, caller, request, lambda _: collect(body, caller))

    def collect(body: ContextIn, caller: Caller) -> ContextOut:
        named = ([body.project_id] if body.project_id else []) + body.project_ids
        projects = chosen_projects(state, caller, named)
        budget = ContextBudget(body.max_files, body.max_tokens, body.anyway)
        result = context(state, caller, projects, SearchKey(body.query, limits=limits_of(body)), budget)
        return ContextOut(
            query=result.query,
            project_id=projects[0] if len(projects) == 1 else "",
            files=[ContextFileOut.model_validate(file) for file in result.files],
            n_tokens=result.n_tokens,
            truncated=list(result.truncated),
            absent=list(result.absent),
            degraded=list(result.degraded),
            weak=result.weak,
        )

    return routes


def limits_of(body: QuestionIn) -> SearchLimits:
    """Return the limits of a question."""
    return SearchLimits(body.directory_filter, body.language_filter, body.kind_filter, body.filter)


def _hit_out(project_hit: ProjectHit, *, whole: bool) -> HitOut:
    return HitOut(project_id=project_hit.project_id, **hit_shape(project_hit.hit, whole=whole))


def _search_out(body: SearchIn, federated: FederatedResult) -> SearchOut:
    results = federated.results
    failed = [item for item in federated.answered if item.error]
    surest = max(results, key=lambda result: result.confidence)
    return SearchOut(
        query=body.query,
        mode=surest.mode,
        plan=PlanOut(route=surest.plan.route, why=surest.plan.why, kept_to=surest.plan.kept_to),
        hits=[_hit_out(hit, whole=body.whole) for hit in federated.hits],
        confidence=round(surest.confidence, 4),
        weak=all(result.weak or not result.hits for result in results) and bool(federated.hits),
        degraded=list(
            dict.fromkeys(
                [text for result in results for text in result.degraded]
                + [f"{item.project_id}: {item.error}" for item in failed]
            )
        ),
        stale=any(result.stale for result in results),
        generation=results[0].generation if len(federated.answered) == 1 else None,
        suggestion="" if federated.hits else next((result.suggestion for result in results if result.suggestion), ""),
        projects=[_searched_out(item) for item in federated.answered],
    )


def _searched_out(item: ProjectResult) -> SearchedOut:
    if item.result is None:
        problem = ProblemOut.model_validate(problem_of(item.error)) if item.error else None
        return SearchedOut(project_id=item.project_id, problem=problem)
    result = item.result
    return SearchedOut(
        project_id=item.project_id,
        n_hits=len(result.hits),
        confidence=round(result.confidence, 4),
        generation=result.generation,
        stale=result.stale,
    )
