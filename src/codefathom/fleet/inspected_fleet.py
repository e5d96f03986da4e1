"""The contents and the condition of a fleet, in the form of those of a project; sources are not looked at."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from codefathom.facts.reasons import PART_DAMAGED, SHARD_REPAIR, Note, verbatim
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.reach import FleetReach, reaching
from codefathom.fleet.shard_catalogs import ShardCatalogs
from codefathom.project.browsing import IndexSummary
from codefathom.project.inspection import general_checks
from codefathom.project.location import Location
from codefathom.project.opening import OpenedProject
from codefathom.project.repository_sight import RepositorySight
from codefathom.stores.catalog.records import Counts
from codefathom.types import Check, Failure, Status


class _Sight(NamedTuple):
    counts: Counts
    indexed_at: float
    failures: list[Failure]


def fleet_summary(
    root: str, earlier: IndexSummary | None = None, sight: RepositorySight | None = None
) -> IndexSummary | None:
    """Return the size of the fleet in a folder, None before its first run; that of the same generation is kept.

    With a sight, the size of what it shows.
    """
    with closing(Manifest(root, sight, only_default=True)) as manifest:
        if not manifest.generation or (earlier is not None and earlier.generation == manifest.generation):
            return earlier if manifest.generation else None
        with closing(ShardCatalogs(manifest)) as shards:
            fleet_sight = _seen(shards, root)
            return IndexSummary(
                shards.generation,
                fleet_sight.counts.documents,
                fleet_sight.counts.chunks,
                fleet_sight.counts.symbols,
                fleet_sight.indexed_at,
                fleet_sight.counts.languages,
                fleet_sight.counts.kinds,
            )


def fleet_status(shards: ShardCatalogs, place: Location, model: str) -> Status:
    """Return the contents of a fleet; shards that cannot be asked are named."""
    sight = _seen(shards, place.root)
    return Status(
        root=place.root,
        index_dir=place.index_dir,
        generation=shards.generation,
        n_documents=sight.counts.documents,
        n_chunks=sight.counts.chunks,
        n_symbols=sight.counts.symbols,
        n_bytes=_n_bytes(shards, place),
        languages=sight.counts.languages,
        kinds=sight.counts.kinds,
        model=model,
        n_without_vector=0,
        indexed_at=sight.indexed_at,
        pending=0,
        views_current=True,
        skipped=(),
        failures=tuple(sight.failures),
        damages=tuple(_damages(shards)),
    )


def _n_bytes(shards: ShardCatalogs, place: Location) -> int:
    """Return the size of a fleet on the disk; for some readers, that of the shards that they may see."""
    return place.index_folder.n_bytes() if place.sight is None else sum(item.n_bytes for item in shards.shards.values())


def fleet_checks(opened: OpenedProject, shards: ShardCatalogs) -> tuple[Check, ...]:
    """Return the checks of a project that are about no catalogue, and whether all shards can be asked."""
    return (*general_checks(opened), _shard_check(shards, opened.place.root))


def _shard_check(shards: ShardCatalogs, root: str) -> Check:
    _seen(shards, root)
    damages = "; ".join(map(str, _damages(shards)))
    if damages:
        return Check("shards", False, damages, str(Note(SHARD_REPAIR)))
    return Check("shards", True, f"generation {shards.generation}, {len(shards.shards)} shards")


def _damages(shards: ShardCatalogs) -> Iterator[Note]:
    for slot, problem in sorted(shards.broken.items()):
        yield Note(PART_DAMAGED, {"part": verbatim(f"shard {shards.shards[slot].folder}"), "error": problem})


def _seen(shards: ShardCatalogs, root: str) -> _Sight:
    with _of_sound_shards(root):
        indexed_at_ns = max((int(stamp) for stamp in shards.metas("indexed_at_ns") if stamp), default=0)
        return _Sight(shards.counts(), indexed_at_ns / 1e9, shards.failures())


@contextmanager
def _of_sound_shards(root: str) -> Iterator[None]:
    with reaching(FleetReach(root, math.inf)):
        yield
