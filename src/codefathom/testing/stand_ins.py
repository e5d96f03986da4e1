"""Models for tests, which think nothing."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Literal, cast
from zlib import crc32

from codefathom.errors import FathomError
from codefathom.providers.base import Ask, Delta, Reply
from codefathom.types import Matrix

_WORD = re.compile(r"\w+")
_PIECE = re.compile(r"\S+|\s+")


class FakeEmbedder:
    """A deterministic embedder for tests: each word falls on one of a few axes. It knows nothing of meaning."""

    def __init__(self, dimensions: int = 16) -> None:
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """Model and revision; stored with the index."""
        return f"fake-1:{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows; the same words in any order and case give the same row."""
        rows = array("f", (value for text in texts for value in self._row(text)))
        return _matrix(rows, len(texts), self._dimensions)

    def _row(self, text: str) -> list[float]:
        row = [0.0] * self._dimensions
        for word in _WORD.findall(text.lower()):
            row[crc32(word.encode("utf-8", "surrogatepass")) % self._dimensions] += 1.0
        length = math.hypot(*row)
        return [value / length for value in row] if length else row


class FakeReranker:
    """A reranker for tests: grades a text by the share of the question's words that stand in it."""

    name = "fake-reranker"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return 0 to 1 for each text."""
        words = set(_WORD.findall(question.lower()))
        return [len(words & set(_WORD.findall(text.lower()))) / (len(words) or 1) for text in texts]


class ScriptedChat:
    """A chat model for tests: gives the replies it was given, one after another, and remembers what it was asked.

    A reply may be an error, which is raised, or a function of what is asked.
    """

    name = "scripted:model"

    def __init__(self, replies: Sequence[Reply | FathomError | Callable[[Ask], Reply]]) -> None:
        self._replies = list(replies)
        self._lock = Lock()
        self.asks: list[Ask] = []

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`; the text comes word by word."""
        with self._lock:
            self.asks.append(ask)
            if not self._replies:
                raise AssertionError(f"there is no reply left for {ask.messages[-1].content[:200]!r}")
            reply = self._replies.pop(0)
        if isinstance(reply, FathomError):
            raise reply
        final = reply if isinstance(reply, Reply) else reply(ask)
        yield from (Delta(piece) for piece in _PIECE.findall(final.text))
        yield final


def _matrix(values: array[float], n_rows: int, dimensions: int) -> Matrix:
    flat = memoryview(values)
    return cast(Matrix, flat.cast("B").cast("f", (n_rows, dimensions)) if n_rows else flat)
