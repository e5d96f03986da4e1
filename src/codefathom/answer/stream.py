"""A reply as it streams in → checked text, block by block: nothing unchecked is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from codefathom.answer.cite import check
from codefathom.answer.types import Checked, Citation, Dropped, Source

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


class CheckedStream:
    """Collects a streamed text and gives each block free once it is whole: up to a blank line outside fenced code.

    A citation may stand behind the code it is about, so a fence and what follows it belong to one block.
    """

    def __init__(self, sources: Sequence[Source], now: Callable[[], Mapping[str, str]]) -> None:
        self._sources = sources
        self._now = now
        self._waiting = ""
        self._citations: dict[Citation, None] = {}
        self._dropped: list[Dropped] = []
        self._text: list[str] = []

    def feed(self, text: str) -> Iterator[str]:
        """Take a piece and yield what is whole now, checked."""
        self._waiting += text
        while (end := _end_of_block(self._waiting)) > 0:
            block, self._waiting = self._waiting[:end], self._waiting[end:]
            yield self._checked(block)

    def finish(self) -> Iterator[str]:
        """Yield what is left, checked."""
        if self._waiting:
            block, self._waiting = self._waiting, ""
            yield self._checked(block)

    @property
    def result(self) -> Checked:
        """All that was checked so far."""
        return Checked("".join(self._text), tuple(self._citations), tuple(self._dropped))

    def _checked(self, block: str) -> str:
        checked = check(block, self._sources, self._now())
        self._citations.update(dict.fromkeys(checked.citations))
        self._dropped += checked.dropped
        self._text.append(checked.text)
        return checked.text


def _end_of_block(text: str) -> int:
    """Return where the first whole block ends, 0 when none is whole."""
    for blank in _BLANK.finditer(text):
        before = text[: blank.start() + 1]
        last_line = before.rstrip("\n").rpartition("\n")[2]
        if not _is_in_fence(before) and _FENCE.match(last_line) is None:
            return blank.end()
    return 0


def _is_in_fence(text: str) -> bool:
    """Whether a fence is open at the end; one is closed by its own signs only, and by no fewer."""
    opened = ""
    for fence in _FENCE.findall(text):
        if not opened:
            opened = fence
        elif fence.startswith(opened):
            opened = ""
    return bool(opened)
