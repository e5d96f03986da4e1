"""The paths of a project by the stems of their files, in a form that another process reads without unpacking. Pure.

A question asks for some dozen stems. To make the table of all paths takes longer than everything else that it does with
them, so the table is packed, sorted by stem: a stem is found by halving, and only its own paths become values.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from codefathom.text.file_stems import by_stem

VERSION = 1  # of the packed form
_MOST_SEEN = 4_096  # stems that a table remembers, where halving has met them
_HEAD = struct.Struct("<qqq")  # generation, number of paths, number of stems


class StemTable(Mapping[str, Sequence[str]]):
    """The paths of one generation of the catalogue. It is never changed, so that threads can share it."""

    def __init__(
        self, generation: int, n_paths: int, written: Mapping[str, Sequence[str]], added: Mapping[str, Sequence[str]]
    ) -> None:
        """Take the paths by their stems that were written as a whole, and those that came later."""
        self.generation, self.n_paths = generation, n_paths
        self.written, self._added = written, added

    @classmethod
    def of(cls, generation: int, paths: Sequence[str]) -> StemTable:
        """Return the table of all paths."""
        return cls(generation, len(paths), by_stem(paths), {})

    @classmethod
    def unpacked(cls, content: memoryview) -> StemTable:
        """Return the table that `packed` has made on a machine of this kind."""
        generation, n_paths, n_stems = _HEAD.unpack_from(content)
        return cls(generation, n_paths, _PackedStems(content[_HEAD.size :], n_stems), {})

    def packed(self) -> list[bytes]:
        """Return a table that was made as a whole in bytes; nothing where a name has a NUL."""
        stems = {_encoded(stem): own for stem, own in self.written.items()}
        ordered = sorted(stems)
        records = [b"\0".join((stem, *map(_encoded, stems[stem]))) for stem in ordered]
        places = list(accumulate(map(len, records), initial=0))
        body = b"".join(records)
        if body.count(b"\0") != sum(map(len, stems.values())):
            return []
        head = _HEAD.pack(self.generation, self.n_paths, len(stems))
        return [head, array("q", places).tobytes(), body]

    def later(self, generation: int, n_paths: int, documents: Iterable[str]) -> StemTable | None:
        """Return the table of a later generation, in which these documents were written, and so many paths are.

        None where paths are gone, which only a whole table shows.
        """
        added = [path for path in documents if not self._has(path)]
        if n_paths != self.n_paths + len(added):
            return None
        own = [path for paths in self._added.values() for path in paths]
        both = by_stem(sorted({*own, *added}, key=_encoded)) if added else self._added
        return StemTable(generation, n_paths, self.written, both)

    def __getitem__(self, stem: str) -> Sequence[str]:
        added = self._added.get(stem)
        if added is None:
            return self.written[stem]
        return sorted([*self.written.get(stem, ()), *added], key=_encoded)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.written, *self._added]))

    def __len__(self) -> int:
        return len(self.written) + sum(stem not in self.written for stem in self._added)

    def _has(self, path: str) -> bool:
        return any(path in self.get(stem, ()) for stem in by_stem([path]))


class _PackedStems(Mapping[str, Sequence[str]]):
    """Paths by stems as they lie in a file: the places of records that are sorted by stem, and these records."""

    def __init__(self, content: memoryview, n_stems: int) -> None:
        self._n_stems = n_stems
        start = 8 * (n_stems + 1)
        self._places, self._records = content[:start].cast("q"), content[start:]
        self._seen = _Seen(self._stem)

    def __getitem__(self, stem: str) -> Sequence[str]:
        name = _encoded(stem)
        place = bisect_left(range(self._n_stems), name, key=self._seen.__getitem__)
        if place == self._n_stems or self._stem(place) != name:
            raise KeyError(stem)
        return [part.decode("utf-8", "surrogatepass") for part in self._record(place)[1:]]

    def __iter__(self) -> Iterator[str]:
        return (self._stem(place).decode("utf-8", "surrogatepass") for place in range(self._n_stems))

    def __len__(self) -> int:
        return self._n_stems

    def _stem(self, place: int) -> bytes:
        return self._record(place)[0]

    def _record(self, place: int) -> list[bytes]:
        return bytes(self._records[self._places[place] : self._places[place + 1]]).split(b"\0")


class _Seen(dict[int, bytes]):
    """Stems by their places, each read once: halving begins at the same places for each stem."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def __missing__(self, place: int) -> bytes:
        if len(self) >= _MOST_SEEN:
            self.clear()
        self[place] = stem = self._read(place)
        return stem


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
