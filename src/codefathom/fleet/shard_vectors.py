"""The vectors of all shards as one store: the nearest of each, best first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import TypeAlias

from codefathom.errors import IndexingError
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shards import KEYS_OF_SHARD
from codefathom.stores.base import Row
from codefathom.stores.vectors.flat_vectors import VECTORS, FlatVectorStore
from codefathom.types import Where

_Arguments: TypeAlias = tuple[bytes, int, Collection[int] | None]  # vector, k, allowed


class ShardVectors:
    """A store that is only read. Each shard is exact, and so is what is made of them."""

    problem = ""

    def __init__(self, shards: ShardCatalogs, open_store: Callable[[int], FlatVectorStore]) -> None:
        """`open_store` opens the vectors of a shard, which are mapped into memory when they are first needed."""
        self.generation = shards.generation
        self._shards = shards
        self._slots = tuple(shards.shards)
        self._open_store = open_store
        self._stores: dict[int, FlatVectorStore] = {}

    def _store(self, slot: int) -> FlatVectorStore:
        if slot not in self._stores:
            self._stores[slot] = self._open_store(slot)
        return self._stores[slot]

    def nearest(
        self, vector: bytes, k: int, allowed: Collection[int] | None = None, where: Where | None = None
    ) -> list[tuple[int, float]]:
        """See `VectorStore`."""
        by_slot = _by_slot(allowed)
        slots = self._slots if by_slot is None else [slot for slot in self._slots if slot in by_slot]
        arguments = {slot: (vector, k, None if by_slot is None else by_slot[slot]) for slot in slots}
        nearest = [item for items in self._each_nearest(arguments) for item in items]
        # The lists come by slot, each best first with equal ones by key: a sort that keeps their order does the same.
        return sorted(nearest, key=itemgetter(1), reverse=True)[:k]

    def _each_nearest(self, arguments: Mapping[int, _Arguments]) -> Iterator[list[tuple[int, float]]]:
        """Yield the nearest of each shard that may be asked."""
        slots = (slot for slot in arguments if self._shards.reached(slot, open_part=self._store))
        return (self._store(slot).nearest(*arguments[slot]) for slot in slots)

    def damage(self, *, whole: bool = True) -> str:
        """See `VectorStore`."""
        problems = (self._store(slot).damage(whole=whole) for slot in self._slots if slot not in self._shards.broken)
        return next(filter(None, problems), "")

    def reload(self) -> None:
        """Do nothing: a shard is never changed."""

    def close(self) -> None:
        """Release the files."""
        for store in self._stores.values():
            store.close()

    # ---- what only a run does, which writes the stores of shards

    def upsert(self, rows: Iterable[Row]) -> None:
        """Refuse. Raises IndexingError."""
        raise _read_only()

    def delete(self, keys: Collection[int]) -> None:
        """Refuse. Raises IndexingError."""
        raise _read_only()

    def clear(self) -> None:
        """Refuse. Raises IndexingError."""
        raise _read_only()

    def abandon(self) -> None:
        """Do nothing: nothing was applied."""

    def commit(self, generation: int) -> None:
        """Refuse. Raises IndexingError."""
        raise _read_only()

    def drop(self) -> None:
        """Refuse. Raises IndexingError."""
        raise _read_only()


def open_vectors(shards: ShardCatalogs, slot: int, name: str, dimensions: int) -> FlatVectorStore:
    """Open the vectors of a shard in its folder `name`. Raises IndexingError, DamagedError."""
    shards.check_part(slot, f"{name}/{VECTORS}")
    owner = f"{shards.shards[slot].identity} {name}"
    return FlatVectorStore(shards.folder_of(slot).below(name), dimensions, owner)


def _read_only() -> IndexingError:
    return IndexingError("the vectors of a fleet are only read", hint="run `fathom fleet index NAME`")


def _by_slot(allowed: Collection[int] | None) -> Mapping[int, Collection[int]] | None:
    if allowed is None:
        return None
    by_slot = defaultdict[int, set[int]](set)
    for key in allowed:
        by_slot[key >> KEYS_OF_SHARD].add(key)
    return by_slot
