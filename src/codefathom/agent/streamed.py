"""The pieces of an agent's JSON reply → the checked text of its answer, as far as no later word can change it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from codefathom.answer.answer_types import Source
from codefathom.answer.stream import CheckedStream

_BEGIN = re.compile(r'\{\s*"answer"\s*:\s*"')
_PLAIN = re.compile(r'[^"\\]+')
_PAIR = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_LONGEST_BEGIN = 1_000  # characters, most of them blanks
_LONGEST_ESCAPE = 12  # characters: two halves of a pair
# The list of sources comes after the answer: what a number means is not known before.
_BY_NUMBER = re.compile(r"[\[［【(（]\s*(?:sources?\s*:?\s*)?\d", re.IGNORECASE)
_MAY_BEGIN_ONE = re.compile(r"[\[［【(（][\sA-Za-z:]{0,12}\Z")


class AnswerText:
    """Decodes the value of "answer" while its JSON comes in."""

    def __init__(self) -> None:
        self._rest = ""  # not decoded yet; before the value begins, what may be its beginning
        self._is_begun = False
        self._is_over = False

    def feed(self, piece: str) -> str:
        """Take a piece of the reply, and return what it adds to the text."""
        if self._is_over:
            return ""
        self._rest += piece
        if not self._is_begun:
            begin = _BEGIN.search(self._rest)
            if begin is None:
                # Only what follows the last bracket can still become one: a reply may be long.
                last = self._rest.rfind("{")
                self._rest = self._rest[last:] if last >= 0 and len(self._rest) - last <= _LONGEST_BEGIN else ""
                return ""
            self._is_begun = True
            self._rest = self._rest[begin.end() :]
        return "".join(self._decoded())

    def _decoded(self) -> Iterator[str]:
        while self._rest and not self._is_over:
            plain = _PLAIN.match(self._rest)
            if plain:
                text, n_chars = plain[0], plain.end()
            elif self._rest[0] == '"':
                self._is_over = True
                return
            else:
                text, n_chars = _escaped(self._rest[:_LONGEST_ESCAPE])
                if not n_chars:
                    return
            yield text
            self._rest = self._rest[n_chars:]


def _escaped(text: str) -> tuple[str, int]:
    """Return the character of an escape at the start of a text, and its length; 0 when more of it must come."""
    if len(text) < 2:
        return "", 0
    if text[1] != "u":
        return _SIGNS.get(text[1], text[1]), 2
    if pair := _PAIR.match(text):
        high, low = int(pair[1], 16), int(pair[2], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00), len(pair[0])
    is_half = text[2:3] in "dD" and text[3:4] in "89abAB"
    if len(text) < (_LONGEST_ESCAPE if is_half else 6):
        return "", 0
    code = _CODE.match(text)
    character = chr(int(code[1], 16)) if code else "?"
    return ("?" if "\ud800" <= character <= "\udfff" else character), 6


class StreamedAnswer:
    """Gives the answer of an agent free while the model writes it, and the rest of it when it is known whole."""

    def __init__(
        self, sources: Callable[[], Sequence[Source]], texts: Callable[[Sequence[Source]], Mapping[str, str]]
    ) -> None:
        """`sources` gives the lines that were shown; `texts`, the present text of each of their files."""
        self.text = ""  # that was given free
        self._sources = sources
        self._texts = texts
        self._answer = AnswerText()
        self._stream: CheckedStream | None = None
        self._waiting = ""  # what may begin a citation by number
        self._is_held = False  # the rest waits for the sources

    def feed(self, piece: str) -> Iterator[str]:
        """Take a piece of the model's reply, and yield what can be shown now."""
        text = self._answer.feed(piece)
        if not text or self._is_held:
            return
        if self._stream is None:
            sources = self._sources()
            self._stream = CheckedStream(sources, lambda: self._texts(sources))
            text = text.lstrip()
        text = self._waiting + text
        by_number = _BY_NUMBER.search(text)
        self._is_held = by_number is not None
        end = by_number.start() if by_number else len(text)
        may_begin = None if by_number else _MAY_BEGIN_ONE.search(text)
        end = may_begin.start() if may_begin else end
        self._waiting = text[end:]
        yield from self._shown(self._stream.feed(text[:end]))

    def finish(self) -> Iterator[str]:
        """Yield the words that were held back, where no more of this answer comes."""
        if self._stream is not None:
            yield from self._shown(self._stream.finish())

    def _shown(self, texts: Iterator[str]) -> Iterator[str]:
        for text in texts:
            self.text += text
            yield text
