"""Which symbols are known by their first lines alone, as their grammar has lost them: where they end is a guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from codefathom.facts.reasons import READ_BY_HEAD
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import StoredDocument
from codefathom.types.symbols import FoundSymbol

_PATHS_AT_ONCE = 500


def marked(catalog: Catalog, symbols: Sequence[FoundSymbol]) -> tuple[FoundSymbol, ...]:
    """Return the symbols, each with a mark if it is known by its head alone."""
    paths = iter(dict.fromkeys(item.path for item in symbols))
    lines: dict[str, frozenset[str] | None] = {}
    while some := tuple(islice(paths, _PATHS_AT_ONCE)):
        lines.update((item.path, _lines(item)) for item in catalog.documents_at(some) if item.problems)
    return tuple(
        replace(item, by_head=True) if item.path in lines and _is_among(item, lines[item.path]) else item
        for item in symbols
    )


def _lines(document: StoredDocument) -> frozenset[str] | None:
    """Return the lines of the names of a document's symbols that are known by their heads; None: all of them."""
    notes = [note.values for note in document.problems if note.kind == READ_BY_HEAD]
    if any("lines" not in values for values in notes):
        return None
    listed = (values["lines"] for values in notes)
    return frozenset(line for lines in listed if isinstance(lines, tuple) for line in lines if isinstance(line, str))


def _is_among(item: FoundSymbol, lines: frozenset[str] | None) -> bool:
    return lines is None or str(item.symbol.name_line) in lines
