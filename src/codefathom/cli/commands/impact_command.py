"""`fathom impact`: what a change reaches, and the tests that touch it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from codefathom.cli.asked_questions import impact_question
from codefathom.cli.display.impact_markdown import impact_markdown
from codefathom.cli.display.output import Style
from codefathom.cli.display.render import related_text
from codefathom.cli.extra_documents import documents
from codefathom.cli.face import Face
from codefathom.cli.options import ImpactOptions
from codefathom.cli.token_budget import ItemList, more_note, write_items
from codefathom.facts.reasons import NOTHING_CHANGED, Note
from codefathom.question.asker import result_of
from codefathom.search.graph.impact import ChangedSymbol, Impact
from codefathom.search.graph.impact_part import first_items, left_out, n_items, next_offset, page_of
from codefathom.shapes import impact_shape, to_json
from codefathom.text.printable import show_line, show_name
from codefathom.types import RelatedResult, Rest

_STDIN = "-"
_MARKS = {"added": "+", "removed": "-", "changed": "~"}
_LISTS = {"changes": "symbols", "reached": "places", "tests": "tests", "unseen": "notes"}


def run(options: ImpactOptions, face: Face) -> int:
    """Print symbols, places and tests. Return 1 only where --fail-on asks for it."""
    diff = _diff(options.change, face)
    with face.open() as engine:
        impact: Impact = result_of(engine, impact_question(options, diff))
    face.note_indexing()
    _write(impact, options, face)
    face.notes([*impact.unseen, impact.completeness.rstrip(".")])
    if not impact.n_changes and Note(NOTHING_CHANGED) not in impact.limitations:
        face.note("no symbol differs")
    failing = {"never": False, "reached": bool(impact.n_reached), "tests": bool(impact.n_tests)}
    return int(failing[options.fail_on])


def _diff(change: str, face: Face) -> str | None:
    """Return the text of a diff; None where revisions are named. A file of this name comes first."""
    if change != _STDIN and not os.path.isfile(change):
        return None
    return next(text for _, text in documents([change], (), face))


def _write(impact: Impact, options: ImpactOptions, face: Face) -> None:
    """Write what has room; the text form tells on stderr, in full, what is not seen."""
    is_whole = face.common.json or options.format == "markdown"
    listed = impact if is_whole else replace(impact, unseen=(), n_unseen=0)
    if options.tests_only and not face.common.json:
        listed = replace(listed, changes=(), n_changes=0, reached=(), n_reached=0)

    listed = page_of(listed, options.offset, options.limit)  # of the lists that are shown

    def text(n: int, style: Style) -> str:
        if face.common.json:
            return to_json(impact_shape(listed, n))
        part = first_items(listed, n)
        if options.format == "markdown":
            return impact_markdown(part, rest=left_out(listed, part), tests_only=options.tests_only)
        if options.tests_only:
            return "".join(f"{show_name(test.path)}\n" for test in part.tests)
        return "".join(f"{line}\n" for line in _lines(part, style))

    n = write_items(ItemList(n_items(listed), text, "results"), options.max_tokens, face)
    part = first_items(listed, n)
    rest = left_out(listed, part)
    parts = [f"{_LISTS[name]} {number}" for name, number in rest.items()]
    if parts:
        face.note(f"left out of each list: {', '.join(parts)}")
    if (offset := next_offset(listed, part)) is not None:
        face.note(more_note(Rest(sum(rest.values())), offset, "results"))


def _lines(part: Impact, style: Style) -> Iterator[str]:
    """Yield the lines of an impact."""
    if part.changes:
        yield "changed:"
        yield from (_change_line(item, style) for item in part.changes)
    yield from related_text(RelatedResult("", part.reached, ()), style).splitlines()
    if part.tests:
        yield "tests:"
        yield from (f"  {style.strong(show_name(test.path))}  {show_line(test.reason)}" for test in part.tests)


def _change_line(item: ChangedSymbol, style: Style) -> str:
    name = f"{item.kind} {show_name(item.symbol)}" if item.symbol else "outside of all symbols"
    return f"  {_MARKS[item.change]} {style.strong(f'{show_name(item.path)}:{item.line}')}  {name}"
