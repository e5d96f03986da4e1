"""How often and how soon a provider is called. Clock, sleep and chance are given, so that a test takes no time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from random import random
from threading import Lock
from typing import NamedTuple

from codefathom.errors import ProviderError

_MINUTE_S = 60.0
_FIRST_S, _LONGEST_S = 0.5, 60.0
# So many failures in a row mean that the provider is away; after a while one call may try again.
_FAILURES, _AWAY_S = 5, 30.0


class Limits(NamedTuple):
    """What a provider allows; 0: no limit."""

    interval_s: float = 0.0  # between two calls
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class Pace:
    """Makes calls wait for their turn. Safe to use from several threads."""

    def __init__(
        self, limits: Limits, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._lock = Lock()
        self._calls: deque[tuple[float, int]] = deque()  # start and tokens of those of the last minute
        self._next = float("-inf")

    def wait(self, n_tokens: int) -> None:
        """Return when a call of so many tokens may begin."""
        with self._lock:
            begin = max(self._clock(), self._next, self._free_at(n_tokens))
            self._next = begin + self._limits.interval_s
            self._calls.append((begin, n_tokens))
        delay = begin - self._clock()
        if delay > 0:
            self._sleep(delay)

    def _free_at(self, n_tokens: int) -> float:
        """Return when the calls of the minute before leave room for one more."""
        now = self._clock()
        while self._calls and self._calls[0][0] <= now - _MINUTE_S:
            self._calls.popleft()
        n_calls, used = len(self._calls), sum(tokens for _, tokens in self._calls)
        free_at = now
        for begin, tokens in self._calls:
            too_many = 0 < self._limits.requests_per_minute <= n_calls
            if not too_many and not 0 < self._limits.tokens_per_minute < used + n_tokens:
                break
            free_at = begin + _MINUTE_S
            n_calls, used = n_calls - 1, used - tokens
        return free_at


class Breaker:
    """Refuses calls for a while after several failures in a row, so that nobody waits for what is away."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._n_failures = 0
        self._closed_until = float("-inf")

    def check(self) -> None:
        """Raise ProviderError while calls are refused."""
        left_s = self._closed_until - self._clock()
        if left_s > 0:
            raise ProviderError(
                f"{self._name} failed {self._n_failures} times in a row and is not asked for {left_s:.0f} s",
                hint="look at the server, then ask again",
            )

    def succeeded(self) -> None:
        """Note a call that was answered."""
        self._n_failures = 0

    def failed(self) -> None:
        """Note a call that was not."""
        self._n_failures += 1
        if self._n_failures >= _FAILURES:
            self._closed_until = self._clock() + _AWAY_S


def backoff_s(attempt: int, retry_after: str = "", now_s: float = 0.0, chance: Callable[[], float] = random) -> float:
    """Return the seconds before the next attempt: what the provider says, else doubling, with some chance in it.

    `attempt` counts from 0; `retry_after` is the header, in seconds or as a date, of which `now_s` is the present.
    """
    asked = _asked_s(retry_after, now_s)
    if asked is not None:
        return min(max(asked, 0.0), _LONGEST_S)
    return min(_FIRST_S * 2.0**attempt, _LONGEST_S) * (0.5 + chance() / 2)


def _asked_s(retry_after: str, now_s: float) -> float | None:
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        return float(parsedate_to_datetime(retry_after).timestamp()) - now_s
    except (ValueError, TypeError):
        return None
