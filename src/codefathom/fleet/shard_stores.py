"""The stores of shards: a folder that all machines see, or a bucket."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

from codefathom.errors import IndexingError, SettingsError
from codefathom.fleet.object_store import ObjectStore
from codefathom.fleet.shard_parts import RECORD, ShardPart, wrong_size
from codefathom.fleet.shard_store import (
    MOST_RECORD_BYTES,
    NEW,
    ShardStore,
    StoreAddress,
    copy_parts,
    copy_whole,
    read_record,
    record_of,
)
from codefathom.fleet.shards import BuiltShard
from codefathom.stores.folder import Folder
from codefathom.stores.write_errors import writing_error

_ATTEMPTS = 3
_BUCKETS = ("s3://", "gs://", "az://")


def open_store(address: StoreAddress) -> ShardStore:
    """Return the store at an address. Raises SettingsError."""
    if address.is_folder and (not address.address or os.path.isabs(address.address)):
        return FolderStore(Folder(address.address), address.key)
    if address.address.startswith(_BUCKETS):
        return ObjectStore(address.address, address.key)
    raise SettingsError(
        f"search.fleet_store cannot be {address.address!r}",
        hint="give the whole path of a folder, or an address such as s3://BUCKET/FOLDER",
    )


class FolderStore:
    """Shards in a folder that all machines see."""

    def __init__(self, folder: Folder, key: bytes) -> None:
        self._folder, self._key = folder, key

    def find(self, name: str) -> BuiltShard | None:
        """See `ShardStore`."""
        folder = self._folder.below(name)
        try:
            built = read_record(folder.file(RECORD).read(MOST_RECORD_BYTES), name, self._key)
        except OSError:
            return None
        return built if built is not None and wrong_size(folder, built.parts) is None else None

    def put(self, built: BuiltShard, source: Folder) -> BuiltShard:
        """See `ShardStore`."""
        name = built.shard.folder
        own = f"{name}.{os.urandom(4).hex()}{NEW}"
        try:
            copy_parts(source, self._folder.below(own), name, built.parts)
            self._folder.below(own).file(RECORD).replace([record_of(built, self._key)])
            for _ in range(_ATTEMPTS):
                if earlier := self.find(name):  # whoever was faster stays: it may be read already
                    self._folder.remove(own)
                    return earlier
                self._folder.remove(name)
                with suppress(OSError):
                    self._folder.rename(own, name)
                    return built
            raise IndexingError(
                f"cannot keep the shard {name} in {self._folder.path!r}", hint="see that only fathom writes there"
            )
        except OSError as error:
            raise writing_error("cannot keep a shard", self._folder, error) from error

    def bring(self, name: str, parts: Collection[ShardPart], target: Folder) -> None:
        """See `ShardStore`."""
        copy_whole(self._folder.below(name), target, name, parts)

    def names(self) -> set[str]:
        """See `ShardStore`."""
        return {
            name
            for name in self._folder.names()
            if not name.endswith(NEW) and self._folder.below(name).file(RECORD).kind() == "file"
        }

    def remove(self, name: str) -> None:
        """See `ShardStore`."""
        try:
            self._folder.remove(name)
        except OSError as error:
            raise writing_error("cannot remove a shard", self._folder, error) from error
