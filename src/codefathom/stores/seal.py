"""The seal of the catalogue: checksums of its file, block by block, in a small file beside it.

SQLite finds a broken page, but not a wrong one: a changed letter, a page of last week, a row that is gone. The seal
finds any change that we did not make, also one that keeps size and time stamp, as fast as the file can be read.

The file changes only when the log (`-wal`) is moved into it. `Database.settle` alone does that, under the writer lock:

1. The blocks that the log changes are read as they are. A difference from the seal is damage, and is never sealed.
2. The seal is removed, the log is moved, the changed blocks are read again, and a new seal is written.

A process that is killed in step 2 leaves a file without seal. Then nothing is known of it, and `Catalog.check` looks at
the rows instead. A reader needs no lock: a seal that is the same before and after says that the file stood still.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple
from zlib import crc32

from codefathom.stores.folder import File

BLOCK = 65_536  # a multiple of every size that a page can have
_MAGIC = b"fathoms1"
_HEAD = struct.Struct("<8sQ")  # magic and format, size of the sealed file
_SUM = struct.Struct("<I")
_LOG_HEAD = struct.Struct(">IIII8s")  # magic, version, page size, number of the checkpoint, salt
_FRAMES_AT_ONCE = 256  # a megabyte
_MAX_PAGE = 1 << 16  # bytes, by the format of SQLite
_LOG_START, _FRAME_HEAD = 32, 24  # bytes before the first page, and before each
_FRAME = struct.Struct(">II8s")  # number of the page from 1, size of the database, salt


class Seal(NamedTuple):
    """The size and the checksums of a file when it was sealed."""

    size: int  # bytes
    sums: tuple[int, ...]  # CRC-32 of each block


def read_seal(file: File) -> Seal | None:
    """Return the seal; None when there is none, or when it cannot be read."""
    with suppress(OSError):
        data = file.read()
        body, end = data[: -_SUM.size], data[-_SUM.size :]
        if len(body) >= _HEAD.size and end == _SUM.pack(crc32(body)):
            magic, size = _HEAD.unpack_from(body)
            if magic == _MAGIC and len(body) == _HEAD.size + _SUM.size * _n_blocks(size):
                return Seal(size, tuple(number for (number,) in _SUM.iter_unpack(body[_HEAD.size :])))
    return None


def write_seal(file: File, seal: Seal) -> None:
    """Write the seal; where there is no room for it, the file stays without one."""
    body = _HEAD.pack(_MAGIC, seal.size) + b"".join(map(_SUM.pack, seal.sums))
    with suppress(OSError):
        file.replace([body, _SUM.pack(crc32(body))])


NO_SEAL = Seal(0, ())


def new_seal(descriptor: int, before: Seal = NO_SEAL, changed: Iterable[int] = ()) -> Seal:
    """Return the seal of a file that had the seal `before`; only these blocks, and its end, have changed since."""
    size = os.fstat(descriptor).st_size
    same = _n_blocks(before.size) - (before.size % BLOCK > 0 and before.size != size)
    sums = [*before.sums[:same], *[0] * _n_blocks(size)][: _n_blocks(size)]
    for block in {*changed, *range(same, len(sums))}:
        if block < len(sums):
            sums[block] = _sum(descriptor, block)
    return Seal(size, tuple(sums))


def damaged_blocks(descriptor: int, seal: Seal, blocks: Iterable[int] | None = None) -> Iterator[int]:
    """Yield the blocks, of these or of all, that differ from the seal; -1 when the size does."""
    if os.fstat(descriptor).st_size != seal.size:
        yield -1
    for block in range(len(seal.sums)) if blocks is None else sorted(blocks):
        if block < len(seal.sums) and _sum(descriptor, block) != seal.sums[block]:
            yield block


def logged_blocks(log: File) -> set[int]:
    """Return the blocks that a write-ahead log changes, and perhaps some more."""
    blocks: set[int] = set()
    with suppress(OSError), log.open() as file:
        head = file.read(_LOG_START)
        if len(head) < _LOG_START:
            return blocks
        _, _, page_size, _, salt = _LOG_HEAD.unpack_from(head)
        if page_size > _MAX_PAGE:  # in a damaged one, which SQLite does not use either
            return blocks
        frame_size = _FRAME_HEAD + max(page_size, 512)
        while frames := file.read(_FRAMES_AT_ONCE * frame_size):
            for place in range(0, len(frames) - _FRAME.size + 1, frame_size):
                page, _, frame_salt = _FRAME.unpack_from(frames, place)
                if frame_salt != salt:  # the rest is from an earlier use of the file
                    return blocks
                if page:  # 0 in a damaged one, at which SQLite stops too
                    blocks.add((page - 1) * page_size // BLOCK)
    return blocks


def _n_blocks(size: int) -> int:
    return -(-size // BLOCK)


def _sum(descriptor: int, block: int) -> int:
    return crc32(_read(descriptor, block * BLOCK, BLOCK))


def _read(descriptor: int, place: int, size: int) -> bytes:
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, size)
