"""Notices changed files by looking again and again: works on every file system and needs no dependency."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from codefathom.source.scan import Scan, ScanRules, scan

# A tree that is written all the time (a build, a download) is handed on after this long all the same.
MAX_WAIT_S = 5.0
# A look at a large tree takes long; at most one part in five of the time is spent on it.
_REST_PER_LOOK = 4.0


def watch(
    root: str,
    rules: ScanRules,
    interval_s: float,
    stop: Callable[[], bool],
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Scan]:
    """Yield the tree as it is now, then again after each change, when two looks in a row were equal.

    A removed file is one that the next scan lacks. What changes while the caller works is found by the next look.
    """
    last = scan(root, rules)
    yield last
    while not stop():
        started = clock()
        now = scan(root, rules)
        if now != last and (settled := _settled(now, lambda: scan(root, rules), interval_s, sleep, clock)) != last:
            last = settled
            yield last
        sleep(max(interval_s, _REST_PER_LOOK * (clock() - started)))


def _settled(
    seen: Scan, look: Callable[[], Scan], interval_s: float, sleep: Callable[[float], None], clock: Callable[[], float]
) -> Scan:
    """Wait until the tree stands still, or MAX_WAIT_S has passed."""
    deadline = clock() + MAX_WAIT_S
    while clock() < deadline:
        sleep(interval_s)
        again = look()
        if again == seen:
            return again
        seen = again
    return seen
