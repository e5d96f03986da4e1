"""The files of a shard as they were written, and the comparison of a shard with them.

Three comparisons cost differently: the sizes of all files, for which nothing is opened, when a fleet is opened; both
ends of a file before it is first read; all bytes in `fathom fleet verify`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

from codefathom.errors import IndexingError
from codefathom.facts.reasons import SHARD_FILE_DIFFERS, SHARD_FILE_MISSING, SHARD_FILE_SIZE, SHARD_NOT_LISTED, Note
from codefathom.stores.catalog.catalog import CATALOGUE
from codefathom.stores.folder import File, Folder
from codefathom.stores.seal import BLOCK

_END = 16_384  # bytes at each end of a file; a smaller file is compared whole
_PIECE = 1 << 20
# A catalogue is large, and a change writes little of it: its digest is the digests of its blocks, one after the other.
_BY_BLOCKS = "blocks "
_BLOCK = 4 * BLOCK  # bytes
_N_SIGNS = 32  # of a digest
RECORD = "shard.signed"  # see `shard_store`
# What comes and goes while a shard is read, and the record of its files.
_NOT_KEPT = (".lock", "-wal", "-shm", ".gitignore", ".managed.json", ".damaged", RECORD)


class ShardPart(NamedTuple):
    """A file of a shard as it was written."""

    name: str  # below the folder of the shard
    size: int  # bytes
    ends: str  # digest of the first and the last bytes
    digest: str  # of all, see `PartDigest`


class VersionBefore(NamedTuple):
    """The version that a shard has begun with a copy of."""

    folder: Folder
    parts: Collection[ShardPart]
    moved: Collection[int] | None  # blocks that were written in the copy of its catalogue; None: not known


def parts_of(folder: Folder, before: VersionBefore | None = None) -> list[ShardPart]:
    """Return the files of a shard that has just been made. Raises OSError.

    Of a file that only has a second name here, and of the catalogue where nothing was written, nothing is read. What
    the disk may have lost of them since is found as before, by the digests of that time.
    """
    by_name = {} if before is None else {part.name: part for part in before.parts}
    names = sorted(_names(folder, ""))
    return [_part_since(name, folder, before, by_name.get(name)) for name in names]


def _part_since(name: str, folder: Folder, before: VersionBefore | None, listed: ShardPart | None) -> ShardPart:
    file = part_file(folder, name)
    status = file.status()
    size = 0 if status is None else status.st_size
    if before is not None and listed is not None:
        there = part_file(before.folder, name).status()
        if there is not None and status is not None and os.path.samestat(there, status) and size == listed.size:
            return listed
        if name == CATALOGUE and before.moved is not None and listed.digest.startswith(_BY_BLOCKS):
            return ShardPart(name, size, _ends(file, size), _digest_since(file, size, listed, before.moved))
    return ShardPart(name, size, _ends(file, size), _digest(file, _BY_BLOCKS if name == CATALOGUE else ""))


def digest_of(parts: Collection[ShardPart]) -> str:
    """Return one digest for all files of a shard."""
    return blake2b(repr(sorted(map(tuple, parts))).encode(), digest_size=16).hexdigest()


def wrong_size(folder: Folder, parts: Collection[ShardPart]) -> Note | None:
    """Return the first file that is missing or has another size; no file is opened."""
    return next(filter(None, (_wrong_size(folder, part) for part in parts)), None)


def wrong_ends(folder: Folder, part: ShardPart) -> Note | None:
    """Return the difference at the ends of one file, which is not read whole."""
    if note := _wrong_size(folder, part):
        return note
    return _wrong(part, lambda: _ends(part_file(folder, part.name), part.size) == part.ends)


def wrong_content(folder: Folder, parts: Collection[ShardPart]) -> Note | None:
    """Return the first difference between a shard and what was written; reads all of it."""
    if not parts:
        return Note(SHARD_NOT_LISTED)
    return next(filter(None, (_wrong_whole(folder, part) for part in parts)), None)


def _wrong_whole(folder: Folder, part: ShardPart) -> Note | None:
    return _wrong_size(folder, part) or _wrong(
        part, lambda: _digest(part_file(folder, part.name), part.digest) == part.digest
    )


def _names(folder: Folder, above: str) -> Iterator[str]:
    for name in folder.names():
        kind = folder.file(name).kind()
        if kind == "folder":
            yield from _names(folder.below(name), f"{above}{name}/")
        elif not name.endswith(_NOT_KEPT):
            yield above + name


def part_file(folder: Folder, name: str) -> File:
    """Return a file of a shard, whose name may lead through folders."""
    *folders, own = name.split("/")
    for each in folders:
        folder = folder.below(each)
    return folder.file(own)


def _wrong_size(folder: Folder, part: ShardPart) -> Note | None:
    try:
        status = part_file(folder, part.name).status()
    except (OSError, IndexingError):
        status = None
    if status is None:
        return Note(SHARD_FILE_MISSING, {"path": part.name})
    if status.st_size != part.size:
        return Note(SHARD_FILE_SIZE, {"path": part.name, "size": status.st_size, "expected": part.size})
    return None


def _wrong(part: ShardPart, is_equal: Callable[[], bool]) -> Note | None:
    try:
        return None if is_equal() else Note(SHARD_FILE_DIFFERS, {"path": part.name})
    except (OSError, IndexingError):
        return Note(SHARD_FILE_MISSING, {"path": part.name})


def _ends(file: File, size: int) -> str:
    with file.open() as stream:
        digest = blake2b(stream.read(_END), digest_size=16)
        stream.seek(max(size - _END, 0), os.SEEK_SET)
        digest.update(stream.read(_END))
    return digest.hexdigest()


def _digest(file: File, kept: str) -> str:
    """Return the digest of a file in the form of one that was kept."""
    digest = PartDigest(kept)
    with file.open() as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.text


def _digest_since(file: File, size: int, before: ShardPart, moved: Collection[int]) -> str:
    """Return the digest of a catalogue of which only these blocks of its seal differ from the version before."""
    kept = before.digest.removeprefix(_BY_BLOCKS)
    digests = [kept[place : place + _N_SIGNS] for place in range(0, len(kept), _N_SIGNS)]
    n_blocks = -(-size // _BLOCK)
    changed = {block * BLOCK // _BLOCK for block in moved}
    if size != before.size:  # the last block may have another length
        changed |= {n_blocks - 1, len(digests) - 1}
    with file.open() as stream:
        for number in sorted({number for number in changed if number < n_blocks} | {*range(len(digests), n_blocks)}):
            digests[number : number + 1] = [_block_digest(stream, number)]
    return _BY_BLOCKS + "".join(digests[:n_blocks])


def _block_digest(stream: BinaryIO, number: int) -> str:
    stream.seek(number * _BLOCK)
    return blake2b(stream.read(_BLOCK), digest_size=_N_SIGNS // 2).hexdigest()


class PartDigest:
    """The digest of a file that comes in pieces, in the form of one that was kept: of all of it, or of each block."""

    def __init__(self, kept: str) -> None:
        self._is_by_blocks = kept.startswith(_BY_BLOCKS)
        self._digests: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self._digest = blake2b(digest_size=_N_SIGNS // 2)
        self._left = _BLOCK if self._is_by_blocks else sys.maxsize

    def update(self, piece: bytes) -> None:
        """Go on with these bytes."""
        rest = memoryview(piece)
        while rest:
            part, rest = rest[: self._left], rest[self._left :]
            self._digest.update(part)
            self._left -= len(part)
            if not self._left:
                self._digests.append(self._digest.hexdigest())
                self._begin()

    @property
    def text(self) -> str:
        """The digest of all bytes so far."""
        if not self._is_by_blocks:
            return self._digest.hexdigest()
        last = [] if self._left == _BLOCK else [self._digest.hexdigest()]
        return _BY_BLOCKS + "".join([*self._digests, *last])
