"""The words that each match of an expression has → one query of tantivy for the chunks that may have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import tantivy

if TYPE_CHECKING:
    from codefathom.text.required_words import Alternatives, WordPart

_MOST_TERMS = 12_000  # with a part that is looked for, a tenth of a second; what more words have tells little
MOST_PARTS = 3  # of one alternative that are looked for
_FEW = 500  # chunks that are sooner read than made fewer


class _Some(NamedTuple):
    """What finds some chunks, and how many it finds at most."""

    query: tantivy.Query
    n_most: int


def query_of(
    needs: Sequence[Alternatives],
    schema: tantivy.Schema,
    searcher: tantivy.Searcher,
    terms_with: Callable[[WordPart], Sequence[str]],
) -> tantivy.Query | None:
    """Return a query for the chunks that have all the parts of one alternative of each need, and perhaps for some more;
    None where all chunks may have them. The most telling needs and parts come first."""

    def with_part(part: WordPart) -> _Some | None:
        terms = terms_with(part)
        if len(terms) > _MOST_TERMS:
            return None
        queries = [tantivy.Query.term_query(schema, "body", term, "basic") for term in terms]
        return _Some(_any_of(queries), sum(int(searcher.doc_freq("body", term)) for term in terms))

    def with_any(alternatives: Alternatives) -> _Some | None:
        some: list[_Some] = []
        for parts in alternatives:
            own = _all_of(map(with_part, parts[:MOST_PARTS]))
            if own is None:
                return None
            some.append(own)
        return _Some(_any_of([one.query for one in some]), sum(one.n_most for one in some))

    every = _all_of(map(with_any, needs))
    return None if every is None else every.query


def _any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    if not queries:
        return tantivy.Query.empty_query()
    # Nobody asks for scores.
    parts = [(tantivy.Occur.Should, tantivy.Query.const_score_query(query, 1.0)) for query in queries]
    return tantivy.Query.boolean_query(parts)


def _all_of(items: Iterable[_Some | None]) -> _Some | None:
    """Return what finds the chunks of all items, or of the first ones where these are few; None: all chunks."""
    queries: list[tantivy.Query] = []
    n_most: int | None = None
    for item in items:
        if item is not None:
            queries.append(item.query)
            n_most = item.n_most if n_most is None else min(n_most, item.n_most)
        if n_most is not None and n_most <= _FEW:
            break
    if n_most is None:
        return None
    query = queries[0] if len(queries) == 1 else tantivy.Query.boolean_query([(tantivy.Occur.Must, q) for q in queries])
    return _Some(query, n_most)
