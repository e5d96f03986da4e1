"""Notices changed files by looking again and again: works on every file system and needs no library."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from codefathom.source.changes import Scan
from codefathom.source.watching.debounce import LOCKED_S

# A tree that is written all the time (a build, a download) is handed on after this long all the same.
MAX_WAIT_S = 5.0
# A look at a large tree takes long; at most one part in five of the time is spent on it.
_REST_PER_LOOK = 4.0


def poll(
    look: Callable[[], Scan],
    interval_s: float,
    stop: Callable[[], bool],
    *,
    sleep: Callable[[float], object],
    clock: Callable[[], float],
    is_locked: Callable[[], bool] = lambda: False,
) -> Iterator[Scan]:
    """Yield the tree as it is now, then again after each change, when two looks in a row were equal.

    A removed file is one that the next look lacks. What changes while the caller works is found by the next look.
    While git writes the work tree (`is_locked`), nothing is handed on for ten seconds.
    """
    last = look()
    yield last
    while not stop():
        started = clock()
        now = look()
        if now != last:
            now = _settled(now, look, interval_s, is_locked=is_locked, sleep=sleep, clock=clock)
        if now != last:
            last = now
            yield last
        sleep(max(interval_s, _REST_PER_LOOK * (clock() - started)))


def _settled(
    seen: Scan,
    look: Callable[[], Scan],
    interval_s: float,
    *,
    is_locked: Callable[[], bool],
    sleep: Callable[[float], object],
    clock: Callable[[], float],
) -> Scan:
    """Wait until the tree stands still, or MAX_WAIT_S has passed."""
    began = clock()
    while clock() < began + (LOCKED_S if is_locked() else MAX_WAIT_S):
        sleep(interval_s)
        again = look()
        if again == seen and not is_locked():
            return again
        seen = again
    return seen
