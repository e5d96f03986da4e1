"""What a passage holds as the question writes it: all of its words, none of them, or a heading that is the question.

No weight is learned for that: whoever asks for a text that stands somewhere means that text, however rarely a mined
question is asked so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.places import place_of
from codefathom.stores.lexical.terms import terms
from codefathom.types import SECTION_SEPARATOR, Chunk

_FEWEST_IN_TITLE = 2  # words: one alone may be the name of code, which is meant then
_BETWEEN = re.compile(r"[\W_]+")


class AsAsked:
    """The words of a short question as they are written, looked for in the candidates."""

    def __init__(self, query: RankingQuery) -> None:
        self._words = query.written
        self._own = sum(1 << bit for bit, term in enumerate(query.terms) if term in self._words)
        self._all = self._own if self._words and all(word in query.terms for word in self._words) else 0
        self._name = _joined(query.name_of_parts)
        self._title = _plain(query.title) if len(self._words) >= _FEWEST_IN_TITLE or not query.heads else ""

    def is_heading(self, chunk: Chunk) -> bool:
        """Return True for the section of a document whose heading is the question, word for word."""
        if not self._title or not place_of(chunk.path).is_prose:
            return False
        return any(_plain(name.rpartition(SECTION_SEPARATOR)[2]) == self._title for name in chunk.names)

    def lacking(self, chunks: Sequence[Chunk], bits: Sequence[int], named: Iterable[bool]) -> list[bool]:
        """Return which chunks have no word of the question, where another one has all of them; else none.

        `bits` are the terms of the question in each chunk and in its path, in any form; `named` says whether a name
        that it defines has one of them, also translated.
        """
        if not self._all or not any(self._has_all(chunk, own) for chunk, own in zip(chunks, bits, strict=True)):
            return [False] * len(chunks)
        return [
            not self._holds_name(chunk) if self._name else not (is_named or own & self._own)
            for chunk, own, is_named in zip(chunks, bits, named, strict=True)
        ]

    def _has_all(self, chunk: Chunk, bits: int) -> bool:
        if self._name:
            return self._holds_name(chunk)
        return bits & self._all == self._all and set(self._words) <= set(terms(chunk.text))

    def _holds_name(self, chunk: Chunk) -> bool:
        return self._name in _joined(f"{chunk.path}\n{chunk.text}")


def _joined(text: str) -> str:
    """Return a text in which a name looks the same in every style: parseConfig, parse_config, PARSE_CONFIG."""
    return text.replace("_", "").lower()


def _plain(text: str) -> str:
    return _BETWEEN.sub(" ", text).strip().casefold()
