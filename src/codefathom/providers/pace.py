"""How often and how soon a provider is called. Clock, sleep and chance are given, so that a test takes no time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import isfinite
from random import random
from threading import Lock
from typing import NamedTuple

from codefathom.errors import ProviderError

_MINUTE_S = 60.0
LONGEST_S = 60.0  # nobody waits for longer between two attempts
_FIRST_S = 0.5
# So many failed calls in a row mean that the provider is away; after a while one call may try again.
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


@dataclass(slots=True, eq=False)
class Call:
    """A call with all its attempts. Whoever makes it says whether the provider answered; None: it was given up."""

    is_answered: bool | None = None


class Breaker:
    """Refuses calls for a while after several failed in a row, so that nobody waits for what is away.

    When the while is over one call may try; others are refused until it has ended. Safe to use from several threads.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._n_failures = 0
        self._away_until = float("-inf")
        self._trial: Call | None = None

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Run one call, whose outcome is told on what this gives. Raises ProviderError while calls are refused."""
        call = Call()
        with self._lock:
            self._let_in(call)
        try:
            yield call
        finally:
            with self._lock:
                self._note(call)

    def _let_in(self, call: Call) -> None:
        if self._n_failures < _FAILURES:
            return
        left_s = self._away_until - self._clock()
        if left_s <= 0 and self._trial is None:
            self._trial = call
            return
        refused = f"is not asked for {left_s:.0f} s" if left_s > 0 else "is being tried by another call"
        raise ProviderError(
            f"{self._name} failed {self._n_failures} times in a row and {refused}",
            hint="look at the server, then ask again",
        )

    def _note(self, call: Call) -> None:
        if self._trial is call:
            self._trial = None
        if call.is_answered:
            self._n_failures = 0
        elif call.is_answered is False:
            self._n_failures += 1
            self._away_until = self._clock() + _AWAY_S


def backoff_s(attempt: int, retry_after: str = "", now_s: float = 0.0, chance: Callable[[], float] = random) -> float:
    """Return the seconds before the next attempt: what the provider says, else doubling, with some chance in it.

    `attempt` counts from 0; `retry_after` is the header, in seconds or as a date, of which `now_s` is the present.
    Only a provider asks for more than `LONGEST_S`.
    """
    asked = _asked_s(retry_after, now_s)
    if asked is not None:
        return max(asked, 0.0)
    return min(_FIRST_S * 2.0**attempt, LONGEST_S) * (0.5 + chance() / 2)


def _asked_s(retry_after: str, now_s: float) -> float | None:
    try:
        seconds = float(retry_after)
        return seconds if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return float(parsedate_to_datetime(retry_after).timestamp()) - now_s
    except (ValueError, TypeError):
        return None
