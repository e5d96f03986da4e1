"""The main types of a project: those that its files use and its texts for people name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log2

from codefathom.search.graph.centrality import Link
from codefathom.search.ranking.places import place_of
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import CALLABLE_KINDS, TYPE_KINDS, Symbol

_NAMESAKE = 2.0  # weight of a type that has the name of its file or of a folder above: it is what that is for
_NAME_IN_PROSE = re.compile(r"\b\w*[A-Z]\w*")  # a name in small letters could as well be a word of the language


ASIDE_WEIGHT = 0.2  # of a link: what only tests and prose lead to is less central


def stands_aside(path: str) -> bool:
    """Return True for tests, code for older versions, and prose: they use a project, and are not what it is for."""
    place = place_of(path)
    return place.is_aside or place.is_prose


def main_types(
    catalog: SearchCatalog,
    paths: Iterable[str],
    symbols: Mapping[str, Sequence[Symbol]],
    links: Iterable[Link],
    aside: Collection[str],
) -> list[tuple[str, Symbol]]:
    """Return the types of some files that the files of a project use, those of most weight first, with their paths.

    `symbols` are the definitions of the whole project by path, `aside` the files that stand aside. Here a link of a
    test counts as much as any other, as it uses what the project is for; and a type that many documents for people
    name counts more.
    """
    used: dict[tuple[str, str], float] = defaultdict(float)
    for link in links:
        used[link.target, link.name] += link.weight / (ASIDE_WEIGHT if link.source in aside else 1.0)
    n_documents = _n_documents(catalog, symbols)
    weighted = [
        (
            used[path, symbol.name]
            * (1 + log2(1 + n_documents[symbol.name]))
            * (_NAMESAKE if _is_namesake(symbol, path) else 1.0),
            path,
            symbol,
        )
        for path in paths
        if path not in aside
        for symbol in public_types(symbols[path])
        if (path, symbol.name) in used
    ]
    weighted.sort(key=lambda item: (-item[0], item[1], item[2].name_line))
    return [(path, symbol) for _, path, symbol in weighted]


def _n_documents(catalog: SearchCatalog, paths: Iterable[str]) -> Counter[str]:
    """Return for each name how many documents for people have it."""
    prose = sorted(path for path in paths if place_of(path).is_prose)
    counts: Counter[str] = Counter()
    for document in catalog.texts(prose):
        counts.update(set(_NAME_IN_PROSE.findall(document.text)))
    return counts


def public_types(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Return the types that stand in no other type and in no function; in a namespace they may."""
    around = {symbol.qualified_name for symbol in symbols if symbol.kind in TYPE_KINDS | CALLABLE_KINDS}
    return [
        symbol
        for symbol in symbols
        if symbol.kind in TYPE_KINDS
        and not symbol.name.startswith("_")
        and symbol.qualified_name.rpartition(".")[0] not in around
    ]


def _is_namesake(symbol: Symbol, path: str) -> bool:
    name = symbol.name.lower()
    return name == place_of(path).flat_stem or name in path.lower().split("/")[:-1]
