"""Candidates: every source of evidence names the chunks it believes in, inside the filter."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from codefathom.errors import ProviderError, SlowExpressionError
from codefathom.providers.base import Embedder
from codefathom.search.question.frames import Framed, frames, same_place
from codefathom.search.question.query import Query
from codefathom.search.question.ranking_query import RankingQuery, focused, last_of, wanted
from codefathom.search.question.translate import COMMON
from codefathom.search.ranking.fuse import cut
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.lexical.lexical_view import LexicalView
from codefathom.stores.vectors.flat_vectors import quantise_query
from codefathom.telemetry import span
from codefathom.text.expressions import SETTING, USUAL_LIMIT_S, Expression, check, compiled, deadline, shown
from codefathom.types import Chunk

if TYPE_CHECKING:
    from codefathom.search.ranking.rerank import Reranking

# Field weights of the lexical view.
FIELD_WEIGHTS = {"path": 0.5, "name": 1.0, "signature": 0.5, "body": 1.0}
MAX_DEFINITIONS = 40
_MAX_MEANT = 3  # files of one name that a line of a trace may mean
_OUTER = 0.8  # what each caller in a trace counts against what it calls


@dataclass(frozen=True, slots=True)
class Sources:
    """Where candidates come from. Without an embedder there is no vector leg, and the result says so."""

    catalog: Catalog
    lexical: LexicalView
    vectors: VectorStore | None
    embedder: Embedder | None
    reranking: Reranking | None = None
    note: str = ""  # what the vectors lack


def asked(query: Query, sources: Sources) -> RankingQuery:
    """Return what is looked for, with how rare each of its words is here."""
    want = wanted(query, in_chinese=_is_chinese(sources.lexical))
    framed = _framed(query.text, sources.catalog) if ":" in query.text or "line " in query.text else {}
    rarity, unknown = _rarity(sources.lexical, want.terms)
    foreign = tuple(
        symbol
        for symbol in want.symbols
        if not sources.catalog.chunks_defining(last_of(symbol), partial=False, limit=1)
    )
    return focused(replace(want, rarity=rarity, unknown=unknown, frames=framed, foreign=foreign))


def _framed(text: str, catalog: Catalog) -> dict[int, Framed]:
    """Return the chunks that hold the places of a stack trace; a place that many files could be is left out."""
    found: dict[int, Framed] = {}
    value = 1.0
    for frame in frames(text):
        rows = catalog.chunks_at(frame.path.rpartition("/")[2], frame.line)
        n_same = [same_place(frame.path, path) for _, path in rows]
        best = [key for (key, _), n in zip(rows, n_same, strict=True) if n == max(n_same)]
        if 0 < len(best) <= _MAX_MEANT:
            for key in best:
                found.setdefault(key, Framed(value, frame.line))
            value *= _OUTER
    return found


def _is_chinese(lexical: LexicalView) -> bool:
    """Whether what is indexed is commented in Chinese."""
    return any(lexical.document_frequencies(COMMON).values())


def _rarity(lexical: LexicalView, words: Sequence[str]) -> tuple[dict[str, float], float]:
    """Return each word's inverse document frequency over all chunks, as BM25 defines it, and the share of the unknown.

    A word that stands nowhere and is not Latin counts nothing: code in English says nothing in Chinese.
    """
    total = lexical.n_chunks
    counts = lexical.document_frequencies(words)
    rare = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
    rare = {word: value if counts[word] or word.isascii() else 0.0 for word, value in rare.items()}
    unknown = sum(value for word, value in rare.items() if not counts[word])
    return rare, unknown / (sum(rare.values()) or 1.0)


class Evidence(NamedTuple):
    """What each source says of a question: the score that it gives a chunk, by key."""

    lexical: dict[int, float]
    vector: dict[int, float]
    defined: set[int]  # a symbol asked for stands there, or a line of a stack trace
    problem: str = ""  # of a source that failed and was left out


def evidence(want: RankingQuery, sources: Sources, k: int, allowed: Collection[int] | None) -> Evidence:
    """Ask the lexical, vector and symbol sources for the k chunks each believes in most.

    An embedding model that cannot be reached is done without: words and names still find.
    """
    vector: Sequence[tuple[int, float]] = ()
    problem = (
        ""
        if sources.embedder is not None and sources.vectors is not None
        else "no embedding model: ranked by words and names only"
    )
    try:
        with span("vectors"):
            vector = vector_ranking(want.meaning, sources, k, allowed)
    except ProviderError as error:
        problem = f"ranked by words and names only: {error}"
    return Evidence(
        dict(lexical_ranking(want, sources, k, allowed)),
        dict(vector),
        {
            *definitions(want.symbols, sources.catalog, allowed),
            *(key for key in want.frames if allowed is None or key in allowed),
        },
        problem,
    )


def candidates(
    want: RankingQuery, found: Evidence, fused: Mapping[int, float], catalog: Catalog, n_ranked: int
) -> list[Candidate]:
    """Return the n_ranked first of `fused`, best first, and every definition that was asked for, with their chunks."""
    best = cut(list(fused.items()), n_ranked)
    placed = catalog.placed({*(key for key, _ in best), *found.defined})
    lines = {key: framed.line for key, framed in want.frames.items()}
    lexical, vector = found.lexical, found.vector
    return [
        Candidate(key, chunk, lexical.get(key, 0.0), vector.get(key, 0.0), lines.get(key, 0), n_lines)
        for key, (chunk, n_lines) in placed.items()
    ]


def lexical_ranking(
    want: RankingQuery, sources: Sources, k: int, allowed: Collection[int] | None
) -> Sequence[tuple[int, float]]:
    """Return (key, BM25 over weighted fields), best first."""
    words = {**want.rest, **want.weighted}
    return cut(sources.lexical.search(words, k + 1, FIELD_WEIGHTS, allowed), k) if words else ()


def vector_ranking(text: str, sources: Sources, k: int, allowed: Collection[int] | None) -> Sequence[tuple[int, float]]:
    """Return (key, cosine similarity), best first; nothing when there is no embedder. Raises ProviderError."""
    if sources.embedder is None or sources.vectors is None or not text.strip():
        return ()
    row = quantise_query(sources.embedder.embed([text], "query"))
    return cut(sources.vectors.nearest(row, k + 1, allowed), k) if any(row) else ()


def definitions(
    symbols: Sequence[str], catalog: Catalog, allowed: Collection[int] | None, *, partial: bool = False
) -> set[int]:
    """Return the chunks in which one of the symbols is defined; with `partial`, a name may only contain it."""
    keys: set[int] = set()
    for symbol in symbols:
        found = catalog.chunks_defining(last_of(symbol), partial=partial, limit=MAX_DEFINITIONS)
        keys.update(key for key in found if allowed is None or key in allowed)
    return keys


class Match(NamedTuple):
    """One chunk with regular expression matches, and the line of the first."""

    key: int
    chunk: Chunk
    line: int
    n_matches: int


class Matches(NamedTuple):
    """The chunks with matches, in path order."""

    found: Sequence[Match]
    problem: str = ""  # why there may be more


def regex_matches(pattern: str, catalog: Catalog, allowed: Collection[int] | None) -> Matches:
    """Return the chunks whose lines match, as many as come in time. A match may span chunks of a document.

    Raises UsageError for text that is no expression.
    """
    check(pattern)
    expression = compiled(f"(?m){pattern}")
    found: list[Match] = []
    paths, n_cut = [document.path for document in catalog.documents()], 0
    with deadline(USUAL_LIMIT_S) as running:
        for n_before, path in enumerate(paths):
            if running.is_over:
                n_cut += len(paths) - n_before
                break
            pieces = catalog.chunks_of(path)
            if allowed is not None and not any(key in allowed for key, _ in pieces):
                continue
            lines, is_cut = _lines(expression, "".join(chunk.text for _, chunk in pieces))
            n_cut += is_cut
            found += _inside(lines, pieces, allowed)
    return Matches(found, _cut_short(pattern, n_cut) if n_cut else "")


def _lines(expression: Expression, text: str) -> tuple[list[int], bool]:
    """Return the line in which each match begins, and whether the search for more was stopped."""
    lines: list[int] = []
    line, position = 1, 0
    try:
        for start in expression.places(text):
            line += text.count("\n", position, start)
            position = start
            lines.append(line)
    except SlowExpressionError:
        return lines, True
    return lines, False


def _inside(
    lines: Sequence[int], pieces: Sequence[tuple[int, Chunk]], allowed: Collection[int] | None
) -> Iterator[Match]:
    """Yield the chunks of a document in which some of these lines lie, which are in order."""
    for key, chunk in pieces if lines else ():
        first = bisect_left(lines, chunk.start_line)
        n_inside = bisect_right(lines, chunk.end_line) - first
        if n_inside and (allowed is None or key in allowed):
            yield Match(key, chunk, lines[first], n_inside)


def _cut_short(pattern: str, n_cut: int) -> str:
    files = "1 file was" if n_cut == 1 else f"{n_cut} files were"
    return (
        f"the regular expression {shown(pattern)} takes too long: {files} not searched to the end; "
        f"make it simpler, or raise {SETTING}"
    )
