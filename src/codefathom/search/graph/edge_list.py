"""Edges as a list: which of them are shown, in which order, and under which title. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from codefathom.errors import UsageError
from codefathom.facts.paths import has_tests
from codefathom.text.printable import show_name
from codefathom.types.choices import DIRECTIONS, EDGE_KINDS, Direction, EdgeKind

if TYPE_CHECKING:
    from codefathom.types.edges import Related

# Who uses something comes first, tests of it after those, what it uses last. A test that only imports it tells less.
_TITLES = (
    "called by",
    "called by, in tests",
    "references, in tests",
    "imported by",
    "imported by, in tests",
    "references",
    "calls",
    "imports",
)
_ONWARDS = ("calls", "imports")  # what a place itself needs
_KIND_OF: dict[str, EdgeKind] = {
    "called by": "calls",
    "calls": "calls",
    "imported by": "imports",
    "imports": "imports",
    "references": "references",
}


class EdgeChoice(NamedTuple):
    """The edges that a list shows: those in one direction or both, of any kind or of one of some."""

    direction: Direction = "both"
    kinds: tuple[EdgeKind, ...] = ()  # none: all
    is_kept: Callable[[str], bool] | None = None  # files that the list keeps to, by their paths

    def has(self, edge: Related) -> bool:
        """Return True for an edge that is shown."""
        is_onward = edge.kind in _ONWARDS
        if self.is_kept is not None and not self.is_kept(edge.path):
            return False
        if self.direction != "both" and is_onward != (self.direction == "callees"):
            return False
        is_kind = not self.kinds or _KIND_OF[edge.kind] in self.kinds
        return is_kind or ("tests" in self.kinds and not is_onward and has_tests(edge.path))

    @property
    def has_calls(self) -> bool:
        """True if what a symbol calls may be shown."""
        return self.direction != "callers" and (not self.kinds or "calls" in self.kinds)

    @property
    def has_references(self) -> bool:
        """True if uses of what a file defines may be shown."""
        return self.direction != "callees" and (not self.kinds or not {"references", "tests"}.isdisjoint(self.kinds))


def checked(choice: EdgeChoice) -> EdgeChoice:
    """Return a choice that somebody has written. Raises UsageError for a word that is none of those there are."""
    if choice.direction not in DIRECTIONS:
        raise UsageError(f"direction cannot be {choice.direction!r}", hint=f"choose one of {', '.join(DIRECTIONS)}")
    for kind in choice.kinds:
        if kind not in EDGE_KINDS:
            raise UsageError(f"kind cannot be {kind!r}", hint=f"choose one or more of {', '.join(EDGE_KINDS)}")
    return choice


def title(edge: Related) -> str:
    """Return the words under which an edge is listed."""
    return f"{edge.kind}, in tests" if edge.kind not in _ONWARDS and has_tests(edge.path) else edge.kind


def place_of_title(edge: Related) -> int:
    """Return the place of the words under which an edge is listed among all such words."""
    return _TITLES.index(title(edge))


def order(edge: Related) -> tuple[int, int, bool, str, int, str]:
    """Return the place of an edge in a list: the nearest steps first, then by title, of each the likely ones first."""
    return edge.depth, place_of_title(edge), not edge.likely, edge.path, edge.line, edge.name


def remarks(edge: Related, *, is_short: bool = False) -> list[str]:
    """Return what is unusual about an edge: that it is further steps away, and how it is known, if not by our parser.

    The short form does not tell which of the edges that are sure a compiler has written.
    """
    said = [f"step {edge.depth}"] if edge.depth > 1 else []
    if edge.certainty == "by-compiler":
        said += [] if is_short else ["by the compiler"]
    elif edge.certainty != "exact":
        unit = "" if is_short else " definitions"
        said.append("by name" if edge.n_definitions < 2 else f"by name, 1 of {edge.n_definitions}{unit}")
    return said


def place_in_file(edge: Related, own: str) -> str:
    """Return the line of an edge, the name that stands there, and the symbol around it, which may tell the name, too.

    The name is left out where it is that of `own`, a symbol that the list is about.
    """
    is_onward = edge.kind in _ONWARDS
    is_told = _last_part(edge.name) in (_last_part(own), _last_part(edge.symbol) if is_onward else "")
    words = [str(edge.line), *([] if is_told else [show_name(edge.name)])]
    words += [show_name(edge.symbol) if edge.kind == "calls" else f"in {show_name(edge.symbol)}"] if edge.symbol else []
    return " ".join((*words, *(f"({remark})" for remark in remarks(edge, is_short=True))))


def _last_part(name: str) -> str:
    return re.split(r"[.:#\\/]|->", name)[-1]


class EdgeGroup(NamedTuple):
    """Edges that follow each other in a list under one title and in one file."""

    title: str
    path: str
    edges: tuple[Related, ...]


def grouped(edges: Iterable[Related]) -> Iterator[EdgeGroup]:
    """Yield the edges of a list by title and file, without a change of their order."""
    for (words, path), own in groupby(edges, key=lambda edge: (title(edge), edge.path)):
        yield EdgeGroup(words, path, tuple(own))
