"""The part of an impact that has room somewhere: changes, places, tests and what is not seen take turns. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from codefathom.text.packing import first_of_each

if TYPE_CHECKING:
    from codefathom.search.graph.impact import Impact


def n_items(impact: Impact) -> int:
    """Return the number of items that an impact lists."""
    return sum(_sizes(impact).values())


def page_of(whole: Impact, offset: int, limit: int) -> Impact:
    """Return a page of an impact that has all of its items: at most `limit` of each list, behind `offset` items."""
    starts = first_of_each(offset, tuple(_sizes(whole).values()))
    return replace(_cut(whole, starts, tuple(start + limit for start in starts)), offset=offset)


def first_items(impact: Impact, n: int) -> Impact:
    """Return a page with its first `n` items only; no list uses up the room of the others."""
    totals = tuple(_totals(impact).values())
    starts, ends = first_of_each(impact.offset, totals), first_of_each(impact.offset + n, totals)
    return _cut(impact, (0,) * len(totals), tuple(end - start for start, end in zip(starts, ends, strict=True)))


def left_out(impact: Impact, part: Impact) -> Mapping[str, int]:
    """Return the number of items behind those of a part, for each list that goes on; those of a limit, too."""
    starts, here = first_of_each(impact.offset, tuple(_totals(impact).values())), _sizes(part)
    behind = {
        name: total - start - here[name] for (name, total), start in zip(_totals(impact).items(), starts, strict=True)
    }
    return {name: n for name, n in behind.items() if n > 0}


def next_offset(impact: Impact, part: Impact) -> int | None:
    """Return the place at which the page behind a part begins; None where no list goes on."""
    n_shown = n_items(part)
    return impact.offset + n_shown if n_shown and left_out(impact, part) else None


def _cut(impact: Impact, starts: tuple[int, ...], ends: tuple[int, ...]) -> Impact:
    changes, reached, tests, unseen = map(slice, starts, ends)
    return replace(
        impact,
        changes=impact.changes[changes],
        reached=impact.reached[reached],
        tests=impact.tests[tests],
        unseen=impact.unseen[unseen],
    )


def in_project(impact: Impact, name: str) -> Impact:
    """Return an impact whose paths begin with their project."""
    return replace(
        impact,
        changes=tuple(replace(item, path=f"{name}/{item.path}") for item in impact.changes),
        reached=tuple(edge.below(name) for edge in impact.reached),
        tests=tuple(replace(test, path=f"{name}/{test.path}") for test in impact.tests),
    )


def _sizes(impact: Impact) -> dict[str, int]:
    return {
        "changes": len(impact.changes),
        "reached": len(impact.reached),
        "tests": len(impact.tests),
        "unseen": len(impact.unseen),
    }


def _totals(impact: Impact) -> dict[str, int]:
    """Return the sizes of the whole lists."""
    return {
        "changes": impact.n_changes,
        "reached": impact.n_reached,
        "tests": impact.n_tests,
        "unseen": impact.n_unseen,
    }
