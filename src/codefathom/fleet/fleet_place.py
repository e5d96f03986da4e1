"""The place of a fleet, as that of a project."""

from __future__ import annotations

from dataclasses import replace

from codefathom.errors import UsageError
from codefathom.fleet.manifest import Manifest
from codefathom.fleet.shard_store import StoreAddress
from codefathom.fleet.shards import SHARDS
from codefathom.fleet.trees import FleetFiles, ShardTree
from codefathom.project.kept_rules import scan_rules
from codefathom.project.location import Location
from codefathom.source.scan import ScanRules
from codefathom.stores.folder import Folder


def place_of_fleet(place: Location, name: str) -> Location:
    """Return the place of a fleet in its folder: its index lies there, and its vectors are never elsewhere."""
    settings = place.settings._replace(store=place.settings.store._replace(vectors="flat"))
    files = FleetFiles(name, ShardTree({}))
    return replace(place, index_dir=place.root, settings=settings, revision=files, is_kept=True)


def fleet_rules(place: Location) -> ScanRules:
    """Return the rules by which files of repositories count: no link in them is followed, whatever the settings say."""
    return scan_rules(place.settings, place.variables)._replace(follow_symlinks=False)


def name_of_fleet(place: Location) -> str:
    """Return the name of the fleet in a place of `place_of_fleet`."""
    return place.name if place.revision is None else place.revision.name


def store_to_write(place: Location, manifest: Manifest) -> StoreAddress:
    """Return where the shards of a fleet are kept for other machines: by default among those of its folder."""
    chosen = place.settings.search.fleet_store
    if not chosen:
        return StoreAddress(Folder(place.root).below(SHARDS).path, manifest.store_key())
    return StoreAddress(_of_fleet(chosen, manifest), manifest.store_key())


def store_to_read(chosen: str, manifest: Manifest) -> StoreAddress | None:
    """Return where other machines find the shards of a fleet; None: in its folder. Raises UsageError."""
    if not chosen:
        return None
    if not manifest.has_store_key:
        raise UsageError(
            f"search.fleet_store = {chosen!r} has nothing of this fleet yet",
            hint="run `fathom fleet index NAME` with this setting, which puts its shards there",
        )
    return StoreAddress(_of_fleet(chosen, manifest), manifest.store_key())


def _of_fleet(chosen: str, manifest: Manifest) -> str:
    return f"{chosen.rstrip('/')}/{manifest.meta('identity')}"
