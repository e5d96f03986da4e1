"""Copybooks of COBOL, the texts that a program takes in with `COPY` or `INCLUDE`, as imports. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from codefathom.types import Reference, Symbol

_COPY = re.compile(
    r"(?:^|[^\w-])(?:COPY|EXEC[ \t]+SQL[ \t]+INCLUDE|\+\+INCLUDE)[ \t]+"
    r"(?:(['\"])([^'\"\n]{1,200})\1|([A-Z0-9@#$][\w@#$-]{0,60}))(?=[ \t.]|$)",
    re.IGNORECASE,
)
_INDICATOR = 6  # the column that makes a line of the old form a comment
_COMMENTS = "*/"


def copied_books(lines: Sequence[str], symbols: Sequence[Symbol]) -> Iterator[Reference]:
    """Yield each name that a symbol takes in, with its first line there and how often it does; symbols in order."""
    starts = [symbol.start_line for symbol in symbols]
    tallies: dict[tuple[str, str], list[int]] = {}
    for number, line in enumerate(lines, 1):
        if name := _name(line):
            place = bisect_right(starts, number)
            tally = tallies.setdefault((name, symbols[place - 1].qualified_name if place else ""), [number, 0])
            tally[1] += 1
    for (name, container), (line_of_first, count) in tallies.items():
        yield Reference("import", name, line_of_first, container, count)


def _name(line: str) -> str:
    if line[_INDICATOR : _INDICATOR + 1] in tuple(_COMMENTS) or line.lstrip().startswith("*"):
        return ""
    match = _COPY.search(line.partition("*>")[0])
    if match is None or _is_open(line[: match.start()]):
        return ""
    return match[2] or match[3]


def _is_open(before: str) -> bool:
    """Return True if a text begins before this place and does not end there."""
    return before.count("'") % 2 == 1 or before.count('"') % 2 == 1
