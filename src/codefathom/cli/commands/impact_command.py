"""`fathom impact`: what a change reaches, and the tests that touch it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from codefathom.cli.display.render import related_text
from codefathom.cli.extra_documents import documents
from codefathom.cli.face import Face
from codefathom.cli.options import ImpactOptions
from codefathom.search.graph.impact import ChangedSymbol, Impact
from codefathom.shapes import plain_shape, to_json
from codefathom.text.printable import show_line, show_name
from codefathom.types import RelatedResult

_STDIN = "-"
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


def run(options: ImpactOptions, face: Face) -> int:
    """Print symbols, places and tests. Return 1 only where --fail-on asks for it."""
    diff = _diff(options.change, face)
    with face.open() as engine:
        if diff is None:
            impact = engine.impact(options.change, depth=options.depth, limit=options.limit)
        else:
            impact = engine.impact(diff=diff, depth=options.depth, limit=options.limit)
    face.note_indexing()
    if face.common.json:
        face.write(to_json(plain_shape(impact)))
    elif options.tests_only:
        face.write("".join(f"{show_name(test.path)}\n" for test in impact.tests))
    else:
        face.write("".join(f"{line}\n" for line in _lines(impact, face)))
    face.notes([*impact.unseen, impact.completeness.rstrip(".")])
    if not impact.changes:
        face.note("no symbol differs")
    failing = {"never": False, "reached": bool(impact.n_reached), "tests": bool(impact.tests)}
    return int(failing[options.fail_on])


def _diff(change: str, face: Face) -> str | None:
    """Return the text of a diff; None where revisions are named. A file of this name comes first."""
    if change != _STDIN and not os.path.isfile(change):
        return None
    return next(text for _, text in documents([change], (), face))


def _lines(impact: Impact, face: Face) -> Iterator[str]:
    if impact.changes:
        yield "changed:"
        yield from (_change_line(item, face) for item in impact.changes)
    yield from related_text(RelatedResult("", impact.reached, ""), face.style).splitlines()
    if impact.n_reached > len(impact.reached):
        yield f"  {impact.n_reached - len(impact.reached)} more places; a higher -n shows them"
    if impact.tests:
        yield "tests:"
        yield from (f"  {face.style.strong(show_name(test.path))}  {show_line(test.reason)}" for test in impact.tests)


def _change_line(item: ChangedSymbol, face: Face) -> str:
    name = f"{item.kind} {show_name(item.symbol)}" if item.symbol else "outside of all symbols"
    return f"  {_MARKS[item.change]} {face.style.strong(f'{show_name(item.path)}:{item.line}')}  {name}"
