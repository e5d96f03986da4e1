"""The place of a fleet, as that of a project."""

from __future__ import annotations

from dataclasses import replace

from codefathom.fleet.trees import FleetFiles, ShardTree
from codefathom.project.location import Location


def place_of_fleet(place: Location, name: str) -> Location:
    """Return the place of a fleet in its folder: its index lies there, and its vectors are never elsewhere."""
    settings = place.settings._replace(store=place.settings.store._replace(vectors="flat"))
    files = FleetFiles(name, ShardTree({}))
    return replace(place, index_dir=place.root, settings=settings, revision=files, is_kept=True)


def name_of_fleet(place: Location) -> str:
    """Return the name of the fleet in a place of `place_of_fleet`."""
    return place.name if place.revision is None else place.revision.name
