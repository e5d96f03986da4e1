"""A reply as it streams in → checked text, block by block: nothing unchecked is shown. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from codefathom.answer.answer_types import Checked, Citation, Dropped, Source
from codefathom.answer.cite import check

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")
_MAX_TO_FENCE = 210  # characters: a little more than what may stand between a citation and the code it is about


class CheckedStream:
    """Collects a streamed text and gives each block free once it is whole: up to a blank line outside fenced code.

    A citation may stand behind the code it is about, so a fence and what follows it belong to one block. So do a
    paragraph that may cite and a fence shortly after it.
    """

    def __init__(self, sources: Sequence[Source], now: Callable[[], Mapping[str, str]]) -> None:
        self._sources = sources
        self._now = now
        self._waiting = ""
        self._citations: dict[Citation, None] = {}
        self._dropped: list[Dropped] = []
        self._text: list[str] = []

    def feed(self, text: str) -> Iterator[str]:
        """Take a piece and yield the blocks that are whole now, checked."""
        self._waiting += text
        yield from self._whole(is_last=False)

    def finish(self) -> Iterator[str]:
        """Yield the remaining text, checked."""
        yield from self._whole(is_last=True)
        yield from self._taken(len(self._waiting))

    def _whole(self, is_last: bool) -> Iterator[str]:
        while (end := _end_of_block(self._waiting, is_last)) > 0:
            yield from self._taken(end)

    def _taken(self, end: int) -> Iterator[str]:
        """Yield the waiting text up to `end`, checked; blank lines before the first word are left out."""
        block, self._waiting = self._waiting[:end], self._waiting[end:]
        if block.strip() or (block and self._text):
            yield self._checked(block)

    @property
    def result(self) -> Checked:
        """The text so far, checked."""
        return Checked("".join(self._text), tuple(self._citations), tuple(self._dropped))

    def _checked(self, block: str) -> str:
        checked = check(block, self._sources, self._now())
        self._citations.update(dict.fromkeys(checked.citations))
        self._dropped += checked.dropped
        self._text.append(checked.text)
        return checked.text


def _end_of_block(text: str, is_last: bool) -> int:
    """Return the end of the first whole block, 0 if no block is whole yet."""
    for blank in _BLANK.finditer(text):
        before = text[: blank.start() + 1]
        last_line = before.rstrip("\n").rpartition("\n")[2]
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


def _leads_to_fence(text: str, is_last: bool) -> bool | None:
    """Return True if fenced code begins soon, after at most one more blank line; None if that is not certain yet."""
    blanks = list(islice(_BLANK.finditer(text), 2))
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
