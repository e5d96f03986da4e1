"""The texts of chunks with words that the view of words does not list, kept in one piece beside the catalogue.

They are looked through for each expression with a word. Read one by one from the catalogue, a hundred times as long is
spent on them as on looking through this piece.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.kept_file import KeptFile
from codefathom.stores.lexical.fields import file_number
from codefathom.text.required_words import Alternatives, WordPart
from codefathom.types.hits import Chunk

_VERSION = 1
_HEAD = struct.Struct("<qqqqq")  # generation, number of texts, of keys, of bytes, of texts that are not whole
_MOST_KEPT = 100_000  # chunks; most have 600 characters
_MOST_LATER = 1 / 8  # of all chunks
_FEW_LATER = 100  # chunks

Chunks = Mapping[int, int]  # keys, each with the number of its file


class MoreTexts(NamedTuple):
    """Texts in lower case, each of one chunk, or of the parts of a long line; those that are not whole come first."""

    files: Sequence[int]  # the number of the file of each text
    key_ends: Sequence[int]  # how many keys it and those before it have
    keys: Sequence[int]
    ends: Sequence[int]  # where it ends in the joined ones
    joined: str
    n_broken: int = 0  # texts that are not whole, and may have any word

    @classmethod
    def of(cls, chunks: Mapping[int, Chunk]) -> MoreTexts:
        """Return the texts of chunks."""
        texts = sorted(_texts(chunks), key=lambda text: text.is_whole)
        lower = [text.text.lower() for text in texts]
        return cls(
            [text.file for text in texts],
            list(accumulate(len(text.keys) for text in texts)),
            [key for text in texts for key in text.keys],
            list(accumulate(len(text) + 1 for text in lower)),
            "".join(f"{text}\n" for text in lower),  # no word has an end of a line
            sum(not text.is_whole for text in texts),
        )

    def with_part(self, part: WordPart) -> set[int]:
        """Return the numbers of the texts in which a part of a word may stand."""
        return {*range(self.n_broken), *self._numbers_with(part)}

    def with_all(self, needs: Iterable[Alternatives]) -> set[int]:
        """Return the numbers of the texts that may have all the parts of one alternative of each need."""
        numbers = set(range(len(self.ends)))
        for alternatives in needs:
            numbers &= set().union(*(set.intersection(*map(self.with_part, parts)) for parts in alternatives))
            if not numbers:
                break
        return numbers

    def keys_of(self, number: int) -> Sequence[int]:
        """Return the keys of the chunks of a text."""
        return self.keys[self.key_ends[number - 1] if number else 0 : self.key_ends[number]]

    @property
    def in_parts(self) -> Iterator[int]:
        """The numbers of the texts that no chunk holds alone, so that a match may lie in several."""
        before = 0
        for number, end in enumerate(self.key_ends):
            if end > before + 1 or number < self.n_broken:
                yield number
            before = end

    def _numbers_with(self, part: WordPart) -> Iterator[int]:
        text, place = self.joined, 0
        while match := part.in_text.search(text, place):
            number = bisect_right(self.ends, match.start())
            yield number
            place = self.ends[number]


class _Text(NamedTuple):
    """Some chunks: one alone, or the parts of a long line."""

    file: int
    keys: list[int]
    text: str
    is_whole: bool


def _texts(chunks: Mapping[int, Chunk]) -> Iterator[_Text]:
    lines: defaultdict[tuple[str, int, int], list[tuple[int, Chunk]]] = defaultdict(list)
    for key, chunk in chunks.items():
        lines[chunk.path, chunk.start_line, chunk.end_line].append((key, chunk))
    for (path, *_), parts in lines.items():
        parts.sort(key=lambda part: part[1].column)
        columns = accumulate((len(chunk.text) for _, chunk in parts[:-1]), initial=1)
        is_whole = all(chunk.column == column for (_, chunk), column in zip(parts, columns, strict=True))
        text = "".join(chunk.text for _, chunk in parts)
        yield _Text(file_number(path), [key for key, _ in parts], text, is_whole)


class MoreWords:
    """The texts of one generation of a catalogue, as soon as they are read. Safe to use from several threads."""

    def __init__(self, file: KeptFile, generation: int, kept: _Kept | None, later: frozenset[int]) -> None:
        """`later` are the numbers of files that were written after the texts were kept."""
        self._file, self._generation, self._kept, self._later = file, generation, kept, later
        self._texts: tuple[Chunks, list[MoreTexts]] | None = None

    def texts(self, keys: Chunks, catalog: SearchCatalog) -> list[MoreTexts] | None:
        """Return the texts of these chunks, and perhaps of others; None where a row is damaged or lost."""
        if self._texts is None or self._texts[0] != keys:
            texts = self._read(keys, catalog)
            if texts is None:
                return None
            self._texts = keys, texts
        return self._texts[1]

    def _read(self, keys: Chunks, catalog: SearchCatalog) -> list[MoreTexts] | None:
        missing = self._missing(keys)
        if self._kept is not None and len(missing) <= max(_FEW_LATER, _MOST_LATER * len(keys)):
            fresh = _read_texts(missing, catalog)
            return None if fresh is None else [self._kept.texts, fresh]
        every = _read_texts(keys, catalog)
        if every is None:
            return None
        if len(keys) <= _MOST_KEPT:
            self._kept = _Kept(self._generation, every, frozenset(every.keys))
            self._file.save(packed(self._generation, every))
        return [every]

    def _missing(self, keys: Chunks) -> Collection[int]:
        """Return the keys of the chunks whose texts must be read."""
        if self._kept is None:
            return keys.keys()
        return {key for key, file in keys.items() if file in self._later or key not in self._kept.keys}


class _Kept(NamedTuple):
    generation: int
    texts: MoreTexts
    keys: frozenset[int]


def more_words(catalog: SearchCatalog) -> MoreWords:
    """Return the texts of a catalogue; they are read once a generation."""
    return catalog.kept(_more_words)


def _more_words(catalog: SearchCatalog, before: MoreWords | None) -> MoreWords:
    file, generation = catalog.beside("more", _VERSION), catalog.generation
    kept = before._kept if before is not None else None
    if kept is None and (stored := file.load()) is not None:
        kept = _unpacked(stored.content)
    later: frozenset[int] = frozenset()
    if kept is not None and kept.generation != generation:
        later = frozenset(map(file_number, catalog.paths_since(kept.generation)))
    return MoreWords(file, generation, kept, later)


def _read_texts(keys: Collection[int], catalog: SearchCatalog) -> MoreTexts | None:
    chunks = catalog.chunks(keys)
    return MoreTexts.of(chunks) if len(chunks) == len(keys) else None


def packed(generation: int, texts: MoreTexts) -> Iterator[bytes]:
    """Yield texts in bytes."""
    joined = texts.joined.encode("utf-8", "surrogatepass")
    yield _HEAD.pack(generation, len(texts.files), len(texts.keys), len(joined), texts.n_broken)
    for code, numbers in (("I", texts.files), ("I", texts.key_ends), ("I", texts.ends), ("Q", texts.keys)):
        yield array(code, numbers).tobytes()
    yield joined


def _unpacked(content: memoryview) -> _Kept:
    generation, n_texts, n_keys, n_bytes, n_broken = _HEAD.unpack_from(content)
    place = _HEAD.size
    arrays: list[array[int]] = []
    for code, n in (("I", n_texts), ("I", n_texts), ("I", n_texts), ("Q", n_keys)):
        numbers = array(code)
        numbers.frombytes(content[place : place + n * numbers.itemsize])
        place += n * numbers.itemsize
        arrays.append(numbers)
    files, key_ends, ends, keys = arrays
    joined = str(content[place : place + n_bytes], "utf-8", "surrogatepass")
    return _Kept(generation, MoreTexts(files, key_ends, keys, ends, joined, n_broken), frozenset(keys))
