"""The place of a revision of a project: its index lies in a folder of the user, and nothing is written elsewhere."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import blake2b

from codefathom.project.location import Location
from codefathom.source.revisions.revision import Revision, revision


def at_revision(place: Location, name: str) -> Location:
    """Return the place of a revision of this project. Raises SourceError, UsageError for a bad name."""
    return with_revision(place, revision(place.root, name))


def with_revision(place: Location, chosen: Revision) -> Location:
    """Return the place of a revision of this project that was found before."""
    digest = blake2b(chosen.key.encode(errors="surrogateescape"), digest_size=6).hexdigest()
    base = place.variables.get("FATHOM_INDEX_DIR") or os.path.join(place.cache_dir, "indexes")
    folder = os.path.basename(place.root).encode("utf-8", "replace").decode()
    # A store of other makers knows a project by its folder, which this is not.
    settings = place.settings._replace(store=place.settings.store._replace(vectors="flat"))
    return replace(place, index_dir=os.path.join(base, f"{folder}-at-{digest}"), settings=settings, revision=chosen)
