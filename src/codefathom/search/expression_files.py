"""The files that can hold a match of a regular expression: those with the words that each match has.

A chunk counts when the view of words says so, or when it has words that the view does not list (`more_words.py`). Where
each match lies in one line, the expression is tried on these chunks alone; else the words of a match may stand in
several chunks of a file. So the other files hold no match, and need not be read. Without such words, or without a view
of the present catalogue, all files count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from codefathom.search.expression_trial import try_on_chunks
from codefathom.search.more_words import MoreTexts, more_words
from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.lexical.fields import file_number
from codefathom.stores.lexical.part_query import MOST_PARTS
from codefathom.text.expressions import USUAL_LIMIT_S, Expression, compiled, deadline
from codefathom.text.required_words import (
    Alternatives,
    WordPart,
    is_of_any_lines,
    is_of_one_line,
    required_words,
)

_MOST_CHUNKS = 50_000  # that are read one by one, in a second

_Chunks: TypeAlias = Mapping[int, int]  # keys, each with the number of its file


class Candidates(NamedTuple):
    """What can hold a match."""

    chunks: _Chunks  # each of which holds its matches alone
    files: frozenset[int]  # the numbers of the files that must be read whole


def candidates_of(expression: Expression, lexical: LexicalStore, catalog: SearchCatalog) -> Candidates | None:
    """Return what can hold a match of an expression; None where all files can."""
    needs = required_words(expression.written)
    if not needs or lexical.generation != catalog.generation:
        return None
    keys = lexical.with_more_words()
    more = None if keys is None else more_words(catalog).texts(keys, catalog)
    if keys is None or more is None:  # without a row that is damaged or lost, reading all files tells which
        return None
    texts = _Texts(keys, more)
    if not is_of_one_line(expression.written):
        files = _files_with_all(needs, lexical, texts)
        return None if files is None else Candidates({}, frozenset(files))
    chunks = lexical.chunks_with(needs)
    if chunks is None:
        return None
    chunks = {**chunks, **texts.with_all(needs)}
    if len(chunks) > _MOST_CHUNKS or not is_of_any_lines(expression.written):
        return Candidates({}, frozenset(chunks.values()))
    files = {chunks[key] for key in texts.in_parts() if key in chunks}
    return Candidates({key: file for key, file in chunks.items() if file not in files}, frozenset(files))


def files_with_word(word: str, lexical: LexicalStore, catalog: SearchCatalog) -> Sequence[str] | None:
    """Return the paths of the files in which a word stands as a whole, in order; None where the words of the project
    are not known."""
    edges = [r"\b" if re.match(r"\w", sign) else "" for sign in (word[:1], word[-1:])]
    expression = compiled(f"(?m){re.escape(word).join(edges)}")
    with deadline(USUAL_LIMIT_S):
        candidates = candidates_of(expression, lexical, catalog)
        if candidates is None:
            return None
        trial = try_on_chunks(candidates.chunks, expression, catalog)
    if lexical.generation != catalog.generation:  # another process has written meanwhile
        return None
    paths = {match.chunk.path for match in trial.matches}
    return sorted(paths.union(paths_of(candidates.files | trial.files, catalog.paths())))


def paths_of(files: Collection[int], paths: Sequence[str]) -> Sequence[str]:
    """Return those of these paths whose files have one of some numbers, in the same order."""
    return [path for path in paths if file_number(path) in files] if files else []


class _Texts(NamedTuple):
    """The chunks with words that the view does not list."""

    keys: _Chunks
    texts: Sequence[MoreTexts]

    def with_all(self, needs: Sequence[Alternatives]) -> dict[int, int]:
        """Return those that may have one alternative of each need."""
        return self._of((texts, texts.with_all(needs)) for texts in self.texts)

    def with_part(self, part: WordPart) -> dict[int, int]:
        """Return those that may have a part of a word."""
        return self._of((texts, texts.with_part(part)) for texts in self.texts)

    def in_parts(self) -> dict[int, int]:
        """Return the parts of long lines."""
        return self._of((texts, texts.in_parts) for texts in self.texts)

    def _of(self, parts: Iterable[tuple[MoreTexts, Iterable[int]]]) -> dict[int, int]:
        keys = (key for texts, numbers in parts for number in numbers for key in texts.keys_of(number))
        return {key: self.keys[key] for key in keys if key in self.keys}


def _files_with_all(needs: Iterable[Alternatives], lexical: LexicalStore, texts: _Texts) -> set[int] | None:
    """Return the files that have one alternative of each need, in any of their chunks; None where all may have."""

    def with_part(part: WordPart) -> set[int] | None:
        chunks = lexical.chunks_with([((part,),)])
        return None if chunks is None else {*chunks.values(), *texts.with_part(part).values()}

    def with_any(alternatives: Alternatives) -> set[int] | None:
        files: set[int] = set()
        for parts in alternatives:
            own = _common(map(with_part, parts[:MOST_PARTS]))
            if own is None:
                return None
            files |= own
        return files

    return _common(map(with_any, needs))


def _common(items: Iterable[set[int] | None]) -> set[int] | None:
    """Return what all have; None stands for all files."""
    files: set[int] | None = None
    for item in items:
        if item is not None:
            files = item if files is None else files & item
        if files is not None and not files:
            break
    return files
