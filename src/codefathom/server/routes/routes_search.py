"""/search, /federated/search and /context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Request, Response

from codefathom.askers.joined import JoinedProjects
from codefathom.askers.joined_answers import in_project_note
from codefathom.engine import Engine
from codefathom.errors import FathomError, FirstRunError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.search.federation import ProjectHit
from codefathom.search.graph.impact_part import n_items
from codefathom.search.ranking.explain import MEANING
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.search.verdict import of_several
from codefathom.server.http.answer_size import within_tokens
from codefathom.server.http.problem_json import problem_of
from codefathom.server.projects.served_paths import served_places
from codefathom.server.requests.project_requests import impact, in_turn
from codefathom.server.requests.search_requests import (
    ContextBudget,
    FederatedResult,
    ProjectResult,
    context,
    federation,
    path_federation,
    search_paths,
    search_several,
)
from codefathom.server.schemas.ask_schemas import AskIn
from codefathom.server.schemas.impact_schemas import ImpactIn, ImpactOut
from codefathom.server.schemas.search_schemas import (
    ContextFileOut,
    ContextIn,
    ContextOut,
    HitOut,
    IndexingOut,
    NoteOut,
    PlanOut,
    ProblemOut,
    QuestionIn,
    RefusedOut,
    SearchedOut,
    SearchIn,
    SearchOut,
    SignalOut,
    SignalsOut,
)
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.searches.search_key import ChangeWish, SearchKey, SearchLimits
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import (
    degraded_shape,
    hit_shape,
    impact_shape,
    indexing_shape,
    notes_shape,
    plan_shape,
    rest_shape,
)
from codefathom.types import Rest

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
        project_ids = named_projects(body)
        limits = limits_of(body)
        key = SearchKey(
            body.query, body.limit, body.level, body.mode, body.min_score, limits, body.files, offset=body.offset
        )
        if body.paths and body.files:
            raise UsageError("paths cannot be used with files", hint="name the files as paths")

        def look(lease: SearchLease) -> bytes:
            if body.paths:
                result = search_paths(state, caller, body.paths, key, lease)
            else:
                result = search_several(state, caller, project_ids, key, lease)
            response = _search_out(body, result)

            def first(n: int) -> str:
                return _json(response, n, body, result.rest)

            # In this thread: with many hits this takes time.
            return within_tokens(len(response.hits), first, body.max_tokens).encode()

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
        named = named_projects(body)

        def collect(lease: SearchLease) -> ContextOut:
            if body.paths:
                places = served_places(state.projects, state.config, caller, body.paths)
                with path_federation(state, caller, places, lease) as joined:
                    return _context_out(body, joined, "").model_copy(update={"roots": joined.roots})
            with federation(state, caller, named, lease) as projects:
                only = projects.only_name
                return _context_out(body, projects.engines[only] if only else projects, only)

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
        wish = ChangeWish(body.diff, body.revisions or "HEAD", body.depth, body.limit, body.offset)

        def look(lease: SearchLease) -> bytes:
            result = impact(state, caller, project_id, wish, lease)

            def first(n: int) -> str:
                return ImpactOut(project_id=project_id, **impact_shape(result, n)).model_dump_json()

            return within_tokens(n_items(result), first, body.max_tokens).encode()

        return Response(await in_turn(state, caller, request, look), media_type="application/json")


def _context_out(body: ContextIn, projects: JoinedProjects | Engine, project_id: str) -> ContextOut:
    budget = ContextBudget(body.max_files, body.max_tokens, body.anyway)
    result = context(projects, SearchKey(body.query, limits=limits_of(body)), budget)
    return ContextOut(
        query=result.query,
        project_id=project_id,
        files=[ContextFileOut.model_validate(file) for file in result.files],
        n_tokens=result.n_tokens,
        truncated=list(result.truncated),
        absent=list(result.absent),
        **degraded_shape(result.problems),
        weak=result.weak,
        n_left_out=result.n_left_out,
        n_left_out_is_exact=result.n_left_out_is_exact,
    )


def named_projects(body: SearchIn | ContextIn | AskIn) -> tuple[str, ...]:
    """Return the projects that a question names, each once. Raises UsageError where it names paths, too."""
    named = (*([body.project_id] if body.project_id else []), *body.project_ids)
    if named and body.paths:
        raise UsageError(
            "paths cannot be used with a project", hint="`paths` already names the files and folders to search"
        )
    return tuple(dict.fromkeys(named))


def limits_of(body: QuestionIn) -> SearchLimits:
    """Return the limits of a question."""
    return SearchLimits(body.directory_filter, body.language_filter, body.kind_filter, body.filter)


def _json(response: SearchOut, n_hits: int, body: SearchIn, rest: Rest) -> str:
    """Return an answer with its first hits, whose signals are told on demand; `rest` is behind all of them."""
    hits = response.hits[:n_hits]
    hidden = None if body.explain else {"hits": {"__all__": {"signals", "reason_parts", "place_parts"}}}
    end = rest_shape(rest.plus(len(response.hits) - len(hits)), body.offset, len(hits))
    return response.model_copy(update={"hits": hits, **end}).model_dump_json(exclude=hidden)


def _hit_out(project_hit: ProjectHit, body: SearchIn) -> HitOut:
    hit = project_hit.hit
    n_lines = _MAX_FILE_LINES if hit.chunk.kind == "file" and not body.whole else None
    return HitOut(project_id=project_hit.project_id, **hit_shape(hit, n_lines=n_lines, explain=body.explain))


def _search_out(body: SearchIn, federated: FederatedResult) -> SearchOut:
    results = federated.results
    failed = {item.project_id: item.error for item in federated.answered if item.error}
    surest = max(results, key=lambda result: result.confidence)
    judged = of_several(results)
    limits = [told for item in federated.answered for told in _notes(item, len(federated.answered))]
    limits += [
        Note(say.PROJECT_FAILED, {"project": name, "error": str(error)})
        for name, error in failed.items()
        if not isinstance(error, FirstRunError)
    ]
    advice = None if federated.hits else next((result.advice for result in results if result.advice), None)
    return SearchOut(
        query=body.query,
        mode=surest.mode,
        plan=PlanOut(**plan_shape(surest.plan)),
        hits=[_hit_out(hit, body) for hit in federated.hits],
        confidence=round(judged.confidence, 4),
        weak=judged.weak,
        **degraded_shape(dict.fromkeys(limits)),
        stale=any(result.stale for result in results),
        generation=results[0].generation if len(federated.answered) == 1 else None,
        suggestion=str(advice or ""),
        suggestion_parts=[NoteOut.model_validate(part) for part in notes_shape(advice)],
        projects=[_searched_out(item) for item in federated.answered],
        indexing=indexing_out(failed),
        roots=dict(federated.roots),
        left_out=[RefusedOut(path=item.path, reason=item.reason) for item in federated.left_out],
    )


def indexing_out(failed: Mapping[str, FathomError]) -> list[IndexingOut]:
    """Return those of the projects that were not asked whose first index is being made."""
    listed = [{"project_id": item.pop("project"), **item} for item in indexing_shape(failed)]
    return [IndexingOut.model_validate(item) for item in listed]


def _notes(item: ProjectResult, n_projects: int) -> list[Told]:
    """Return the limits of the result of a project, whose name is said where there are several."""
    notes = item.result.problems if item.result is not None else ()
    return [note if n_projects == 1 else in_project_note(item.project_id, note) for note in notes]


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
