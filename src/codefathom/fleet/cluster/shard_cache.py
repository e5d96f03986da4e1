"""Shards on the disk of a machine: each comes from the store when it is first asked for, and is compared on arrival."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

from codefathom.errors import IndexingError
from codefathom.fleet.shard_parts import ShardPart, wrong_size
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shard_stores import open_store
from codefathom.fleet.shards import SHARDS
from codefathom.project.location import user_cache_dir
from codefathom.stores.folder import Folder
from codefathom.stores.lock import UseLock, WriterLock, held_lock, unused, used_at

_CACHE, _USES = "fleet-shards", "uses"
_WAIT_S = 600.0


class ShardCache:
    """The shards of a store on this machine, those that were used last. Safe to use from several threads."""

    def __init__(self, address: StoreAddress, fleet: str) -> None:
        """`fleet` is the word for the fleet that no other one has."""
        self.root = os.path.join(user_cache_dir(), _CACHE, fleet)
        self._store, self._most_bytes = open_store(address), address.most_bytes
        self._shards, self._uses = (Folder(self.root).below(name) for name in (SHARDS, _USES))
        self._held: dict[str, UseLock] = {}
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    def bring(self, name: str, parts: Sequence[ShardPart]) -> None:
        """Have a shard here until this object is closed. Raises DamagedError, IndexingError."""
        with self._locks[name]:
            if name in self._held:
                return
            use = UseLock(self._uses.below(name))
            use.acquire()
            try:
                # Another process of this machine may be bringing it now.
                with held_lock(WriterLock(self._uses.below(name)), wait_s=_WAIT_S):
                    if wrong_size(self._shards.below(name), parts):
                        self._shards.make()
                        self._store.bring(name, parts, self._shards)
            except BaseException:
                use.release()
                raise
            self._held[name] = use
        self._trim()

    def _trim(self) -> None:
        """Remove the shards that nobody has used for the longest time, until the others have room."""
        sizes = {name: self._shards.below(name).n_bytes() for name in self._shards.names()}
        n_bytes = sum(sizes.values())
        for name in sorted(sizes, key=lambda name: used_at(self._uses.below(name))):
            if n_bytes <= self._most_bytes:
                return
            with suppress(OSError, IndexingError):
                self._uses.below(name).make()
                with unused(self._uses.below(name)) as is_unused:
                    if is_unused:
                        self._shards.remove(name)
                        n_bytes -= sizes[name]

    def close(self) -> None:
        """Let the shards go."""
        for use in self._held.values():
            use.release()
