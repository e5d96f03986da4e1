"""A map of a large project for who asks, works on files or looks into folders, without ranking all files anew.

Who begins at the hits of a question goes to what they use, and from there on. With each step fewer readers go on, so
what is near is reached from few files: only their links are made. The other files keep the ranks that they have without
a question. In a small project all files are ranked for each question (see `project_map`): that is exact, and takes up
to some seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from heapq import heapify, heappop, heappush

from codefathom.search.graph.centrality import Link, Ranks
from codefathom.search.graph.main_types import ASIDE_WEIGHT, stands_aside
from codefathom.search.graph.project_map import (
    FOLLOWED_FROM_START,
    QUESTION_SHARE,
    MapParts,
    MapRequest,
    check_request,
    definitions_in,
    first_pieces,
    inside,
    links_of,
    map_parts,
    ordered,
    preferred,
    shown,
    with_main_types,
)
from codefathom.search.graph.reference_graph import ReferenceGraph
from codefathom.search.graph.resolve import family
from codefathom.search.graph.usual_map import is_large, ranks_now
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import VALUE_KINDS, Symbol

_MOST_READ = 60  # files whose links are made
_LEAST_READERS = 1e-4  # of all of them: a file that fewer come to is not gone on from
_MOST_DEFINITIONS = 5_000  # of one name


def map_for(catalog: SearchCatalog, request: MapRequest, most: int) -> MapParts:
    """Return the first parts of a map that asks for something: all of them in a small project, else `most`.

    Raises UnindexedPathError, see `map_parts`.
    """
    languages = catalog.languages()
    if not is_large(languages):
        return map_parts(catalog, request)
    check_request(request, languages)
    most = max(most, 1)  # what is no number of tokens is refused where the map is fitted
    ranks = ranks_now(catalog)
    then = ranks.then
    preference = preferred(request)
    near = _reached(catalog, preference) if preference else Ranks({}, {})
    # Readers who begin anywhere come to a file as often as those who ask nothing, and as many follow each beginning.
    far = (1 - QUESTION_SHARE) / QUESTION_SHARE * sum(near.files.values()) if near.files else 1.0
    files = {path: near.files.get(path, 0.0) + far * then.files.get(path, 0.0) for path in languages}
    names = dict(near.names)

    @cache
    def symbols_of(path: str) -> Sequence[Symbol]:
        symbols = definitions_in(catalog, path)
        weights = then.names.get(path, ())
        if path not in ranks.changed and len(weights) == len(symbols):  # else a row is damaged, and was left out
            for symbol, weight in zip(symbols, weights, strict=True):
                names[path, symbol.name] = near.names.get((path, symbol.name), 0.0) + far * weight
        return symbols

    order = ordered(inside(languages, request.folders), Ranks(files, {}))
    pieces = first_pieces(order, symbols_of, Ranks(files, names), most)[:most]
    if not preference:
        unchanged = set(order) - ranks.changed
        main = (
            (path, symbols_of(path)[place])
            for path, place in then.main
            if path in unchanged and len(symbols_of(path)) == then.n_symbols[path]
        )
        pieces = with_main_types(pieces, main, order)[:most]
    n_symbols = sum(len(symbols_of(path)) if path in ranks.changed else then.n_symbols.get(path, 0) for path in order)
    n_shown = sum(piece.symbol is None for piece in pieces)
    n_behind = len(order) - n_shown, n_symbols - (len(pieces) - n_shown)
    return MapParts(shown(pieces, languages), len(order), n_behind=n_behind, limitations=ranks.limitations)


def _reached(catalog: SearchCatalog, preference: Mapping[str, float]) -> Ranks:
    """Return how many readers come to each file, and to each name in it, who begin at some files.

    All of them that wait at one file go on together, those of the fullest file first (Andersen, Chung and Lang, Local
    graph partitioning using PageRank vectors, 2006).
    """
    graph = ReferenceGraph(catalog)
    definers = _Definers(graph)
    files, names = defaultdict[str, float](float), defaultdict[tuple[str, str], float](float)
    inside_index = {path: weight for path, weight in preference.items() if path in definers.languages}
    total = sum(inside_index.values())
    waiting = {path: QUESTION_SHARE * weight / total for path, weight in inside_index.items()}
    fullest = [(-share, path) for path, share in waiting.items()]
    heapify(fullest)
    links: dict[str, list[Link]] = {}
    while waiting:
        least, path = heappop(fullest)
        if waiting.get(path) != -least:  # more has come since then
            continue
        share = waiting.pop(path)
        files[path] += share
        if share < _LEAST_READERS:
            for other, few in waiting.items():
                files[other] += few
            break
        if path not in links and len(links) == _MOST_READ:
            continue
        if path not in links:
            weight = ASIDE_WEIGHT if stands_aside(path) else 1.0
            links[path] = list(links_of(graph, path, definers, weight, only_imported=False))
        out = max(sum(link.weight for link in links[path]), 1.0)
        for link in links[path]:
            names[link.target, link.name] += share * link.weight / out
            more = FOLLOWED_FROM_START * share * link.weight / out
            waiting[link.target] = waiting.get(link.target, 0.0) + more
        for target in {link.target for link in links[path]}:
            heappush(fullest, (-waiting[target], target))
    return Ranks(files, names)


class _Definers:
    """The documents with a definition of a name, and whether that is outer, looked up when they are asked for."""

    def __init__(self, graph: ReferenceGraph) -> None:
        self.languages = graph.resolver.language_of
        self._catalog = graph.catalog
        self._kept: dict[str, dict[str, dict[str, bool]]] = {}  # by name, then by family of languages

    def get(self, key: tuple[str, str], default: Mapping[str, bool]) -> Mapping[str, bool]:
        """Return those in languages of one family, as a mapping of families and names would."""
        own_family, name = key
        if name not in self._kept:
            groups = self._kept[name] = defaultdict[str, dict[str, bool]](dict)
            for place in self._catalog.definitions(name, limit=_MOST_DEFINITIONS):
                if place.name == name and (place.is_outer or place.kind not in VALUE_KINDS):
                    group = groups[family(self.languages[place.path])]
                    group[place.path] = group.get(place.path, False) or place.is_outer
        return self._kept[name].get(own_family, default)
