"""The moment at which changes are handed on: when they have come to rest, or have gone on for long. Pure."""

from __future__ import annotations

from dataclasses import dataclass

QUIET_S = 0.3
LONGEST_S = 2.0  # a tree that is written all the time (a build, a download) is handed on all the same
LOCKED_S = 10.0  # a lock of git that is older was left behind by a process that died, or belongs to an open editor


@dataclass(frozen=True, slots=True)
class Burst:
    """Changes that are not handed on yet. The times are seconds of one clock."""

    first: float
    last: float


def grown(burst: Burst | None, now: float) -> Burst:
    """Return the burst with one more change."""
    return Burst(now if burst is None else burst.first, now)


def due_at(burst: Burst, *, is_locked: bool) -> float:
    """Return the time at which a burst is handed on; while git writes the work tree (`is_locked`), later."""
    if is_locked:
        return burst.first + LOCKED_S
    return min(burst.last + QUIET_S, burst.first + LONGEST_S)
