"""Places in a text as an editor counts them, and lines of a saved text in one that was changed since. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

_NAME = re.compile(r"[\w$]+")
_LONG_NAME = re.compile(r"[\w$*!?<>=+/-]+")  # as languages of the Lisp family and Ruby write names
UTF16 = "utf-16"


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends, as the index counts them."""
    return [line.removesuffix("\r") for line in text.split("\n")]


def has_other_ends(lines: Sequence[str]) -> bool:
    """Return True where an editor counts other lines than the index: a lone carriage return ends one for it."""
    return any("\r" in line for line in lines)


def to_wire(line: str, column: int, encoding: str = UTF16) -> int:
    """Return the units of an encoding before a column, which counts characters from 0."""
    return _units(line[:column], encoding)


def from_wire(line: str, units: int, encoding: str = UTF16) -> int:
    """Return the column, in characters from 0, of a number of units; behind the end it is the end of the line."""
    if units >= _units(line, encoding):
        return len(line)
    return bisect_left(range(len(line)), max(units, 0), key=lambda column: _units(line[:column], encoding))


def _units(text: str, encoding: str) -> int:
    if text.isascii() or encoding == "utf-32":
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def names_at(line: str, column: int) -> list[tuple[str, int]]:
    """Return the names that stand at a column, each with its first column: the usual one, then a longer one."""
    spans = []
    for pattern in (_NAME, _LONG_NAME):
        spans += [
            (match[0], match.start()) for match in pattern.finditer(line) if match.start() <= column <= match.end()
        ]
    # Between two names, the one that begins here is meant.
    spans.sort(key=lambda span: (len(span[0]), -span[1]))
    return list(dict.fromkeys(spans))


def column_of(line: str, name: str) -> int | None:
    """Return the column of a name as a whole word, else of its letters; None where it does not stand in the line."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line)
    place = match.start() if match else line.find(name)
    return None if place < 0 or not name else place


def same_lines(old: Sequence[str], new: Sequence[str]) -> Mapping[int, int]:
    """Return for lines of an old text, from 1, which lines they are in a new one; in the same order, each once.

    A line counts as the same with the text around it, or alone where no other line reads like it.
    """
    head = _n_equal(old, new)
    tail = min(_n_equal(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    pairs = {n: n for n in range(head)}
    pairs |= {len(old) - n: len(new) - n for n in range(1, tail + 1)}
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    for first, theirs in _lone_pairs(middle_old, middle_new):
        mine, shift = first, theirs - first
        while mine < len(middle_old) and mine + shift < len(middle_new) and head + mine not in pairs:
            if middle_old[mine] != middle_new[mine + shift]:
                break
            pairs[head + mine] = head + mine + shift
            mine += 1
    return {mine + 1: theirs + 1 for mine, theirs in sorted(pairs.items())}


def _n_equal(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many lines are equal at the beginning of two texts."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _lone_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest row of lines that each text has once, in the order of both."""
    n_old, n_new = Counter(old), Counter(new)
    places = {line: n for n, line in enumerate(new)}
    pairs = [(n, places[line]) for n, line in enumerate(old) if line.strip() and n_old[line] == n_new[line] == 1]
    ends: list[int] = []  # of rows by their length: the line of `new` that the best one ends with
    rows: list[int] = []
    for _, theirs in pairs:
        rows.append(bisect_left(ends, theirs))
        ends[rows[-1] : rows[-1] + 1] = [theirs]
    chosen, length = [], len(ends) - 1
    for pair, row in zip(reversed(pairs), reversed(rows), strict=True):
        if row == length:
            chosen.append(pair)
            length -= 1
    return chosen[::-1]
