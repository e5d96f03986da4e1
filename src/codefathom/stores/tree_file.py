"""The tree of files that an index was last equal to, in a file beside the catalogue.

It saves work and nothing else: without it, or with one of another state of the index, the whole tree is listed and
compared with the catalogue. The key names that state. Any process may write the file: where two do so at once, the
checksum tells what is no whole one.

A few files with other stamps are written beside a large tree, and not the tree once more. That second file belongs to
the first one that it names by its checksum, and to no other.
"""

from __future__ import annotations

import struct
import sys
from array import array
from contextlib import suppress
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from codefathom.errors import IndexingError
from codefathom.facts.reasons import as_line, from_line
from codefathom.source.stamped_tree import StampedTree, StatColumns
from codefathom.stores.folder import Folder
from codefathom.types.skipped_files import Skipped

if TYPE_CHECKING:
    pass

_FILE = "tree.stamps"
_LATER = "tree.later"
_HEAD = struct.Struct("<16s32sqqqqqq")  # magic, key, moment, number of each list, bytes of text
_SUM = struct.Struct("<I")
_MAGIC = b"fathom tree 1 %c\n" % sys.byteorder[0].encode()
_LATER_HEAD = struct.Struct("<16s32sIqqqq")  # magic, key, checksum of the tree, moment, number of changes in each list
_LATER_MAGIC = b"fathom late 1 %c\n" % sys.byteorder[0].encode()
_MOST = 1 << 30  # bytes
_N_NUMBERS = 4  # of a file: size, two times, inode
_LARGE = 2_000  # files and folders; fewer are written in a millisecond
_FEW = 1 / 32  # of them


class _Saved(NamedTuple):
    """A tree, and the files that it was read from or written to."""

    stamp: object  # of the file, or of both
    key: bytes
    tree: StampedTree
    checksum: int = 0  # of the file of a whole tree


class TreeFile:
    """The file, and what was read from it last. Safe to use from several processes."""

    def __init__(self, folder: Folder) -> None:
        self._file, self._later = folder.file(_FILE), folder.file(_LATER)
        self._whole: _Saved | None = None
        self._kept: _Saved | None = None  # with what has changed since

    def load(self, key: bytes) -> StampedTree | None:
        """Return the tree that was saved with a key of 32 bytes; None where the last one has another key."""
        stamp = self._stamp()
        if self._kept is None or self._kept.stamp != stamp:
            with suppress(OSError, ValueError, struct.error, IndexingError):
                self._kept = self._read(stamp)
        return self._kept.tree if self._kept is not None and self._kept[:2] == (stamp, key) else None

    def save(self, key: bytes, tree: StampedTree) -> None:
        """Save a tree; where nothing can be written, nothing is."""
        with suppress(OSError, IndexingError):
            whole = self._whole
            changes = _changes(whole.tree, tree) if whole is not None and whole.stamp == self._file.stamp() else None
            if whole is not None and changes is not None:
                self._later.replace(_with_sum(_changes_packed(key, tree, changes, whole.checksum)), lasts=False)
            else:
                parts = _with_sum(_packed(key, tree))
                self._file.replace(parts, lasts=False)
                self._whole = _Saved(self._file.stamp(), key, tree, *_SUM.unpack(parts[-1]))
        self._kept = _Saved(self._stamp(), key, tree)

    def _stamp(self) -> tuple[object, object]:
        return self._file.stamp(), self._later.stamp()

    def _read(self, stamp: tuple[object, object]) -> _Saved:
        """Return the tree on the disk. Raises OSError, ValueError, struct.error, IndexingError for what is none."""
        whole = self._whole
        if whole is None or whole.stamp != stamp[0]:
            data = self._file.read(_MOST)
            self._whole = whole = _Saved(stamp[0], *_unpacked(data), *_SUM.unpack(data[-_SUM.size :]))
        if stamp[1] is not None:
            with suppress(OSError, ValueError, struct.error, IndexingError):
                return _Saved(stamp, *_with_changes(self._later.read(_MOST), whole))
        return _Saved(stamp, whole.key, whole.tree)


def _lists(tree: StampedTree) -> tuple[StatColumns, StatColumns, StatColumns]:
    return tree.files, tree.folders, tree.deciding


