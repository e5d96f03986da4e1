"""`@path`, `@@symbol topic` and `in:Class` → the part of the index that a question is kept to."""

from __future__ import annotations

import re

from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import MAX_PATH, glob_expression, is_glob, members_of
from codefathom.search.question.query import Query
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.conditions import combine
from codefathom.text.path_spelling import canonical, paths_below, paths_named
from codefathom.types.where import Filter, FilterGroup, Where

MAX_PATHS = 200  # each is looked for among all files
MAX_SYMBOLS = 40  # each takes nine of the conditions that a filter may have
_MAX_SHOWN = 200  # characters of a name in a message


def scope(query: Query, catalog: SearchCatalog) -> Where | None:
    """Return the condition that the marks of a query mean. Raises UsageError for a path or symbol that is not here."""
    for marks, kind, most in ((query.paths, "@path", MAX_PATHS), (query.symbols, "@@symbol", MAX_SYMBOLS)):
        if len(marks) > most:
            hint = f"give at most {most}; a folder such as @src/ stands for all files in it"
            raise UsageError(f"the question has {len(marks):,} marks {kind}", hint=hint)
    parts = [_paths(query, catalog)]
    if query.members_of:
        parts.append(_members(query.members_of, catalog))
    elif query.symbols:
        parts.append(FilterGroup("OR", tuple(_members(symbol, catalog) for symbol in query.symbols)))
    return combine(*parts)


def _paths(query: Query, catalog: SearchCatalog) -> Where | None:
    if not query.paths:
        return None
    paths = [document.path for document in catalog.documents()]
    chosen = tuple(path for pattern in query.paths for path in _matching(pattern, paths))
    return Filter("path", "in_cased", chosen)


def _matching(pattern: str, paths: list[str]) -> list[str]:
    """Resolve one @path: the exact path, else every path that ends with it, else every path below that folder, else
    every one that it matches as a pattern."""
    matches = paths_named(pattern, paths) or paths_below(pattern, paths) or _globbed(pattern, paths)
    if not matches:
        name = canonical(pattern).strip("/").rpartition("/")[2].lower()
        near = [path for path in paths if name in canonical(path).lower()][:3]
        hint = (
            f"did you mean {', '.join('@' + path for path in near)}?"
            if near
            else "without the @ its words are searched for; `fathom status` shows what the index contains"
        )
        raise UsageError(f"no indexed file matches @{_short(pattern)}", hint=hint)
    return matches


def _globbed(pattern: str, paths: list[str]) -> list[str]:
    if not is_glob(pattern) or len(pattern) > MAX_PATH:
        return []
    expression = re.compile(glob_expression(pattern), re.IGNORECASE)
    return [path for path in paths if expression.search(path)]


def _short(name: str) -> str:
    return name if len(name) <= _MAX_SHOWN else f"{name[:_MAX_SHOWN]}…"


def _members(name: str, catalog: SearchCatalog) -> Where:
    dotted = re.sub(r"::|#|->|\\", ".", name)
    if not catalog.symbols_named(dotted.rpartition(".")[2]):
        near = catalog.similar_names(dotted.rpartition(".")[2], limit=3)
        hint = (
            f"did you mean {', '.join('@@' + other for other in near)}?"
            if near
            else "`fathom symbols` lists all symbols"
        )
        raise UsageError(f"no symbol is called {_short(name)!r}", hint=hint)
    return members_of(dotted)
