"""What a model wrote → the same text with every citation looked up. Pure.

A model is asked to cite `[2]`, a numbered source, or `[2:14-20]`, lines in it; many write `[src/app.py:14-20]` all the
same, with or without brackets. Each is checked against the lines that the model was shown and against the file as it is
now. What does not hold is removed and counted, never passed on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from codefathom.answer.types import Checked, Citation, Dropped, Source

_SPAN = r"(?P<first>\d+)(?:\s*[-–]\s*L?(?P<last>\d+))?"
_NUMBERED = re.compile(rf"\[(?P<number>\d{{1,4}})(?:\s*[:,]\s*(?:lines?\s*|L)?{_SPAN})?\]")
# An address of a page, or anything with a letter in it.
_PATH = r"(?:https?://[^\[\]\s`]+?|(?=[^\[\]\s:`]*[^\W\d])[^\[\]\s:`]+)"
_BARE = r"(?:https?://[^\[\]\s:`/]+/[^\[\]\s:`]+|(?<![\w.@+/-])/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.\w{1,10})"
_BARE_SPAN = _SPAN.replace("first", "from").replace("last", "to")
_PATHS = re.compile(
    rf"\[`?(?P<path>{_PATH})`?(?::L?|#L|\s+lines?\s+){_SPAN}\]|`?(?P<bare>{_BARE})(?::L?|#L){_BARE_SPAN}`?"
)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n(.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_MAX_BETWEEN = 40  # characters
# The end of a sentence, and the beginning of the next item of a list.
_PARTS = re.compile(r"[.;!?。；]\s|\n\s*(?:[-*+]|\d+[.)])\s")
# A span of code and not a name or a command: white space inside and a sign that no prose has.
_IS_CODE = re.compile(r"^(?=.*\s)(?=.*[(){}=;<>\[\]]).{12,}$")


class _Named(NamedTuple):
    """A citation as it stands in the text."""

    start: int
    end: int
    text: str
    number: int  # 0: named by path
    path: str
    first: int  # 0: the whole source
    last: int


def check(text: str, sources: Sequence[Source], now: Mapping[str, str]) -> Checked:
    """Return the text with checked citations.

    `now` holds the present text of the files of all sources; a file that is gone is not in it. Lines that moved since
    are cited where they are now.
    """
    quotes = _quotes(text)
    pieces: list[str] = []
    kept: dict[Citation, None] = {}
    dropped: list[Dropped] = []
    end = 0
    for named in _named(text):
        pieces.append(text[end : named.start])
        end = named.end
        found = _look_up(named, sources, now)
        if isinstance(found, Citation):
            near = [quote for quote in quotes if _belongs(quote, named, text)]
            missing = _missing(near, found, now[found.path])
            found = f"the quoted {missing!r} does not stand there" if missing else found
        if isinstance(found, Citation):
            kept[found] = None
            pieces.append(f"[{found.path}:{found.start_line}-{found.end_line}]")
        else:
            dropped.append(Dropped(named.text, found))
            pieces[-1] = pieces[-1].rstrip(" ")
    pieces.append(text[end:])
    return Checked("".join(pieces), tuple(kept), tuple(dropped))


def _named(text: str) -> Iterator[_Named]:
    """Yield the citations of a text in order; what stands inside fenced code is no citation."""
    fences = [match.span() for match in _FENCE.finditer(text)]
    matches = sorted([*_NUMBERED.finditer(text), *_PATHS.finditer(text)], key=lambda match: match.start())
    for match in matches:
        if any(start <= match.start() < end for start, end in fences):
            continue
        group = match.groupdict()
        first = int(group.get("first") or group.get("from") or 0)
        last = int(group.get("last") or group.get("to") or first)
        path = (group.get("path") or group.get("bare") or "").removeprefix("./").lstrip("/")
        yield _Named(*match.span(), match.group(), int(group.get("number") or 0), path, first, last)


def _look_up(named: _Named, sources: Sequence[Source], now: Mapping[str, str]) -> Citation | str:
    """Return the place that is cited, or why there is none."""
    if named.path:
        shown = [source for source in sources if source.path == named.path or source.path.endswith(f"/{named.path}")]
        if not shown:
            return "no source has this path"
        holding = [source for source in shown if source.start_line <= named.first and named.last <= source.end_line]
        if not holding:
            return "these lines were not shown"
        source = holding[0]
    else:
        numbered = [source for source in sources if source.number == named.number]
        if not numbered:
            return "there is no source of this number"
        source = numbered[0]
    first, last = (named.first, named.last) if named.first else (source.start_line, source.end_line)
    if not source.start_line <= first <= last <= source.end_line:
        return "these lines were not shown"
    return _as_it_is_now(source, first, last, now)


def _as_it_is_now(source: Source, first: int, last: int, now: Mapping[str, str]) -> Citation | str:
    if source.path not in now:
        return "the file is no longer there"
    shown = source.text.split("\n")[first - source.start_line : last - source.start_line + 1]
    lines = now[source.path].split("\n")
    starts = [first - 1, *(index for index, line in enumerate(lines) if line == shown[0])] if shown else []
    for start in starts:
        if lines[start : start + len(shown)] == shown:
            return Citation(source.path, start + 1, start + len(shown), source.symbol)
    return "the file has changed there"


class _Quote(NamedTuple):
    start: int
    end: int
    lines: tuple[str, ...]  # white space folded


def _quotes(text: str) -> list[_Quote]:
    """Return the code that an answer quotes, in blocks and in lines."""
    found = [
        _Quote(*match.span(), tuple(_folded(line) for line in _lines(match[2]))) for match in _FENCE.finditer(text)
    ]
    inline = (match for match in _INLINE.finditer(text) if _IS_CODE.match(match[1]))
    found += [_Quote(*match.span(), (_folded(match[1]),)) for match in inline]
    return [quote for quote in found if quote.lines]


def _lines(block: str) -> list[str]:
    # "..." stands for what was left out.
    return [line for line in block.split("\n") if line.strip(" \t.…#/")]


def _belongs(quote: _Quote, named: _Named, text: str) -> bool:
    """Whether a quotation stands right before or after a citation: no more than a few words of one sentence between."""
    between = text[quote.end : named.start] if quote.end <= named.start else text[named.end : quote.start]
    return len(between) <= _MAX_BETWEEN and not _PARTS.search(between) and "\n\n" not in between.strip()


def _missing(quotes: Sequence[_Quote], found: Citation, text: str) -> str:
    """Return the first quoted line that does not stand in the cited lines."""
    cited = _folded("\n".join(text.split("\n")[found.start_line - 1 : found.end_line]))
    return next((line for quote in quotes for line in quote.lines if line not in cited), "")


def _folded(text: str) -> str:
    return " ".join(text.split())
