"""The nearest vectors of several shards are those of one store, also where some are equally near."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.fleet.shard_vectors import ShardVectors
from codefathom.fleet.shards import KEYS_OF_SHARD
from codefathom.stores.base import Row
from codefathom.stores.folder import Folder
from codefathom.stores.vectors.flat_vectors import FlatVectorStore

VECTORS = (bytes((127, 0, 0, 0)), bytes((100, 75, 0, 0)), bytes((127, 0, 0, 0)), bytes((0, 127, 0, 0)))
QUERY = bytes((127, 12, 0, 0))


def test_equally_near_ones_are_in_the_order_of_one_store(tmp_path: Path) -> None:
    slots = (3, 5, 9)
    rows = {slot: [Row((slot << KEYS_OF_SHARD) + n, vector) for n, vector in enumerate(VECTORS)] for slot in slots}
    stores = {slot: store_of(tmp_path / str(slot), own) for slot, own in rows.items()}
    shards = SimpleNamespace(generation=1, shards=dict.fromkeys(slots), reached=lambda *_, **__: True)
    several = ShardVectors(cast(ShardCatalogs, shards), stores.__getitem__)
    one = store_of(tmp_path / "one", [row for own in rows.values() for row in own])
    for k in range(1, 13):
        assert several.nearest(QUERY, k) == one.nearest(QUERY, k)
    allowed = {row.key for own in rows.values() for row in own[::2]}
    assert several.nearest(QUERY, 12, allowed) == one.nearest(QUERY, 12, allowed)


def store_of(folder: Path, rows: list[Row]) -> FlatVectorStore:
    store = FlatVectorStore(Folder(str(folder)), len(QUERY), "owner")
    store.upsert(rows)
    store.commit(1)
    return store
