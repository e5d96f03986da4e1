"""Definitions by their heads: the lines with which definitions begin, by a plain pattern for each language.

A grammar that does not know what it reads may lose a definition, and all behind it, without an error. So the symbols of
a grammar are compared with the heads in the text: a head without a symbol becomes one, that ends before the next one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from codefathom.facts.languages import LANGUAGES
from codefathom.facts.reasons import READ_BY_HEAD, Note
from codefathom.parse.outline import MAX_SIGNATURE_CHARS, clean
from codefathom.types import TYPE_KINDS, Symbol

_MAX_HEADS = 20_000  # of one file
_MAX_DOC_LINES = 40
_MAX_READ_OF_LINE = 4 * MAX_SIGNATURE_CHARS  # spaces among them
_MAX_AROUND = 50  # of what may lie around a definition, the innermost
_MAX_OWNER_CHARS = 500
_TAB_COLUMNS = 8
_OWNERS = TYPE_KINDS | {"module"}
_ANY_START = "(?:^|[{;])"
_CLOSING = re.compile(
    r"(?:\}|end(?:[ \t]*(?:function|proc(?:edure)?|sub(?:routine)?|module|class|package|task|program|structure"
    r"|interface|enum|macro|property)\b(?:[ \t]+\w+)?)?)(?:[ \t]*[;,])?(?:[ \t]*(?:#|//|/\*|--|[%\"!']).*)?$",
    re.IGNORECASE,
)
# Lines that may stand at the margin inside of a definition.
_AT_MARGIN = re.compile(r"#[ \t]*(?:if|el|end|define|undef|include|pragma|error|warning|line)")
_OPENED = re.compile(r"[{;]")
_ABOVE = re.compile(r"[ \t]*(?:@\w|//|/\*|\*|#(?!include|define|if|el|end|pragma|import)|--|;;|\"\"\"|\[\w|%%?\s)")
_ATTRIBUTE = re.compile(r"[ \t]*(?:@\w|#!?\[|\[\w)")
_END_OF_SIGNATURE = re.compile(r"(?:\s|\{|=>|=|(?<!:):(?!:))+$")


class Head(NamedTuple):
    """The line with which a definition begins."""

    kind: str
    name: str
    owner: str  # what the name belongs to, where that is written before it
    line: int  # of the name, from 1
    column: int  # of the name, in characters from 0


def heads_of(text: str, language: str) -> list[Head]:
    """Return the heads in a text, in order; none for a language without a pattern."""
    pattern = _pattern(language)
    if pattern is None:
        return []
    owners = [name for name in pattern.groupindex if name.startswith("owner")]
    broken = "\n" + text
    heads: list[Head] = []
    line = place = 0
    for match in islice(_matches(pattern, broken), _MAX_HEADS):
        group = match.lastgroup or ""  # an owner stands before its name
        line += broken.count("\n", place, match.start(group))
        place = match.start(group)
        owner = next(filter(None, map(match.group, owners)), "")
        name = match[group].strip("`\"'[]")
        heads.append(Head(group.rstrip("0123456789"), name, owner, line, place - broken.rfind("\n", 0, place) - 1))
    return heads


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches; the break at the end of one can be the beginning of the next."""
    match = pattern.search(text)
    while match is not None:
        yield match
        match = pattern.search(text, match.end() - match[0].endswith("\n"))


def has_heads(text: str, language: str) -> bool:
    """Return True if one of a hundred lines is the head of a definition, as in code and not in data."""
    n = len(heads_of(text, language))
    return n > 0 and 100 * n >= text.count("\n")


def without_symbol(heads: Iterable[Head], symbols: Sequence[Symbol]) -> list[Head]:
    """Return the heads that name no symbol: none of this name on their line or around it."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for symbol in sorted(symbols, key=lambda symbol: symbol.start_line):
        of_name = spans.setdefault(_plain(symbol.name), [])
        furthest = of_name[-1][1] if of_name else 0
        of_name.append((symbol.start_line, max(furthest, symbol.end_line, symbol.name_line)))
    return [head for head in heads if not _is_covered(head.line, spans.get(_plain(head.name), ()))]


def with_heads(symbols: Sequence[Symbol], heads: Sequence[Head], text: str) -> list[Symbol]:
    """Return the symbols with one for each of these heads among them, in order, outer before inner."""
    if not heads:
        return list(symbols)
    lines = text.split("\n")
    first_lines = {line: _first_line(lines, line) for line in {head.line for head in heads}}
    depths = _Depths(lines, {symbol.start_line: symbol.name_line for symbol in symbols}, first_lines)
    made: list[Symbol] = []
    for head in heads:
        first = first_lines.pop(head.line, head.line)  # only the first on a line has what stands above it
        made.append(_symbol(head, lines, first, depths.end(head)))
    return _nested([*symbols, *made], {id(symbol) for symbol in made}, lines)


def note(heads: Iterable[Head]) -> tuple[Note, ...]:
    """Return the problem of a document of which these definitions are known by their heads alone; none of no such."""
    lines = tuple(str(head.line) for head in heads)
    return (Note(READ_BY_HEAD, {"count": len(lines), "lines": lines}),) if lines else ()


@lru_cache(maxsize=128)
def _pattern(language: str) -> re.Pattern[str] | None:
    """Return the pattern of heads, for a text with a break before its first line.

    A sign that must stand there is looked for ten times as fast as the beginning of a line.
    """
    row = LANGUAGES.get(language)
    if row is None or not row.heads:
        return None
    heads = row.heads.removeprefix("(?i)")
    flags = re.MULTILINE if heads == row.heads else re.MULTILINE | re.IGNORECASE
    other = heads.removeprefix(_ANY_START)
    return re.compile(rf"\n(?:{heads})" if other == heads else rf"[\n{{;]{other}", flags)


def _plain(name: str) -> str:
    """Return the last part of a name, in the case that all languages share."""
    if name.isidentifier():  # nearly always
        return name.casefold()
    return re.split(r"::|[.:#']", name.strip("`\"'"))[-1].casefold() or name.casefold()


def _is_covered(line: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return True if a line lies in one of these: first lines in order, each with the last line of all so far."""
    n = bisect_right(spans, line, key=lambda span: span[0])
    return n > 0 and line <= spans[n - 1][1]


