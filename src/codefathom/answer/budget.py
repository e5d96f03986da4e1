"""Files with hits → numbered sources that fit a window of tokens. Pure; the sources never exceed the window.

Whole files come first, in order of relevance, as long as they fit their share of the window. A file that does not fit
whole gives excerpts around its hits, in line order, each line once, within the other share. The rest of the window is
kept for the question and the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.answer.answer_types import Source

CountTokens = Callable[[str], int]
NameOf = Callable[[str, int, int], str]  # path, first and last line → the definition they lie in, "" when in none
# Lines shown before and after a hit, and the gap between two excerpts that is not worth a heading of its own.
_LINES_AROUND = 8
_MAX_GAP = 4
# Kept free in the share for whole files, for what stands around each.
_MARGIN = 100
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Shares(NamedTuple):
    """A window of tokens, divided."""

    full: int  # for whole files
    segment: int  # for excerpts


class Sizes(NamedTuple):
    """By their tokens, files are judged in parts, each by itself, or several in one call."""

    single: int  # a larger file is judged in parts
    small: int  # a file of no more shares a call with others
    merge: int  # most tokens of the files that share a call


class Piece(NamedTuple):
    """Some lines of a text, with their line ends."""

    start_line: int
    end_line: int
    text: str


class Material(NamedTuple):
    """A file with hits. `spans` are the lines of its hits, best first; empty: no place in it is better than others."""

    path: str
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    score: float = 0.0
    reason: str = ""
    is_exact: bool = False  # the spans are shown as they are, not the lines around them


class PackedSources(NamedTuple):
    """The sources that fit."""

    sources: tuple[Source, ...]
    n_tokens: int
    left_out: tuple[str, ...]  # paths of which nothing fitted
    cut: tuple[str, ...]  # paths of which only excerpts fitted


def shares(window: int, full_ratio: float, segment_ratio: float) -> Shares:
    """Divide a window in whole tokens. Raises ValueError when the ratios add up to more than 1."""
    # In thousandths: 0.9 + 0.1 is more than 1 in binary fractions.
    full, segment = round(full_ratio * 1000), round(segment_ratio * 1000)
    if full < 0 or segment < 0 or full + segment > 1000:
        raise ValueError(
            f"the shares {full_ratio} and {segment_ratio} must lie between 0 and 1 and add up to at most 1"
        )
    return Shares(window * full // 1000, window * segment // 1000)


def sizes(full: int) -> Sizes:
    """Return the sizes that go with a share for whole files."""
    single = max(full - _MARGIN, 0)
    return Sizes(single, single // 4, single // 2)


def pieces(text: str, most: int, count: CountTokens) -> Iterator[Piece]:
    """Yield a text in pieces of at most `most` tokens, cut at line ends; a line that has more is cut inside.

    Nothing is lost but characters that have more tokens by themselves.
    """
    if most <= 0:
        return
    waiting: list[str] = []
    start, n_tokens = 1, 0
    for number, line in enumerate(_LINE.findall(text), start=1):
        cost = count(line)
        if waiting and n_tokens + cost > most:
            yield from _fitting(Piece(start, number - 1, "".join(waiting)), most, count)
            waiting, start, n_tokens = [], number, 0
        waiting.append(line)
        n_tokens += cost
    if waiting:
        yield from _fitting(Piece(start, start + len(waiting) - 1, "".join(waiting)), most, count)


def pack(
    files: Sequence[Material],
    budget: Shares,
    count: CountTokens,
    name_of: NameOf = lambda *_: "",
    *,
    in_line_order: bool = True,
) -> PackedSources:
    """Pack files, best first. Sources are numbered in the order in which they are shown.

    A whole file has no symbol: all of its definitions are there.
    """
    room = _Room(budget, count)
    chosen = {index: [source] for index, source in _wholes(files, room).items()}
    for index, item in enumerate(files):
        if index not in chosen:
            parts = [source for source in _excerpts(item, name_of) if room.take_segment(source)]
            parts = parts or [source for source in _beginning(item, room, name_of) if room.take_segment(source)]
            chosen[index] = sorted(parts, key=lambda source: source.start_line) if in_line_order else parts
    ordered = [source for index in range(len(files)) for source in chosen[index]]
    return PackedSources(
        tuple(replace(source, number=number) for number, source in enumerate(ordered, start=1)),
        sum(room.cost(source) for source in ordered),
        tuple(item.path for index, item in enumerate(files) if not chosen[index]),
        tuple(item.path for index, item in enumerate(files) if chosen[index] and not chosen[index][0].is_whole),
    )


def too_large(files: Sequence[Material], budget: Shares, count: CountTokens) -> list[int]:
    """Return the indexes of the files that `pack` does not show whole."""
    wholes = _wholes(files, _Room(budget, count))
    return [index for index in range(len(files)) if index not in wholes]


def shown(source: Source) -> str:
    """Return a source as a model sees it: its number and place, then its lines with their numbers."""
    name = f" ({source.symbol})" if source.symbol else ""
    lines = enumerate(source.text.split("\n"), start=source.start_line)
    body = "\n".join(f"{number}\t{line}" for number, line in lines)
    return f"[{source.number}] {source.path}:{source.start_line}-{source.end_line}{name}\n{body}\n"


def merged(spans: Iterable[tuple[int, int]], n_lines: int, *, around: int = 0, gap: int = 0) -> list[tuple[int, int]]:
    """Return spans in order, widened by `around`, kept inside 1 … n_lines, joined over a gap of at most `gap` lines.

    Spans outside the file, or upside down, are left out.
    """
    inside = sorted(
        (max(start - around, 1), min(end + around, n_lines)) for start, end in spans if 1 <= start <= min(end, n_lines)
    )
    result: list[tuple[int, int]] = []
    for start, end in inside:
        if result and start <= result[-1][1] + 1 + gap:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def lines_of(text: str, start_line: int, end_line: int) -> str:
    """Return some lines of a text, without the last line end."""
    return "\n".join(text.split("\n")[start_line - 1 : end_line])


def _fitting(piece: Piece, most: int, count: CountTokens) -> Iterator[Piece]:
    """Yield a piece, in halves as long as it has too many tokens: lines together may have more than one by one."""
    if count(piece.text) <= most:
        yield piece
        return
    lines = _LINE.findall(piece.text)
    if len(lines) > 1:
        middle = len(lines) // 2
        border = piece.start_line + middle
        halves = (
            Piece(piece.start_line, border - 1, "".join(lines[:middle])),
            Piece(border, piece.end_line, "".join(lines[middle:])),
        )
    elif len(piece.text) > 1:
        middle = len(piece.text) // 2
        halves = (piece._replace(text=piece.text[:middle]), piece._replace(text=piece.text[middle:]))
    else:
        return
    for half in halves:
        yield from _fitting(half, most, count)


class _Room:
    """The tokens that are left of both shares."""

    def __init__(self, budget: Shares, count: CountTokens) -> None:
        self.full = budget.full
        self.segment = budget.segment
        self._count = count
        self._costs: dict[Source, int] = {}

    def cost(self, source: Source) -> int:
        # With the widest number that is likely, so that numbering later cannot make it longer.
        if source not in self._costs:
            self._costs[source] = self._count(shown(replace(source, number=9_999)))
        return self._costs[source]

    def take_full(self, source: Source) -> bool:
        fits = self.cost(source) <= self.full
        self.full -= self.cost(source) if fits else 0
        return fits

    def take_segment(self, source: Source) -> bool:
        fits = self.cost(source) <= self.segment
        self.segment -= self.cost(source) if fits else 0
        return fits


def _wholes(files: Sequence[Material], room: _Room) -> dict[int, Source]:
    """Return the files that are shown whole, by index; the shares are one when everything fits."""
    wholes = {index: _whole(item) for index, item in enumerate(files)}
    if sum(map(room.cost, wholes.values())) <= room.full + room.segment:
        room.full += room.segment
        room.segment = 0
    return {index: source for index, source in wholes.items() if room.take_full(source)}


def _whole(item: Material) -> Source:
    text = item.text.removesuffix("\n")
    return Source(0, item.path, 1, text.count("\n") + 1, text, "", item.score, item.reason, is_whole=True)


def _part(item: Material, start_line: int, end_line: int, name_of: NameOf) -> Source:
    text, symbol = lines_of(item.text, start_line, end_line), name_of(item.path, start_line, end_line)
    return Source(0, item.path, start_line, end_line, text, symbol, item.score, item.reason)


def _excerpts(item: Material, name_of: NameOf) -> Iterator[Source]:
    """Yield the excerpts around the hits, that of the best hit first."""
    n_lines = item.text.removesuffix("\n").count("\n") + 1
    parts = merged(item.spans, n_lines, around=0 if item.is_exact else _LINES_AROUND, gap=_MAX_GAP)
    starts = [start for start, _ in item.spans]

    def rank(part: tuple[int, int]) -> int:
        return next((place for place, start in enumerate(starts) if part[0] <= start <= part[1]), len(starts))

    yield from (_part(item, *part, name_of) for part in sorted(parts, key=rank))


def _beginning(item: Material, room: _Room, name_of: NameOf) -> Iterator[Source]:
    """Yield the longest beginning of the best excerpt, or of the file, that fits; halving finds it."""
    best = next(_excerpts(item, name_of), None) or _whole(item)
    start, end = best.start_line, best.end_line
    while end >= start:
        part = _part(item, start, end, name_of)
        if room.cost(part) <= room.segment:
            yield part
            return
        end = start + (end - start) // 2 if end > start else start - 1
