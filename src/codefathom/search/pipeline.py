"""A question → hits: plan, scope, understand, gather, rank, cut to a level, explain. Reads in that order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from codefathom.search.graph.connected import is_known, is_module, is_type
from codefathom.search.levels import Cut, HitPage, cut_to_level
from codefathom.search.question.planner import PlannedSearch, overruled, plan
from codefathom.search.question.ranking_query import RankingQuery, understand
from codefathom.search.question.scope import scope
from codefathom.search.ranking.confidence import NOTHING, WEAK, confidence
from codefathom.search.ranking.rank import Pool, RankedCandidate, followed_by, rank
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, Sources, gather
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.conditions import combine
from codefathom.system.stopping import check_stopped
from codefathom.telemetry import span
from codefathom.text.expressions import deadline
from codefathom.types import NO_REST, Hit, Level, Mode, Rest, SearchPlan, Where

_BY_MEANING = SearchPlan()
_EXACT: tuple[Mode, ...] = ("regex", "graph")  # their hits are exactly the answer
_MORE = 4  # times as many candidates, where those of a page give too few places


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The hits, best first, the confidence of the search, and a suggestion when there are no hits."""

    hits: tuple[Hit, ...]
    confidence: float
    suggestion: str = ""
    degraded: tuple[str, ...] = ()
    mode: Mode = "hybrid"
    plan: SearchPlan = _BY_MEANING
    is_strange: bool = False  # no word of the question is anywhere in the index
    rest: Rest = NO_REST  # of the list, behind the hits
    n_places: int = 0  # of the list, up to the last hit

    @property
    def is_weak(self) -> bool:
        """True if most likely none of the hits answers the question."""
        return bool(self.hits) and self.confidence < WEAK

    @property
    def is_unanswerable(self) -> bool:
        """True if it is as good as certain that none of the hits answers the question."""
        return self.is_weak and (self.is_strange or self.confidence < NOTHING)


def search(request: SearchRequest, sources: Sources) -> SearchHits:
    """Answer one request. Raises UsageError for a filter, path or expression that is not valid here,
    SlowExpressionError for a filter with an expression that takes too long, and StoppedError between two stages."""
    degraded: tuple[str, ...] = ()
    with deadline(request.expression_limit_s):
        for planned in _plans(request, sources.catalog):
            result = _search(request, planned, sources)
            degraded += result.degraded
            if result.n_places:
                break
    return replace(result, degraded=degraded)


def _plans(request: SearchRequest, catalog: SearchCatalog) -> Iterator[PlannedSearch]:
    """Yield the plan of the search, then the plan for a search without hits; a chosen mode has no second plan."""
    if request.mode != "auto":
        yield overruled(request.mode, request.query)
        return
    planned = plan(
        request.query,
        lambda name: is_known(name, catalog),
        lambda name: is_module(name, catalog),
        lambda name: is_type(name, catalog),
    )
    yield planned
    if planned.mode != "hybrid" or planned.is_overview or planned.members:
        why = f"{planned.plan.why}, but nothing was found that way"
        yield PlannedSearch("hybrid", SearchPlan(planned.plan.route, why))


def _search(request: SearchRequest, planned: PlannedSearch, sources: Sources) -> SearchHits:
    """Answer a request by one plan: scope, understand, gather, rank, cut to a level, explain."""
    check_stopped()
    query = planned.adapted(request.query)
    where = combine(request.where, query.where, scope(query, sources.catalog))
    keys = _matching(where, request.level, sources.catalog)
    if keys is not None and not keys:
        hint = "no indexed lines pass the filter; widen it or leave it out"
        return SearchHits((), 0.0, hint, mode=planned.mode, plan=planned.plan)
    with span("understand"):
        ranking_query = understand(query, sources.catalog, sources.lexical, sources.project)
    answer = _answer(Lookup(request, planned, ranking_query, keys, where), sources)
    hits, pool = answer.page.hits, answer.pool
    lacking_vectors = sources.note if planned.mode in {"hybrid", "vector"} else ""
    return SearchHits(
        hits=tuple(hits),
        confidence=_confidence(ranking_query, planned, answer.ranked, pool, sources) if hits else 0.0,
        suggestion="" if hits else _suggestion(ranking_query, request.offset, answer.page, sources.catalog),
        degraded=tuple(filter(None, (pool.problem, answer.not_reranked, lacking_vectors))),
        mode=planned.mode,
        plan=planned.plan,
        is_strange=ranking_query.is_strange and not ranking_query.frames,
        rest=answer.page.rest,
        n_places=answer.page.n_places,
    )


