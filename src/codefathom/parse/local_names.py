"""Names of local values: what a function, a loop or a block binds hides the names outside of it.

Captures of the queries: `@local` on a name that is bound, `@local.value` where it hides no type, `@local.object` where
it hides nothing but what stands before a dot, `@local.type` on the parameter of a type; `@local.outer` on a name that a
scope takes from outside; `@local.scope` on what such names live in, with its body in the field `body`, if anywhere;
`@local.barrier` on what keeps its names to itself, as the body of a class does; `@local.declaration` on a
statement up to whose end its names still mean what they meant before.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from tree_sitter import Node

from codefathom.parse.outline import Definition
from codefathom.types import VALUE_KINDS

_Captured: TypeAlias = Callable[[str], Iterable[Node]]
_UseKind = Literal["import", "call", "type"]

# The captures of names, and the uses that such a name hides; all but those from outside hide what stands before a dot.
_HIDDEN_USES: dict[str, frozenset[_UseKind]] = {
    "local": frozenset({"call", "type"}),
    "local.value": frozenset({"call"}),
    "local.object": frozenset(),
    "local.type": frozenset({"type"}),
}
_OUTER = "local.outer"
_RECEIVERS = frozenset({b"self", b"cls"})  # parameters, but what stands behind them is no secret


class _Region(NamedTuple):
    """A scope, a barrier or a declaration."""

    start: int  # in bytes
    end: int
    kind: Literal["scope", "barrier", "declaration"]
    node: Node


class _Place(NamedTuple):
    """A name where it is bound."""

    start: int
    name: bytes
    capture: str
    is_definition: bool = False  # `start` is that of the definition, outside of the scope that this makes


class _Binding(NamedTuple):
    """A part of the document in which a name is a local one, or one from outside."""

    start: int
    end: int
    capture: str

    def order(self) -> tuple[int, int, bool]:
        """Return a key that sorts outer parts before inner ones.

        What a scope takes from outside, or defines, is no value of its own, whatever is assigned to it.
        """
        return self.start, -self.end, self.capture == _OUTER


class _Meanings:
    """The meanings of a name, place by place; parts that lie in each other may be many."""

    def __init__(self, bindings: Iterable[_Binding]) -> None:
        self._starts, self._captures = [0], [""]
        around: list[_Binding] = []
        for binding in sorted(bindings, key=_Binding.order):
            self._close(around, binding.start)
            around.append(binding)
            self._add(binding.start, binding.capture)
        self._close(around, sys.maxsize)

    def at(self, place: int) -> str:
        """Return the capture of the innermost binding; "" where there is none."""
        return self._captures[bisect_right(self._starts, place) - 1]

    def _close(self, around: list[_Binding], place: int) -> None:
        while around and around[-1].end <= place:
            end = around.pop().end
            self._add(end, around[-1].capture if around else "")

    def _add(self, start: int, capture: str) -> None:
        self._starts.append(start)
        self._captures.append(capture)


class LocalNames:
    """The local names of a document, of those that are used in it."""

    def __init__(
        self, captured: _Captured, definitions: Iterable[Definition], data: bytes, used: Collection[str]
    ) -> None:
        used_names = {name.encode() for name in used} - _RECEIVERS
        places = list(_places(captured, data, used_names))
        self._meanings: dict[str, _Meanings] = {}
        if places:
            names = {place.name for place in places}
            places += _outer_places(captured, definitions, data, names)
            bindings = _bindings(_regions(captured), places)
            self._meanings = {name: _Meanings(items) for name, items in bindings.items()}

    def binds(self, name: str, place: int) -> bool:
        """Return True if a name that stands at a place is that of a local value or type."""
        meanings = self._meanings.get(name)
        return meanings is not None and meanings.at(place) in _HIDDEN_USES

    def hides(self, name: str, place: int, kind: _UseKind) -> bool:
        """Return True if a use of a name alone is one of a local value or type."""
        meanings = self._meanings.get(name)
        return meanings is not None and kind in _HIDDEN_USES.get(meanings.at(place), ())


def _places(captured: _Captured, data: bytes, names: Collection[bytes]) -> Iterator[_Place]:
    for capture in _HIDDEN_USES:
        for node in captured(capture):
            start = node.start_byte
            name = data[start : node.end_byte]
            if name in names:
                yield _Place(start, name, capture)


def _outer_places(
    captured: _Captured, definitions: Iterable[Definition], data: bytes, names: Collection[bytes]
) -> Iterator[_Place]:
    """Yield the names that a scope takes from outside, and those of its functions and classes, which are symbols."""
    for node in captured(_OUTER):
        name = data[node.start_byte : node.end_byte]
        if name in names:
            yield _Place(node.start_byte, name, _OUTER)
    for item in definitions:
        if item.name is not None and item.kind not in VALUE_KINDS:
            name = data[item.name.start_byte : item.name.end_byte]
            if name in names:
                yield _Place(item.node.start_byte, name, _OUTER, True)


def _regions(captured: _Captured) -> Iterator[_Region]:
    kinds: tuple[Literal["scope", "barrier", "declaration"], ...] = ("scope", "barrier", "declaration")
    for kind in kinds:
        yield from (_Region(node.start_byte, node.end_byte, kind, node) for node in captured(f"local.{kind}"))


def _bindings(regions: Iterable[_Region], places: Iterable[_Place]) -> dict[str, set[_Binding]]:
    """Return by name where it is bound; a name outside of all scopes is none of theirs."""
    ordered = sorted(regions, key=lambda region: (region.start, -region.end, region.kind == "declaration"))
    bindings: dict[str, set[_Binding]] = defaultdict(set)
    around: list[_Region] = []
    n_opened = 0
    for place in sorted(places, key=lambda item: (item.start, not item.is_definition)):
        while n_opened < len(ordered) and ordered[n_opened].start + place.is_definition <= place.start:
            _leave(around, ordered[n_opened].start)
            around.append(ordered[n_opened])
            n_opened += 1
        _leave(around, place.start)
        binding = _binding(place, around)
        if binding is not None:
            bindings[place.name.decode("utf-8", "replace")].add(binding)
    return bindings


def _leave(around: list[_Region], place: int) -> None:
    while around and around[-1].end <= place:
        around.pop()


def _binding(place: _Place, around: Sequence[_Region]) -> _Binding | None:
    """Return the part of the innermost scope around a place that sees its name."""
    declared = 0
    for region in reversed(around):
        if region.kind == "declaration":
            declared = declared or region.end
        elif region.kind == "barrier":
            return None
        else:
            start = region.start if place.capture == "local.type" else _body_start(region)
            is_later = place.capture != _OUTER and declared
            return _Binding(max(start, declared) if is_later else start, region.end, place.capture)
    return None


def _body_start(region: _Region) -> int:
    """Return the start of the body of a scope: names before it, such as those of default values, are outer ones."""
    body = region.node.child_by_field_name("body")
    return body.start_byte if body is not None else region.start
