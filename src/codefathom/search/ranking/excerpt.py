"""The lines of a hit that tell most in little room. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from codefathom.types.hits import Hit


class NumberedLine(NamedTuple):
    """A line of a file, or a part of a long one."""

    number: int
    text: str


def window(hit: Hit, n_lines: int) -> range:
    """Return the places in a hit's text of so many lines in a row, a third of them before its best line."""
    n_all = hit.chunk.text.removesuffix("\n").count("\n") + 1
    start = max(0, min(hit.line - hit.chunk.start_line - n_lines // 3, n_all - n_lines))
    return range(start, min(start + n_lines, n_all))


def telling_lines(hit: Hit, n_lines: int, n_chars: int) -> list[NumberedLine]:
    """Return some lines of a hit in their order: its best line, the head of its symbol, and what is around.

    Lines without a letter or digit tell nothing and are left out. A long line is cut to about `n_chars` characters.
    """
    lines = hit.chunk.text.removesuffix("\n").split("\n")
    chosen: list[int] = []
    for place in _by_worth(hit, lines):
        if len(chosen) == n_lines:
            break
        if place not in chosen and 0 <= place < len(lines) and any(map(str.isalnum, lines[place])):
            chosen.append(place)
    return [NumberedLine(hit.chunk.start_line + place, _part(hit, lines, place, n_chars)) for place in sorted(chosen)]


def telling_line(hit: Hit, n_chars: int) -> NumberedLine:
    """Return the line of a hit that tells most: its best line, or the head of its symbol if that comes later."""
    lines = hit.chunk.text.removesuffix("\n").split("\n")
    best = min(max(hit.line - hit.chunk.start_line, 0), len(lines) - 1)
    place = max(best, *_heads(hit, lines), 0)
    return NumberedLine(hit.chunk.start_line + place, _part(hit, lines, place, n_chars))


def is_head(hit: Hit, line: NumberedLine) -> bool:
    """Return True for the line at which the definition of the hit's name begins."""
    lines = hit.chunk.text.removesuffix("\n").split("\n")
    return any(hit.chunk.start_line + place == line.number for place in _heads(hit, lines))


def _by_worth(hit: Hit, lines: list[str]) -> Iterator[int]:
    """Yield places of lines, some of them twice or outside: two below the best line for each one above it."""
    best = min(max(hit.line - hit.chunk.start_line, 0), len(lines) - 1)
    yield best
    yield from _heads(hit, lines)
    for step in range(1, len(lines) + 1):
        yield from (best + 2 * step - 1, best + 2 * step, best - step)


def _heads(hit: Hit, lines: list[str]) -> Iterator[int]:
    """Yield the place where the definition of the hit's name begins, if it is there."""
    name = hit.name.rpartition(".")[2]
    heads = [head for head in hit.chunk.signature.split("\n") if name and name in head]
    for place, line in enumerate(lines):
        # What stands before a signature, such as "export", may be no part of it.
        if name in line and any(begins(line, head) or head in " ".join(line.split()) for head in heads):
            yield place
            return


def _part(hit: Hit, lines: list[str], place: int, n_chars: int) -> str:
    """Return a line; of a long one the part around the column to look at."""
    line = lines[place].rstrip()
    n_before = hit.chunk.column - 1 if place == 0 else 0
    column = hit.column - n_before if hit.line - hit.chunk.start_line == place else 1
    start = max(min(column - n_chars // 3, len(line) - n_chars), 0) if column > n_chars else 0
    shown = line[start : start + n_chars]
    return f"{'… ' if start or n_before else ''}{shown}{' …' if start + n_chars < len(line) else ''}"


def begins(line: str, head: str) -> bool:
    """Return True if a line is the beginning of a signature, or the other way round; white space does not count."""
    folded = " ".join(line.split())
    return folded.startswith(head) or head.startswith(folded)
