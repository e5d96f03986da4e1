"""The engine of a project that is served: its model calls can be stopped, and its questions wait for no job."""

from __future__ import annotations

from itertools import count

from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.project.location import Location
from codefathom.providers.stoppable import Stoppable
from codefathom.server.projects.packed_settings import PackedSettings, packed

_versions = count(1)


class ServedEngine(Engine):
    """An engine whose model calls can be stopped from another thread, and whose questions wait for no job."""

    def __init__(
        self, place: Location, on_progress: OnProgress | None = None, on_wait: OnWait = lambda _: None
    ) -> None:
        super().__init__(place, on_progress, on_wait, wrap_model=Stoppable, first_index_wait_s=0.0)
        self.version = next(_versions)  # a number that no other engine of this process has
        self._packed: tuple[Settings, PackedSettings] | None = None

    @property
    def packed_settings(self) -> PackedSettings:
        """The settings in force as the processes of the searches are sent them with each question."""
        if self._packed is None or self._packed[0] is not self.settings:
            self._packed = self.settings, packed(self.settings)
        return self._packed[1]
