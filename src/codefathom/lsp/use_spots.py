"""All places of a use in a text. The index keeps the first line in each symbol; a text shows the others. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from codefathom.text.code_only import code_only
from codefathom.types import VALUE_KINDS, Symbol

_MOST_BEFORE = 200  # characters
_MARK = r"(?:\?\.|!\.|&\.|\.|->|::|\\)"
_LAST_MARK = r"(?:(?:\?\.|!\.|&\.|\.|::|\\)\s*|->)"  # behind an arrow and a blank stands the type that is returned
_CHAIN = re.compile(rf"((?:[\w$@]+[!?]?\s*{_MARK}\s*)*[\w$@]+[!?]?)?\s*{_LAST_MARK}$")
_BEGINS_ARGUMENT = re.compile(r"[(,{\[]\s*$")
_IS_SET = re.compile(r"\s*=(?![=>~])")
_ENDS_TYPE = re.compile(r"(?<!:):[ \t]*$|[|&]\s*$|\bextends\s+$")
_OF_ITSELF = ("self", "this", "cls", "$this", "Self")  # before a method that calls itself
_BARE_MEMBERS = frozenset(("java", "csharp", "kotlin", "scala", "swift", "cpp", "ruby", "dart", "groovy"))
_GETS_NAME = re.compile(r"\bas\s+\Z")
_IN_IMPORT = re.compile(r"(?m)^\s*(?:from\s+\S+\s+)?import\b[^\n;]*\Z")
_IS_RENAMED = re.compile(r"\s+as\s")
_IS_KEY = re.compile(r"\s*:(?!:)")


class Spot(NamedTuple):
    """Where a name stands: the line from 1, the column in characters from 0."""

    line: int
    column: int


class _Standing(NamedTuple):
    """A place at which a name stands as code."""

    spot: Spot
    before: str  # the words before it
    around: str  # qualified name of the symbol around it, "" outside of all


class UseSpots:
    """The text of a file with its symbols, in which the uses of names are looked up."""

    def __init__(self, text: str, language: str, symbols: Sequence[Symbol]) -> None:
        """`symbols` are in the order of their lines, outer before inner."""
        self._text, self._language, self._symbols = text, language, symbols
        self._standing: dict[str, Mapping[str, Sequence[_Standing]]] = {}
        self._set_in: set[tuple[str, str]] = set()  # names, and the symbols in which they are given a value

    def of_use(self, name: str, line: int, container: str, *, also_top: bool = False) -> list[Spot]:
        """Return where a name is used as it is on a line: in the symbol around it, with the same words before it.

        With `also_top` also where it stands outside of all symbols without a word before it, as in imports. There is
        none for a line on which the name does not stand.
        """
        standing = self._named(name)
        own = standing.get(container, ())
        words = {item.before for item in own if item.spot.line == line}
        spots = [item.spot for item in own if item.before in words]
        if also_top and container and ("" in words or not words):  # in a text it stands in no code
            top = (item.spot for item in standing.get("", ()) if not item.before)
            spots += [spot for spot in top if not self._is_of_another(spot, name)]
        # Elsewhere what stands behind `as` can be a type.
        return [spot for spot in spots if self._language != "python" or not self._gets_name(spot)]

    def in_imports(self, name: str, line: int, container: str) -> list[Spot]:
        """Return where an imported name stands: on the line of the import, and alone beside it, as in what is exported.

        The lines of a long import are not all known, so the names alone in the symbol around it count, and so do those
        in other symbols, unless a parameter there has the name.
        """
        others = {item.qualified_name for item in self._symbols if not _stands_in(name, item.signature)}
        spots = [
            item.spot
            for around, own in self._named(name).items()
            if around in (container, "") or (around in others and (name, around) not in self._set_in)
            for item in own
            if (item.spot.line == line and around == container)
            or not (item.before or self._is_of_another(item.spot, name))
        ]
        return sorted(spot for spot in spots if not self._gets_name(spot))

    def renamed(self, name: str, new_name: str) -> list[Spot]:
        """Return where an import gives a name another one, which is used: the first name of `one as two`."""
        gives = re.compile(rf"\s+as\s+{re.escape(new_name)}(?![\w$])")
        spots = (item.spot for own in self._named(name).values() for item in own)
        ends = ((spot, self._starts[spot.line - 1] + spot.column + len(name)) for spot in spots)
        return [spot for spot, end in ends if gives.match(self._code, end)]

    def in_itself(self, symbol: Symbol) -> list[Spot]:
        """Return where a symbol uses itself, as a function that calls itself. None where a parameter has its name."""
        name = symbol.name
        if _stands_in(name, symbol.signature.replace(name, "", 1)):
            return []
        words = _OF_ITSELF if symbol.kind == "method" else ("",)
        if symbol.kind == "method" and self._language in _BARE_MEMBERS:
            words = ("", *words)
        inside = set(self.inside(name, symbol.qualified_name))
        standing = (item for own in self._named(name).values() for item in own)
        return sorted(item.spot for item in standing if item.spot in inside and item.before in words)

    def inside(self, name: str, container: str) -> list[Spot]:
        """Return where a name stands in a symbol, also in those that lie in it."""
        spans = [(item.start_line, item.end_line) for item in self._symbols if item.qualified_name == container]
        spots = sorted(item.spot for own in self._named(name).values() for item in own)
        return [spot for spot in spots if any(start <= spot.line <= end for start, end in spans)]

    @cached_property
    def _code(self) -> str:
        return code_only(self._text, self._language)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._code.split("\n"))]

    def _gets_name(self, spot: Spot) -> bool:
        """Return True for the second name of `one as two`, which is a new one."""
        start = self._starts[spot.line - 1]
        return _GETS_NAME.search(self._code[start : start + spot.column]) is not None

    def _is_of_another(self, spot: Spot, name: str) -> bool:
        """Return True where an import gives the name of another module a new name: `from b import one as two`."""
        start = self._starts[spot.line - 1]
        place = start + spot.column
        if _IS_RENAMED.match(self._code, place + len(name)) is None:
            return False
        return _IN_IMPORT.search(self._code[start:place]) is not None

    def _named(self, name: str) -> Mapping[str, Sequence[_Standing]]:
        """Return by the symbol around where a name stands; not where it is defined, or given a value."""
        if name not in self._standing:
            groups: dict[str, list[_Standing]] = defaultdict(list)
            for item in self._standing_places(name):
                groups[item.around].append(item)
            self._standing[name] = dict(groups)
        return self._standing[name]

    def _standing_places(self, name: str) -> Iterator[_Standing]:
        defined = {item.name_line for item in self._symbols if item.name == name}
        around = _Around(self._symbols)
        for match in self._matches(name) if name else ():
            line = bisect_right(self._starts, match.start())
            before = self._code[max(0, match.start() - _MOST_BEFORE) : match.start()]
            words = _words_before(before)
            if line in defined:
                continue
            if words == "" and self._is_other(before, match.end()):
                if _BEGINS_ARGUMENT.search(before) is None:
                    self._set_in.add((name, around.at(line)))
            else:
                yield _Standing(Spot(line, match.start() - self._starts[line - 1]), words, around.at(line))

    def _matches(self, name: str) -> Iterator[re.Match[str]]:
        """Yield where a name stands, also where a text begins some code with it: `${name(` or `#{name}`."""
        own = _whole_name(name)
        in_texts = re.finditer(rf"(?<=[$#]\{{){own}", self._text) if len(self._text) == len(self._code) else ()
        in_code = re.finditer(own, self._code)
        yield from sorted(
            [*in_code, *(match for match in in_texts if self._code[match.start()].isspace())], key=re.Match.start
        )

    def _is_other(self, before: str, end: int) -> bool:
        """Return True for the name of an argument, of a key or of a value that is set here."""
        if _IS_SET.match(self._code, end):
            return _ENDS_TYPE.search(before) is None  # the type of `a: A = 1`
        return _BEGINS_ARGUMENT.search(before) is not None and _IS_KEY.match(self._code, end) is not None


class _Around:
    """The innermost symbol around lines, which are asked for in their order: as the index counts uses."""

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        self._coming = deque(item for item in symbols if item.kind not in VALUE_KINDS)
        self._open: list[Symbol] = []

    def at(self, line: int) -> str:
        """Return the qualified name of the symbol around a line, "" outside of all."""
        while self._coming and self._coming[0].start_line <= line:
            while self._open and self._open[-1].end_line < self._coming[0].start_line:
                self._open.pop()
            self._open.append(self._coming.popleft())
        while self._open and self._open[-1].end_line < line:
            self._open.pop()
        return self._open[-1].qualified_name if self._open else ""


def _whole_name(name: str) -> str:
    return rf"(?<![\w$]){re.escape(name)}(?![\w$])"


def _stands_in(name: str, text: str) -> bool:
    return re.search(_whole_name(name), text) is not None


def _words_before(before: str) -> str:
    """Return the names before a name; "" before nothing, "?" behind another expression."""
    match = _CHAIN.search(before)
    if match is None:
        return ""
    return re.sub(r"\s+", "", match[1]) if match[1] else "?"
