"""The indexes of revisions of a project: which there are, and the removal of those that were not used for longest.

Only an index that this user has made is listed or removed, and no index that a process is using.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from codefathom.config.settings import IndexSettings
from codefathom.errors import FathomError, SourceError
from codefathom.project.location import Location
from codefathom.project.removal import remove_index
from codefathom.project.stores.revised_place import at_revision
from codefathom.project.stores.sibling import trusted
from codefathom.source.revisions.revision import Revision
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch
from codefathom.stores.folder import index_folder
from codefathom.stores.lock import unused, used_at
from codefathom.stores.registry import IndexPlace, Registry

_NAME, _KEPT = "revision", "kept revision"  # keys in the catalogue
_FOLDER = re.compile(r".*-at-[0-9a-f]{12}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RevisionIndex:
    """The index of a branch, tag or commit of a project."""

    revision: str  # the first name that it was asked by
    index_dir: str
    n_bytes: int
    used_at: float  # the last time, in seconds since the epoch
    is_kept: bool = False  # it stays until somebody removes it, as for a project of the server


def note_revision(catalog: Catalog, place: Location) -> None:
    """Write into an index that it is that of a revision, by the first name it was asked by. Needs the writer lock."""
    if not isinstance(place.revision, Revision):
        return
    notes = {_NAME: place.revision.name, **({_KEPT: "yes"} if place.is_kept else {})}
    missing = {key: value for key, value in notes.items() if not catalog.get_meta(key)}
    if missing:
        catalog.write(Batch(meta=missing))


def revision_indexes(place: Location) -> tuple[RevisionIndex, ...]:
    """Return the indexes of revisions of this project, the one used last first."""
    registry = Registry(place.state_dir)
    places = [item for item in registry.places() if item.root == place.root and _FOLDER.fullmatch(item.folder)]
    return tuple(sorted(_listed(places, registry), key=lambda item: -item.used_at))


class RemovedIndex(NamedTuple):
    """The index of a revision that was removed, and the limit that it was beyond."""

    revision: str
    why: str


def remove_unused(place: Location) -> tuple[RemovedIndex, ...]:
    """Remove the indexes beyond `index.kept_revisions` and `index.kept_revision_bytes`, and return them; 0: no limit.

    Those used last stay, the very last one whatever its size, and so does one that a process uses or writes.
    """
    if not isinstance(place.revision, Revision):
        return ()
    removable = [item for item in revision_indexes(place) if not item.is_kept]
    reasons = _beyond([item.n_bytes for item in removable], place.settings.index)
    pairs = zip(removable, reasons, strict=True)
    return tuple(RemovedIndex(item.revision, why) for item, why in pairs if why and _remove_unused(place, item))


def _beyond(sizes: Sequence[int], limits: IndexSettings) -> Iterator[str]:
    """Yield for each index, the one used last first, the limit that it is beyond, or ""."""
    most, most_bytes = limits.kept_revisions, limits.kept_revision_bytes
    for number, n_bytes in enumerate(accumulate(sizes)):
        if most and number >= most:
            yield f"index.kept_revisions keeps the {most} used last"
        elif most_bytes and number and n_bytes > most_bytes:
            yield f"index.kept_revision_bytes keeps those used last up to {most_bytes:,} bytes"
        else:
            yield ""


def remove_revision(place: Location, name: str, *, wait_s: float) -> int:
    """Remove the index of a revision, also of one that is gone, and return its size in bytes; 0 when there is none.

    Raises SourceError for a name of nothing, LockedError as `remove_index` does.
    """
    folders = {item.index_dir for item in revision_indexes(place) if item.revision == name}
    try:
        folders.add(at_revision(place, name).index_dir)
    except SourceError:
        if not folders:
            raise
    return sum(remove_index(replace(place, index_dir=folder), wait_s=wait_s) for folder in sorted(folders))


def _listed(places: list[IndexPlace], registry: Registry) -> Iterator[RevisionIndex]:
    for place in places:
        folder = index_folder(place.folder, place.root)
        with suppress(OSError, FathomError), trusted(place, registry) as catalog:
            if name := catalog.get_meta(_NAME):
                is_kept = bool(catalog.get_meta(_KEPT))
                yield RevisionIndex(name, place.folder, folder.n_bytes(), used_at(folder), is_kept)


def _remove_unused(place: Location, item: RevisionIndex) -> bool:
    of_revision = replace(place, index_dir=item.index_dir)
    with suppress(OSError, FathomError), unused(of_revision.index_folder) as is_unused:
        return is_unused and os.path.isdir(item.index_dir) and remove_index(of_revision, wait_s=0) > 0
    return False
