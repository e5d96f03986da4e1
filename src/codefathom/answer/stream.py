"""A reply as it streams in → checked text, word by word: nothing unchecked is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from codefathom.answer.answer_types import Checked, Citation, Dropped, Source
from codefathom.answer.cite import BLANK, MAX_INLINE, check_next, cited_spans, late_problems
from codefathom.answer.claims import not_found_mark

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_MAX_TO_FENCE = 210  # characters: a little more than what may stand between a citation and the code it is about


# What may be the beginning of a citation, up to the end of the text: see the forms in `cite`.
_PART = r"A-Za-z0-9_\u00b5-\u1fff.@+/\-"
_SPAN = r"L?\d*[ \t]*[\u2010-\u2015\u2212-]?[ \t]*L?\d*[ \t]*"
_LINES = rf"[ \t]*\(?[ \t]*(?:l(?:i(?:n(?:es?)?)?)?)?[ \t]*{_SPAN}"
_OF = rf"[ \t]*(?:o|f|fr|fro|i|(?:of|in|from)(?:[ \t]+`?[{_PART}]*`?)?)?"
_OPEN = re.compile(
    r"^[ \t]*\[[^\[\]\n]+\]:[^\n]*\Z"  # a footnote
    r"|[\[［【][^\[\]］】\n]{0,300}(?:[\]］】](?:\([^()\n]*\)?)?)?\Z"  # brackets, which may be those of a link
    r"|[(（][^()（）\n]{0,300}[)）]?\Z"
    rf"|`?[{_PART}:#`]+\Z"  # a word
    rf"|`?(?:[{_PART}]|:(?=//))*[./][{_PART}]*`?[:,]?{_LINES}\Z"  # a path, and perhaps its lines
    rf"|`?[{_PART}:#]*(?:https?|texts)://[^\[\]\s`()]*`?[:,]?{_LINES}\Z"
    rf"|\blines?[ \t]+{_SPAN}{_OF}\Z"
    r"|\s+\Z",
    re.MULTILINE | re.IGNORECASE,
)
_PROSE = re.compile(r"\b(?!(?:sources?|lines?|and)\b)[^\W\d]{2,}[ \t]+(?!(?:sources?|lines?|and)\b)[^\W\d]{2,}\b(?!\Z)")
_MAX_OPEN = 320  # characters
_GROWTH = 50  # a block is checked again when it has grown by this part of it


class CheckedStream:
    """Collects a streamed text and gives each word free at once, but for what may be a citation until it is checked.

    A citation is checked with the code quoted before it. Blocks end at blank lines outside fenced code; at the end of
    one, code that follows a citation is compared, too, and what does not stand there gets a mark behind it.
    """

    def __init__(self, sources: Sequence[Source], now: Callable[[], Mapping[str, str]]) -> None:
        self._sources = sources
        self._now = now
        self._waiting = ""  # the present block
        self._n_shown = 0  # characters of it
        self._n_looked_at = 0  # characters of it
        self._citations: dict[Citation, None] = {}
        self._dropped: list[Dropped] = []
        self._text: list[str] = []
        names = {source.path.rpartition("/")[2] for source in sources}
        bare = "|".join(re.escape(name) for name in names if "." not in name)
        self._named = re.compile(rf"\b(?:{bare})`?[:,]?{_LINES}\Z", re.IGNORECASE) if bare else None

    def feed(self, text: str) -> Iterator[str]:
        """Take a piece and yield what can be shown now, checked.

        Each check reads the whole block, so that a long one is checked every few words: its time grows with its length.
        """
        self._waiting += text
        yield from self._whole(is_last=False)
        if len(self._waiting) - self._n_looked_at > len(self._waiting) // _GROWTH:
            yield from self._looked_at()

    def finish(self) -> Iterator[str]:
        """Yield the remaining text, checked."""
        yield from self._looked_at()
        yield from self._whole(is_last=True)
        yield from self._ended(len(self._waiting), is_last=True)

    def _looked_at(self) -> Iterator[str]:
        self._n_looked_at = len(self._waiting)
        yield from self._taken(self._decided())

    def _whole(self, is_last: bool) -> Iterator[str]:
        while (end := _end_of_block(self._waiting, is_last)) > 0:
            yield from self._ended(end, is_last=False)

    def _decided(self) -> int:
        """Return the end of what no later text can change."""
        text = self._waiting
        if _open_fence(text):
            return text.rfind("\n") + 1
        first = max(len(text) - _MAX_OPEN, 0)
        while match := _OPEN.search(text, first):
            if match[0][0] in "[［【(（" and _PROSE.search(match[0]):
                first = match.start() + 1
                continue
            break
        named = self._named.search(text, max(len(text) - _MAX_OPEN, 0)) if self._named else None
        end = min(item.start() if item else len(text) for item in (match, named))
        for start, stop in (*_codes(text), *cited_spans(text, self._sources)):
            end = start if start < end < stop else end
        return end

    def _ended(self, end: int, *, is_last: bool) -> Iterator[str]:
        """Yield the rest of a block, and the marks of citations that code after them does not bear out."""
        block = self._waiting[:end]
        body = len(block.rstrip())
        yield from self._taken(body)
        late = late_problems(block, self._sources, self._now()) if self._n_shown else ()
        if late:
            self._dropped += late
            yield self._shown(f"\n\n{not_found_mark(len(late))}")
        yield from self._taken(end, is_last=is_last)
        self._waiting, self._n_shown = self._waiting[end:], max(self._n_shown - end, 0)
        self._n_looked_at = 0

    def _taken(self, end: int, *, is_last: bool = False) -> Iterator[str]:
        """Yield the block up to `end`, checked; blank lines before the first word are left out."""
        text, start = self._waiting[:end], self._n_shown
        if (end > start or is_last) and (self._text or text.strip()):
            cites = any(first >= start for first, _ in cited_spans(text, self._sources))
            now = self._now() if cites else {}  # without a citation no file need be read
            checked = check_next(text, self._sources, now, start, is_last=is_last)
            self._citations.update(dict.fromkeys(checked.citations))
            self._dropped += checked.dropped
            self._n_shown = end
            yield self._shown(checked.text)

    def _shown(self, text: str) -> str:
        text = text if self._text else text.lstrip("\n")
        self._text.append(text)
        return text

    @property
    def result(self) -> Checked:
        """The text so far, checked."""
        return Checked("".join(self._text), tuple(self._citations), tuple(self._dropped))


def check_whole(text: str, sources: Sequence[Source], now: Callable[[], Mapping[str, str]]) -> Checked:
    """Check a text that is there whole, in the way in which it is checked while it comes in."""
    stream = CheckedStream(sources, now)
    for _ in (*stream.feed(text), *stream.finish()):
        pass
    return stream.result


def _end_of_block(text: str, is_last: bool) -> int:
    """Return the end of the first whole block, 0 if no block is whole yet."""
    for blank in BLANK.finditer(text):
        before = text[: blank.start() + 1]
        last_line = before.rstrip().rpartition("\n")[2]
        if _open_fence(before) or _FENCE.match(last_line) is not None:
            continue
        if not any(sign.isdigit() for sign in before):  # nothing is cited
            return blank.end()
        follows = _leads_to_fence(text[blank.end() :], is_last)
        if follows is None:
            return 0
        if not follows:
            return blank.end()
    return 0


def _codes(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each code between backticks in the last line.

    One that later text may begin, end or undo reaches beyond the end of the text.
    """
    runs = [match.span() for match in _TICKS.finditer(text, text.rfind("\n") + 1)]
    end = 0
    for n, (start, stop) in enumerate(runs):
        if start < end or (stop - start > 2 and stop < len(text)):
            continue
        later = islice(runs, n + 1, n + 1 + MAX_INLINE)
        same = (run for run in later if run[1] - run[0] == stop - start and run[0] - stop <= MAX_INLINE)
        closing = next(same, None)
        if closing is not None and closing[1] < len(text):
            end = closing[1]
        elif closing is not None or len(text) - stop <= MAX_INLINE + 2:
            end = len(text) + 1
        else:
            continue
        yield start, end


def _leads_to_fence(text: str, is_last: bool) -> bool | None:
    """Return True if fenced code begins soon, after at most one more blank line; None if that is not certain yet."""
    blanks = list(islice(BLANK.finditer(text), 2))
    end = blanks[1].end() if len(blanks) > 1 else _MAX_TO_FENCE
    if _FENCE.search(text[: min(end, _MAX_TO_FENCE)]):
        return True
    return False if is_last or len(blanks) > 1 or len(text) >= _MAX_TO_FENCE else None


def ending(text: str) -> str:
    """Return an ending for a text that broke off, so that another can follow: it closes a fence, adds a blank line."""
    if not text:
        return ""
    fence = _open_fence(text)
    ended = text if not fence or text.endswith("\n") else f"{text}\n"
    ended = f"{ended}{fence}"
    blank = "\n" * (2 - min(len(ended) - len(ended.rstrip("\n")), 2))
    return f"{ended}{blank}"[len(text) :]


def _open_fence(text: str) -> str:
    """Return the fence that is open at the end, "" when none is; one is closed by its own signs, and by no fewer."""
    opened = ""
    for fence in _FENCE.findall(text):
        if not opened:
            opened = fence
        elif fence.startswith(opened):
            opened = ""
    return opened
