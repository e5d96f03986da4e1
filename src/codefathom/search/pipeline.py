"""A question → hits: plan, scope, understand, gather, rank, cut to a level, explain. Reads in that order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from codefathom.search.as_written import is_in, keys_with, pattern_of, texts_of
from codefathom.search.graph.connected import is_known, is_module, is_type
from codefathom.search.levels import Cut, cut_to_level
from codefathom.search.question.planner import PlannedSearch, overruled, plan
from codefathom.search.question.query import Query
from codefathom.search.question.ranking_query import RankingQuery, understand
from codefathom.search.question.scope import scope
from codefathom.search.ranking.confidence import AS_WRITTEN, NOT_CONNECTED, ONE_SIGN, confidence, is_one_sign
from codefathom.search.ranking.rank import Pool, RankedCandidate, followed_by, rank
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, Sources, gather
from codefathom.search.verdict import Verdict, verdict
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.conditions import combine
from codefathom.system.stopping import check_stopped
from codefathom.telemetry import span
from codefathom.text.expressions import deadline
from codefathom.types import Hit, Level, Mode, SearchPlan, Where

_BY_MEANING = SearchPlan()
_EXACT: tuple[Mode, ...] = ("regex", "graph")  # their hits are exactly the answer
_STANDS_THERE = "few of its words occur here, but these places contain its text as it is written"


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
    is_placed: bool = False  # the question names a file or a symbol of the project

    @property
    def verdict(self) -> Verdict:
        """The verdict on the question: whether most likely nothing here answers it."""
        return verdict(self.confidence, has_hits=bool(self.hits), is_strange=self.is_strange, is_placed=self.is_placed)


def search(request: SearchRequest, sources: Sources) -> SearchHits:
    """Answer one request. Raises UsageError for a filter, path or expression that is not valid here,
    SlowExpressionError for a filter with an expression that takes too long, and StoppedError between two stages."""
    degraded: tuple[str, ...] = ()
    highest = 1.0
    with deadline(request.expression_limit_s):
        for planned in _plans(request, sources.catalog):
            result = _search(request, planned, sources)
            degraded += result.degraded
            if result.hits:
                break
            highest = NOT_CONNECTED if planned.connection else highest
    return replace(result, degraded=degraded, confidence=min(result.confidence, highest))


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
    """Answer a request by one plan; where that finds next to nothing, by the places where its text stands."""
    check_stopped()
    query = planned.adapted(request.query)
    where = combine(request.where, query.where, scope(query, sources.catalog))
    keys = _matching(where, request.level, sources.catalog)
    if keys is not None and not keys:
        hint = "no indexed lines pass the filter; widen it or leave it out"
        return SearchHits((), 0.0, hint, mode=planned.mode, plan=planned.plan)
    scoped = _Scoped(request, query, where, keys)
    result = _hits_inside(scoped, planned, sources)
    return _as_written(result, scoped, planned, sources) if result.verdict.weak else result


class _Ranked(NamedTuple):
    """The candidates of a question, and their order."""

    pool: Pool
    ranked: Sequence[RankedCandidate]


class _Scoped(NamedTuple):
    """A request with its question as it is searched, and the places that may be found."""

    request: SearchRequest
    query: Query
    where: Where | None
    keys: Collection[int] | None  # of the chunks in these places; None: all


def _as_written(result: SearchHits, scoped: _Scoped, planned: PlannedSearch, sources: Sources) -> SearchHits:
    """Return a weak result again where the text of the question stands in a file: that is never nothing.

    Where no mode was chosen and the best hit does not hold the text, the places that do take the place of the hits.
    """
    request = scoped.request
    is_chosen = request.mode != "auto"
    if planned.mode in (*_EXACT, "symbol") or (not result.hits and (is_chosen or request.min_score)):
        return result
    for text in texts_of(scoped.query):
        keys = keys_with(text, sources.lexical, sources.catalog, scoped.keys)
        if not keys:
            continue
        value = ONE_SIGN if is_one_sign(text) else AS_WRITTEN
        if not is_chosen and not (result.hits and is_in(text, result.hits[0].chunk.text)):
            literal = PlannedSearch("regex", SearchPlan("regex", _STANDS_THERE), pattern=pattern_of(text))
            places = _hits_inside(scoped._replace(keys=keys), literal, sources)
            result = places if places.hits else result
        return replace(result, confidence=value, is_strange=False)
    return result


def _hits_inside(scoped: _Scoped, planned: PlannedSearch, sources: Sources) -> SearchHits:
    """Answer a request inside its scope: understand, gather, rank, cut to a level, explain."""
    request, query, where, keys = scoped
    with span("understand"):
        ranking_query = understand(query, sources.catalog, sources.lexical, sources.project)
    check_stopped()
    with span("rank", mode=planned.mode) as ranking:
        pool = gather(Lookup(request, planned, ranking_query, keys, where), sources)
        check_stopped()
        ranked = rank(ranking_query, pool)
        ranking.note(n_candidates=len(ranked))
    ordered, not_reranked = _reranked(ranking_query, planned, ranked, sources)
    check_stopped()
    with span("hits"):
        ordered = followed_by(ordered, pool.further)
        are_short_whole = sources.are_short_whole and planned.mode not in _EXACT and not planned.is_overview
        cut = Cut(request.level, request.limit, where, are_short_whole)
        hits = cut_to_level(ranking_query, ordered, sources.catalog, cut)
    hits_above_limit = tuple(hit for hit in hits if hit.score >= request.min_score)
    model = sources.embedder.name if sources.embedder and not pool.problem else ""
    value = _confidence(scoped, ranking_query, planned, _Ranked(pool, ranked), model)
    lacking_vectors = sources.note if planned.mode in {"hybrid", "vector"} else ""
    return SearchHits(
        hits=hits_above_limit,
        confidence=value if hits_above_limit else 0.0,
        suggestion="" if hits_above_limit else _suggestion(ranking_query, sources.catalog, only_below_limit=bool(hits)),
        degraded=tuple(filter(None, (pool.problem, not_reranked, lacking_vectors))),
        mode=planned.mode,
        plan=planned.plan,
        is_strange=ranking_query.is_strange and not ranking_query.frames,
        is_placed=bool(query.paths or query.symbols),
    )


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


def _confidence(scoped: _Scoped, query: RankingQuery, planned: PlannedSearch, outcome: _Ranked, model: str) -> float:
    """Return 0 to 1. What an expression matches, or edges connect, is known without a ranking."""
    is_chosen = scoped.request.mode == "regex"  # an expression may be one sign: its matches are what was asked for
    if is_chosen or planned.is_overview or planned.mode == "graph":
        return outcome.pool.certainty
    value = 1.0 if planned.mode == "regex" else confidence(query, outcome.ranked, model)
    return min(value, ONE_SIGN) if is_one_sign(scoped.query.text) else value


def _suggestion(query: RankingQuery, catalog: SearchCatalog, *, only_below_limit: bool) -> str:
    if only_below_limit:
        return "every hit scores below the limit; lower --min-score, or min_score over HTTP and in tools"
    if catalog.generation == 0:
        return "the index is empty; `fathom status --skipped` tells which files were left out and why"
    near = [name for word in query.terms[:5] for name in catalog.similar_names(word, limit=2)]
    if near:
        return f"try another word; similar names here: {', '.join(dict.fromkeys(near))}"
    return "try other words, or fewer; `fathom status` tells what is indexed"
