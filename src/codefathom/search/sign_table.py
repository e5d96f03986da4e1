"""Which files have which groups of signs (`text/sign_groups.py`): an expression reads only those that can match.

The table is made while an expression reads all files, and kept beside the catalogue. Each group has one bit for each
file. A file that was written later counts as one that has all groups. Files are known by numbers that several may
share: then all of them are read.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import compress
from operator import and_, or_
from typing import NamedTuple

from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.kept_file import KeptFile
from codefathom.stores.lexical.fields import file_number
from codefathom.text.sign_groups import VERSION, SignNeeds, groups_of_piece, pieces_of

LEAST_FILES, MOST_FILES = 500, 200_000  # fewer are read at once, more would take hundreds of megabytes
FILES_OF_PART = 32  # whose bits are one number
_HEAD = struct.Struct("<qqq")  # generation, number of files, number of groups
_NAME_BYTES = 3
_COMMON = 0.4  # of all files: a group that more have tells little, and has no bits
_MOST_LATER = 1 / 8  # of all files
_FEW_LATER = 1_000  # files
_LEVEL, _WINDOW = 6, -15  # raw deflate: the file has a checksum
_WORD = "I"  # of an array: the bits of a part

PartSigns = Mapping[bytes, int]  # of each group, the bits of the files of a part that have it


class SignTable(NamedTuple):
    """The groups of the files of one generation."""

    generation: int
    content: memoryview

    @property
    def n_files(self) -> int:
        """Number of files."""
        return int(_HEAD.unpack_from(self.content)[1])

    def files_with(self, needs: SignNeeds) -> set[int] | None:
        """Return the numbers of the files that can have what each match needs; None where this tells nothing."""
        _, n_files, n_groups = _HEAD.unpack_from(self.content)
        numbers_end = _HEAD.size + 4 * n_files
        names_end = numbers_end + _NAME_BYTES * n_groups
        ends_end = names_end + 4 * (n_groups + 1)
        names = bytes(self.content[numbers_end:names_end])
        ends = array("I", bytes(self.content[names_end:ends_end]))
        everything = (1 << n_files) - 1

        def bits(group: bytes) -> int:
            place = _place(names, group.ljust(_NAME_BYTES))
            if place < 0:
                return 0
            packed = self.content[ends_end + ends[place] : ends_end + ends[place + 1]]
            return int.from_bytes(zlib.decompress(packed, _WINDOW), "little") if packed else everything

        every = (reduce(or_, (reduce(and_, map(bits, groups)) for groups in need)) for need in needs)
        files = reduce(and_, every, everything)
        if files == everything:
            return None
        chosen = bytes(map(int, format(files, f"0{n_files}b")[::-1]))
        return set(compress(memoryview(self.content[_HEAD.size : numbers_end]).cast("I"), chosen))


def _place(names: bytes, name: bytes) -> int:
    """Return the place of a name among names of three bytes, or -1."""
    place = names.find(name)
    while place >= 0 and place % _NAME_BYTES:
        place = names.find(name, place + 1)
    return place // _NAME_BYTES


class Signs:
    """The table of one generation of a catalogue, as soon as there is one. Safe to use from several threads."""

    def __init__(self, file: KeptFile, generation: int, table: SignTable | None, later: frozenset[int]) -> None:
        """`later` are the numbers of files that were written after the table was made."""
        self.file, self.generation, self._table, self._later = file, generation, table, later

    @property
    def is_made(self) -> bool:
        """True if there is a table."""
        return self._table is not None

    def narrowed(self, paths: Sequence[str], needs: SignNeeds) -> Sequence[str]:
        """Return those of these paths whose files can have what each match needs; the same paths where all can."""
        files = self._table.files_with(needs) if self._table is not None else None
        if files is None:
            return paths
        files |= self._later
        return [path for path in paths if file_number(path) in files]

    def keep(self, paths: Sequence[str], parts: Iterable[PartSigns | None]) -> None:
        """Keep the table of all files, by their parts. Where one of them is missing or damaged, nothing is kept."""
        whole = [part for part in parts if part is not None]
        if FILES_OF_PART * len(whole) < len(paths) or not self.file.is_sound():
            return
        content = b"".join(packed(self.generation, paths, whole))
        self.file.save([content])
        self._table = SignTable(self.generation, memoryview(content))


def signs_of(catalog: SearchCatalog) -> Signs:
    """Return the table of a catalogue; it is read once a generation."""
    return catalog.kept(_signs)


def _signs(catalog: SearchCatalog, before: Signs | None) -> Signs:
    file, generation = catalog.beside("signs", VERSION), catalog.generation
    table, is_present = (before._table if before is not None else None), False
    if table is None and (stored := file.load()) is not None:
        table, is_present = SignTable(_HEAD.unpack_from(stored.content)[0], stored.content), stored.is_present
    if table is None or table.generation == generation:
        return Signs(file, generation, table, frozenset())
    later = frozenset(map(file_number, catalog.paths_since(table.generation)))
    if len(later) > max(_FEW_LATER, _MOST_LATER * table.n_files):
        return Signs(file, generation, None, frozenset())
    if not is_present:  # else it is forgotten after many more writes
        file.save([bytes(table.content)])
    return Signs(file, generation, table, later)


class SignsOfPart:
    """The groups of some files, one after the other."""

    def __init__(self) -> None:
        self._pieces: defaultdict[bytes, int] = defaultdict(int)

    def add(self, place: int, text: str) -> None:
        """Add the text of the file with this place in the part."""
        pieces, bit = self._pieces, 1 << place
        for piece in pieces_of(text):
            pieces[piece] |= bit

    def all(self) -> PartSigns:
        """Return the groups of all files."""
        groups: defaultdict[bytes, int] = defaultdict(int)
        for piece, bits in self._pieces.items():
            for group in groups_of_piece(piece):
                groups[group] |= bits
        return dict(groups)


def packed(generation: int, paths: Sequence[str], parts: Iterable[PartSigns]) -> Iterator[bytes]:
    """Yield the table of sorted paths in bytes."""
    words: defaultdict[bytes, array[int]] = defaultdict(lambda: array(_WORD))
    for number, part in enumerate(parts):
        for group, bits in part.items():
            words[group].extend((number, bits))
    names = sorted(words)
    records = [_bits_packed(words[name], len(paths)) for name in names]
    ends = array("I", [0])
    for record in records:
        ends.append(ends[-1] + len(record))
    yield _HEAD.pack(generation, len(paths), len(names))
    yield array("I", map(file_number, paths)).tobytes()
    yield b"".join(name.ljust(_NAME_BYTES) for name in names)
    yield ends.tobytes()
    yield from records


def _bits_packed(words: array[int], n_files: int) -> bytes:
    if sum(map(int.bit_count, words[1::2])) > _COMMON * n_files:
        return b""
    bits = bytearray(4 * -(-n_files // FILES_OF_PART))
    for number, word in zip(words[::2], words[1::2], strict=True):
        bits[4 * number : 4 * number + 4] = word.to_bytes(4, "little")
    press = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW)
    return press.compress(bits) + press.flush()
