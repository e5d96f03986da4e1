"""The pace of calls to a provider: limits, waits before another attempt, and a breaker after failures.

Clock, sleep and random numbers are parameters, so that a test takes no time.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from math import ceil, isfinite
from random import random
from threading import Lock
from typing import NamedTuple

from codefathom.errors import ProviderError

_MINUTE_S = 60.0
LONGEST_S = 60.0  # longest wait between two attempts
_FIRST_S = 0.5
# After so many failed calls in a row the provider counts as down; after so many seconds one call may try again.
_FAILURES, _AWAY_S = 5, 30.0
_SHORT_S = 2.0  # a wait up to this length is not reported

OnWait = Callable[[str], None]  # takes one line: the length of the wait and its reason


class CallLimits(NamedTuple):
    """Limits of a provider; 0: no limit."""

    interval_s: float = 0.0  # between two calls
    requests_per_minute: int = 0
    tokens_per_minute: int = 0


class CallTurn(NamedTuple):
    """Seconds until a call may begin, and the setting that makes it wait, "" where none does."""

    seconds: float
    limit: str = ""


class Pace:
    """Gives each call its turn. Safe to use from several threads."""

    def __init__(self, limits: CallLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = Lock()
        self._calls: deque[tuple[float, int]] = deque()  # start and tokens of those of the last minute
        self._next = float("-inf")

    def turn(self, n_tokens: int) -> CallTurn:
        """Return the turn of a call of so many tokens, which is counted as made then."""
        with self._lock:
            now = self._clock()
            delay = self._until_free(n_tokens, now)
            if self._next - now > delay.seconds:
                delay = CallTurn(self._next - now, "limits.min_interval_ms")
            self._next = now + delay.seconds + self._limits.interval_s
            self._calls.append((now + delay.seconds, n_tokens))
        return delay

    def _until_free(self, n_tokens: int, now: float) -> CallTurn:
        """Return when the calls of the minute before leave room for one more."""
        while self._calls and self._calls[0][0] <= now - _MINUTE_S:
            self._calls.popleft()
        n_calls, used = len(self._calls), sum(tokens for _, tokens in self._calls)
        free = CallTurn(0.0)
        for begin, tokens in self._calls:
            too_many = 0 < self._limits.requests_per_minute <= n_calls
            if not too_many and not 0 < self._limits.tokens_per_minute < used + n_tokens:
                break
            limit = "limits.requests_per_minute" if too_many else "limits.tokens_per_minute"
            free = CallTurn(begin + _MINUTE_S - now, limit)
            n_calls, used = n_calls - 1, used - tokens
        return free


class WaitNotices:
    """Sleeps, and reports a long wait: once for several threads that wait at the same time."""

    def __init__(
        self,
        on_wait: OnWait,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._on_wait = on_wait
        self._sleep = sleep
        self._clock = clock
        self._lock = Lock()
        self._reported_until = float("-inf")

    def sleep(self, seconds: float, why: str) -> None:
        """Return after so many seconds."""
        if seconds > _SHORT_S and self._is_news(seconds):
            self._on_wait(f"waiting {ceil(seconds)} s: {why}")
        if seconds > 0:
            self._sleep(seconds)

    def _is_news(self, seconds: float) -> bool:
        """Return True if this wait is more than twice as long as the remaining part of the one reported last."""
        with self._lock:
            now = self._clock()
            if seconds <= 2 * (self._reported_until - now):
                return False
            self._reported_until = now + seconds
            return True


@dataclass(slots=True, eq=False)
class PacedCall:
    """A call with all its attempts. The caller sets `is_answered`; None: the call was given up."""

    is_answered: bool | None = None
    error: ProviderError | None = None  # the reason why the provider did not answer


class Breaker:
    """Refuses calls for a while after several failed in a row, so that nobody waits for a provider that is down.

    After that time one call is let through; others are refused until it has ended. Safe to use from several threads.
    """

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._n_failures = 0
        self._last_error: ProviderError | None = None
        self._away_until = float("-inf")
        self._trial: PacedCall | None = None

    @contextmanager
    def call(self) -> Iterator[PacedCall]:
        """Run one call; the caller sets its outcome on the `PacedCall`. Raises ProviderError if it is refused."""
        call = PacedCall()
        with self._lock:
            self._let_in(call)
        try:
            yield call
        finally:
            with self._lock:
                self._note(call)

    def _let_in(self, call: PacedCall) -> None:
        if self._n_failures < _FAILURES:
            return
        left_s = self._away_until - self._clock()
        if left_s <= 0 and self._trial is None:
            self._trial = call
            return
        refused = f"is not called for {left_s:.0f} s" if left_s > 0 else "is being tried by another call"
        last = self._last_error
        raise ProviderError(
            f"{self._name} failed {self._n_failures} times in a row and {refused}" + (f": {last}" if last else ""),
            hint=(last.hint if last else "") or "check the server, then ask again",
        )

    def _note(self, call: PacedCall) -> None:
        if self._trial is call:
            self._trial = None
        if call.is_answered:
            self._n_failures = 0
        elif call.is_answered is False:
            self._n_failures += 1
            self._last_error = call.error
            self._away_until = self._clock() + _AWAY_S


def backoff_s(attempt: int, chance: Callable[[], float] = random) -> float:
    """Return the seconds before the next attempt: doubling up to `LONGEST_S`, with some chance in it.

    `attempt` counts from 0.
    """
    return min(_FIRST_S * 2.0**attempt, LONGEST_S) * (0.5 + chance() / 2)


def requested_wait_s(retry_after: str, now_s: float) -> float | None:
    """Return the seconds that a provider asks to wait, None where it says none.

    `retry_after` is the header, in seconds or as a date, of which `now_s` is the present.
    """
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = _date_s(retry_after) - now_s
    return max(seconds, 0.0) if isfinite(seconds) else None


def _date_s(text: str) -> float:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return float("nan")
