"""Definitions by their heads: the lines with which definitions begin, by a plain pattern for each language.

A grammar that does not know what it reads may lose a definition, and all behind it, without an error. So the symbols of
a grammar are compared with the heads in the text: a head without a symbol becomes one, that ends before the next one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple

from codefathom.facts.languages import LANGUAGES
from codefathom.parse.outline import MAX_SIGNATURE_CHARS, clean
from codefathom.types import TYPE_KINDS, Symbol

_MAX_HEADS = 20_000  # of one file
_MAX_DOC_LINES = 40
_OWNERS = TYPE_KINDS | {"module"}
_OPENED = re.compile(r"[{;]")
_ABOVE = re.compile(r"[ \t]*(?:@\w|//|/\*|\*|#(?!include|define|if|el|end|pragma|import)|--|;;|\"\"\"|\[\w|%%?\s)")
_ATTRIBUTE = re.compile(r"[ \t]*(?:@\w|#!?\[|\[\w)")
_END_OF_SIGNATURE = re.compile(r"(?:\s|\{|=>|=|(?<!:):(?!:))+$")
_NOTE = re.compile(r"(\d+) definitions? read without syntax$")  # as `note` says it


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
    starts: list[int] = []
    heads: list[Head] = []
    for match in islice(pattern.finditer(text), _MAX_HEADS):
        group = match.lastgroup or ""  # an owner stands before its name
        starts = starts or [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        place = match.start(group)
        line = bisect_right(starts, place)
        owner = next(filter(None, map(match.group, owners)), "")
        name = match[group].strip("`\"'[]")
        heads.append(Head(group.rstrip("0123456789"), name, owner, line, place - starts[line - 1]))
    return heads


def has_heads(text: str, language: str) -> bool:
    """Return True if one of a hundred lines is the head of a definition, as in code and not in data."""
    n = len(heads_of(text, language))
    return n > 0 and 100 * n >= text.count("\n")


def without_symbol(heads: Iterable[Head], symbols: Sequence[Symbol]) -> list[Head]:
    """Return the heads that name no symbol: none of this name on their line or around it."""
    spans: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        spans.setdefault(_plain(symbol.name), []).append(symbol)
    return [head for head in heads if not any(_covers(symbol, head) for symbol in spans.get(_plain(head.name), ()))]


def with_heads(symbols: Sequence[Symbol], heads: Sequence[Head], text: str) -> list[Symbol]:
    """Return the symbols with one for each of these heads among them, in order, outer before inner."""
    lines = text.split("\n")
    first_lines = {head.line: _first_line(lines, head.line) for head in heads}
    borders = {symbol.start_line for symbol in symbols} | set(first_lines.values())
    made = [_symbol(head, lines, first_lines[head.line], _end(lines, head, borders)) for head in heads]
    return _nested([*symbols, *made], {id(symbol) for symbol in made}, lines)


def note(n: int) -> tuple[str, ...]:
    """Return the problem of a document of which so many definitions are known by their heads alone; none of no such."""
    return (f"{n} definition{'s' if n > 1 else ''} read without syntax",) if n else ()


def n_by_head(problems: Iterable[str]) -> int:
    """Return the number of definitions of a document that were read without syntax, by its problems."""
    return sum(int(match[1]) for match in map(_NOTE.match, problems) if match)


def is_note(problem: str) -> bool:
    """Return True for a problem that only says that definitions were read without syntax: none of them is missing."""
    return _NOTE.match(problem) is not None


@lru_cache(maxsize=128)
def _pattern(language: str) -> re.Pattern[str] | None:
    row = LANGUAGES.get(language)
    return re.compile(row.heads, re.MULTILINE) if row is not None and row.heads else None


def _plain(name: str) -> str:
    """Return the last part of a name, in the case that all languages share."""
    return re.split(r"::|[.:#']", name.strip("`\"'"))[-1].casefold() or name.casefold()


def _covers(symbol: Symbol, head: Head) -> bool:
    return symbol.start_line <= head.line <= max(symbol.end_line, symbol.name_line)


def _first_line(lines: Sequence[str], line: int) -> int:
    """Return the first line of the comments and attributes directly above a line, else the line itself."""
    first = line
    while first > 1 and line - first < _MAX_DOC_LINES and _ABOVE.match(lines[first - 2]):
        first -= 1
    return first


def _end(lines: Sequence[str], head: Head, borders: set[int]) -> int:
    """Return the last line before the next definition, or before what is indented less than the head."""
    line = lines[head.line - 1]
    indent, end = _indent(line), head.line
    if _OPENED.search(line[: head.column]):
        return end  # behind another definition on its line
    for number in range(head.line + 1, len(lines) + 1):
        content = lines[number - 1]
        if not content.strip():
            continue
        depth = _indent(content)
        if depth < indent or (depth == indent and number in borders):
            break
        end = number
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _symbol(head: Head, lines: Sequence[str], first: int, end: int) -> Symbol:
    comment = "\n".join(line.strip() for line in lines[first - 1 : head.line - 1] if not _ATTRIBUTE.match(line))
    signature = _END_OF_SIGNATURE.sub("", " ".join(lines[head.line - 1].split()))[:MAX_SIGNATURE_CHARS]
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
            owner = next((outer for outer in reversed(around) if _owns(outer, symbol, lines)), None)
            item = _inside(symbol, owner) if owner is not None else symbol
        placed.append(item)
        around.append(item)
    return placed


def _owns(outer: Symbol, symbol: Symbol, lines: Sequence[str]) -> bool:
    """Return True if a symbol with an end of its own lies around another one, whose end is only guessed."""
    if outer.end_line < symbol.end_line or outer.name_line > symbol.name_line:
        return False
    if outer.kind == "module" or outer.name_line == symbol.name_line:
        return outer.kind in _OWNERS
    return _indent(lines[outer.name_line - 1]) < _indent(lines[symbol.name_line - 1])


def _inside(symbol: Symbol, owner: Symbol) -> Symbol:
    kind = "method" if symbol.kind == "function" and owner.kind in TYPE_KINDS else symbol.kind
    return replace(symbol, kind=kind, qualified_name=f"{owner.qualified_name}.{symbol.qualified_name}")
