"""A question → hits: scope, filter, candidates, fuse, rank, level. Reads in that order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from codefathom.search.filter.filters import combine, to_sql
from codefathom.search.graph.connected import connected, is_known, is_module
from codefathom.search.levels import Cut
from codefathom.search.levels import hits as to_hits
from codefathom.search.question.planner import Planned, overruled, plan
from codefathom.search.question.query import Query
from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.question.scope import scope
from codefathom.search.ranking import fuse
from codefathom.search.ranking.confidence import WEAK, confidence
from codefathom.search.ranking.rank import Ranked, by_score_and_place, rank
from codefathom.search.ranking.signals import Candidate
from codefathom.search.retrieve import (
    Evidence,
    Sources,
    asked,
    candidates,
    definitions,
    evidence,
    lexical_ranking,
    regex_matches,
    vector_ranking,
)
from codefathom.telemetry import span
from codefathom.text.expressions import USUAL_LIMIT_S, deadline
from codefathom.types import Hit, Level, Mode, SearchPlan, Where

_BY_MEANING = SearchPlan()
_EXACT: tuple[Mode, ...] = ("regex", "graph")  # what they find is what was asked for


@dataclass(frozen=True, slots=True)
class Fusion:
    """How the lexical and the vector ranking become one."""

    method: str = "rrf"  # or "weighted"
    rrf_k: int = 60
    lexical_weight: float = 0.6
    vector_weight: float = 0.4
    n_candidates: int = 100  # of each source
    n_ranked: int = 100  # of the fused order
    min_similarity: float = 0.0  # cosine below which a vector candidate does not count


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search, fully spelled out."""

    query: Query
    limit: int = 10
    level: Level = "chunk"
    mode: Mode = "auto"
    where: Where | None = None
    min_score: float = 0.0
    fusion: Fusion = field(default_factory=Fusion)
    expression_limit_s: float = USUAL_LIMIT_S  # for all regular expressions together


@dataclass(frozen=True, slots=True)
class SearchHits:
    """The hits, best first, how sure the search is, and what to try when there are none."""

    hits: tuple[Hit, ...]
    confidence: float
    suggestion: str = ""
    degraded: tuple[str, ...] = ()
    mode: Mode = "hybrid"
    plan: SearchPlan = _BY_MEANING

    @property
    def is_weak(self) -> bool:
        """Whether most likely nothing here answers, though something was found."""
        return bool(self.hits) and self.confidence < WEAK


def search(request: SearchRequest, sources: Sources) -> SearchHits:
    """Answer one request. Raises UsageError for a filter, path or expression that means nothing here, and
    SlowExpressionError for a filter with an expression that takes too long."""
    with deadline(request.expression_limit_s):
        if request.mode != "auto":
            return _search(request, overruled(request.mode, request.query), sources)
        return _search_as_planned(request, sources)


def _search_as_planned(request: SearchRequest, sources: Sources) -> SearchHits:
    catalog = sources.catalog
    planned = plan(request.query, lambda name: is_known(name, catalog), lambda name: is_module(name, catalog))
    found = _search(request, planned, sources)
    if found.hits or planned.mode == "hybrid":
        return found
    why = f"{planned.plan.why}, but nothing was found that way"
    other = _search(request, Planned("hybrid", SearchPlan(planned.plan.route, why)), sources)
    return replace(other, degraded=(*found.degraded, *other.degraded))


def _search(request: SearchRequest, planned: Planned, sources: Sources) -> SearchHits:
    """Answer a request in the way that was chosen."""
    request = replace(request, mode=planned.mode)
    if planned.asked:
        # The name is what is asked about, not where to look.
        request = replace(request, query=replace(request.query, paths=(), symbols=(), members_of=None))
    where = combine(request.where, request.query.where, scope(request.query, sources.catalog))
    allowed = None
    if where is not None:
        condition = to_sql(where)
        with span("filter"):
            allowed = sources.catalog.select(condition.condition, condition.parameters)
        if not allowed:
            hint = "no indexed lines pass the filter; widen it or leave it out"
            return SearchHits((), 0.0, hint, mode=planned.mode, plan=planned.plan)
    with span("understand"):
        want = asked(request.query, sources)
    with span("rank", mode=request.mode) as ranking:
        ranked, problem = _ranked(request, planned, want, sources, allowed)
        ranking.note(n_candidates=len(ranked))
    ordered, not_reranked = ranked, ""
    if sources.reranking is not None and request.mode == "hybrid":
        with span("rerank"):
            ordered, not_reranked = sources.reranking.apply(want.meaning, ranked)
    with span("hits"):
        found = to_hits(want, ordered, sources.catalog, Cut(request.level, request.limit, where))
    kept = tuple(hit for hit in found if hit.score >= request.min_score)
    suggestion = "" if kept else _suggestion(want, sources, found_any=bool(found))
    model = sources.embedder.name if sources.embedder and not problem else ""
    sure = 0.0 if not kept else 1.0 if planned.mode in _EXACT else confidence(want, ranked, model)
    note = sources.note if request.mode in {"hybrid", "vector"} else ""
    degraded = tuple(filter(None, (problem, not_reranked, note)))
    return SearchHits(kept, sure, suggestion, degraded, planned.mode, planned.plan)


