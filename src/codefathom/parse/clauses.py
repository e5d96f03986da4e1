"""Symbols that a query alone cannot describe: clauses, namespaces without a body, signs in names. Pure.

In Haskell, Elixir and Erlang a function is a run of equations or clauses, in Haskell and Erlang with a type signature
above them: the whole run becomes one symbol. In C#, PHP, Perl, Erlang and Clojure a namespace may hold the rest of its
file. In Ruby a name may be written `:name`, in Perl and PowerShell `$name`.
"""

from __future__ import annotations

import re
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


def _one_for_each_specification(symbols: Iterable[Symbol]) -> list[Symbol]:
    """A doc or a specification begins another function of the same name, with more or fewer parameters."""
    clauses = _merged(symbols, lambda symbol: not symbol.doc and not symbol.signature.startswith("-spec"))
    return _in_open_namespaces(clauses)


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


# How the signature of a namespace without a body ends or, in Clojure, begins.
_OPEN_NAMESPACE = re.compile(r".*;|-module\(.*|\(ns\b.*")


def _in_open_namespaces(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Let a namespace without a body reach to the next one, and name what follows by it, but for those with a body."""
    placed: list[Symbol] = []
    open_at: int | None = None
    ends: dict[int, int] = {}  # the last line of each of them, by its place
    last_line = 0  # of a namespace with a body
    for symbol in map(_dotted, symbols):
        if symbol.kind == "module" and _OPEN_NAMESPACE.fullmatch(symbol.signature):
            open_at = len(placed)
            ends[open_at] = symbol.end_line
            placed.append(symbol)
            continue
        if symbol.kind == "module":
            last_line = max(last_line, symbol.end_line)
        if open_at is None or symbol.start_line <= last_line:
            placed.append(symbol)
        else:
            ends[open_at] = max(ends[open_at], symbol.end_line)
            placed.append(replace(symbol, qualified_name=f"{placed[open_at].qualified_name}.{symbol.qualified_name}"))
    for place, end_line in ends.items():
        placed[place] = replace(placed[place], end_line=end_line)
    return placed


def _dotted(symbol: Symbol) -> Symbol:
    if "\\" not in symbol.qualified_name and "::" not in symbol.qualified_name:
        return symbol
    name, qualified = (_SEPARATOR.sub(".", text) for text in (symbol.name, symbol.qualified_name))
    return replace(symbol, name=name, qualified_name=qualified)


_SEPARATOR = re.compile(r"\\|::")


def _without_colons(symbols: Iterable[Symbol]) -> list[Symbol]:
    return [_plain(symbol, _COLON) if ":" in symbol.qualified_name else symbol for symbol in symbols]


def _without_signs(symbols: Iterable[Symbol]) -> list[Symbol]:
    return [_plain(symbol, _SIGN) for symbol in symbols]


def _in_packages(symbols: Iterable[Symbol]) -> list[Symbol]:
    return _in_open_namespaces(_without_signs(symbols))


_COLON = re.compile(r"^:+")
_SIGN = re.compile(r"^[$@%]?(?:(?:script|global|local|private):)?", re.IGNORECASE)


def _plain(symbol: Symbol, mark: re.Pattern[str]) -> Symbol:
    """Return a symbol without the mark before its name and before the names around it."""
    qualified = ".".join(mark.sub("", part) for part in symbol.qualified_name.split("."))
    signature = mark.sub("", symbol.signature) if mark is _COLON else symbol.signature
    return replace(symbol, name=mark.sub("", symbol.name), qualified_name=qualified, signature=signature)


def _with_functions_of_schemas(symbols: Iterable[Symbol]) -> list[Symbol]:
    """The schema before the name of a function makes no method of it."""
    return [replace(symbol, kind="function") if symbol.kind == "method" else symbol for symbol in symbols]


def _with_constants(symbols: Iterable[Symbol]) -> list[Symbol]:
    return [
        replace(symbol, kind="constant") if symbol.kind == "variable" and _CONST.match(symbol.signature) else symbol
        for symbol in symbols
    ]


_CONST = re.compile(r"[^=;]*\bconst\b")


_BY_LANGUAGE: dict[str, Callable[[Iterable[Symbol]], list[Symbol]]] = {
    "clojure": _in_open_namespaces,
    "csharp": _in_open_namespaces,
    "elixir": _one_for_each_doc,
    "erlang": _one_for_each_specification,
    "haskell": _one_for_each_run,
    "objc": _with_constants,
    "perl": _in_packages,
    "php": _in_open_namespaces,
    "powershell": _without_signs,
    "ruby": _without_colons,
    "sql": _with_functions_of_schemas,
}
LANGUAGES = frozenset(_BY_LANGUAGE)
