"""Where the machines of a fleet share its shards: each by the name of its content, whole or not at all, and signed.

Whoever has made a shard writes a record of its files with their digests, signed with the key of the fleet, last of all.
A shard without a record that the key fits is none: it was not written to its end, or somebody else has put it there.
"""

from __future__ import annotations

import hmac
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple, Protocol

from codefathom.errors import DamagedError
from codefathom.facts.reasons import PART_DAMAGED, SHARD_FILE_DIFFERS, SHARD_FILE_MISSING, SHARD_REPAIR, Note, verbatim
from codefathom.fleet.manifest import Shard
from codefathom.fleet.shard_parts import PartDigest, ShardPart, part_file
from codefathom.fleet.shards import BuiltShard
from codefathom.stores.folder import Folder
from codefathom.stores.write_errors import writing_error

MOST_RECORD_BYTES = 500_000_000  # paths and names of a shard
_PIECE = 1 << 20
NEW = ".new"  # ending of a folder that is being written


class StoreAddress(NamedTuple):
    """Where a store is, and what its records are signed with."""

    address: str  # a folder, or the URL of a bucket
    key: bytes
    most_bytes: int = 100_000_000_000  # of the shards that a machine keeps on its own disk

    @property
    def is_folder(self) -> bool:
        """True for a folder."""
        return "://" not in self.address


class ShardStore(Protocol):
    """Shards by name. Safe to use from several machines at once."""

    def find(self, name: str) -> BuiltShard | None:
        """Return a shard that was put here whole, None for none. Raises IndexingError where nobody can say."""
        ...

    def put(self, built: BuiltShard, source: Folder) -> BuiltShard:
        """Keep a shard whose files lie in a folder; return it, or one that was faster. Raises IndexingError."""
        ...

    def bring(self, name: str, parts: Collection[ShardPart], target: Folder) -> None:
        """Copy a shard into the folder of its name below another folder, compared with what was written.

        Raises DamagedError where a file is missing or differs, IndexingError.
        """
        ...

    def names(self) -> set[str]:
        """Return the names of all shards that have a record. Raises IndexingError."""
        ...

    def remove(self, name: str) -> None:
        """Remove a shard; nothing there is no error. Raises IndexingError."""
        ...


# ---- records


def record_of(built: BuiltShard, key: bytes) -> bytes:
    """Return the signed record of a shard. It may be read by everybody who may read its files."""
    values = [
        list(built.shard),
        b64encode(built.names).decode(),
        list(built.paths),
        [list(part) for part in built.parts],
    ]
    content = json.dumps(values).encode()
    return _signature(content, key) + b"\n" + content


def read_record(record: bytes, name: str, key: bytes) -> BuiltShard | None:
    """Return the shard of a record that was signed with this key for this name, else None."""
    signature, _, content = record.partition(b"\n")
    if not hmac.compare_digest(signature, _signature(content, key)):
        return None
    shard, names, paths, parts = json.loads(content)
    built = BuiltShard(Shard(*shard), b64decode(names), paths, [ShardPart(*part) for part in parts])
    return built if built.shard.folder == name else None


def _signature(content: bytes, key: bytes) -> bytes:
    return hmac.digest(key, content, "sha256").hex().encode()


# ---- copies


def copy_whole(source: Folder, target: Folder, name: str, parts: Collection[ShardPart]) -> None:
    """Copy a shard below a folder, where it has its name once it is whole. Raises DamagedError, IndexingError."""
    try:
        with new_shard(target, name) as folder:
            copy_parts(source, folder, name, parts)
    except OSError as error:
        raise writing_error("cannot copy a shard", target, error) from error


@contextmanager
def new_shard(target: Folder, name: str) -> Iterator[Folder]:
    """Yield a folder that takes the name of a shard once the block has ended well. Raises OSError."""
    own = f"{name}.{os.urandom(4).hex()}{NEW}"
    target.below(own).make()
    try:
        yield target.below(own)
        target.remove(name)
        target.rename(own, name)
    finally:
        target.remove(own)


def copy_parts(source: Folder, target: Folder, name: str, parts: Collection[ShardPart]) -> None:
    """Copy the files of a shard, each compared with what was written. Raises DamagedError, OSError."""
    for part in parts:
        try:
            stream = part_file(source, part.name).open()
        except FileNotFoundError as error:
            raise damaged(name, Note(SHARD_FILE_MISSING, {"path": part.name})) from error
        with stream:
            write_part(target, name, part, _pieces(stream))


def write_part(target: Folder, name: str, part: ShardPart, pieces: Iterator[bytes]) -> None:
    """Write a file of a shard as it comes, which is refused where it is another one. Raises DamagedError, OSError."""
    part_file(target, part.name).folder.make()
    part_file(target, part.name).replace(_compared(name, part, pieces))


def _compared(name: str, part: ShardPart, pieces: Iterator[bytes]) -> Iterator[bytes]:
    digest, n_bytes = PartDigest(part.digest), 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > part.size:
            break
        digest.update(piece)
        yield piece
    if n_bytes != part.size or digest.text != part.digest:
        raise damaged(name, Note(SHARD_FILE_DIFFERS, {"path": part.name}))


def damaged(name: str, problem: Note) -> DamagedError:
    """Return the error for a shard that is not as it was written."""
    return DamagedError(
        Note(PART_DAMAGED, {"part": verbatim(f"shard {name}"), "error": problem}), hint=Note(SHARD_REPAIR)
    )


def problem_of(error: DamagedError) -> Note:
    """Return what is wrong with a shard, without its name."""
    problem = error.told.values.get("error") if isinstance(error.told, Note) else None
    return problem if isinstance(problem, Note) else verbatim(str(error))


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    while piece := stream.read(_PIECE):
        yield piece
