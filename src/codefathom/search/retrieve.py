"""Candidates: every source of evidence names the chunks it believes in, inside the filter."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.errors import ProviderError, UsageError
from codefathom.providers.base import Embedder
from codefathom.search.fuse import cut
from codefathom.search.query import Query
from codefathom.search.rank import Candidate, Wanted
from codefathom.stores.base import VectorStore
from codefathom.stores.catalog import Catalog
from codefathom.stores.lexical import LexicalView
from codefathom.stores.tokens import terms
from codefathom.stores.vectors import quantise_query
from codefathom.types import Chunk

# Field weights of the lexical view.
FIELD_WEIGHTS = {"path": 0.5, "name": 1.0, "signature": 0.5, "body": 1.0}
MAX_DEFINITIONS = 40

STOP_WORDS = frozenset(
    """a about after all an and any are as at be been before being between but by can could did do does doing done for
    from get gets had has have having how i if in into is it its let me my no not of off on one or our out over own
    same should show so some such than that the their them then there these they this those through to too under
    until up use used uses using very was we were what when where which while who whom why will with would you
    your""".split()  # noqa: SIM905 -- a list of strings would take a hundred lines
)

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:::|\.|#|->|\\)[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Sources:
    """Where candidates come from. Without an embedder there is no vector leg, and the result says so."""

    catalog: Catalog
    lexical: LexicalView
    vectors: VectorStore | None
    embedder: Embedder | None


def wanted(query: Query) -> Wanted:
    """Return what the ranking looks for in a question."""
    words = tuple(dict.fromkeys(term for term in terms(query.text) if term not in STOP_WORDS))
    return Wanted(
        terms=words or tuple(dict.fromkeys(terms(query.text))),
        symbols=tuple(_symbols(query)),
        about_tests=any(word in {"test", "tests", "testing", "spec", "example", "examples"} for word in words),
    )


def _symbols(query: Query) -> Iterator[str]:
    """Yield identifiers asked for: those marked with @@, a bare one, and those whose shape no English word has."""
    yield from query.symbols
    found = _IDENTIFIER.findall(query.text)
    if query.intent == "symbol" and len(found) == 1:
        yield found[0]
        return
    for word in found:
        if "_" in word.strip("_") or re.search(r"[a-z][A-Z]|[A-Z]{2}[a-z]|::|\w\.\w|->|#|\\", word):
            yield word


class Evidence(NamedTuple):
    """What each source says of a question: the score that it gives a chunk, by key."""

    lexical: dict[int, float]
    vector: dict[int, float]
    defined: set[int]  # a symbol asked for stands there
    problem: str = ""  # of a source that failed and was left out


def evidence(want: Wanted, query: Query, sources: Sources, k: int, allowed: Collection[int] | None) -> Evidence:
    """Ask the lexical, vector and symbol sources for the k chunks each believes in most.

    An embedding model that cannot be reached is done without: words and names still find.
    """
    vector: Sequence[tuple[int, float]] = ()
    problem = "" if sources.embedder and sources.vectors else "no embedding model: ranked by words and names only"
    try:
        vector = vector_ranking(query.text, sources, k, allowed)
    except ProviderError as error:
        problem = f"ranked by words and names only: {error}"
    return Evidence(
        dict(lexical_ranking(want, sources, k, allowed)),
        dict(vector),
        definitions(want.symbols, sources.catalog, allowed),
        problem,
    )


def candidates(found: Evidence, fused: Mapping[int, float], catalog: Catalog, n_ranked: int) -> list[Candidate]:
    """Return the n_ranked first of `fused`, best first, and every definition that was asked for, with their chunks."""
    best = cut(list(fused.items()), n_ranked)
    chunks = catalog.chunks({*(key for key, _ in best), *found.defined})
    return [
        Candidate(key, chunk, found.lexical.get(key, 0.0), found.vector.get(key, 0.0))
        for key, chunk in sorted(chunks.items(), key=lambda item: (item[1].path, item[1].start_line))
    ]


def lexical_ranking(
    want: Wanted, sources: Sources, k: int, allowed: Collection[int] | None
) -> Sequence[tuple[int, float]]:
    """Return (key, BM25 over weighted fields), best first."""
    return cut(sources.lexical.search(want.terms, k + 1, FIELD_WEIGHTS, allowed), k) if want.terms else ()


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
        last = re.split(r"::|\.|#|->|\\", symbol)[-1]
        found = catalog.chunks_defining(last, partial=partial, limit=MAX_DEFINITIONS)
        keys.update(key for key in found if allowed is None or key in allowed)
    return keys


def rarity(lexical: LexicalView, words: Sequence[str]) -> dict[str, float]:
    """Return each word's inverse document frequency over all chunks, as BM25 defines it."""
    total = lexical.n_chunks
    counts = {word: lexical.document_frequency(word) for word in words}
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}


@dataclass(frozen=True, slots=True)
class Match:
    """One chunk with regular expression matches, and the line of the first."""

    key: int
    chunk: Chunk
    line: int
    n_matches: int


def regex_matches(pattern: str, catalog: Catalog, allowed: Collection[int] | None) -> Iterator[Match]:
    """Yield the chunks whose lines match, in path order. Matching is by document, so a match may span chunks."""
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise UsageError(
            f"{pattern!r} is not a regular expression: {error}", hint="escape ( [ * + ? . with a backslash"
        ) from error
    for document in catalog.documents():
        pieces = catalog.chunks_of(document.path)
        text = "".join(chunk.text for _, chunk in pieces)
        lines = [text.count("\n", 0, match.start()) + 1 for match in expression.finditer(text)]
        for key, chunk in pieces if lines else []:
            inside = [line for line in lines if chunk.start_line <= line <= chunk.end_line]
            if inside and (allowed is None or key in allowed):
                yield Match(key, chunk, inside[0], len(inside))
