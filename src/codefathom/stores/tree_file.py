"""The tree of files that an index was last equal to, in a file beside the catalogue.

It saves work and nothing else: without it, or with one of another state of the index, the whole tree is listed and
compared with the catalogue. The key names that state. Any process may write the file: where two do so at once, the
checksum tells what is no whole one.
"""

from __future__ import annotations

import struct
import sys
from array import array
from contextlib import suppress
from itertools import chain
from zlib import crc32

from codefathom.errors import IndexingError
from codefathom.facts.reasons import as_line, from_line
from codefathom.source.stamped_tree import StampedTree, StatColumns
from codefathom.stores.folder import Folder
from codefathom.types import Skipped

_FILE = "tree.stamps"
_HEAD = struct.Struct("<16s32sqqqqqq")  # magic, key, moment, number of each list, bytes of text
_SUM = struct.Struct("<I")
_MAGIC = b"fathom tree 1 %c\n" % sys.byteorder[0].encode()
_MOST = 1 << 30  # bytes
_N_NUMBERS = 4  # of a file: size, two times, inode


class TreeFile:
    """The file, and what was read from it last. Safe to use from several processes."""

    def __init__(self, folder: Folder) -> None:
        self._file = folder.file(_FILE)
        self._kept: tuple[object, bytes, StampedTree] | None = None  # stamp of the file, key, content

    def load(self, key: bytes) -> StampedTree | None:
        """Return the tree that was saved with a key of 32 bytes; None where the last one has another key."""
        stamp = self._file.stamp()
        if self._kept is None or self._kept[0] != stamp:
            with suppress(OSError, ValueError, struct.error, IndexingError):
                self._kept = (stamp, *_unpacked(self._file.read(_MOST)))
        return self._kept[2] if self._kept is not None and self._kept[:2] == (stamp, key) else None

    def save(self, key: bytes, tree: StampedTree) -> None:
        """Save a tree; where nothing can be written, nothing is."""
        with suppress(OSError, IndexingError):
            self._file.replace(_packed(key, tree))
        self._kept = (self._file.stamp(), key, tree)


def _packed(key: bytes, tree: StampedTree) -> list[bytes]:
    lists = (tree.files, tree.folders, tree.deciding)
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
    body = [_HEAD.pack(_MAGIC, key, tree.looked_at_ns, *counts, len(text)), text, numbers.tobytes()]
    return [*body, _SUM.pack(crc32(b"".join(body)))]


def _unpacked(data: bytes) -> tuple[bytes, StampedTree]:
    """Return key and tree. Raises ValueError, struct.error for what was not written here."""
    if _SUM.pack(crc32(memoryview(data)[: -_SUM.size])) != data[-_SUM.size :]:
        raise ValueError("the checksum differs")
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
