"""What a change affects, as Markdown: for a comment on a pull request. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from codefathom.search.graph.impact import ChangedSymbol, Impact
from codefathom.text.printable import show_line, show_name
from codefathom.types import Related

_TICKS = re.compile(r"`+")
_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&-])")


def impact_markdown(impact: Impact, *, rest: Mapping[str, int], tests_only: bool = False) -> str:
    """Return the tests to run, what uses the changed code, the change itself, and what cannot be seen.

    `rest` says how many items of each list are not in `impact`. What comes from the repository stands in code spans, or
    has its signs escaped: it can make no link, no picture and no mention of a person.
    """
    parts = [*_section("Tests to run", _tests(impact), rest.get("tests", 0), is_open=True)]
    if not tests_only:
        parts += _section("What uses the changed code", map(_edge, impact.reached), rest.get("reached", 0))
        parts += _section("The change", map(_change, impact.changes), rest.get("changes", 0))
    unseen = [f"- {_escaped(sentence)}" for sentence in impact.unseen]
    limits = f"This is a lower bound. {_escaped(impact.completeness)}".strip()
    return "\n".join([*parts, *_section("Not seen", unseen, rest.get("unseen", 0)), limits, ""])


def _section(title: str, lines: Iterable[str], n_more: int, *, is_open: bool = False) -> Iterator[str]:
    shown = list(lines)
    count = len(shown) + n_more
    if is_open:
        yield f"### {title}: {count}\n"
    elif count:
        yield f"<details><summary>{title}: {count}</summary>\n"
    yield from shown
    if n_more:
        yield f"- … and {n_more} more"
    if shown or n_more:
        yield ""
    if not is_open and count:
        yield "</details>\n"


def _tests(impact: Impact) -> Iterator[str]:
    for test in impact.tests:
        yield f"- {_code(show_name(test.path))} {_escaped(show_line(test.reason))}"


def _edge(edge: Related) -> str:
    inside = f" in {_code(show_name(edge.symbol))}" if edge.symbol else ""
    by_name = "" if edge.certainty != "by-name" else " (by name alone)"
    return (
        f"- {_code(f'{show_name(edge.path)}:{edge.line}')} {edge.kind} {_code(show_name(edge.name))}{inside}{by_name}"
    )


def _change(item: ChangedSymbol) -> str:
    name = f"{item.kind} {_code(show_name(item.symbol))}" if item.symbol else "outside of all symbols"
    return f"- {item.change}: {_code(f'{show_name(item.path)}:{item.line}')} {name}"


def _code(text: str) -> str:
    """Return a code span, whose marks are longer than any run of backticks in it."""
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    mark = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{mark}{pad}{text}{pad}{mark}"


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\1", text)
