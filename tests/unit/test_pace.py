"""Calls wait for their turn, attempts wait longer each time, and what is away is left alone."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from codefathom.errors import ProviderError
from codefathom.providers.pace import Breaker, Limits, Pace, backoff_s


class Time:
    """A clock that moves only by sleeping."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


def waits(limits: Limits, *tokens: int) -> list[float]:
    time = Time()
    pace = Pace(limits, time.clock, time.sleep)
    for n_tokens in tokens:
        pace.wait(n_tokens)
    return time.slept


@pytest.mark.parametrize(
    ("limits", "tokens", "expected"),
    [
        (Limits(), (10**9, 10**9, 10**9), []),
        (Limits(interval_s=0.25), (1, 1, 1), [0.25, 0.25]),
        (Limits(requests_per_minute=2), (1, 1, 1, 1, 1), [60.0, 60.0]),
        (Limits(tokens_per_minute=100), (60, 40, 1), [60.0]),
        (Limits(tokens_per_minute=100), (60, 41), [60.0]),
        (Limits(tokens_per_minute=100), (500, 1), [60.0]),  # one that is too large by itself goes alone
        (Limits(interval_s=40.0, requests_per_minute=2), (1, 1, 1), [40.0, 40.0]),
    ],
)
def test_waiting(limits: Limits, tokens: tuple[int, ...], expected: list[float]) -> None:
    assert waits(limits, *tokens) == expected


@pytest.mark.parametrize(
    ("attempt", "retry_after", "chance", "seconds"),
    [
        (0, "", 0.0, 0.25),
        (0, "", 1.0, 0.5),
        (3, "", 1.0, 4.0),
        (30, "", 1.0, 60.0),
        (0, "7", 0.0, 7.0),
        (0, "0", 0.0, 0.0),
        (0, "-3", 0.0, 0.0),
        (0, "86400", 0.0, 60.0),
        (0, formatdate(1_030, usegmt=True), 0.0, 30.0),
        (0, formatdate(900, usegmt=True), 0.0, 0.0),
        (2, "soon", 1.0, 2.0),
    ],
)
def test_backing_off(attempt: int, retry_after: str, chance: float, seconds: float) -> None:
    assert backoff_s(attempt, retry_after, 1_000.0, lambda: chance) == seconds


def test_five_failures_in_a_row_close_the_way_for_half_a_minute() -> None:
    time = Time()
    breaker = Breaker("the server", time.clock)
    for _ in range(4):
        breaker.failed()
    breaker.check()
    breaker.succeeded()
    for _ in range(5):
        breaker.check()
        breaker.failed()
    with pytest.raises(ProviderError, match=r"the server failed 5 times in a row and is not asked for 30 s"):
        breaker.check()
    time.now += 30
    breaker.check()
    breaker.failed()  # the one that may try
    with pytest.raises(ProviderError, match="6 times"):
        breaker.check()
