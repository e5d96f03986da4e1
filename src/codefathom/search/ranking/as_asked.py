"""What a passage holds as the question writes it: all of its words, none of them, or a heading that is the question.

No weight is learned for that: whoever asks for a text that stands somewhere means that text, however rarely a mined
question is asked so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.places import place_of
from codefathom.stores.lexical.terms import terms
from codefathom.types.choices import SECTION_SEPARATOR
from codefathom.types.hits import Chunk

_BETWEEN = re.compile(r"[\W_]+")
_PLAIN_WORDS = re.compile(r"[^\W_]+(?: [^\W_]+)*")


class NameWords(NamedTuple):
    """What a candidate defines."""

    each: Sequence[Sequence[str]]  # the words of each name
    share: float  # of the words of the question, in any form and translated, that are in its names


class AsAsked:
    """The words of a short question as they are written, looked for in the candidates."""

    def __init__(self, query: RankingQuery) -> None:
        self._query = query
        self._words = query.written
        self._own = sum(1 << bit for bit, term in enumerate(query.terms) if term in self._words)
        self._all = self._own if self._words and all(word in query.terms for word in self._words) else 0
        self._name = _joined(query.name_of_parts)
        is_one = len(query.title.split()) == 1
        self._title = "" if is_one and query.heads else _plain(query.title)  # of what is defined, the code is meant
        # With a sign or a capital letter: written as the heading is, and not as anybody writes some words.
        is_plain = query.title == query.title.lower() and _PLAIN_WORDS.fullmatch(query.title)
        self._heading = "" if is_plain else query.title

    def headings(self, chunks: Sequence[Chunk], named: Sequence[NameWords]) -> list[bool]:
        """Return which chunks are sections of documents whose heading is the question, word for word.

        Where code has that name, only a heading that is also written in the same way.
        """
        if any(value > 0 and not place_of(path).is_prose for path, value in self._query.files.items()):
            return [False] * len(chunks)  # the name of a file of code, such as a module, may be a heading as well
        sections = [self._heads(chunk) for chunk in chunks]
        if not any(sections) or self._query.about_prose:
            return [bool(headings) for headings in sections]
        is_code = any(self._is_called(chunk, own) for chunk, own in zip(chunks, named, strict=True))
        return [self._heading in headings if is_code else bool(headings) for headings in sections]

    def _heads(self, chunk: Chunk) -> list[str]:
        if not self._title or not place_of(chunk.path).is_prose:
            return []
        headings = (name.rpartition(SECTION_SEPARATOR)[2].replace("`", "") for name in chunk.names)
        return [heading for heading in headings if _plain(heading) == self._title]

    def _is_called(self, chunk: Chunk, named: NameWords) -> bool:
        """Return True for code of that name, or in a file of it; of one word, other names that have it count, too."""
        place = place_of(chunk.path)
        if place.is_prose or place.is_test:
            return False
        if len(self._words) == 1:
            return named.share > 0 or bool(self._query.word_forms.among(place.stem))
        title = self._title.replace(" ", "")
        return place.flat_stem == title or any("".join(words) == title for words in named.each)

    def lacking(self, chunks: Sequence[Chunk], bits: Sequence[int], named: Sequence[NameWords]) -> list[bool]:
        """Return which chunks have no word of the question, where another one has all of them; else none.

        `bits` are the terms of the question in each chunk and in its path, in any form.
        """
        if not self._all or not any(self._has_all(chunk, own) for chunk, own in zip(chunks, bits, strict=True)):
            return [False] * len(chunks)
        return [
            not self._holds_name(chunk) if self._name else not (of_names.share > 0 or own & self._own)
            for chunk, own, of_names in zip(chunks, bits, named, strict=True)
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
