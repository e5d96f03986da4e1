"""The files that can hold a match of a regular expression: those with the words that each match has.

A chunk counts when the view of words says so, or when it has words that the view does not list. Where each match lies
in one line, the expression is tried on these chunks alone; else the words of a match may stand in several chunks of a
file. So the other files hold no match, and need not be read. Without such words, or without a view of the present
catalogue, all files count.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from codefathom.errors import SlowExpressionError
from codefathom.stores.base import LexicalStore
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.lexical.fields import file_number
from codefathom.system.stopping import check_stopped
from codefathom.text.expressions import USUAL_LIMIT_S, Expression, compiled, deadline
from codefathom.text.required_words import Alternatives, WordPart, is_of_one_line, required_words
from codefathom.types.hits import Chunk

_FEW = 50  # chunks that are sooner read than made fewer
_MOST_PARTS = 3  # of one alternative that are looked for
_MOST_CHUNKS = 20_000  # that are read one by one
_AT_ONCE = 1_000  # chunks

_Chunks: TypeAlias = Mapping[int, int]  # keys, each with the number of its file


def files_to_read(
    expression: Expression, paths: Sequence[str], lexical: LexicalStore, catalog: SearchCatalog
) -> Sequence[str]:
    """Return those of these paths whose files can hold a match, in the same order; the same paths where all can."""
    needs = required_words(expression.written)
    if not needs or lexical.generation != catalog.generation:
        return paths
    keys = lexical.with_more_words()
    if keys is None:
        return paths
    with_more = catalog.chunks(keys)
    if len(with_more) < len(keys):  # a row is damaged or lost: reading all files tells which
        return paths
    texts = _texts(with_more)
    is_of_line = is_of_one_line(expression.written)
    words = _Words(lexical, texts, _by_chunk if is_of_line else _by_file)
    chunks = words.with_all_needs(needs)
    if chunks is None:
        return paths
    files = set(chunks.values())
    if is_of_line and len(chunks) <= _MOST_CHUNKS:
        in_parts = {key for text in texts if len(text.keys) > 1 for key in text.keys}  # a match may lie in two of them
        files = {chunks[key] for key in chunks.keys() & in_parts}
        files |= _files_with_match(expression, chunks, files, catalog)
    if lexical.generation != catalog.generation:  # another process has written meanwhile
        return paths
    return [path for path in paths if file_number(path) in files] if files else []


def files_with_word(word: str, lexical: LexicalStore, catalog: SearchCatalog) -> Sequence[str] | None:
    """Return the paths of the files in which a word stands as a whole, in order; None where the words of the project
    are not known."""
    paths = catalog.paths()
    edges = [r"\b" if re.match(r"\w", sign) else "" for sign in (word[:1], word[-1:])]
    expression = compiled(re.escape(word).join(edges))
    with deadline(USUAL_LIMIT_S):
        files = files_to_read(expression, paths, lexical, catalog)
    return None if files is paths else files


def _files_with_match(
    expression: Expression, chunks: _Chunks, skipped: Collection[int], catalog: SearchCatalog
) -> set[int]:
    """Return the files of the chunks with a match, of those on which the expression takes too long, and of those that
    are not in the catalogue, where they should be. Chunks of skipped files are left out."""
    files: set[int] = set()
    keys = sorted(key for key, file in chunks.items() if file not in skipped)
    for start in range(0, len(keys), _AT_ONCE):
        check_stopped()
        part = keys[start : start + _AT_ONCE]
        texts = catalog.chunks([key for key in part if chunks[key] not in files])
        for key in part:
            if chunks[key] not in files and (key not in texts or _may_match(expression, texts[key].text)):
                files.add(chunks[key])
    return files


def _may_match(expression: Expression, text: str) -> bool:
    try:
        return any(True for _ in expression.places(text))
    except SlowExpressionError:
        return True


class _Text:
    """Some chunks with words that the view does not list: one alone, or the parts of a long line."""

    def __init__(self, parts: Sequence[tuple[int, Chunk]]) -> None:
        self.keys = [key for key, _ in parts]
        self.file = file_number(parts[0][1].path)
        self._text = "".join(chunk.text for _, chunk in parts).lower()
        columns = accumulate((len(chunk.text) for _, chunk in parts[:-1]), initial=1)
        self._is_whole = all(chunk.column == column for (_, chunk), column in zip(parts, columns, strict=True))

    def may_have(self, part: WordPart) -> bool:
        """Return True if a part of a word may stand here."""
        return not self._is_whole or part.in_text.search(self._text) is not None


def _texts(chunks: Mapping[int, Chunk]) -> list[_Text]:
    lines: defaultdict[tuple[str, int, int], list[tuple[int, Chunk]]] = defaultdict(list)
    for key, chunk in chunks.items():
        lines[chunk.path, chunk.start_line, chunk.end_line].append((key, chunk))
    return [_Text(sorted(parts, key=lambda part: part[1].column)) for parts in lines.values()]


def _by_chunk(some: _Chunks, others: _Chunks) -> _Chunks:
    return {key: some[key] for key in some.keys() & others.keys()}


def _by_file(some: _Chunks, others: _Chunks) -> _Chunks:
    fewer, more = sorted((some, others), key=len)
    files = set(more.values())
    return {key: file for key, file in fewer.items() if file in files}


class _Words(NamedTuple):
    """The chunks with parts of words, and the way in which several parts go together."""

    lexical: LexicalStore
    texts: Sequence[_Text]
    in_both: Callable[[_Chunks, _Chunks], _Chunks]

    def with_all_needs(self, needs: Iterable[Alternatives]) -> _Chunks | None:
        """Return chunks that have one alternative of each need; None where this cannot be told."""
        return self._joined(map(self._with_any, needs))

    def _with_any(self, alternatives: Alternatives) -> _Chunks | None:
        chunks: dict[int, int] = {}
        for parts in alternatives:
            with_words = self._joined(map(self._with_part, parts[:_MOST_PARTS]))
            if with_words is None:
                return None
            chunks.update(with_words)
        return chunks

    def _with_part(self, part: WordPart) -> _Chunks | None:
        chunks = self.lexical.chunks_with(part)
        if chunks is None:
            return None
        return {**chunks, **{key: text.file for text in self.texts if text.may_have(part) for key in text.keys}}

    def _joined(self, needs: Iterable[_Chunks | None]) -> _Chunks | None:
        """Return what all have, or a few chunks that most have; None stands for all chunks."""
        chunks: _Chunks | None = None
        for need in needs:
            if need is not None:
                chunks = need if chunks is None else self.in_both(chunks, need)
            if chunks is not None and len(chunks) <= _FEW:
                break
        return chunks