def _first_line(lines: Sequence[str], line: int) -> int:
    """Return the first line of the comments and attributes directly above a line, else the line itself."""
    first = line
    while first > 1 and line - first < _MAX_DOC_LINES and _ABOVE.match(lines[first - 2]):
        first -= 1
    return first


class _Depths:
    """How far the lines of a text are indented: where definitions end that are known by their heads alone."""

    def __init__(self, lines: Sequence[str], symbols: Mapping[int, int], first_lines: Mapping[int, int]) -> None:
        """Take the lines of definitions: of known ones those of the names by the first, of heads the first by it."""
        self._lines = lines
        self._numbers = [number for number, line in enumerate(lines, 1) if line.strip() and not _AT_MARGIN.match(line)]
        self._depths = [_indent(lines[number - 1]) for number in self._numbers]
        named = [*symbols.items(), *((first, line) for line, first in first_lines.items())]
        self._borders = {first: _indent(lines[line - 1]) for first, line in named}
        self._opened: dict[int, int] = {}  # the first column behind which a line holds a second definition
        for line in first_lines:
            opened = _OPENED.search(lines[line - 1])
            self._opened[line] = opened.start() if opened else len(lines[line - 1])

    def end(self, head: Head) -> int:
        """Return the line that closes a definition, else the last before the next or before what is indented less."""
        if self._opened[head.line] < head.column:
            return head.line  # behind another definition on its line
        here = bisect_right(self._numbers, head.line)
        depth, end = _indent(self._lines[head.line - 1]), head.line
        for place in range(here, len(self._numbers)):
            number = self._numbers[place]
            if self._depths[place] < depth or self._borders.get(number, depth + 1) <= depth:
                break
            end = number
            if self._depths[place] == depth and _CLOSING.match(self._lines[number - 1].strip()):
                break
        return end


def _indent(line: str) -> int:
    """Return the column of the first word; a tab reaches to the next column of eight, as in a terminal."""
    before = line[: len(line) - len(line.lstrip(" \t"))]
    return len(before.expandtabs(_TAB_COLUMNS)) if "\t" in before else len(before)


def _symbol(head: Head, lines: Sequence[str], first: int, end: int) -> Symbol:
    comment = "\n".join(line.strip() for line in lines[first - 1 : head.line - 1] if not _ATTRIBUTE.match(line))
    beginning = lines[head.line - 1].lstrip()[:_MAX_READ_OF_LINE]
    signature = _END_OF_SIGNATURE.sub("", " ".join(beginning.split())[:MAX_SIGNATURE_CHARS])
    owner = re.sub(r"::|[:']", ".", head.owner)
    qualified = f"{owner}.{head.name}" if owner else head.name
    return Symbol(head.kind, head.name, qualified, first, end, head.line, signature, clean(comment))


def _nested(every: list[Symbol], made: set[int], lines: Sequence[str]) -> list[Symbol]:
    """Name the new symbols after what they lie in: a symbol around them that is indented less."""
    every.sort(key=lambda symbol: (symbol.start_line, -symbol.end_line))
    placed: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in every:
        while around and around[-1].end_line < symbol.start_line:
            around.pop()
        item = symbol
        if id(symbol) in made:
            owner = next((outer for outer in reversed(around[-_MAX_AROUND:]) if _owns(outer, symbol, lines)), None)
            item = _inside(symbol, owner) if owner is not None else symbol
        placed.append(item)
        around.append(item)
    return placed


def _owns(outer: Symbol, symbol: Symbol, lines: Sequence[str]) -> bool:
    """Return True if a symbol with an end of its own lies around another one, whose end is only guessed."""
    if len(outer.qualified_name) > _MAX_OWNER_CHARS:
        return False
    if outer.end_line < symbol.end_line or outer.name_line > symbol.name_line:
        return False
    if outer.kind == "module" or outer.name_line == symbol.name_line:
        return outer.kind in _OWNERS
    return _indent(lines[outer.name_line - 1]) < _indent(lines[symbol.name_line - 1])


def _inside(symbol: Symbol, owner: Symbol) -> Symbol:
    kind = "method" if symbol.kind == "function" and owner.kind in TYPE_KINDS else symbol.kind
    return replace(symbol, kind=kind, qualified_name=f"{owner.qualified_name}.{symbol.qualified_name}")
