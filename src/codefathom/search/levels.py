"""Ranked chunks → hits of a level: neighbours joined, whole symbols, whole files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from codefathom.search.facets import FacetCounts
from codefathom.search.question.ranking_query import RankingQuery, last_of
from codefathom.search.ranking.explain import best_line, best_name, matched_names, reasons
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import LineRange
from codefathom.stores.conditions import mentions
from codefathom.stores.lexical.terms import terms
from codefathom.types.choices import Level
from codefathom.types.hits import NO_FACETS, NO_REST, Chunk, Facets, Hit, Rest
from codefathom.types.symbols import Symbol
from codefathom.types.where import Where

# Neighbours are joined with these first places only: how far a hit reaches does not depend on the number of hits.
MAX_JOINED = 10
_CHANGED_BY_JOINING = ("text", "names", "start_line", "end_line", "lines")  # fields of a filter
_MAX_WHOLE_BYTES = 100_000  # of a document that a hit shows whole though only a chunk was looked for

_Place: TypeAlias = tuple[Chunk, RankedCandidate]
_Places: TypeAlias = list[_Place]


class Cut(NamedTuple):
    """The level of the hits, which of them are wanted, and the condition that all of them fulfil."""

    level: Level
    limit: int
    where: Where | None = None
    are_short_whole: bool = False  # of a document that is too short to be embedded, a chunk stands for all of it
    offset: int = 0  # places that are passed by
    min_score: float = 0.0
    counts_all: bool = False  # each place of the list is made, so that their number is known
    facets: bool = False  # what the places have in common is counted


class HitPage(NamedTuple):
    """The hits that are wanted, and the places around them, without those below the least score."""

    hits: list[Hit]
    n_places: int  # of the list up to the last hit, also those that are passed by
    rest: Rest  # of the list, as far as the candidates tell
    has_lower: bool = False  # some place has too low a score
    facets: Facets = NO_FACETS  # of the list, as far as the candidates tell


def cut_to_level(query: RankingQuery, ranked: Sequence[RankedCandidate], catalog: SearchCatalog, cut: Cut) -> HitPage:
    """Return at most `limit` hits behind the offset, best first, each place once."""
    ordered = iter(ranked)
    listing: Iterator[_Place]
    if cut.level == "file":
        listing = _files(ordered, catalog, cut)
    elif cut.level == "symbol":
        listing = _symbols(query, ordered, catalog, cut)
    else:
        listing = _joined(_with_whole(ordered, catalog, cut) if cut.are_short_whole else ordered, catalog, cut)
    tally = FacetCounts(cut.where)
    are_enough = _are_candidates_enough(cut)
    if cut.facets and not are_enough:
        listing = _counted(listing, tally, cut)
    places = list(islice(listing, cut.offset + cut.limit))
    fitting = list(takewhile(lambda place: place[1].score >= cut.min_score, places))
    is_of_kind = cut.where is not None and mentions(cut.where, "kind")
    page = HitPage(
        _explained(query, fitting[cut.offset :], catalog, is_of_kind=is_of_kind),
        len(fitting),
        _rest(listing, ordered, cut) if len(fitting) == cut.offset + cut.limit else NO_REST,
        len(fitting) < len(places),
    )
    if not cut.facets:
        return page
    if are_enough:
        _count(ranked, cut, tally)
    return page._replace(facets=Facets(tally.counts, are_enough and _are_certain(cut)))


def _are_certain(cut: Cut) -> bool:
    """Return True if a list that is kept to a value has exactly the places with it.

    Scores are shares of the best one, so another filter may lift places above the least score. Of the places of chunks
    that touch, a condition on their lines may refuse some.
    """
    is_of_lines = cut.where is not None and any(mentions(cut.where, name) for name in _CHANGED_BY_JOINING)
    return not cut.min_score and not (cut.level == "chunk" and is_of_lines)


def _are_candidates_enough(cut: Cut) -> bool:
    """Return True if the candidates tell how many places a filter leaves; else places are counted as they are made."""
    if cut.level == "file":
        return cut.where is None or not mentions(cut.where, "text")
    return cut.level == "chunk" and not cut.are_short_whole


def _counted(listing: Iterator[_Place], tally: FacetCounts, cut: Cut) -> Iterator[_Place]:
    """Pass on places and count them."""
    for place in listing:
        if place[1].score >= cut.min_score:
            kind = place[0].kind
            tally.add(place[0], place[1].candidate.chunk.kind if kind == "file" else kind)
        yield place


def _count(ranked: Iterable[RankedCandidate], cut: Cut, tally: FacetCounts) -> None:
    """Count the places that candidates make, also those that are not made."""
    high = [item for item in ranked if item.score >= cut.min_score] if cut.min_score else ranked
    if cut.level == "file":
        tally.add_files(item.candidate.chunk for item in high)
    else:
        pairs = ((candidate.key, candidate.chunk) for candidate, *_ in high)
        tally.add_joined(pairs, _touching(high), MAX_JOINED)


def _touching(ranked: Iterable[RankedCandidate]) -> Mapping[int, Sequence[int]]:
    """Return, by key, the candidates right above and below one, with which it would be joined."""
    of_path: dict[str, list[Candidate]] = defaultdict(list)
    for candidate, *_ in ranked:
        of_path[candidate.chunk.path].append(candidate)
    touching: dict[int, list[int]] = {}
    for candidates in of_path.values():
        if len(candidates) > 1:
            candidates.sort(key=_first_line)
            for upper, lower in pairwise(candidates):
                if _neighbours(upper.chunk, lower.chunk):
                    touching.setdefault(upper.key, []).append(lower.key)
                    touching.setdefault(lower.key, []).append(upper.key)
    return touching


_first_line = attrgetter("chunk.start_line")


def _rest(listing: Iterator[_Place], ordered: Iterator[RankedCandidate], cut: Cut) -> Rest:
    """Return the number of the places that were not made yet; where making them costs too much, what is certain."""
    if cut.counts_all:
        return Rest(sum(item.score >= cut.min_score for _, item in listing))
    following = next(listing, None)
    if following is None or following[1].score < cut.min_score:
        return NO_REST
    if cut.level == "chunk" and not cut.are_short_whole:  # each candidate that is left is a place of its own
        n_joined = sum(item.score >= cut.min_score for _, item in islice(listing, MAX_JOINED))
        return Rest(1 + n_joined + sum(item.score >= cut.min_score for item in ordered))
    return Rest(1, is_exact=False)


def _explained(query: RankingQuery, places: _Places, catalog: SearchCatalog, *, is_of_kind: bool) -> list[Hit]:
    """Return places as hits; the kinds of the symbols in all of them are read at once."""
    best = [item.candidate.chunk if chunk.kind == "file" else chunk for chunk, item in places]
    are_joined = [chunk is not item.candidate.chunk for chunk, (_, item) in zip(best, places, strict=True)]
    several = {
        number: LineRange(chunk.path, chunk.start_line, chunk.end_line)
        for number, (chunk, is_joined) in enumerate(zip(best, are_joined, strict=True))
        if _has_several(chunk, is_joined=is_joined)
    }
    rows = catalog.kinds_in([*several.values()])
    own_rows = [rows.get(several[number], ()) if number in several else () for number in range(len(best))]
    kinds = [_by_name(own, chunk.kind if is_of_kind else "") for own, chunk in zip(own_rows, best, strict=True)]
    return [
        _hit(query, place, chunk, own, is_of_kind=is_of_kind)
        for place, chunk, own in zip(places, best, kinds, strict=True)
    ]


def _hit(query: RankingQuery, place: _Place, best: Chunk, kinds: Mapping[str, str], *, is_of_kind: bool) -> Hit:
    """Return a place as a hit, with its reason, the line that answers and the symbol to show.

    The symbol is one with its kind: of several that begin in the place the one that the question names, that is around
    the line, or the first; where a filter is about kinds, only those of the kind for which the place has passed it.
    """
    chunk, item = place
    if is_of_kind and kinds:
        best = replace(best, names=tuple(filter(kinds.get, best.names)))
    names = matched_names(query, best)
    line = item.candidate.line or best_line(query, best, names)
    name = best_name(best, names, line)
    return Hit(
        chunk,
        item.score,
        item.signals,
        reasons(query, best, names, item.signals, line),
        line,
        "" if chunk.kind == "file" else name,
        kind=chunk.kind if chunk.kind == "file" else kinds.get(name, chunk.kind),
        column=item.candidate.column or _column(best, line, (name, *names.symbols, *names.shared, *best.names)),
    )


def _has_several(chunk: Chunk, *, is_joined: bool) -> bool:
    """Return True if the kind of a chunk need not be that of each symbol that begins in it."""
    return bool(chunk.names) and chunk.names != (chunk.symbol,) and (len(chunk.names) > 1 or is_joined)


def _by_name(pairs: Sequence[tuple[str, str]], only: str) -> Mapping[str, str]:
    """Return the kinds of symbols by name, or `only` those of one kind."""
    # The first symbol of a name counts: it is written last.
    return {name: kind for name, kind in reversed(pairs) if only in ("", kind)}


def _column(chunk: Chunk, line: int, names: Iterable[str]) -> int:
    """Return the column of the first of some names in a line, else of its first character that is not blank; from 1."""
    lines = chunk.text.split("\n", line - chunk.start_line + 1)
    text = lines[line - chunk.start_line] if 0 <= line - chunk.start_line < len(lines) else ""
    first = chunk.column if line == chunk.start_line else 1
    for name in filter(None, map(last_of, names)):
        if name in text and (own := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)):
            return first + own.start()
    return first + len(text) - len(text.lstrip())


def _joined(ranked: Iterator[RankedCandidate], catalog: SearchCatalog, cut: Cut) -> Iterator[_Place]:
    """Join a chunk with a better one of the same symbol when their lines touch, among the first places."""
    places: _Places = []
    for item in ranked:
        joined = _with(places, item.candidate.chunk, catalog, cut.where)
        if joined is not None:
            places = joined
            continue
        places.append((item.candidate.chunk, item))
        if len(places) > MAX_JOINED:
            break
    yield from places
    for item in ranked:
        yield item.candidate.chunk, item


def _with_whole(ranked: Iterable[RankedCandidate], catalog: SearchCatalog, cut: Cut) -> Iterator[RankedCandidate]:
    """Yield candidates with all of its document in the place of the best one of a short document."""
    seen: set[str] = set()
    for item in ranked:
        path = item.candidate.chunk.path
        if path in seen:
            continue
        whole = _whole(item.candidate.chunk, catalog)
        if whole is None or not _passes(cut.where, _with_symbol(whole, item), catalog):
            yield item
            continue
        seen.add(path)
        yield item._replace(candidate=item.candidate._replace(chunk=whole))


def _whole(chunk: Chunk, catalog: SearchCatalog) -> Chunk | None:
    """Return all of the document of a chunk; None for one that is embedded, or long."""
    short = [item for item in catalog.documents_at([chunk.path]) if item.is_short and item.size <= _MAX_WHOLE_BYTES]
    return _file_chunk(chunk, catalog) if short else None


def _with(places: _Places, chunk: Chunk, catalog: SearchCatalog, where: Where | None) -> _Places | None:
    """Return the places with a chunk joined to the best one that it touches; None where it touches none.

    A chunk that closes a gap joins the places on both sides. What is joined fulfils the condition as well.
    """
    touching = [index for index, (other, _) in enumerate(places) if _neighbours(other, chunk)]
    if not touching:
        return None
    whole, best = places[touching[0]]
    whole = _join(whole, chunk)
    for index in touching[1:]:
        whole = _join(whole, places[index][0])
    if not _passes(where, whole, catalog):
        return None
    first, *closed = touching
    return [(whole, best) if index == first else place for index, place in enumerate(places) if index not in closed]


def _passes(where: Where | None, place: Chunk, catalog: SearchCatalog) -> bool:
    """Return True if a place as it is shown fulfils a condition."""
    return where is None or catalog.passes(where, place)


def _neighbours(one: Chunk, other: Chunk) -> bool:
    same_symbol = one.path == other.path and one.symbol == other.symbol != ""
    return same_symbol and (_is_above(one, other) or _is_above(other, one))


def _is_above(one: Chunk, other: Chunk) -> bool:
    """Return True if a chunk ends where the other begins, both with whole lines."""
    return one.end_line + 1 == other.start_line and not one.is_part and not other.is_part


def _join(one: Chunk, other: Chunk) -> Chunk:
    first, second = (one, other) if one.start_line < other.start_line else (other, one)
    return replace(
        one,
        start_line=first.start_line,
        end_line=second.end_line,
        text=first.text + second.text,
        names=first.names + second.names,
    )


def _files(ranked: Iterable[RankedCandidate], catalog: SearchCatalog, cut: Cut) -> Iterator[_Place]:
    tests_text = cut.where is not None and mentions(cut.where, "text")
    for item in _first_of_each(ranked):
        whole = _file_chunk(item.candidate.chunk, catalog)
        if whole is not None and not (tests_text and not _passes(cut.where, _with_symbol(whole, item), catalog)):
            yield whole, item


def _with_symbol(whole: Chunk, item: RankedCandidate) -> Chunk:
    """Return a file with the symbol of its best lines: a condition on symbols asks for a file that holds one."""
    chunk = item.candidate.chunk
    return replace(whole, kind=chunk.kind, symbol=chunk.symbol, names=chunk.names)


def _file_chunk(chunk: Chunk, catalog: SearchCatalog) -> Chunk | None:
    """Return the whole file of a chunk; None where it is damaged, which the result says."""
    pieces = [piece for _, piece in catalog.chunks_of(chunk.path)]
    if not pieces:
        return None
    text = "".join(piece.text for piece in pieces)
    end_line = pieces[-1].end_line
    return replace(
        chunk,
        kind="file",
        symbol="",
        names=(),
        signature="",
        doc="",
        start_line=1,
        end_line=end_line,
        column=1,
        text=text,
    )


def _first_of_each(ranked: Iterable[RankedCandidate]) -> Iterator[RankedCandidate]:
    """Yield the best candidate of each file."""
    seen: set[str] = set()
    for item in ranked:
        if item.candidate.chunk.path not in seen:
            seen.add(item.candidate.chunk.path)
            yield item


def _symbols(
    query: RankingQuery, ranked: Iterable[RankedCandidate], catalog: SearchCatalog, cut: Cut
) -> Iterator[_Place]:
    seen: set[tuple[str, int, int]] = set()
    for item in ranked:
        chunk = item.candidate.chunk
        for symbol in _best_symbols(query, chunk, _symbols_inside(chunk, catalog, cut.where)):
            place = (chunk.path, symbol.start_line, symbol.end_line)
            whole = None if place in seen else _symbol_chunk(symbol, chunk, catalog)
            if whole is not None and whole.text:  # without text it is damaged, which the result says
                seen.add(place)
                yield whole, item


def _symbols_inside(chunk: Chunk, catalog: SearchCatalog, where: Where | None) -> list[Symbol]:
    """Return the symbols that share lines with a chunk and fulfil a condition."""
    inside = [symbol for symbol in catalog.symbols_of(chunk.path) if _touches(symbol, chunk)]
    if where is None:
        return inside
    return [symbol for symbol in inside if _passes(where, _symbol_chunk(symbol, chunk, catalog), catalog)]


def _best_symbols(query: RankingQuery, chunk: Chunk, inside: Sequence[Symbol]) -> list[Symbol]:
    """Return the symbols of a chunk that the question is about, or the one that it lies in."""
    starting = [
        symbol
        for symbol in inside
        if symbol.start_line >= chunk.start_line or chunk.start_line <= symbol.name_line <= chunk.end_line
    ]
    named = [symbol for symbol in starting if _is_named(query, symbol)]
    if named:
        heads = {head.line for head in query.heads.get(chunk.path, ())}
        # Stable: without a head among them they keep their order.
        return sorted(named, key=lambda symbol: symbol.name_line not in heads or not _is_symbol_of(query, symbol.name))
    whole = [symbol for symbol in inside if symbol.qualified_name == chunk.symbol]
    # Stable: the first of equals stays the first.
    starting.sort(key=lambda symbol: -_n_shared(query, f"{symbol.signature} {symbol.doc}"))
    return starting[:1] or whole[:1]


def _n_shared(query: RankingQuery, text: str) -> int:
    return query.word_forms.among(terms(text)).bit_count()


def _touches(symbol: Symbol, chunk: Chunk) -> bool:
    return symbol.start_line <= chunk.end_line and symbol.end_line >= chunk.start_line


def _is_named(query: RankingQuery, symbol: Symbol) -> bool:
    return _is_symbol_of(query, symbol.name) or _n_shared(query, symbol.name) > 0


def _is_symbol_of(query: RankingQuery, name: str) -> bool:
    return name.lower() in query.symbol_names


def _symbol_chunk(symbol: Symbol, chunk: Chunk, catalog: SearchCatalog) -> Chunk:
    lines = catalog.lines(chunk.path, symbol.start_line, symbol.end_line)
    return replace(
        chunk,
        kind=symbol.kind,
        symbol=symbol.qualified_name,
        names=(symbol.qualified_name,),
        start_line=symbol.start_line,
        end_line=symbol.end_line,
        column=1,
        text=lines,
        signature=symbol.signature,
        doc=symbol.doc,
    )
