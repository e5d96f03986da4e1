"""Symbols that a query alone cannot describe: clauses, namespaces without a body, names with a colon. Pure.

In Haskell and Elixir a function is a run of equations or clauses, in Haskell with a type signature above them: the
whole run becomes one symbol. In C# and PHP a namespace may hold the rest of its file. In Ruby a name may be written
`:name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from codefathom.types import CALLABLE_KINDS, Symbol


def merge_clauses(symbols: Iterable[Symbol], language: str) -> list[Symbol]:
    """Return the symbols as a reader of the language counts and names them; expects the order of ParsedDocument."""
    adapt = _BY_LANGUAGE.get(language)
    return adapt(symbols) if adapt else list(symbols)


def _one_for_each_run(symbols: Iterable[Symbol]) -> list[Symbol]:
    return _merged(symbols, lambda symbol: True)


def _one_for_each_doc(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Another doc begins another function of the same name, with more or fewer parameters."""
    return _merged(symbols, lambda symbol: not symbol.doc)


def _merged(symbols: Iterable[Symbol], may_continue: Callable[[Symbol], bool]) -> list[Symbol]:
    """Join neighbours of one name and kind; the first gives signature and doc."""
    merged: list[Symbol] = []
    last: dict[str, int] = {}  # name of what is around a symbol → where in `merged` the latest symbol in it stands
    for symbol in symbols:
        around = symbol.qualified_name.removesuffix(symbol.name)
        index = last.get(around)
        if index is not None and _is_clause(merged[index], symbol) and may_continue(symbol):
            first = merged[index]
            end = max(first.end_line, symbol.end_line)
            merged[index] = replace(first, end_line=end, doc=first.doc or symbol.doc)
        else:
            last[around] = len(merged)
            merged.append(symbol)
    return merged


def _is_clause(first: Symbol, symbol: Symbol) -> bool:
    same = (first.kind, first.qualified_name) == (symbol.kind, symbol.qualified_name)
    return same and symbol.kind in CALLABLE_KINDS


def _in_open_namespaces(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Let a namespace without a body reach to the next one, and name what follows by it."""
    placed: list[Symbol] = []
    open_at: int | None = None
    for symbol in map(_dotted, symbols):
        if symbol.kind == "module" and symbol.signature.endswith(";"):
            open_at = len(placed)
            placed.append(symbol)
        elif open_at is None:
            placed.append(symbol)
        else:
            around = placed[open_at]
            placed[open_at] = replace(around, end_line=max(around.end_line, symbol.end_line))
            placed.append(replace(symbol, qualified_name=f"{around.qualified_name}.{symbol.qualified_name}"))
    return placed


def _dotted(symbol: Symbol) -> Symbol:
    if "\\" not in symbol.qualified_name:
        return symbol
    dotted = symbol.qualified_name.replace("\\", ".")
    return replace(symbol, name=symbol.name.replace("\\", "."), qualified_name=dotted)


def _without_colons(symbols: Iterable[Symbol]) -> list[Symbol]:
    return [_plain(symbol) if ":" in symbol.qualified_name else symbol for symbol in symbols]


def _plain(symbol: Symbol) -> Symbol:
    qualified = ".".join(part.lstrip(":") for part in symbol.qualified_name.split("."))
    signature = symbol.signature.lstrip(":")
    return replace(symbol, name=symbol.name.lstrip(":"), qualified_name=qualified, signature=signature)


_BY_LANGUAGE: dict[str, Callable[[Iterable[Symbol]], list[Symbol]]] = {
    "csharp": _in_open_namespaces,
    "elixir": _one_for_each_doc,
    "haskell": _one_for_each_run,
    "php": _in_open_namespaces,
    "ruby": _without_colons,
}
LANGUAGES = frozenset(_BY_LANGUAGE)
