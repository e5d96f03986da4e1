"""Who answers for each shard of a fleet, on this machine or on those of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple

from codefathom.errors import FathomError
from codefathom.fleet.cluster.ray_cluster import RayCluster
from codefathom.fleet.cluster.shard_calls import ShardList, ShardState
from codefathom.fleet.fleet_place import store_to_read
from codefathom.fleet.manifest import Manifest, Shard
from codefathom.fleet.shard_parts import wrong_size
from codefathom.fleet.shards import SHARDS
from codefathom.stores.folder import Folder


class StateOfShard(NamedTuple):
    """A shard in force, and who can be asked for it."""

    shard: Shard
    state: ShardState


class FleetState(NamedTuple):
    """The shards of a fleet, and why none of them can be asked."""

    shards: tuple[StateOfShard, ...] = ()
    problem: str = ""


def fleet_state(root: str, cluster: str, limit_s: float, store: str = "") -> FleetState:
    """Ask each holder of each shard of the fleet in a folder; without a cluster, this machine is the one holder."""
    try:
        with closing(Manifest(root)) as manifest:
            shards = ShardList.of(manifest, store_to_read(store, manifest))
            listed, parts = shards.shards(), shards.parts()
    except FathomError as error:
        return FleetState(problem=str(error))
    if not cluster:
        folder = Folder(root).below(SHARDS)
        wrong = [(shard, wrong_size(folder.below(shard.folder), parts.get(shard.slot, ()))) for shard in listed]
        states = {shard.slot: ShardState(1, 0 if problem else 1, 0, 0.0) for shard, problem in wrong}
        return _joined(listed, states)
    try:
        return _joined(listed, RayCluster.connect(cluster).look(shards, limit_s))
    except FathomError as error:
        return _joined(listed, {})._replace(problem=str(error))


def _joined(listed: list[Shard], states: Mapping[int, ShardState]) -> FleetState:
    nobody = ShardState(0, 0, 0, 0.0)
    return FleetState(tuple(StateOfShard(shard, states.get(shard.slot, nobody)) for shard in listed))
