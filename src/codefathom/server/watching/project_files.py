"""The files of a project, as the server follows them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from threading import Event

from codefathom.config.user_places import PROJECT_FILE
from codefathom.errors import IndexingError
from codefathom.facts.limits import POLLING_INTERVAL_S
from codefathom.project.kept_rules import scan_rules
from codefathom.project.location import locate_registered
from codefathom.server.live import stamp_of
from codefathom.server.projects.project_table import Projects, ServedProject
from codefathom.server.watching.project_watch import WatchNotice
from codefathom.source.scan import ScanRules
from codefathom.source.watching.watch import WatchOptions, watch
from codefathom.source.watching.watched_folders import OwnPlaces

_LOOK_AGAIN_S = 10.0  # at rules that a run from elsewhere may have kept in the index


class FollowedFiles:
    """Follows the files by events where they can be had, else by polling."""

    def __init__(self, project: ServedProject, projects: Projects, data_dir: str, prepare: Callable[[], None]) -> None:
        self.prepare = prepare
        self._project = project
        self._projects = projects
        self._data_dir = data_dir
        self._kept: tuple[float, tuple[int, int], ScanRules] | None = None  # when, stamp of the settings, rules

    def notices(self, stop: Event) -> Iterator[WatchNotice]:
        """See `FollowedProject`."""
        for notice in watch(self._project.root, self._rules, stop.is_set, self._options(stop.wait)):
            interval_s = POLLING_INTERVAL_S if notice.by == "polling" else 0.0
            yield WatchNotice(notice.by, notice.reason, interval_s)

    def _rules(self) -> ScanRules:
        now, stamp = time.monotonic(), stamp_of(os.path.join(self._project.root, PROJECT_FILE))
        if self._kept is None or self._kept[1] != stamp or now - self._kept[0] > _LOOK_AGAIN_S:
            self._kept = (now, stamp, self._rules_now())
        return self._kept[2]

    def _rules_now(self) -> ScanRules:
        try:
            with self._projects.lease(self._project.id) as engine:
                return engine.opened.recipe.rules
        except IndexingError:  # a damaged index, which the next job repairs
            settings = self._projects.settings_of(self._project)
            return scan_rules(settings, locate_registered(self._project.root, settings).variables)

    def _options(self, sleep: Callable[[float], object]) -> WatchOptions:
        settings = self._projects.settings_of(self._project)
        place = locate_registered(self._project.root, settings)
        own = OwnPlaces((place.index_dir, place.cache_dir, place.state_dir, self._data_dir), (PROJECT_FILE,))
        return WatchOptions(settings.index.watch, own=own, sleep=sleep)
