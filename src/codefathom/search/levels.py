"""Ranked chunks → hits of a level: neighbours joined, whole symbols, whole files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.question.words import forms_of
from codefathom.search.ranking.explain import best_line, best_name, matched_names, reason
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.conditions import matches
from codefathom.stores.lexical.terms import terms
from codefathom.types import Chunk, FilterGroup, Hit, Level, Symbol, Where


class Cut(NamedTuple):
    """The level of the hits, their largest number, and the condition that their lines have passed."""

    level: Level
    limit: int
    where: Where | None = None


def cut_to_level(query: RankingQuery, ranked: Sequence[RankedCandidate], catalog: SearchCatalog, cut: Cut) -> list[Hit]:
    """Return at most `limit` hits, best first, each place once."""
    if cut.level == "file":
        places = _files(ranked, catalog, cut.limit)
    elif cut.level == "symbol":
        places = _symbols(query, ranked, catalog, cut)
    else:
        places = _joined(ranked, cut.limit)
    return [_explained(query, chunk, item) for chunk, item in places]


def _explained(query: RankingQuery, chunk: Chunk, item: RankedCandidate) -> Hit:
    """Return a place as a hit, with its reason, the line that answers and the symbol to show."""
    best = item.candidate.chunk if chunk.kind == "file" else chunk
    names = matched_names(query, best)
    line = item.candidate.line or best_line(query, best, names)
    return Hit(
        chunk,
        item.score,
        item.signals,
        reason(query, best, names, item.signals),
        line,
        "" if chunk.kind == "file" else best_name(best, names, line),
    )


def _joined(ranked: Sequence[RankedCandidate], limit: int) -> list[tuple[Chunk, RankedCandidate]]:
    """Join a hit with a better one of the same symbol when their lines touch; take more until `limit` are left."""
    places: list[tuple[Chunk, RankedCandidate]] = []
    for item in ranked:
        chunk = item.candidate.chunk
        touching = [index for index, (other, _) in enumerate(places) if _neighbours(other, chunk)]
        if touching:
            whole, best = places[touching[0]]
            whole = _join(whole, chunk)
            for index in touching[1:]:  # a chunk that closes a gap joins the places on both sides
                whole = _join(whole, places.pop(index)[0])
            places[touching[0]] = (whole, best)
        elif len(places) == limit:
            break
        else:
            places.append((chunk, item))
    return places


def _neighbours(one: Chunk, other: Chunk) -> bool:
    same_symbol = one.path == other.path and one.symbol == other.symbol != ""
    return same_symbol and (one.end_line + 1 == other.start_line or other.end_line + 1 == one.start_line)


def _join(one: Chunk, other: Chunk) -> Chunk:
    first, second = (one, other) if one.start_line < other.start_line else (other, one)
    return replace(
        one,
        start_line=first.start_line,
        end_line=second.end_line,
        text=first.text + second.text,
        names=first.names + second.names,
    )


def _files(
    ranked: Sequence[RankedCandidate], catalog: SearchCatalog, limit: int
) -> list[tuple[Chunk, RankedCandidate]]:
    places: list[tuple[Chunk, RankedCandidate]] = []
    for item in _first_of_each(ranked, limit):
        pieces = [chunk for _, chunk in catalog.chunks_of(item.candidate.chunk.path)]
        if not pieces:  # damaged, which the result says
            continue
        text = "".join(piece.text for piece in pieces)
        whole = replace(
            item.candidate.chunk,
            kind="file",
            symbol="",
            names=(),
            signature="",
            doc="",
            start_line=1,
            end_line=pieces[-1].end_line,
            text=text,
        )
        places.append((whole, item))
    return places


def _first_of_each(ranked: Iterable[RankedCandidate], limit: int) -> list[RankedCandidate]:
    best: dict[str, RankedCandidate] = {}
    for item in ranked:
        best.setdefault(item.candidate.chunk.path, item)
        if len(best) == limit:
            break
    return list(best.values())


def _symbols(
    query: RankingQuery, ranked: Sequence[RankedCandidate], catalog: SearchCatalog, cut: Cut
) -> list[tuple[Chunk, RankedCandidate]]:
    about_kind = list(_about_kind(cut.where))
    places: dict[tuple[str, int, int], tuple[Chunk, RankedCandidate]] = {}
    for item in ranked:
        chunk = item.candidate.chunk
        inside = [
            symbol
            for symbol in catalog.symbols_of(chunk.path)
            if _touches(symbol, chunk) and all(matches(part, {"kind": symbol.kind}) for part in about_kind)
        ]
        for symbol in _best_symbols(query, chunk, inside):
            place = (chunk.path, symbol.start_line, symbol.end_line)
            whole = None if place in places else _symbol_chunk(symbol, chunk, catalog)
            if whole is not None and whole.text:  # without text it is damaged, which the result says
                places[place] = (whole, item)
        if len(places) >= cut.limit:
            break
    return list(places.values())[: cut.limit]


def _about_kind(where: Where | None) -> Iterator[Where]:
    """Yield the parts of a condition that must hold and test only the kind: a chunk has several symbols."""
    if isinstance(where, FilterGroup):
        if where.operator == "AND":
            for part in where.filters:
                yield from _about_kind(part)
        elif all(any(True for _ in _about_kind(part)) for part in where.filters):
            yield where
    elif where is not None and where.field == "kind":
        yield where


def _best_symbols(query: RankingQuery, chunk: Chunk, inside: Sequence[Symbol]) -> list[Symbol]:
    """Return the symbols of a chunk that the question is about, or the one that it lies in."""
    starting = [symbol for symbol in inside if symbol.start_line >= chunk.start_line]
    named = [symbol for symbol in starting if _is_named(query, symbol)]
    if named:
        return named
    whole = [symbol for symbol in inside if symbol.qualified_name == chunk.symbol]
    # Stable: the first of equals stays the first.
    starting.sort(key=lambda symbol: -_n_shared(query, f"{symbol.signature} {symbol.doc}"))
    return starting[:1] or whole[:1]


def _n_shared(query: RankingQuery, text: str) -> int:
    return forms_of(query.terms).among(terms(text)).bit_count()


def _touches(symbol: Symbol, chunk: Chunk) -> bool:
    return symbol.start_line <= chunk.end_line and symbol.end_line >= chunk.start_line


def _is_named(query: RankingQuery, symbol: Symbol) -> bool:
    return symbol.name.lower() in query.symbol_names or _n_shared(query, symbol.name) > 0


def _symbol_chunk(symbol: Symbol, chunk: Chunk, catalog: SearchCatalog) -> Chunk:
    lines = catalog.lines(chunk.path, symbol.start_line, symbol.end_line)
    return replace(
        chunk,
        kind=symbol.kind,
        symbol=symbol.qualified_name,
        names=(symbol.qualified_name,),
        start_line=symbol.start_line,
        end_line=symbol.end_line,
        text=lines,
        signature=symbol.signature,
        doc=symbol.doc,
    )
