"""A change of files → the symbols that differ, what they reach, and the tests that touch them."""

from __future__ import annotations

from collections.abc import Sequence

from codefathom.facts.languages import CODE
from codefathom.facts.reasons import NOTHING_CHANGED, Note
from codefathom.parse import parse
from codefathom.project.impact.changed_symbols import changed_lines, changed_symbols
from codefathom.project.impact.file_changes import FileChanges, FileVersions
from codefathom.project.opening import OpenedProject
from codefathom.search.graph.compiler_graph import CompilerGraph, lent_graph
from codefathom.search.graph.impact import ChangedSymbol, Impact, in_order, limitations_of, reach
from codefathom.search.graph.impact_part import page_of
from codefathom.search.graph.touching_tests import ChangedText, touching_tests
from codefathom.source.revisions.history import past_changes
from codefathom.types import Document, ParsedDocument


def impact_of_change(opened: OpenedProject, files: FileChanges, *, depth: int, limit: int, offset: int = 0) -> Impact:
    """Return the reach of a change in the index: a page with at most `limit` items of each list; see `page_of`."""
    changes = [item for change in files.changes for item in symbols_of(opened, change)]
    with lent_graph(opened.catalog) as graph:
        whole = _whole(graph, opened, files, changes, depth)
    return page_of(whole, offset, limit)


def _whole(
    graph: CompilerGraph, opened: OpenedProject, files: FileChanges, changes: Sequence[ChangedSymbol], depth: int
) -> Impact:
    matches = reach(graph, changes, depth)
    edges = in_order(matches.touches)
    tests = touching_tests(matches.touches, changed_text(files), graph.resolver.language_of, opened.catalog.texts)
    unseen = (*files.unseen, *_unparsed(files))
    is_same = not files.changes and not files.unseen
    said = (Note(NOTHING_CHANGED),) if is_same else limitations_of(graph, changes, matches, opened.files_with)
    return Impact(
        tuple(changes), tuple(edges), len(edges), tuple(tests), said, unseen, 0, len(changes), len(tests), len(unseen)
    )


def changed_text(files: FileChanges) -> ChangedText:
    """Return the paths and lines of a change, and the history before it."""
    lines = [line for change in files.changes for line in changed_lines(_text(change.before), _text(change.after))]
    old = (change.before.path for change in files.changes if change.before is not None)
    paths = tuple(dict.fromkeys((*(change.path for change in files.changes), *old)))
    return ChangedText(paths, tuple(lines), past_changes(files.base) if files.base is not None else ())


def symbols_of(opened: OpenedProject, change: FileVersions) -> list[ChangedSymbol]:
    """Return the symbols in which the versions of a file differ."""
    return changed_symbols(_parsed(opened, change.before), _parsed(opened, change.after))


def _parsed(opened: OpenedProject, document: Document | None) -> ParsedDocument | None:
    return None if document is None else parse(document, opened.recipe.chain)


def _text(document: Document | None) -> str:
    return "" if document is None else document.text


def _unparsed(files: FileChanges) -> list[str]:
    """Return a sentence on files that are no code: what uses them is not seen."""
    others = sorted({change.path for change in files.changes if not _is_code(change)})
    if not others:
        return []
    names = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    return [f"{len(others)} changed files are not code, so their readers are not known: {names}"]


def _is_code(change: FileVersions) -> bool:
    document = change.after or change.before
    return document is not None and document.language in CODE
