"""The files that can hold a match of a regular expression: those with the words that each match has.

A file counts when the view of words says so, or when it has words that the view does not list. So the other files hold
no match, and need not be read. Without such words, or without a view of the present catalogue, all files count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.lexical.fields import file_number
from codefathom.text.required_words import Alternatives, WordPart, required_words
from codefathom.types import Chunk

_FEW = 100  # files that are sooner read than their number is made smaller
_MOST_PARTS = 3  # of one alternative that are looked for


def files_to_read(pattern: str, paths: Sequence[str], lexical: LexicalStore, catalog: SearchCatalog) -> Sequence[str]:
    """Return those of these paths whose files can hold a match, in the same order; the same paths where all can."""
    needs = required_words(pattern)
    if not needs or lexical.generation != catalog.generation:
        return paths
    keys = lexical.with_more_words()
    if keys is None:
        return paths
    files = _Files(lexical, [_Text(chunk) for chunk in catalog.chunks(keys).values()])
    numbers: set[int] | None = None
    for alternatives in needs:
        numbers = _both(numbers, files.with_any(alternatives))
        if numbers is not None and len(numbers) <= _FEW:
            break
    if numbers is None or lexical.generation != catalog.generation:
        return paths
    return [path for path in paths if file_number(path) in numbers]


class _Text:
    """A chunk with words that the view does not list."""

    def __init__(self, chunk: Chunk) -> None:
        self.file = file_number(chunk.path)
        self._is_part = chunk.column > 1  # its first word may begin in the chunk before
        self._text = chunk.text.lower()

    def may_have(self, part: WordPart) -> bool:
        """Return True if a part of a word may stand here."""
        return self._is_part or part.in_text.search(self._text) is not None


class _Files(NamedTuple):
    """The files with parts of words, by their numbers."""

    lexical: LexicalStore
    texts: Sequence[_Text]

    def with_any(self, alternatives: Alternatives) -> set[int] | None:
        """Return the files that have all the words of one of these alternatives; None where this cannot be told."""
        numbers: set[int] = set()
        for parts in alternatives:
            with_words = self._with_all(parts)
            if with_words is None:
                return None
            numbers |= with_words
        return numbers

    def _with_all(self, parts: Sequence[WordPart]) -> set[int] | None:
        numbers: set[int] | None = None
        for part in parts[:_MOST_PARTS]:
            with_part = self.lexical.files_with(part)
            if with_part is not None:
                with_part = {*with_part, *(text.file for text in self.texts if text.may_have(part))}
            numbers = _both(numbers, with_part)
            if numbers is not None and len(numbers) <= _FEW:
                break
        return numbers


def _both(some: set[int] | None, others: set[int] | None) -> set[int] | None:
    """Return the files that are in both; None stands for all files."""
    if some is None or others is None:
        return others if some is None else some
    return some & others
