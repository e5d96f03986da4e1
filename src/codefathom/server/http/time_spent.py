"""The time of a request by what it was spent on, so that the error of its limit says what really held it up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from codefathom.server.http.problem_json import SLOW_SEARCH, Delay, SlowError

Clock = Callable[[], float]


@dataclass(slots=True)
class TimeSpent:
    """The seconds of one request by what they were spent on; the others are those of the search itself.

    Safe to use from several threads.
    """

    limit_s: float
    clock: Clock = time.monotonic
    _seconds: dict[Delay, float] = field(default_factory=dict)
    _begun: list[tuple[Delay, float]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _began_at: float = 0.0

    def __post_init__(self) -> None:
        self._began_at = self.clock()

    @contextmanager
    def on(self, delay: Delay) -> Iterator[None]:
        """Count the time of the block."""
        begun = (delay, self.clock())
        with self._lock:
            self._begun.append(begun)
        try:
            yield
        finally:
            with self._lock:
                self._begun.remove(begun)
                self._seconds[delay] = self._seconds.get(delay, 0.0) + self.clock() - begun[1]

    def longest(self) -> Delay:
        """Return the delay that took longest until now; one that is still under way counts."""
        now = self.clock()
        with self._lock:
            seconds = dict(self._seconds)
            for delay, begun in self._begun:
                seconds[delay] = seconds.get(delay, 0.0) + now - begun
        own = now - self._began_at - sum(seconds.values())
        seconds[SLOW_SEARCH] = seconds.get(SLOW_SEARCH, 0.0) + own
        return max(seconds, key=lambda delay: seconds[delay])


_present: ContextVar[TimeSpent | None] = ContextVar("time_spent", default=None)


@contextmanager
def measured(spent: TimeSpent) -> Iterator[None]:
    """Have the work of the block, also in threads that take over its context, count its time there."""
    token = _present.set(spent)
    try:
        yield
    finally:
        _present.reset(token)


@contextmanager
def spending_on(delay: Delay) -> Iterator[None]:
    """Count the time of the block for the present request."""
    spent = _present.get()
    if spent is None:
        yield
        return
    with spent.on(delay):
        yield


def slow_error(limit_s: float) -> SlowError:
    """Return the error for a request whose time is over, which names what took longest.

    `limit_s` is told where no request is measured.
    """
    spent = _present.get()
    return SlowError(limit_s) if spent is None else SlowError(spent.limit_s, spent.longest())
