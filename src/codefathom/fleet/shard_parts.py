"""The files of a shard as they were written, and the comparison of a shard with them.

Three comparisons cost differently: the sizes of all files, for which nothing is opened, when a fleet is opened; both
ends of a file before it is first read; all bytes in `fathom fleet verify`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from hashlib import blake2b
from typing import NamedTuple

from codefathom.errors import IndexingError
from codefathom.facts.reasons import SHARD_FILE_DIFFERS, SHARD_FILE_MISSING, SHARD_FILE_SIZE, SHARD_NOT_LISTED, Note
from codefathom.stores.folder import File, Folder

_END = 16_384  # bytes at each end of a file; a smaller file is compared whole
_PIECE = 1 << 20
RECORD = "shard.signed"  # see `shard_store`
# What comes and goes while a shard is read, and the record of its files.
_NOT_KEPT = (".lock", "-wal", "-shm", ".gitignore", ".managed.json", ".damaged", RECORD)


class ShardPart(NamedTuple):
    """A file of a shard as it was written."""

    name: str  # below the folder of the shard
    size: int  # bytes
    ends: str  # digest of the first and the last bytes
    digest: str  # of all


def parts_of(folder: Folder, before: Folder | None = None, listed: Collection[ShardPart] = ()) -> list[ShardPart]:
    """Return the files of a shard that has just been made. Raises OSError.

    With the folder and the files of the version before: a file that only has a second name here is not read. What the
    disk may have lost of it since is found as before, by its digest of that time.
    """
    by_name = {} if before is None else {part.name: part for part in listed if _is_taken(part, before, folder)}
    names = sorted(_names(folder, ""))
    return [by_name[name] if name in by_name else _part(name, part_file(folder, name)) for name in names]


def _is_taken(part: ShardPart, before: Folder, folder: Folder) -> bool:
    there, here = part_file(before, part.name).status(), part_file(folder, part.name).status()
    return there is not None and here is not None and os.path.samestat(there, here) and here.st_size == part.size


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
    return _wrong_size(folder, part) or _wrong(part, lambda: _digest(part_file(folder, part.name)) == part.digest)


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


def _part(name: str, file: File) -> ShardPart:
    status = file.status()
    size = 0 if status is None else status.st_size
    return ShardPart(name, size, _ends(file, size), _digest(file))


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


def _digest(file: File) -> str:
    digest = blake2b(digest_size=16)
    with file.open() as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
