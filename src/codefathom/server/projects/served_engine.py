"""The engine of a project that is served: its model calls can be stopped, and its questions wait for no job."""

from __future__ import annotations

from itertools import count

from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.project.location import Location
from codefathom.providers.stoppable import Stoppable

_versions = count(1)


class ServedEngine(Engine):
    """An engine whose model calls can be stopped from another thread, and whose questions wait for no job."""

    def __init__(
        self, place: Location, on_progress: OnProgress | None = None, on_wait: OnWait = lambda _: None
    ) -> None:
        super().__init__(place, on_progress, on_wait, wrap_model=Stoppable, first_index_wait_s=0.0)
        self.version = next(_versions)  # a number that no other engine of this process has
