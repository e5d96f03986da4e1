"""The candidates of a question: each source of evidence names its best chunks, inside the filter.

`gather` asks the sources that the plan of a search needs: words, meaning and names together, or one of them alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from codefathom.errors import ProviderError, StoreError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Embedder
from codefathom.search.project_overview import overview
from codefathom.search.question.planner import PlannedSearch
from codefathom.search.question.ranking_query import RankingQuery, last_of
from codefathom.search.ranking.fuse import cut, fuse, fused_sum
from codefathom.search.ranking.rank import Pool
from codefathom.search.ranking.signals import Candidate
from codefathom.search.request import SearchRequest
from codefathom.stores.base import LexicalStore, VectorStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.vectors.flat_vectors import quantise_query
from codefathom.system.stopping import check_stopped
from codefathom.telemetry import span
from codefathom.types.choices import Level
from codefathom.types.hits import Chunk, Rest
from codefathom.types.where import Where

if TYPE_CHECKING:
    from codefathom.search.ranking.rerank import WeightedReranker

# Field weights of the lexical view.
FIELD_WEIGHTS = {"path": 0.5, "name": 1.0, "signature": 0.5, "body": 1.0}
MAX_DEFINITIONS = 40
_WHOLE_NAME = 10.0  # the weight of a name by its words alone, where each part of it has 1: the parts are other names
_ALL_DEFINITIONS = 10_000_000  # of a name: more than any index has
_PER_NAMED_FILE = 3  # chunks of a file that the question names, where nothing else found it
_SCRAP_CHARS, _SCRAP_LETTERS = 100, 4  # a chunk with less text, and less than so many letters and digits in it
_CHUNKS_OF_A_HIT: Mapping[Level, int] = {
    "chunk": 2,
    "symbol": 2,
    "file": 10,
}  # listed for each hit, as joining leaves fewer


class Sources(NamedTuple):
    """The sources of candidates. Without an embedder nothing is searched by meaning, and the result says so."""

    catalog: SearchCatalog
    lexical: LexicalStore
    vectors: VectorStore | None
    embedder: Embedder | None
    reranking: WeightedReranker | None = None
    note: str = ""  # for the result: the reason why vectors are missing
    project: str = ""  # its name, which says little in a question about it
    are_short_whole: bool = False  # documents that are too short to be embedded are shown whole
    activity_of: Callable[[str], int] | None = None  # of a fleet: path → when its repository was last active, in s
    message_of: Callable[[str], str] | None = None  # of an index of commits: path → message, subject first


class Lookup(NamedTuple):
    """One question as retrieval sees it."""

    request: SearchRequest
    planned: PlannedSearch
    query: RankingQuery
    keys: Collection[int] | None = None  # of the chunks that pass the filter; None: all
    where: Where | None = None  # the filter
    n_chunks: int | None = None  # of the index, where a page may lie far behind; None: it does not

    @property
    def n_candidates(self) -> int:
        """Largest number of candidates of one source: it depends on the question only."""
        fusion = self.request.fusion
        return fusion.n_candidates * (self.query.depth if fusion.may_list_more else 1)

    @property
    def n_ranked(self) -> int:
        """Largest number of candidates of words and meaning together."""
        return self.query.depth * self.request.fusion.n_ranked

    @property
    def n_listed(self) -> int:
        """Number of chunks that one source lists: where many hits are wanted, others follow the candidates."""
        if not self.request.fusion.may_list_more:
            return self.n_candidates
        n_hits = self.request.offset + self.request.limit
        n_listed = max(self.n_candidates, self.query.depth * _CHUNKS_OF_A_HIT[self.request.level] * n_hits)
        # Stores make room for as many as they are asked for.
        return n_listed if self.n_chunks is None else min(n_listed, max(self.n_candidates, self.n_chunks))


def gather(lookup: Lookup, sources: Sources) -> Pool:
    """Return the candidates for a question. Raises UsageError for an invalid expression, in mode "regex", and for a
    name that is not in the index, in mode "graph"; ProviderError in mode "vector"."""
    if lookup.planned.is_overview:
        return overview(sources.catalog, lookup.keys)
    mode = lookup.planned.mode
    if mode == "hybrid" and not lookup.query.terms and lookup.keys is not None:
        return _whole_scope(lookup, sources)
    return _BY_MODE[mode](lookup, sources)


def _by_all(lookup: Lookup, sources: Sources) -> Pool:
    """Return the best chunks of the lexical, the vector and the symbol source.

    Without an embedding model that can be reached, words and names still find them.
    """
    query, keys = lookup.query, lookup.keys
    near = _Listing()
    has_vectors = sources.embedder is not None and sources.vectors is not None
    problem = None if has_vectors else Note(say.NO_EMBEDDER)
    try:
        with span("vectors"):
            near = _by_meaning(lookup, sources)
    except (ProviderError, StoreError) as error:
        problem = Note(say.BY_WORDS_ONLY, {"error": str(error)})
    problem = problem or _store_problem(sources)
    check_stopped()
    words = _by_words(lookup, sources, query.forms)
    lexical, vector = dict(cut(words.best, lookup.n_candidates)), dict(cut(near.best, lookup.n_candidates))
    defined = _definitions(query.symbols, sources.catalog, keys)
    framed = {key for key in query.frames if keys is None or key in keys}
    scores = fuse(lexical, vector, lookup.request.fusion)
    with span("candidates"):
        best = [key for key, _ in cut(list(scores.items()), lookup.n_ranked)]
        placed = sources.catalog.placed({*best, *defined, *framed})
        named = _of_named_files(lookup, {chunk.path for chunk, _ in placed.values()}, sources)
        if named:
            placed |= sources.catalog.placed(named)
    by_words = {**named, **lexical}
    lines = {key: frame.line for key, frame in query.frames.items()}
    candidates = [
        Candidate(
            key,
            chunk,
            by_words.get(key, 0.0),
            _nearness(chunk, vector[key]) if key in vector else 0.0,
            lines.get(key, 0),
            n_lines,
        )
        for key, (chunk, n_lines) in placed.items()
    ]
    if lookup.request.fusion.ranking == "fused":
        pool = _by_sum(lookup, candidates, lexical, vector)._replace(problem=problem)
    else:
        further = _further(lookup, words.best, near.best, placed, sources.catalog)
        pool = Pool(candidates, scores, problem=problem, further=further)
    return pool._replace(behind=_behind(lookup, words, near, pool))


def _behind(lookup: Lookup, words: _Listing, near: _Listing, pool: Pool) -> Rest:
    """Return the number of chunks that the sources list, or may list, and the pool has not."""
    listed = {one.key for one in (*pool.candidates, *pool.further)}
    n_left = len({key for key, _ in (*words.best, *near.best)} - listed)
    fusion = lookup.request.fusion
    if fusion.may_list_more and fusion.ranking != "fused":
        return Rest(n_left, words.are_all and near.are_all)
    return Rest(0, words.are_all and near.are_all and not n_left)  # no page of this ranking shows them


def _nearness(chunk: Chunk, cosine: float) -> float:
    """Return the closeness of a chunk in meaning: none for brackets, which are near to questions by chance."""
    is_scrap = len(chunk.text) < _SCRAP_CHARS and sum(map(str.isalnum, chunk.text)) < _SCRAP_LETTERS
    return 0.0 if is_scrap else cosine


def _by_sum(
    lookup: Lookup, candidates: Sequence[Candidate], lexical: Mapping[int, float], vector: Mapping[int, float]
) -> Pool:
    """Return the candidates of both rankings; their sum alone orders them."""
    fusion = lookup.request.fusion
    words, meaning = fused_sum(lexical, {}, fusion), fused_sum({}, vector, fusion)
    signals = {
        key: {"by_words": words.get(key, 0.0), "by_meaning": meaning.get(key, 0.0)} | _raw(lexical, vector, key)
        for key in words.keys() | meaning.keys()
    }
    scores = {key: parts["by_words"] + parts["by_meaning"] for key, parts in signals.items()}
    return Pool([one for one in candidates if one.key in scores], scores, signals)


def _raw(lexical: Mapping[int, float], vector: Mapping[int, float], key: int) -> dict[str, float]:
    """Return the measures of a chunk in the rankings that list it."""
    measures = {"bm25": lexical.get(key), "cosine": vector.get(key)}
    return {name: value for name, value in measures.items() if value is not None}


def _further(
    lookup: Lookup,
    words: Sequence[tuple[int, float]],
    near: Sequence[tuple[int, float]],
    candidates: Collection[int],
    catalog: SearchCatalog,
) -> list[Candidate]:
    """Return the chunks behind the candidates, as many as may be shown: in turn from both lists.

    Place and evidence of each are those in the list where it stands first, and so do not depend on the lists' lengths.
    """
    n_more = lookup.n_listed - lookup.n_ranked
    if n_more <= 0:
        return []
    by_words = ((key, (score, 0.0)) for key, score in words)
    by_meaning = ((key, (0.0, score)) for key, score in near)
    in_turn = (item for pair in zip_longest(by_words, by_meaning) for item in pair if item is not None)
    evidence: dict[int, tuple[float, float]] = {}
    for key, scores in in_turn:
        if key not in candidates:
            evidence.setdefault(key, scores)
    keys = list(evidence)[:n_more]
    chunks = catalog.chunks(keys)
    return [Candidate(key, chunks[key], *evidence[key]) for key in keys if key in chunks]


class _Listing(NamedTuple):
    """The best of one source: (key, its measure), best first."""

    best: Sequence[tuple[int, float]] = ()
    are_all: bool = True  # False: the source has more


def _first(ranking: Sequence[tuple[int, float]], k: int) -> _Listing:
    best = cut(ranking, k)
    return _Listing(best, len(best) == len(ranking))


def _by_words(lookup: Lookup, sources: Sources, forms: Mapping[str, float] = MappingProxyType({})) -> _Listing:
    """Return the chunks with the words, by their score over weighted fields."""
    words, k = {**forms, **lookup.query.minor_terms, **lookup.query.weighted}, lookup.n_listed
    return _first(sources.lexical.search(words, k + 1, FIELD_WEIGHTS, lookup.keys), k) if words else _Listing()


def _by_meaning(lookup: Lookup, sources: Sources) -> _Listing:
    """Return the nearest chunks by cosine similarity; none when there is no embedder. Raises ProviderError."""
    text, k = lookup.query.meaning, lookup.n_listed
    if sources.embedder is None or sources.vectors is None or not text.strip():
        return _Listing()
    row = quantise_query(sources.embedder.embed([text], "query"))
    near = _first(sources.vectors.nearest(row, k + 1, lookup.keys, lookup.where), k) if any(row) else _Listing()
    least = lookup.request.fusion.min_similarity
    above = [(key, cosine) for key, cosine in near.best if cosine > least] if least else near.best
    return _Listing(above, near.are_all or len(above) < len(near.best))


def _of_named_files(lookup: Lookup, present: Collection[str], sources: Sources) -> dict[int, float]:
    """Return chunks of the files that the question names and no source found, with their scores by words: of each file
    those with most words, or the first."""
    absent = [path for path in lookup.query.files if path not in present]
    path_of = sources.catalog.keys_of(absent) if absent else {}
    allowed = [key for key in path_of if lookup.keys is None or key in lookup.keys]
    if not allowed:
        return {}
    # Without the minor terms, which are hundreds: searching them takes longer than all else that naming a file costs.
    best = sources.lexical.search(lookup.query.weighted, _PER_NAMED_FILE * len(absent), FIELD_WEIGHTS, set(allowed))
    first = {path_of[key]: key for key in reversed(allowed)}
    with_words = {path_of[key] for key, _ in best}
    return {**{key: 0.0 for path, key in first.items() if path not in with_words}, **dict(best)}


def _definitions(symbols: Sequence[str], catalog: SearchCatalog, allowed: Collection[int] | None) -> set[int]:
    """Return the chunks in which one of the symbols is defined."""
    keys: set[int] = set()
    for symbol in symbols:
        defining = catalog.chunks_defining(last_of(symbol), partial=False, limit=MAX_DEFINITIONS)
        keys.update(key for key in defining if allowed is None or key in allowed)
    return keys


# ---- one kind of evidence


def _words_alone(lookup: Lookup, sources: Sources) -> Pool:
    query = lookup.query
    if name := query.name_of_parts:
        query = query._replace(weights={**query.weights, name: _WHOLE_NAME})
    words = _by_words(lookup._replace(query=query), sources)
    return _by_one(("lexical", "bm25"), words.best, sources.catalog)._replace(behind=Rest(0, words.are_all))


def _meaning_alone(lookup: Lookup, sources: Sources) -> Pool:
    near = _by_meaning(lookup, sources)
    pool = _by_one(("vector", "cosine"), near.best, sources.catalog)
    return pool._replace(problem=_store_problem(sources), behind=Rest(0, near.are_all))


def _store_problem(sources: Sources) -> Note | None:
    """Return a sentence if the store of the vectors cannot be used, and the catalogue answered instead."""
    problem = sources.vectors.problem if sources.vectors is not None else ""
    return Note(say.STORE_AWAY, {"problem": problem}) if problem else None


def _whole_scope(lookup: Lookup, sources: Sources) -> Pool:
    """Return the lines of the scope in order: the question has no other words."""
    keys = sorted(lookup.keys or ())
    first = [(key, 1.0) for key in keys[: lookup.n_listed]]
    pool = _by_one(("scope", "scope"), first, sources.catalog)
    return pool._replace(behind=Rest(len(keys) - len(first)), is_ranking=False)


def _by_one(signals: tuple[str, str], ranking: Sequence[tuple[int, float]], catalog: SearchCatalog) -> Pool:
    """Return the candidates of one source. The score is its measure; `signals` name the share of the best, and it."""
    share, measure = signals
    chunks = catalog.chunks([key for key, _ in ranking])
    top = max((score for _, score in ranking), default=0.0) or 1.0
    return Pool(
        [Candidate(key, chunks[key]) for key, _ in ranking if key in chunks],
        dict(ranking),
        {key: {share: score / top, measure: score} for key, score in ranking},
    )


def _definitions_alone(lookup: Lookup, sources: Sources) -> Pool:
    """Return the chunks that define a symbol with one of the words of the query, as a name or a part of it."""
    names = lookup.query.symbols or tuple(lookup.request.query.text.split())
    defining = [
        sources.catalog.chunks_defining(last_of(name), partial=True, limit=_ALL_DEFINITIONS)
        for name in dict.fromkeys(names)
    ]
    best, others = (
        {key: None for keys in part for key in keys if lookup.keys is None or key in lookup.keys}
        for part in ([keys[:MAX_DEFINITIONS] for keys in defining], [keys[MAX_DEFINITIONS:] for keys in defining])
    )
    further = [key for key in others if key not in best]
    listed = further[: max(lookup.n_listed - len(best), 0)]
    chunks = sources.catalog.chunks({*best, *listed})
    return Pool(
        [Candidate(key, chunks[key]) for key in sorted(best) if key in chunks],
        {},
        symbols=names,
        further=[Candidate(key, chunks[key]) for key in listed if key in chunks],
        behind=Rest(len(further) - len(listed)),
    )


def _connections_alone(lookup: Lookup, sources: Sources) -> Pool:
    from codefathom.search.expression_files import files_with_word
    from codefathom.search.graph.connected import connected  # the graph takes an eighth of all imports of a search

    assert lookup.planned.connection is not None  # of each plan with this mode
    files_with = partial(files_with_word, lexical=sources.lexical, catalog=sources.catalog)
    return connected(lookup.planned.connection, sources.catalog, lookup.keys, files_with)


# ---- regular expressions


def _matches_alone(lookup: Lookup, sources: Sources) -> Pool:
    """Return the chunks with matches, as many as are found in time, scored by their number of matches."""
    from codefathom.search.expression_search import matches_of  # few searches are one for an expression

    pattern = lookup.planned.pattern or lookup.request.query.text
    matches, problem, way = matches_of(pattern, sources.catalog, sources.lexical, lookup.keys)
    top = max((match.n_matches for match in matches), default=1)
    return Pool(
        [Candidate(match.key, match.chunk, line=match.line, column=match.column) for match in matches],
        {match.key: match.n_matches / top for match in matches},
        {match.key: {"matches": float(match.n_matches)} for match in matches},
        problem=problem,
        way=way,
        behind=Rest(0, not problem),
    )


_BY_MODE: Mapping[str, Callable[[Lookup, Sources], Pool]] = {
    "hybrid": _by_all,
    "lexical": _words_alone,
    "vector": _meaning_alone,
    "symbol": _definitions_alone,
    "regex": _matches_alone,
    "graph": _connections_alone,
}
