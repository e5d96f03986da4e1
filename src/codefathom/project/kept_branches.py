"""`branch:` among the words of a question for symbols, connections or a map → the files that the answer keeps to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from codefathom.project.browsing import imports
from codefathom.project.by_head import marked
from codefathom.project.current_index import CurrentIndex
from codefathom.project.opening import OpenedProject
from codefathom.question.extents import limit_of
from codefathom.question.question import Question
from codefathom.search.filter.filter_options import IMPORT
from codefathom.stores.conditions import normalise
from codefathom.types import Chunk, SomeSymbols, Where

IsKept = Callable[[str], bool]


def kept_files(index: CurrentIndex, where: Where) -> IsKept:
    """Return whether a file of an index is in the branches that a condition names, by its path.

    Raises UsageError for a project, which has no branches, and for a branch that no repository has.
    """
    condition, catalog = normalise(index.condition(where)), index.believed().catalog

    @cache
    def is_kept(path: str) -> bool:
        return catalog.passes(condition, Chunk("", path, "", "", "", (), 0, 0, ""))

    return is_kept


def kept_symbols(opened: OpenedProject, question: Question, query: str, kind: str, is_kept: IsKept) -> SomeSymbols:
    """Return a page of the symbols, or imports, of such files."""
    catalog, path = opened.catalog, question.path
    if kind == IMPORT:
        every = imports(catalog, query, path)
    else:
        n_symbols = catalog.n_symbols(query, path=path, kind=kind)
        every = catalog.symbols(query, path=path, kind=kind, limit=n_symbols)
    kept = [item for item in every if is_kept(item.path)]
    page = kept[question.offset : question.offset + limit_of(question)]
    return SomeSymbols(tuple(page) if kind == IMPORT else marked(catalog, page), len(kept))
