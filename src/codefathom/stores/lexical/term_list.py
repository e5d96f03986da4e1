"""The terms of all bodies in files of their own, where those with a part are found: tantivy walks thirty times as long.

The first file has the terms of a whole view, each commit adds a file with those of its chunks, and many become one
again. A term may stand in several files, or in no chunk any more; none is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING
from zlib import crc32

from codefathom.stores.folder import File, Folder

if TYPE_CHECKING:
    from codefathom.text.required_words import WordPart

TERMS = "terms."  # begins the names of these files
_NAME = re.compile("terms[.]([0-9]{1,9})")
_MOST_FILES = 16
_NONE = b"\n"  # each term stands between two ends of lines
_MOST_IN_SET = 200_000  # some thirty megabytes; packed they are three


class TermList:
    """All terms, to be looked through for parts of words."""

    def __init__(self, text: str) -> None:
        self._text = text

    def with_part(self, part: WordPart) -> list[str]:
        """Return the terms that words with this part have, each once."""
        if part.is_plain:
            return list(dict.fromkeys(self._lines_matching(part.in_lines)))
        lines = self._lines_with(part.seed) if part.seed else self._lines_matching(part.in_text)
        return list(dict.fromkeys(line for line in lines if part.in_term.search(line)))

    def _lines_with(self, seed: str) -> Iterator[str]:
        text, place = self._text, 0
        while (place := text.find(seed, place)) >= 0:
            end = text.index("\n", place)
            yield text[text.rindex("\n", 0, place) + 1 : end]
            place = end

    def _lines_matching(self, pattern: re.Pattern[str]) -> Iterator[str]:
        text, place = self._text, 0
        while match := pattern.search(text, place):
            place = text.index("\n", match.end())
            yield text[text.rindex("\n", 0, match.start()) + 1 : place]


def list_files(names: Iterable[str]) -> list[str]:
    """Return those of these names that are files of terms, the oldest first."""
    return sorted(filter(_NAME.fullmatch, names), key=_number)


def read_terms(files: Sequence[tuple[File, int, int]]) -> TermList | None:
    """Return the terms of files, each with its size and checksum; None where one of them is another one by now."""
    texts = []
    for file, size, checksum in files:
        try:
            content = file.read(size + 1)
        except OSError:
            return None
        if len(content) != size or crc32(content) != checksum:
            return None
        texts.append(content.decode("utf-8", "surrogatepass"))
    return TermList("".join(texts)) if texts else None


class NewTerms:
    """The terms of chunks that are not committed yet.

    The text of a large project has a million of them, which as strings of a set would take a hundred megabytes.
    """

    def __init__(self) -> None:
        self._latest: set[str] = set()
        self._parts: list[bytes] = []  # sorted lines

    def __bool__(self) -> bool:
        return bool(self._latest or self._parts)

    def update(self, terms: Iterable[str]) -> None:
        """Add terms, which may be there already."""
        self._latest.update(terms)
        if len(self._latest) > _MOST_IN_SET:
            self._pack()

    def lines(self, others: Iterable[bytes] = ()) -> Iterator[bytes]:
        """Yield all terms with those of other lists of lines, each as a line, sorted, and once."""
        self._pack()
        last = _NONE  # begins each other list
        for line in merge(*map(BytesIO, (*self._parts, *others))):
            if line not in (_NONE, last):
                yield line
                last = line

    def _pack(self) -> None:
        if self._latest:
            self._parts.append("\n".join([*sorted(self._latest), ""]).encode("utf-8", "surrogatepass"))
            self._latest = set()


def add_terms(folder: Folder, terms: NewTerms, before: Sequence[str]) -> list[str]:
    """Write terms beside the files of before; return the names of files that are not needed any more. Raises OSError.

    `before` are the files of the last commit. Where they are many, their terms are written anew with these.
    """
    number = max(map(_number, list_files(folder.names())), default=0) + 1
    outdated = before if len(before) >= _MOST_FILES else ()
    lines = terms.lines(folder.file(name).read() for name in outdated)
    folder.file(f"terms.{number}").replace(chain([_NONE], lines))
    return list(outdated)


def _number(name: str) -> int:
    return int(name.rpartition(".")[2])
