"""One function written as several clauses → one symbol. Pure.

In Haskell and Elixir a function is a run of equations or clauses, in Haskell with a type signature above them. A reader
looks for the whole run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from codefathom.types import Symbol

LANGUAGES = frozenset({"elixir", "haskell"})

_CLAUSES = frozenset({"function", "method", "macro"})


def merge_clauses(symbols: Iterable[Symbol], language: str) -> list[Symbol]:
    """Join neighbours of one name and kind; the first gives signature and doc. Expects the order of ParsedDocument."""
    merged: list[Symbol] = []
    last: dict[str, int] = {}  # name of what is around a symbol → where in `merged` the latest symbol in it stands
    for symbol in symbols:
        around = symbol.qualified_name.removesuffix(symbol.name)
        index = last.get(around)
        if index is not None and _continues(merged[index], symbol, language):
            first = merged[index]
            end = max(first.end_line, symbol.end_line)
            merged[index] = replace(first, end_line=end, doc=first.doc or symbol.doc)
            continue
        last[around] = len(merged)
        merged.append(symbol)
    return merged


def _continues(first: Symbol, symbol: Symbol, language: str) -> bool:
    if symbol.kind not in _CLAUSES or (first.kind, first.qualified_name) != (symbol.kind, symbol.qualified_name):
        return False
    # In Elixir another doc begins another function of the same name, with more or fewer parameters.
    return language == "haskell" or not symbol.doc
