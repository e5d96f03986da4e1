"""A list of symbols that keeps to the files of the branches that `branch:` names."""

from __future__ import annotations

from collections.abc import Callable

from codefathom.project.browsing import imports
from codefathom.project.by_head import marked
from codefathom.project.opening import OpenedProject
from codefathom.question.extents import limit_of
from codefathom.question.question import Question
from codefathom.search.filter.filter_options import IMPORT
from codefathom.types import SomeSymbols


def kept_symbols(
    opened: OpenedProject, question: Question, query: str, kind: str, is_kept: Callable[[str], bool]
) -> SomeSymbols:
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
