"""Stage 3: symbols and breaks → chunks that join up to the document. Pure.

A document is cut where its syntax allows it, from the outside in: first between top-level definitions, then inside
the ones that are too large, and neighbouring small pieces are grouped again as long as they fit. A line that is longer
than a few chunks, as in data or generated code, is cut inside.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from codefathom.types.hits import Chunk
from codefathom.types.symbols import Symbol

if TYPE_CHECKING:
    from codefathom.types.parsed_documents import ParsedDocument

# Chosen on the development benchmark: see docs/decisions/chunks.md.
TARGET_CHARS = 1_000
MAX_LINES = 60

_NO_SYNTAX = 1_000  # depth of a cut at a blank line: after every cut that syntax offers
_ANYWHERE = 1_001  # depth of a cut at any line
_SCRAP = 0.25  # of the target: a smaller piece is joined with the lines that it belongs to
_MAX_DOC_CHARS = 240
_MAX_NAMES = 40
_BYTES_PER_CHAR = 4  # most of a character in UTF-8
_MAX_SYMBOLS_OF_LINE = 1_000  # that are looked for in the parts of one long line
_MOST_CHUNKS = 1 << 24  # of a window of a large file, which has fewer bytes
_ENDS_OF_PARTS = frozenset(" \t,;:|&(){}[]<>\"'")


class ChunkLimits(NamedTuple):
    """The largest size of a chunk. A single line may be longer; of `max_line_bytes` on it is cut."""

    target_chars: int = TARGET_CHARS
    max_lines: int = MAX_LINES

    @property
    def max_line_bytes(self) -> int:
        """The bytes in UTF-8 of the longest line that is one chunk; `target_chars` characters never have more."""
        return self.target_chars * _BYTES_PER_CHAR


class _Source(NamedTuple):
    """The lines of one document and the places where they may be cut."""

    lines: list[str]  # each with its line end, so that they join up to the text
    offsets: list[int]  # offsets[i] = characters before line i + 1
    cuts: list[tuple[int, int]]  # (line, depth), ordered by line; a cut lies above its line
    cut_lines: list[int]
    limits: ChunkLimits
    lines_before: int = 0  # number of lines above these in the document, when they are a window of it

    def fits(self, start: int, end: int) -> bool:
        return self.size(start, end) <= self.limits.target_chars and end - start < self.limits.max_lines

    def nearly_fits(self, start: int, end: int) -> bool:
        """Return True if the lines fit, or would fit without a scrap."""
        return self.size(start, end) <= self.limits.target_chars * (1 + _SCRAP) and end - start < self.limits.max_lines

    def size(self, start: int, end: int) -> int:
        return self.offsets[end] - self.offsets[start - 1]

    def is_blank(self, start: int, end: int) -> bool:
        return not "".join(self.lines[start - 1 : end]).strip()

    def cuts_inside(self, start: int, end: int) -> list[tuple[int, int]]:
        return self.cuts[bisect_right(self.cut_lines, start) : bisect_right(self.cut_lines, end)]


_USUAL = ChunkLimits()


def chunk(parsed: ParsedDocument, limits: ChunkLimits = _USUAL, *, lines_before: int = 0) -> tuple[Chunk, ...]:
    """Cut a document into chunks, in order; every line lies in exactly one of them, or in parts of its own.

    Of a document that is read in windows, each window is cut by itself: `lines_before` is the number of lines above it.
    """
    source = _source(parsed, limits, lines_before)
    if not source.lines:
        return ()
    spans = _split(1, len(source.lines), source)
    outline = _Outline(parsed.symbols)
    seen: Counter[str] = Counter()
    return tuple(
        _chunk(parsed, source, passage, outline, seen) for span in spans for passage in _passages(span, source)
    )


def split_lines(text: str) -> list[str]:
    """Return the lines with their ends; only "\\n" ends a line, and a final one opens no further line."""
    lines = text.split("\n")
    last = lines.pop()
    ended = [line + "\n" for line in lines]
    if last:
        ended.append(last)
    return ended


def _source(parsed: ParsedDocument, limits: ChunkLimits, lines_before: int) -> _Source:
    lines = split_lines(parsed.document.text)
    depth_of: dict[int, int] = dict.fromkeys(_after_blank_lines(lines), _NO_SYNTAX)
    for cut in sorted(parsed.breaks, key=lambda item: -item.depth):
        depth_of[cut.line] = cut.depth
    for line, depth in _symbol_borders(parsed.symbols):
        depth_of[line] = min(depth, depth_of.get(line, _ANYWHERE))
    cuts = sorted((line, depth) for line, depth in depth_of.items() if 1 < line <= len(lines))
    return _Source(lines, [0, *accumulate(map(len, lines))], cuts, [line for line, _ in cuts], limits, lines_before)


def _after_blank_lines(lines: list[str]) -> Iterator[int]:
    # A line is never empty: it has at least its end.
    for number, (is_blank, is_next_blank) in enumerate(pairwise(map(str.isspace, lines)), start=2):
        if is_blank and not is_next_blank:
            yield number


def _symbol_borders(symbols: tuple[Symbol, ...]) -> Iterator[tuple[int, int]]:
    """Yield (line, nesting depth) above and below each symbol."""
    open_ends: list[int] = []
    for symbol in symbols:
        while open_ends and open_ends[-1] < symbol.start_line:
            open_ends.pop()
        yield symbol.start_line, len(open_ends)
        yield symbol.end_line + 1, len(open_ends)
        open_ends.append(symbol.end_line)


def _split(start: int, end: int, source: _Source) -> list[tuple[int, int]]:
    """Cut lines start..end at the outermost cuts, group pieces that fit together, and cut too large groups again."""
    spans: list[tuple[int, int]] = []
    todo = [(start, end)]
    while todo:
        start, end = todo.pop()
        if start == end or source.fits(start, end):
            spans.append((start, end))
            continue
        # At least two groups come back, since all pieces together do not fit: every round makes progress.
        todo.extend(reversed(_group(_pieces(start, end, source), source)))
    return _without_scraps(spans, source)


def _without_scraps(spans: list[tuple[int, int]], source: _Source) -> list[tuple[int, int]]:
    """Join the head of a definition with the lines below it, and its end with those above, where they stand alone; and
    lines with nothing in them with those above."""
    depth_at = {**dict(source.cuts), spans[0][0]: 0, spans[-1][1] + 1: 0}
    joined: list[tuple[int, int]] = []
    head = 0  # the first line of a head that is joined with the next span; 0: none
    for number, (first, end) in enumerate(spans):
        start, head = head or first, 0
        above, below = depth_at.get(start, _ANYWHERE), depth_at.get(end + 1, _ANYWHERE)
        is_scrap = source.size(start, end) <= source.limits.target_chars * _SCRAP
        is_end = below < above or source.is_blank(start, end)
        if is_scrap and above < below and not is_end and source.nearly_fits(start, spans[number + 1][1]):
            head = start
        elif is_scrap and joined and is_end and source.nearly_fits(joined[-1][0], end):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _pieces(start: int, end: int, source: _Source) -> list[tuple[int, int]]:
    inside = source.cuts_inside(start, end)
    outermost = min((depth for _, depth in inside), default=_ANYWHERE)
    if outermost == _ANYWHERE:
        return [(line, line) for line in range(start, end + 1)]
    starts = [start, *(line for line, depth in inside if depth == outermost)]
    return list(zip(starts, [line - 1 for line in starts[1:]] + [end], strict=True))


def _group(pieces: list[tuple[int, int]], source: _Source) -> list[tuple[int, int]]:
    """Join neighbours while they fit; a large piece stays alone, for a later cut."""
    groups = [pieces[0]]
    for start, end in pieces[1:]:
        if source.fits(groups[-1][0], end):
            groups[-1] = (groups[-1][0], end)
        else:
            groups.append((start, end))
    return groups


class _Passage(NamedTuple):
    """Some lines of a document, or a part of one."""

    start: int
    end: int
    text: str
    column: int = 1
    is_part: bool = False


def _passages(span: tuple[int, int], source: _Source) -> Iterator[_Passage]:
    """Yield the lines as they are, or the parts of a long line."""
    start, end = span
    text = "".join(source.lines[start - 1 : end])
    if start < end or len(text.encode("utf-8", "surrogatepass")) <= source.limits.max_line_bytes:
        yield _Passage(start, end, text)
        return
    column = 1
    for part in _parts(text, source.limits.target_chars):
        yield _Passage(start, end, part, column, is_part=True)
        column += len(part)


def _parts(line: str, target_chars: int) -> Iterator[str]:
    """Cut a line into parts of at most 1.25 times the target, between words where there are some."""
    place = 0
    while len(line) - place > target_chars * (1 + _SCRAP):
        end = place + target_chars
        earliest = place + target_chars * 3 // 4
        cut = next((at for at in range(end, earliest, -1) if line[at - 1] in _ENDS_OF_PARTS), end)
        yield line[place:cut]
        place = cut
    yield line[place:]


class _Outline:
    """The symbols of one document, to be asked by line."""

    def __init__(self, symbols: tuple[Symbol, ...]) -> None:
        self.symbols = sorted(symbols, key=lambda symbol: (symbol.start_line, -symbol.end_line))
        self.starts = [symbol.start_line for symbol in self.symbols]
        self.parents = self._parents()

    def starting_in(self, start: int, end: int, most: int) -> list[Symbol]:
        first = bisect_left(self.starts, start)
        return self.symbols[first : min(bisect_right(self.starts, end), first + most)]

    def around(self, start: int, end: int) -> Symbol | None:
        """Return the innermost symbol that contains the lines whole."""
        index = bisect_right(self.starts, start) - 1
        while index >= 0 and self.symbols[index].end_line < end:
            index = self.parents[index]
        return self.symbols[index] if index >= 0 else None

    def _parents(self) -> list[int]:
        parents: list[int] = []
        chain: list[int] = []
        for index, symbol in enumerate(self.symbols):
            while chain and self.symbols[chain[-1]].end_line < symbol.end_line:
                chain.pop()
            parents.append(chain[-1] if chain else -1)
            chain.append(index)
        return parents


def _chunk(parsed: ParsedDocument, source: _Source, passage: _Passage, outline: _Outline, seen: Counter[str]) -> Chunk:
    start, end, text, column, is_part = passage
    document = parsed.document
    around = outline.around(start, end)
    named = outline.starting_in(start, end, _MAX_SYMBOLS_OF_LINE if is_part else _MAX_NAMES)
    if is_part:
        named = [symbol for symbol in named if symbol.name in text][:_MAX_NAMES]
    described = named or ([around] if around else [])
    seen[text] += 1
    return Chunk(
        # With the lines before, no two windows count alike.
        id=chunk_id(document.path, text, source.lines_before * _MOST_CHUNKS + seen[text]),
        path=document.path,
        language=document.language,
        kind=_kind(around, named, (start, end)),
        symbol=around.qualified_name if around else "",
        names=tuple(symbol.qualified_name for symbol in named),
        start_line=source.lines_before + start,
        end_line=source.lines_before + end,
        text=text,
        signature="\n".join(symbol.signature for symbol in described if symbol.signature),
        doc="\n".join(symbol.doc[:_MAX_DOC_CHARS] for symbol in described if symbol.doc),
        column=column,
    )


def _kind(around: Symbol | None, named: list[Symbol], span: tuple[int, int]) -> str:
    """Name the chunk after the definition that fills most of it, else after the one it lies in."""
    if named:
        lines: dict[str, int] = defaultdict(int)
        for symbol in named:
            lines[symbol.kind] += min(symbol.end_line, span[1]) - symbol.start_line + 1
        return max(lines, key=lines.__getitem__)
    return around.kind if around else "block"


def chunk_id(path: str, text: str, occurrence: int) -> str:
    """Return the chunk's identity: path, text and n-th occurrence of that text in the document (from 1)."""
    digest = blake2b(digest_size=16)
    digest.update(f"{path}\0{occurrence}\0".encode("utf-8", "surrogatepass"))
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