class _Answer(NamedTuple):
    """The candidates of a question, their order, and the page of it that is wanted."""

    pool: Pool
    ranked: Sequence[RankedCandidate]
    not_reranked: str  # why the reranking model could not be used
    page: HitPage


def _answer(lookup: Lookup, sources: Sources) -> _Answer:
    """Gather, rank and cut. A page behind the first that is not full takes in more candidates while there are some."""
    n_chunks = sources.catalog.n_chunks() if lookup.request.offset else None
    widened, n_before = lookup._replace(n_chunks=n_chunks), -1
    while True:
        check_stopped()
        with span("rank", mode=lookup.planned.mode) as ranking:
            pool = gather(widened, sources)
            check_stopped()
            ranked = rank(lookup.query, pool)
            ranking.note(n_candidates=len(ranked))
        ordered, not_reranked = _reranked(lookup.query, lookup.planned, ranked, sources)
        check_stopped()
        with span("hits"):
            page = _page(lookup, followed_by(ordered, pool.further), pool, sources)
        n_candidates = len(pool.candidates) + len(pool.further)
        is_full = len(page.hits) == lookup.request.limit
        if is_full or not pool.behind or page.has_lower or n_candidates <= n_before or not _goes_on(lookup):
            return _Answer(pool, ranked, not_reranked, page)
        n_before = n_candidates
        request = replace(widened.request, limit=_MORE * (widened.request.offset + widened.request.limit), offset=0)
        widened = widened._replace(request=request)


def _goes_on(lookup: Lookup) -> bool:
    """Return True if a page is filled by all means. The first one of a ranking has what its best candidates give."""
    mode = lookup.planned.mode
    return mode not in _EXACT and (lookup.request.offset > 0 or (mode == "hybrid" and not lookup.query.terms))


def _page(lookup: Lookup, ordered: Sequence[RankedCandidate], pool: Pool, sources: Sources) -> HitPage:
    request, mode = lookup.request, lookup.planned.mode
    cut = Cut(
        request.level,
        request.limit,
        lookup.where,
        are_short_whole=sources.are_short_whole and mode not in _EXACT and not lookup.planned.is_overview,
        offset=request.offset,
        min_score=request.min_score,
        counts_all=mode in _EXACT or mode == "symbol",
    )
    page = cut_to_level(lookup.query, ordered, sources.catalog, cut)
    if page.has_lower or not pool.behind:
        return page
    # Else a candidate behind these may have too low a score, or lie in a place of the list.
    are_places = request.level == "chunk" and not cut.are_short_whole and not request.min_score
    if not are_places or len(page.hits) < request.limit:
        return page._replace(rest=Rest(page.rest.n, is_exact=False))
    return page._replace(rest=Rest(page.rest.n + pool.behind.n, page.rest.is_exact and pool.behind.is_exact))


def _matching(where: Where | None, level: Level, catalog: SearchCatalog) -> Collection[int] | None:
    """Return the keys of the chunks in places that pass a condition; None without one: all chunks."""
    if where is None:
        return None
    with span("filter"):
        return catalog.matching(where, level)


def _reranked(
    query: RankingQuery, planned: PlannedSearch, ranked: Sequence[RankedCandidate], sources: Sources
) -> tuple[Sequence[RankedCandidate], str]:
    """Return the ranking after a reranking model, where one is set, and the reason why the model could not be used."""
    if sources.reranking is None or planned.mode != "hybrid" or planned.is_overview:
        return ranked, ""
    with span("rerank"):
        return sources.reranking.apply(query.meaning, ranked)


def _confidence(
    query: RankingQuery, planned: PlannedSearch, ranked: Sequence[RankedCandidate], pool: Pool, sources: Sources
) -> float:
    if planned.mode in _EXACT or planned.is_overview:
        return 1.0
    model = sources.embedder.name if sources.embedder and not pool.problem else ""
    return confidence(query, ranked, model)


def _suggestion(query: RankingQuery, offset: int, page: HitPage, catalog: SearchCatalog) -> str:
    if page.n_places:
        return f"the list ends before the offset {offset}: it has {page.n_places} places"
    if page.has_lower:
        return "every hit scores below the limit; lower --min-score, or min_score over HTTP and in tools"
    if catalog.generation == 0:
        return "the index is empty; `fathom status --skipped` tells which files were left out and why"
    near = [name for word in query.terms[:5] for name in catalog.similar_names(word, limit=2)]
    if near:
        return f"try another word; similar names here: {', '.join(dict.fromkeys(near))}"
    return "try other words, or fewer; `fathom status` tells what is indexed"
