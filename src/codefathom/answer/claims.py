"""The sentences of an answer, with and without a place that was checked, and the marks of what does not hold. Pure.

An answer is not as good as its best sentence: one citation that holds says nothing about five sentences beside it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

from codefathom.facts.reasons import CODE_NOT_IN_SOURCES, ENGLISH, MARKS, PLACE_NOT_FOUND, PLACES_NOT_FOUND

NOT_IN_SOURCES = ENGLISH[CODE_NOT_IN_SOURCES]
_MARKS = tuple(ENGLISH[kind] for kind in MARKS)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*\n(.*?)(?:^ {0,3}\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}(?:#{1,6}[ \t].*|[-=]{3,}[ \t]*)$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])")
# A sentence ends before white space, or, where a language is written without spaces, at once. What stands in brackets
# behind the full stop belongs to it.
_SENTENCE = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？；])")
_ONLY_MARKS = re.compile(r"\s*(?:\[[^\[\]\n]*\][\s.,;。，；]*)+")
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\d_]{2,}")
_LEAST_WORDS = 3  # "Yes." and "In short" claim nothing


class Claims(NamedTuple):
    """The number of sentences that claim something, and of those that name a place that holds."""

    n: int
    n_checked: int

    @property
    def share(self) -> float:
        """Share of the sentences that name a place that holds; 1.0 where nothing is claimed."""
        return self.n_checked / self.n if self.n else 1.0


NO_CLAIMS = Claims(0, 0)


def not_found_mark(n_places: int) -> str:
    """Return the text that stands where places were cited that do not hold, "" for none."""
    return ENGLISH[PLACES_NOT_FOUND if n_places > 1 else PLACE_NOT_FOUND] if n_places else ""


class _Sentence(NamedTuple):
    text: str
    holds: bool  # it names a place that was checked
    fails: bool  # it named one that does not hold, or its code is not in the sources


def claims(text: str, places: Collection[str]) -> Claims:
    """Count the sentences of a checked answer; `places` are its citations as they stand in the text.

    A citation speaks for its sentence and for the one before it in the same paragraph.
    """
    claimed = checked = 0
    for sentences in _paragraphs(text, places):
        covered = [one.holds and not one.fails for one in sentences]
        after = [*(later and not one.fails for one, later in zip(sentences, covered[1:], strict=False)), False]
        for one, own, later in zip(sentences, covered, after, strict=True):
            if one.fails or _claims_something(one.text):
                claimed += 1
                checked += own or later
    return Claims(claimed, checked)


def _paragraphs(text: str, places: Collection[str]) -> Iterator[list[_Sentence]]:
    """Yield the sentences of each paragraph and list item; marks that stand alone belong to the one before."""
    prose = _HEADING.sub("\n", _FENCE.sub("\n", text))
    waiting: list[str] = []
    for paragraph in _PARAGRAPH.split(prose):
        pieces = _sentences(paragraph)
        if not pieces:
            continue
        if waiting and _ONLY_MARKS.fullmatch(" ".join(pieces)):
            waiting[-1] += f" {' '.join(pieces)}"
            continue
        if waiting:
            yield [_sentence(piece, places) for piece in waiting]
        waiting = pieces
    if waiting:
        yield [_sentence(piece, places) for piece in waiting]


def _sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph, each with the brackets that follow it."""
    ends = [0, *(match.start() for match in _SENTENCE.finditer(paragraph)), len(paragraph)]
    sentences: list[str] = []
    for start, end in pairwise(ends):
        piece = paragraph[start:end]
        leading = _ONLY_MARKS.match(piece) if sentences else None
        if leading is not None:
            sentences[-1] += leading.group()
            piece = piece[leading.end() :]
        if piece.strip():
            sentences.append(piece)
    return sentences


def _sentence(text: str, places: Collection[str]) -> _Sentence:
    return _Sentence(text, any(place in text for place in places), any(mark in text for mark in _MARKS))


def _claims_something(sentence: str) -> bool:
    """Return True for a sentence that says something: no question, no words that only lead to what follows."""
    bare = re.sub(r"\[[^\[\]\n]*\]", " ", sentence).strip()
    return len(_WORD.findall(bare)) >= _LEAST_WORDS and not bare.endswith(("?", "？", ":", "："))
