"""A question → hits: plan, scope, understand, gather, rank, cut to a level, explain. Reads in that order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.search.as_written import is_in, keys_with, pattern_of, texts_of
from codefathom.search.graph.written_targets import is_known, is_module, is_type
from codefathom.search.levels import Cut, HitPage, cut_to_level
from codefathom.search.question.planner import PlannedSearch, overruled, plan
from codefathom.search.question.query import Query
from codefathom.search.question.ranking_query import RankingQuery, understand
from codefathom.search.question.scope import scope
from codefathom.search.ranking.commit_messages import by_message
from codefathom.search.ranking.confidence import AS_WRITTEN, NOT_CONNECTED, ONE_SIGN, confidence, is_one_sign
from codefathom.search.ranking.rank import Pool, RankedCandidate, by_activity, followed_by, rank
from codefathom.search.request import SearchRequest
from codefathom.search.retrieve import Lookup, Sources, gather
from codefathom.search.verdict import Verdict, verdict
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.conditions import combine
from codefathom.system.stopping import check_stopped
from codefathom.telemetry import span
from codefathom.text.expressions import deadline
from codefathom.types.choices import Level, Mode
from codefathom.types.hits import NO_FACETS, NO_REST, Facets, Hit, Rest, SearchPlan
from codefathom.types.where import Where

_BY_MEANING = SearchPlan()
_EXACT: tuple[Mode, ...] = ("regex", "graph")  # their hits are exactly the answer
_MORE = 4  # times as many candidates, where those of a page give too few places


class SearchHits(NamedTuple):
    """The hits, best first, the confidence of the search, and a suggestion when there are no hits."""

    hits: tuple[Hit, ...]
    confidence: float
    suggestion: Note | None = None
    problems: tuple[Told, ...] = ()
    mode: Mode = "hybrid"
    plan: SearchPlan = _BY_MEANING
    is_strange: bool = False  # no word of the question is anywhere in the index
    is_placed: bool = False  # the question names a file or a symbol of the project
    rest: Rest = NO_REST  # of the list, behind the hits
    n_places: int = 0  # of the list, up to the last hit
    facets: Facets = NO_FACETS  # of the list

    @property
    def verdict(self) -> Verdict:
        """The verdict on the question: whether most likely nothing here answers it."""
        has_hits = bool(self.hits or self.n_places)  # a page behind the end of a list is none
        return verdict(self.confidence, has_hits=has_hits, is_strange=self.is_strange, is_placed=self.is_placed)


def search(request: SearchRequest, sources: Sources) -> SearchHits:
    """Answer one request. Raises UsageError for a filter, path or expression that is not valid here,
    SlowExpressionError for a filter with an expression that takes too long, and StoppedError between two stages."""
    degraded: tuple[Told, ...] = ()
    highest = 1.0
    with deadline(request.expression_limit_s):
        for planned in _plans(request, sources.catalog):
            result = _search(request, planned, sources)
            degraded += result.problems
            if result.n_places:
                break
            highest = NOT_CONNECTED if planned.connection else highest
    return result._replace(problems=degraded, confidence=min(result.confidence, highest))


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
        why = planned.plan.reason and Note(say.NOT_THAT_WAY, {"why": planned.plan.reason})
        yield PlannedSearch("hybrid", SearchPlan(planned.plan.route, why))


def _search(request: SearchRequest, planned: PlannedSearch, sources: Sources) -> SearchHits:
    """Answer a request by one plan; where that finds next to nothing, by the places where its text stands."""
    check_stopped()
    query = planned.adapted(request.query)
    where = combine(request.where, query.where, scope(query, sources.catalog))
    keys = _matching(where, request.level, sources.catalog)
    if keys is not None and not keys:
        hint = Note(say.FILTER_EMPTY)
        return SearchHits((), 0.0, hint, mode=planned.mode, plan=planned.plan)
    scoped = _Scoped(request, query, where, keys)
    result = _hits_inside(scoped, planned, sources)
    return _as_written(result, scoped, planned, sources) if result.verdict.weak else result


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
        if not is_chosen and not is_in(text, _best_text(result, scoped, planned, sources)):
            literal = PlannedSearch("regex", SearchPlan("regex", Note(say.STANDS_THERE)), pattern=pattern_of(text))
            places = _hits_inside(scoped._replace(keys=keys), literal, sources)
            result = places if places.hits else result
        # Kept to one value of a facet, the question may find enough, and then is not answered by its text.
        facets = replace(result.facets, is_whole=False)
        return result._replace(confidence=value, is_strange=False, facets=facets)
    return result


def _best_text(result: SearchHits, scoped: _Scoped, planned: PlannedSearch, sources: Sources) -> str:
    """Return the text of the best place of a list, whichever page of it the result is: all pages are of one list."""
    request = scoped.request
    if request.offset:
        first = scoped._replace(request=request._replace(offset=0, limit=1))
        result = _hits_inside(first, planned, sources)
    return result.hits[0].chunk.text if result.hits else ""


def _hits_inside(scoped: _Scoped, planned: PlannedSearch, sources: Sources) -> SearchHits:
    """Answer a request inside its scope: understand, gather, rank, cut to a level, explain."""
    request, query, where, keys = scoped
    with span("understand"):
        ranking_query = understand(query, sources.catalog, sources.lexical, sources.project)
    answer = _answer(Lookup(request, planned, ranking_query, keys, where), sources)
    hits, page = answer.page.hits, answer.page
    model = sources.embedder.name if sources.embedder and not answer.pool.problem else ""
    lacking_vectors = sources.note if planned.mode in {"hybrid", "vector"} else ""
    return SearchHits(
        hits=tuple(hits),
        confidence=_confidence(scoped, ranking_query, planned, answer, model) if hits else 0.0,
        suggestion=None if hits else _suggestion(ranking_query, request.offset, page, sources.catalog),
        problems=tuple(filter(None, (answer.pool.problem, answer.not_reranked, lacking_vectors, *answer.pool.notes))),
        mode=planned.mode,
        plan=_with_way(planned.plan, answer.pool.way),
        is_strange=ranking_query.is_strange and not ranking_query.frames,
        is_placed=bool(query.paths or query.symbols),
        rest=page.rest,
        n_places=page.n_places,
        facets=page.facets,
    )


def _with_way(plan: SearchPlan, way: Note | None) -> SearchPlan:
    """Return the plan with the way in which its candidates were looked for."""
    if way is None:
        return plan
    return replace(plan, reason=Note(say.ALL_OF, {"notes": (plan.reason, way)}) if plan.reason else way)


class _Answer(NamedTuple):
    """The candidates of a question, their order, and the page of it that is wanted."""

    pool: Pool
    ranked: Sequence[RankedCandidate]
    not_reranked: Note | None  # why the reranking model could not be used
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
        if sources.activity_of is not None and pool.is_ranking:
            ordered = by_activity(ordered, sources.activity_of)
        check_stopped()
        with span("hits"):
            page = _page(lookup, followed_by(ordered, pool.further), pool, sources)
        n_candidates = len(pool.candidates) + len(pool.further)
        is_full = len(page.hits) == lookup.request.limit
        if is_full or not pool.behind or page.has_lower or n_candidates <= n_before or not _goes_on(lookup):
            return _Answer(pool, ranked, not_reranked, page)
        n_before = n_candidates
        request = widened.request._replace(limit=_MORE * (widened.request.offset + widened.request.limit), offset=0)
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
        facets=request.facets,
    )
    page = cut_to_level(lookup.query, ordered, sources.catalog, cut)
    if page.has_lower or not pool.behind:
        return page
    page = page._replace(facets=replace(page.facets, is_whole=False))
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
) -> tuple[Sequence[RankedCandidate], Note | None]:
    """Return the ranking after the messages of commits and a reranking model, where one is set, and the reason why the
    model could not be used."""
    if planned.mode != "hybrid" or planned.is_overview:
        return ranked, None
    if sources.message_of is not None:
        ranked = by_message(query, ranked, sources.message_of)
    if sources.reranking is None:
        return ranked, None
    with span("rerank"):
        return sources.reranking.apply(query.meaning, ranked)


def _confidence(scoped: _Scoped, query: RankingQuery, planned: PlannedSearch, answer: _Answer, model: str) -> float:
    """Return 0 to 1. What an expression matches, or edges connect, is known without a ranking."""
    is_chosen = scoped.request.mode == "regex"  # an expression may be one sign: its matches are what was asked for
    if is_chosen or planned.is_overview or planned.mode == "graph":
        return answer.pool.certainty
    value = 1.0 if planned.mode == "regex" else confidence(query, answer.ranked, model)
    return min(value, ONE_SIGN) if is_one_sign(scoped.query.text) else value


def _suggestion(query: RankingQuery, offset: int, page: HitPage, catalog: SearchCatalog) -> Note:
    if page.n_places:
        return Note(say.LIST_ENDS, {"offset": offset, "count": page.n_places})
    if page.has_lower:
        return Note(say.SCORES_BELOW)
    if catalog.generation == 0:
        return Note(say.INDEX_EMPTY)
    near = [name for word in query.terms[:5] for name in catalog.similar_names(word, limit=2)]
    if near:
        return Note(say.SIMILAR_NAMES, {"names": tuple(dict.fromkeys(near))})
    return Note(say.OTHER_WORDS)