def _changes(before: StampedTree, now: StampedTree) -> list[list[int]] | None:
    """Return the places with other stamps in each list; None where more differs than stamps of a few files."""
    n_all = sum(map(len, _lists(now)))
    if n_all < _LARGE or (now.skipped is not before.skipped and now.skipped != before.skipped):
        return None
    changes = []
    for items, earlier in zip(_lists(now), _lists(before), strict=True):
        places = items.places_since(earlier)
        if places is None:
            return None
        changes.append(places)
    return changes if sum(map(len, changes)) <= _FEW * n_all else None


def _changes_packed(key: bytes, tree: StampedTree, changes: list[list[int]], checksum: int) -> list[bytes]:
    head = _LATER_HEAD.pack(_LATER_MAGIC, key, checksum, tree.looked_at_ns, *map(len, changes))
    numbers = array("q")
    for items, places in zip(_lists(tree), changes, strict=True):
        for place in places:
            numbers.extend((place, *(column[place] for column in items.columns)))
    return [head, numbers.tobytes()]


def _with_changes(data: bytes, whole: _Saved) -> tuple[bytes, StampedTree]:
    """Return key and tree. Raises ValueError, struct.error for what was not written for this very tree."""
    _check_sum(data)
    magic, key, checksum, looked_at_ns, *counts = _LATER_HEAD.unpack_from(data)
    numbers = array("q", data[_LATER_HEAD.size : -_SUM.size])
    if magic != _LATER_MAGIC or checksum != whole.checksum or len(numbers) != (1 + _N_NUMBERS) * sum(counts):
        raise ValueError("it belongs to another tree")
    start, lists = 0, []
    for items, count in zip(_lists(whole.tree), counts, strict=True):
        columns = [column[:] for column in items.columns] if count else items.columns
        for _ in range(count):
            place, *values = numbers[start : start + 1 + _N_NUMBERS]
            if not 0 <= place < len(items):
                raise ValueError("it names a file that is not there")
            for column, value in zip(columns, values, strict=True):
                column[place] = value
            start += 1 + _N_NUMBERS
        lists.append(StatColumns(items.paths, columns))
    files, folders, deciding = lists
    tree = whole.tree._replace(files=files, folders=folders, deciding=deciding, looked_at_ns=looked_at_ns)
    return key, tree


def _with_sum(parts: list[bytes]) -> list[bytes]:
    return [*parts, _SUM.pack(reduce(lambda before, part: crc32(part, before), parts, 0))]


def _check_sum(data: bytes) -> None:
    if _SUM.pack(crc32(memoryview(data)[: -_SUM.size])) != data[-_SUM.size :]:
        raise ValueError("the checksum differs")


def _packed(key: bytes, tree: StampedTree) -> list[bytes]:
    lists = _lists(tree)
    names = [path for items in lists for path in items.paths]
    names += chain.from_iterable((item.path, as_line(item.why)) for item in tree.skipped)
    text = "\0".join(names).encode()
    numbers = array("q")
    for items in lists:
        rows = array("q", bytes(numbers.itemsize * _N_NUMBERS * len(items)))
        for place, column in enumerate(items.columns):
            rows[place::_N_NUMBERS] = column
        numbers += rows
    counts = (*map(len, lists), len(tree.skipped))
    return [_HEAD.pack(_MAGIC, key, tree.looked_at_ns, *counts, len(text)), text, numbers.tobytes()]


def _unpacked(data: bytes) -> tuple[bytes, StampedTree]:
    """Return key and tree. Raises ValueError, struct.error for what was not written here."""
    _check_sum(data)
    magic, key, looked_at_ns, *counts, n_skipped, n_bytes = _HEAD.unpack_from(data)
    names = data[_HEAD.size : _HEAD.size + n_bytes].decode().split("\0")
    numbers = array("q", data[_HEAD.size + n_bytes : -_SUM.size])
    if magic != _MAGIC or len(names) != sum(counts) + 2 * n_skipped or len(numbers) != _N_NUMBERS * sum(counts):
        raise ValueError("it has another form")
    parts, start = [], 0
    for count in counts:
        end = start + count
        columns = [numbers[_N_NUMBERS * start + place : _N_NUMBERS * end : _N_NUMBERS] for place in range(_N_NUMBERS)]
        parts.append(StatColumns(names[start:end], columns))
        start = end
    files, folders, deciding = parts
    paths, lines = names[start::2], names[start + 1 :: 2]
    reasons = {line: from_line(line) for line in set(lines)}
    skipped = tuple(map(Skipped, paths, map(reasons.__getitem__, lines)))
    return key, StampedTree(files, skipped, folders, deciding, looked_at_ns)
