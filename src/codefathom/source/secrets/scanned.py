"""A text that is looked through for secrets, and the cheap look that comes before any rule.

Most files hold no secret, and most rules need a fixed piece: so the words of a text are made a set first, each once and
in lower case, and a rule is tried only where the words of its piece are among them.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import NamedTuple

# Most rules are never tried: an expression is compiled when it is.
compiled = cache(re.compile)


class SecretSpan(NamedTuple):
    """The place of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str


_TABLE = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 32 for code in range(256))
_LONG = 20  # signs of a word that may be random
BEGINNING = 4


class ScannedText:
    """A text with its words: runs of ASCII letters and digits, in lower case."""

    def __init__(self, text: str, path: str = "", *, is_piece: bool = False) -> None:
        """`is_piece`: the text was cut out of a document, perhaps in the middle of a key."""
        self.text = text
        self.path = path
        self.is_piece = is_piece
        data = text.encode("utf-8", "surrogatepass")
        if b"\\n" in data:  # a line end in a string: "\nghp_" holds no word "nghp"
            data = data.replace(b"\\n", b"  ")
        self.words = frozenset(data.translate(_TABLE).split())

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, of the same length."""
        return self.text.replace("İ", "I").lower()  # the only letter that grows

    @cached_property
    def joined(self) -> bytes:
        """The words, each between blanks: " akia" is there when a word begins so."""
        return b" ".join((b"", *self.words, b""))

    @cached_property
    def beginnings(self) -> frozenset[bytes]:
        """The first `BEGINNING` signs of the words."""
        return frozenset([word[:BEGINNING] for word in self.words])

    @cached_property
    def lengths(self) -> frozenset[int]:
        """The lengths of the long words that consist of letters and digits: a long random value has one."""
        long_words = [word for word in self.words if len(word) >= _LONG]
        return frozenset(len(word) for word in long_words if not word.isalpha() and not word.isdigit())

    def has(self, *words: bytes) -> bool:
        """Return True if the text holds all these words."""
        return self.words.issuperset(words)


def words_of(text: str) -> list[bytes]:
    """Return the words of a text as `ScannedText` has them, in order."""
    return text.encode().translate(_TABLE).split()