def _ranked(
    request: SearchRequest, planned: Planned, want: RankingQuery, sources: Sources, allowed: Collection[int] | None
) -> tuple[Sequence[Ranked], str]:
    """Return the ranking of the mode, and what it had to do without."""
    if planned.asked:
        return connected(planned.asked, sources.catalog, allowed), ""
    if request.mode == "regex":
        return _by_matches(request, sources, allowed)
    k = _deep(want) * max(request.fusion.n_candidates, 2 * request.limit)
    is_scope_only = not want.terms and allowed is not None
    if request.mode == "hybrid" and not is_scope_only:
        return _hybrid(request, want, sources, allowed, k)
    return _by_one(request, want, sources, allowed, k), ""


def _deep(want: RankingQuery) -> int:
    """Return how many times as many candidates a question needs: the words of a long text lead everywhere, and so do
    translations, of which there are several for each word."""
    return 3 if want.rest else 2 if want.is_translated else 1


def _by_one(
    request: SearchRequest, want: RankingQuery, sources: Sources, allowed: Collection[int] | None, k: int
) -> Sequence[Ranked]:
    """Rank by one kind of evidence."""
    if request.mode == "lexical":
        return _in_order("lexical", lexical_ranking(want, sources, k, allowed), sources)
    if request.mode == "vector":
        return _in_order("vector", vector_ranking(want.meaning, sources, k, allowed), sources)
    if request.mode == "symbol":
        return _by_definition(request, want, sources, allowed)
    # Nothing but a scope was asked for: its lines in order.
    return _in_order("scope", [(key, 1.0) for key in sorted(allowed or ())[:k]], sources)


def _hybrid(
    request: SearchRequest, want: RankingQuery, sources: Sources, allowed: Collection[int] | None, k: int
) -> tuple[list[Ranked], str]:
    ranked, fused, problem = gather(request, want, sources, allowed, k)
    return rank(want, ranked, fused), problem


class Gathered(NamedTuple):
    """What is ranked, and what it is ranked by."""

    candidates: Sequence[Candidate]
    fused: Mapping[int, float]  # by key, 0 to 1
    problem: str  # of a source that failed and was left out


def gather(
    request: SearchRequest, want: RankingQuery, sources: Sources, allowed: Collection[int] | None, k: int
) -> Gathered:
    """Return the candidates of all sources; the recipe of the weights learns from the same."""
    found = evidence(want, sources, k, allowed)
    fused = _fused(found, request.fusion)
    n_ranked = _deep(want) * max(request.fusion.n_ranked, 2 * request.limit)
    with span("candidates"):
        ranked = candidates(want, found, fused, sources.catalog, n_ranked)
    return Gathered(ranked, fused, found.problem)


def _fused(found: Evidence, fusion: Fusion) -> Mapping[int, float]:
    """Return one score from 0 to 1 for each chunk that the lexical or vector source believes in."""
    lexical = found.lexical
    vector = {key: score for key, score in found.vector.items() if score > fusion.min_similarity}
    weights = (fusion.lexical_weight, fusion.vector_weight)
    if fusion.method == "rrf":
        scores = fuse.reciprocal_rank((lexical, vector), weights, k=fusion.rrf_k)
    else:
        scores = fuse.weighted_sum((lexical, vector), weights)
    top = max(scores.values(), default=0.0) or 1.0
    return {key: score / top for key, score in scores.items()}


def _in_order(signal: str, ranking: Sequence[tuple[int, float]], sources: Sources) -> list[Ranked]:
    """Rank by one source alone, then by path and line; scores are scaled by the best."""
    chunks = sources.catalog.chunks([key for key, _ in ranking])
    top = max((score for _, score in ranking), default=0.0) or 1.0
    return sorted(
        (Ranked(Candidate(key, chunks[key]), score / top, {signal: score}) for key, score in ranking if key in chunks),
        key=by_score_and_place,
    )


def _by_definition(
    request: SearchRequest, want: RankingQuery, sources: Sources, allowed: Collection[int] | None
) -> list[Ranked]:
    """Rank only chunks that define a symbol with one of the words of the query, as a name or a part of it."""
    names = want.symbols or tuple(request.query.text.split())
    keys = definitions(names, sources.catalog, allowed, partial=True)
    found = [Candidate(key, chunk) for key, chunk in sorted(sources.catalog.chunks(keys).items())]
    return rank(replace(want, symbols=names), found, {})


def _by_matches(request: SearchRequest, sources: Sources, allowed: Collection[int] | None) -> tuple[list[Ranked], str]:
    """Rank chunks by the number of their matches, then by path and line; say what was not searched."""
    matches, problem = regex_matches(request.query.text, sources.catalog, allowed)
    top = max((match.n_matches for match in matches), default=1)
    ranked = [
        Ranked(
            Candidate(match.key, match.chunk, line=match.line),
            match.n_matches / top,
            {"matches": float(match.n_matches)},
        )
        for match in matches
    ]
    return sorted(ranked, key=by_score_and_place), problem


def _suggestion(want: RankingQuery, sources: Sources, *, found_any: bool) -> str:
    if found_any:
        return "every hit scores below the limit; lower --min-score"
    if sources.catalog.generation == 0:
        return "the index is empty; `fathom status --skipped` tells which files were left out and why"
    near = [name for word in want.terms[:5] for name in sources.catalog.similar_names(word, limit=2)]
    if near:
        return f"try another word; names like it here: {', '.join(dict.fromkeys(near))}"
    return "try other words, or fewer; `fathom status` tells what is indexed"
