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


def first_items(impact: Impact, n: int) -> Impact:
    """Return an impact with the first `n` of its items; no list uses up the room of the others."""
    n_changes, n_reached, n_tests, n_unseen = first_of_each(n, tuple(_sizes(impact).values()))
    return replace(
        impact,
        changes=impact.changes[:n_changes],
        reached=impact.reached[:n_reached],
        tests=impact.tests[:n_tests],
        unseen=impact.unseen[:n_unseen],
    )


def left_out(impact: Impact, part: Impact) -> Mapping[str, int]:
    """Return the number of items that a part lacks of each list, for the lists that are not whole in it."""
    whole, here = _sizes(impact), _sizes(part)
    return {name: size - here[name] for name, size in whole.items() if size > here[name]}


def in_project(impact: Impact, name: str) -> Impact:
    """Return an impact whose paths begin with their project."""
    return replace(
        impact,
        changes=tuple(replace(item, path=f"{name}/{item.path}") for item in impact.changes),
        reached=tuple(replace(edge, path=f"{name}/{edge.path}") for edge in impact.reached),
        tests=tuple(replace(test, path=f"{name}/{test.path}") for test in impact.tests),
    )


def _sizes(impact: Impact) -> dict[str, int]:
    return {
        "changes": len(impact.changes),
        "reached": len(impact.reached),
        "tests": len(impact.tests),
        "unseen": len(impact.unseen),
    }
