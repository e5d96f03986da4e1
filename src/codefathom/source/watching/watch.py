"""Follows the files of a project: says when to look again. By events where they can be had, else by polling."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from codefathom.errors import SourceError
from codefathom.facts.limits import POLLING_INTERVAL_S
from codefathom.source.scan import ScanRules, scan
from codefathom.source.watching.debounce import LOCKED_S, due_at, grown
from codefathom.source.watching.file_events import EventSource, NoEventsError, OpenEvents, open_events
from codefathom.source.watching.polling import poll
from codefathom.source.watching.watched_folders import Effect, OuterStamps, OwnPlaces, WatchedFolders, outer_stamps
from codefathom.source.work_tree import is_locked
from codefathom.system.mounts import network_drive
from codefathom.system.real_paths import refuse_moved

Way: TypeAlias = Literal["events", "polling"]

_TICK_S = 0.25  # how often it is asked whether to stop
_LOOK_S = 1.0  # between two looks at what sends no events
_MOST_WALKS = 5  # in a tree in which folders come faster than they can be watched
# Of so many events at once some may have been lost, those of new folders too.
_MANY_EVENTS = 1_000


@dataclass(frozen=True, slots=True)
class TreeNotice:
    """The tree may have changed; the first notice says that the watching has begun."""

    by: Way
    reason: str = ""  # why it is polling


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """The way in which a tree is followed."""

    by: str = "auto"  # or "events", also on a network drive; or "polling"
    interval_s: float = POLLING_INTERVAL_S  # between two looks of polling
    own: OwnPlaces = field(default_factory=OwnPlaces)
    user_exclude: Callable[[], str] | None = None  # path of the user's patterns now; None: that of the first rules
    open_events: OpenEvents = field(default=open_events, repr=False)
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic


def watch(
    root: str, rules: Callable[[], ScanRules], stop: Callable[[], bool], options: WatchOptions
) -> Iterator[TreeNotice]:
    """Yield a notice now, and after each change that can matter to a scan, until `stop` returns True.

    What changes after a notice is told by another one: whoever looks at the tree at each notice misses nothing.
    Raises SourceError when the root cannot be read, or is gone.
    """
    reason = _reason_to_poll(root, options)
    if not reason:
        try:
            yield from _by_events(root, rules, stop, options)
            return
        except NoEventsError as error:
            reason = str(error)
    looks = poll(
        lambda: scan(root, rules()),
        options.interval_s,
        stop,
        sleep=options.sleep,
        clock=options.clock,
        is_locked=lambda: is_locked(root, LOCKED_S),
    )
    yield from (TreeNotice("polling", reason) for _ in looks)


def _reason_to_poll(root: str, options: WatchOptions) -> str:
    if options.by == "polling":
        return "the settings say so"
    drive = network_drive(root) if options.by == "auto" else ""
    return f"the folder is on a network drive ({drive}), which reports no changes by other machines" if drive else ""


def _by_events(
    root: str, rules: Callable[[], ScanRules], stop: Callable[[], bool], options: WatchOptions
) -> Iterator[TreeNotice]:
    tree = _WatchedTree(root, rules, options)
    try:
        needed, burst = tree.begin(), None
        yield TreeNotice("events")
        while not stop():
            effect = tree.effect(_TICK_S if burst is None else _TICK_S / 5)
            now = options.clock()
            if effect:
                needed, burst = max(needed, effect), grown(burst, now)
            if burst is not None and now >= due_at(burst, is_locked=is_locked(root, LOCKED_S)):
                needed = tree.begin() if needed is Effect.FOLDERS else Effect.NOTHING
                burst = grown(None, now) if needed else None
                yield TreeNotice("events")
    finally:
        tree.close()


class _WatchedTree:
    """The watches of one tree."""

    def __init__(self, root: str, rules: Callable[[], ScanRules], options: WatchOptions) -> None:
        self._root = root
        self._rules = rules
        self._options = options
        self._events: EventSource | None = None
        self._folders: WatchedFolders | None = None
        exclude = rules().user_exclude
        self._user_exclude = options.user_exclude or (lambda: exclude)
        self._stamps = self._outer()
        self._looked_at = options.clock()

    def begin(self) -> Effect:
        """Watch all folders of the tree as it is now, and return what is necessary after that.

        Raises NoEventsError and SourceError.
        """
        for _ in range(_MOST_WALKS):
            folders = self._walk()
            try:
                events = self._options.open_events(folders.paths())
            except FileNotFoundError:
                continue
            self.close()
            self._events, self._folders = events, folders
            # A folder that came between the walk and the watching has told nobody.
            if self._walk() == folders:
                return Effect.NOTHING
        if self._events is None:
            raise NoEventsError("folders come and go too fast")
        return Effect.FOLDERS

    def effect(self, timeout_s: float) -> Effect:
        """Wait for events, and return what is necessary after them. Raises SourceError when the root is gone."""
        assert self._events is not None
        assert self._folders is not None
        try:
            batch = self._events.next(timeout_s) or frozenset()
        except NoEventsError:
            return self.begin() or Effect.FILES
        effect = Effect.NOTHING
        for event in batch:
            effect = max(effect, self._folders.effect(event))
            if effect is Effect.FOLDERS or (effect and len(batch) >= _MANY_EVENTS):
                effect = Effect.FOLDERS
                break
        if effect is Effect.FOLDERS or self._options.clock() >= self._looked_at + _LOOK_S:
            return max(effect, self._look())
        return effect

    def close(self) -> None:
        """End the watching."""
        if self._events is not None:
            self._events.close()

    def _look(self) -> Effect:
        """Look at what sends no events."""
        before, self._stamps = self._stamps, self._outer()
        self._looked_at = self._options.clock()
        return Effect.NOTHING if self._stamps == before else Effect.FOLDERS

    def _outer(self) -> OuterStamps:
        refuse_moved(self._root)
        stamps = outer_stamps(self._root, self._user_exclude())
        if stamps is None:
            raise SourceError(f"the folder {self._root!r} is gone", hint="start again when it is back")
        return stamps

    def _walk(self) -> WatchedFolders:
        return WatchedFolders(self._root, self._rules(), self._options.own)
