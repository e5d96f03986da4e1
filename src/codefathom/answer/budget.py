"""Files with hits → numbered sources that fit a window of tokens. Pure; the sources never exceed the window.

The packing follows the rank. Each file in turn is taken whole if that fits the share of whole files; else it gives
excerpts around its hits, each line once, and takes at most half of what is left. What is left then goes to the best
file that is not whole: it becomes whole, or its excerpts grow. The rest of the window is kept for the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.answer.answer_types import Source

CountTokens = Callable[[str], int]
NameOf = Callable[[str, int, int], str]  # path, first and last line → the definition they lie in, "" when in none
Parts = tuple[Source, ...]  # the sources of one file
CostOf = Callable[[Parts], int]  # the tokens of one file as it will be printed
# Lines shown before and after a hit, and the gap between two excerpts that is not worth a heading of its own.
_LINES_AROUND = 8
_MAX_GAP = 4
# An excerpt takes no more than half of what is left, but a share of fewer tokens would be a sliver.
_LEAST_SHARE = 300
# Fewer lines of a hit say nothing; of the best file they are shown nevertheless.
_LEAST_LINES = 3
# Of a token: a text that has so many characters for each token that is left is seldom short enough.
_MOST_CHARACTERS = 6
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
    in_lines: tuple[tuple[int, int, int], ...] = ()  # line, column, characters of hits in a long line, best first


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
    cost_of: CostOf | None = None,
) -> PackedSources:
    """Pack files, best first. Sources are numbered in the order in which they are shown.

    Without `cost_of` a source costs what `shown` makes of it. A whole file has no symbol: all of its definitions are
    there.
    """
    packing = _Packing(files, budget, cost_of or _as_shown(count), name_of, in_line_order=in_line_order)
    chosen = packing.filled()
    ordered = [source for parts in chosen for source in parts]
    return PackedSources(
        tuple(replace(source, number=number) for number, source in enumerate(ordered, start=1)),
        sum(map(packing.cost, chosen)),
        tuple(item.path for item, parts in zip(files, chosen, strict=True) if not parts),
        tuple(item.path for item, parts in zip(files, chosen, strict=True) if parts and not parts[0].is_whole),
    )


def too_large(files: Sequence[Material], budget: Shares, count: CountTokens) -> list[int]:
    """Return the indexes of the files that `pack` does not show whole."""
    chosen = _Packing(files, budget, _as_shown(count), lambda *_: "").filled()
    return [index for index, parts in enumerate(chosen) if not parts or not parts[0].is_whole]


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


def _as_shown(count: CountTokens) -> CostOf:
    # With the widest number that is likely, so that numbering later cannot make it longer.
    return lambda parts: sum(count(shown(replace(source, number=9_999))) for source in parts)


class _Packing:
    """The parts of each file so far, and the tokens that are left of both shares."""

    def __init__(
        self,
        files: Sequence[Material],
        budget: Shares,
        cost_of: CostOf,
        name_of: NameOf,
        *,
        in_line_order: bool = True,
    ) -> None:
        self._files = files
        self._full = budget.full
        self._segment = budget.segment
        self._has_excerpts = budget.segment > 0  # without a share of their own there are none
        self._cost_of = cost_of
        self._name_of = name_of
        self._in_line_order = in_line_order
        self._costs: dict[Parts, int] = {(): 0}
        self._chosen: list[Parts] = [()] * len(files)

    def cost(self, parts: Parts) -> int:
        """Return the tokens of the parts of one file."""
        if parts not in self._costs:
            self._costs[parts] = self._cost_of(parts)
        return self._costs[parts]

    def filled(self) -> list[Parts]:
        """Return the parts of each file; the shares are one when everything fits whole."""
        wholes = [_whole(item) for item in self._files]
        if self._fit_together(wholes):
            return wholes
        for index, (item, whole) in enumerate(zip(self._files, wholes, strict=True)):
            if not item.is_exact and self._fits(whole, self._full):
                self._full -= self.cost(whole)
                self._chosen[index] = whole
            elif self._has_excerpts:
                share = max(self._left // 2, min(self._left, _LEAST_SHARE))
                self._spend(index, self._around_hits(item, share, is_best=not any(self._chosen)))
                if not self._chosen[index] and self._left < _LEAST_SHARE:
                    break  # what is left belongs to better files before a worse one
        for index, (item, whole) in enumerate(zip(self._files, wholes, strict=True)):
            if self._chosen[index] != whole:
                self._grow(index, item, whole)
        return self._chosen

    @property
    def _left(self) -> int:
        return self._full + self._segment

    def _fit_together(self, wholes: Sequence[Parts]) -> bool:
        left = self._left
        for whole in wholes:
            if not self._fits(whole, left):
                return False
            left -= self.cost(whole)
        return True

    def _fits(self, parts: Parts, most: int) -> bool:
        """Return True if the parts of one file have at most so many tokens; of far more, a beginning tells."""
        if parts not in self._costs:
            n_characters = _MOST_CHARACTERS * max(most, _LEAST_SHARE)
            beginning = _beginning_of(parts, n_characters)
            if beginning != parts and self._cost_of(beginning) > most:
                return False
        return self.cost(parts) <= most

    def _spend(self, index: int, parts: Parts) -> None:
        """Put parts in place of those of a file. What excerpts take beyond their share comes from the other one."""
        self._segment -= self.cost(parts) - self.cost(self._chosen[index])
        self._full += min(self._segment, 0)
        self._segment = max(self._segment, 0)
        self._chosen[index] = parts

    def _grow(self, index: int, item: Material, whole: Parts) -> None:
        """Let a file have what is left, as much of it as it can use."""
        most = self.cost(self._chosen[index]) + self._left
        if not item.is_exact and self._fits(whole, most):
            parts = whole
        elif not self._has_excerpts:
            return
        else:
            parts = self._around_hits(item, most, is_best=not any(self._chosen), is_grown=not item.is_exact)
        if self.cost(parts) > self.cost(self._chosen[index]):
            self._spend(index, parts)

    def _around_hits(self, item: Material, most: int, *, is_best: bool, is_grown: bool = False) -> Parts:
        """Return the excerpts around the hits that fit, the best first; where they may grow, as long as they fit."""
        if not item.spans:
            return self._beginning(item, (1, _n_lines(item)), most, is_best=is_best)
        around = 0 if item.is_exact else _LINES_AROUND
        spans = [span for span in item.spans if 1 <= span[0] <= min(span[1], _n_lines(item))]
        kept: list[tuple[int, int]] = []
        for span in spans:
            if self._fits(self._parts(item, [*kept, span], around), most):
                kept.append(span)
            elif not kept:  # no worse hit takes the place of the best one
                break
        if kept and not is_grown:
            return self._parts(item, kept, around)
        kept = kept or spans[:1]
        grown = self._longest(lambda n: self._widened(item, kept, n), 2 * _n_lines(item), most)
        return grown or (self._beginning(item, kept[0], most, is_best=is_best) if kept else ())

    def _beginning(self, item: Material, span: tuple[int, int], most: int, *, is_best: bool) -> Parts:
        """Return the longest beginning of some lines that fits, none when it would say nothing."""
        start, end = span
        end = min(end, _n_lines(item))
        least = 0 if is_best else min(_LEAST_LINES, end - start + 1) - 1
        lines = self._longest(lambda n: (_part(item, start, start + n, self._name_of),), end - start, most)
        if lines and lines[0].end_line - start >= least:
            return lines
        return () if lines else self._in_line(item, start, most)

    def _in_line(self, item: Material, line: int, most: int) -> Parts:
        """Return those parts of a long line that hits name and that fit, in their order."""
        whole = _part(item, line, line, self._name_of)
        kept: list[tuple[int, Source]] = []
        for of_line, column, n_chars in item.in_lines:
            if of_line == line:
                text = whole.text[column - 1 : column - 1 + n_chars]
                more = sorted([*kept, (column, replace(whole, text=text, is_part=True))], key=lambda part: part[0])
                kept = more if self.cost(tuple(source for _, source in more)) <= most else kept
        return tuple(source for _, source in kept)

    def _longest(self, version: Callable[[int], Parts], most_lines: int, most: int) -> Parts:
        """Return the version with the most lines that fits, () if none does."""
        low, high = -1, min(most_lines, most)  # a line has at least one token
        while low < high:
            middle = (low + high + 1) // 2
            if self._fits(version(middle), most):
                low = middle
            else:
                high = middle - 1
        return version(low) if low >= 0 else ()

    def _widened(self, item: Material, spans: Sequence[tuple[int, int]], n_lines: int) -> Parts:
        """Return excerpts with so many lines around each hit, one more after it than before it if they are odd."""
        return self._parts(item, [(start, end + n_lines % 2) for start, end in spans], n_lines // 2)

    def _parts(self, item: Material, spans: Sequence[tuple[int, int]], around: int) -> Parts:
        places = merged(spans, _n_lines(item), around=around, gap=_MAX_GAP)
        ordered = places if self._in_line_order else _by_rank(places, spans)
        return tuple(_part(item, start, end, self._name_of) for start, end in ordered)


def _n_lines(item: Material) -> int:
    return item.text.removesuffix("\n").count("\n") + 1


def _whole(item: Material) -> Parts:
    text = item.text.removesuffix("\n")
    return (Source(0, item.path, 1, _n_lines(item), text, "", item.score, item.reason, is_whole=True),)


def _part(item: Material, start_line: int, end_line: int, name_of: NameOf) -> Source:
    text, symbol = lines_of(item.text, start_line, end_line), name_of(item.path, start_line, end_line)
    return Source(0, item.path, start_line, end_line, text, symbol, item.score, item.reason)


def _beginning_of(parts: Parts, n_characters: int) -> Parts:
    """Return the parts up to so many characters; all of them, where that would leave out next to nothing."""
    if sum(len(source.text) for source in parts) <= 2 * n_characters:
        return parts
    kept = []
    for source in parts:
        kept.append(replace(source, text=source.text[:n_characters], is_whole=False))
        n_characters -= len(source.text)
        if n_characters <= 0:
            break
    return tuple(kept)


def _by_rank(places: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return places in the order of their best hit."""

    def rank(place: tuple[int, int]) -> int:
        return next((n for n, (start, _) in enumerate(spans) if place[0] <= start <= place[1]), len(spans))

    return sorted(places, key=rank)
