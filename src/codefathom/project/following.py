"""The changes of a project's files, followed: what changes is taken in until somebody says that it is enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from codefathom.config.git_config import excludes_file
from codefathom.config.settings import Settings
from codefathom.config.user_places import PROJECT_FILE
from codefathom.errors import FathomError, LockedError, SettingsError, SourceError
from codefathom.project.current_index import CurrentIndex
from codefathom.project.kept_rules import scan_rules
from codefathom.project.location import locate_registered
from codefathom.source.scan import ScanRules
from codefathom.source.watching.watch import TreeNotice, WatchOptions
from codefathom.source.watching.watch import watch as watch_tree
from codefathom.source.watching.watched_folders import OwnPlaces
from codefathom.types import IndexReport

Stop = Callable[[], bool]
ReadSettings = Callable[[], Settings]

_POLLING = "checking the files every {s:g} s (polling): {reason}"
_GONE, _BACK = "the folder {root!r} is gone", "start again when it is back"
_LEAST_WAIT_S = 5.0  # for another writer, while watching


def watch(index: CurrentIndex, stop: Stop, interval_s: float, read: ReadSettings | None) -> Iterator[IndexReport]:
    """Yield the report of each change that was taken in; see `Engine.watch`."""
    for _ in notices(index, stop, interval_s, read):
        report = _follow(index, stop)
        if report is not None and report.is_eventful:
            yield report


def notices(index: CurrentIndex, stop: Stop, interval_s: float, read: ReadSettings | None) -> Iterator[TreeNotice]:
    """Yield each time when files may have changed; see `Engine.notices`."""
    place = index.place
    settings_now = read or (lambda: index.settings)
    own = OwnPlaces((place.index_dir, place.cache_dir, place.state_dir), (PROJECT_FILE,))
    variables = place.variables
    # Looked at every second, for which a closed engine is not opened again.
    options = WatchOptions(index.settings.index.watch, interval_s, own, lambda: excludes_file(variables))
    reason = ""
    for notice in watch_tree(place.root, lambda: _rules_now(index, settings_now), stop, options):
        if notice.by == "polling" and not interval_s:
            return
        if read is not None:
            _rules_now(index, read)
        if notice.reason and notice.reason != reason:
            reason = notice.reason
            index.on_wait(_POLLING.format(s=interval_s, reason=reason))
        yield notice


def _rules_now(index: CurrentIndex, read: ReadSettings) -> ScanRules:
    """Return the rules for files, after a look whether settings or the ignore file of the user are others now."""
    try:
        settings = read()
    except SettingsError as error:
        index.on_wait(f"{error}; the settings before stay in force")
        settings = index.settings
    rules = index.opened.recipe.rules
    exclude = scan_rules(settings, index.place.variables).user_exclude
    if settings != index.settings or exclude != rules.user_exclude:
        root = index.place.root
        if not os.path.isdir(root):
            raise SourceError(_GONE.format(root=root), hint=_BACK)
        for text in settings.refused.values():
            index.on_wait(text)
        index.move_to(locate_registered(root, settings))
        rules = index.opened.recipe.rules
    return rules


def _follow(index: CurrentIndex, stop: Stop) -> IndexReport | None:
    """Take in what has changed, however long another process writes; None when `stop` came first."""
    while not stop():
        try:
            wait_s = max(index.settings.index.wait_s, _LEAST_WAIT_S)
            return index.report_of(index.whole_run(full=False, retry=False, wait_s=wait_s, keep_rules=False))
        except LockedError as error:
            index.on_wait(str(error))
        except FathomError as error:
            if os.path.isdir(index.place.root):
                raise
            raise SourceError(_GONE.format(root=index.place.root), hint=_BACK) from error
    return None
