"""Calls wait for their turn, attempts wait longer each time, and what is away is left alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from threading import Barrier

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
        (0, "86400", 0.0, 86_400.0),
        (0, "inf", 1.0, 0.5),
        (0, "nan", 1.0, 0.5),
        (0, formatdate(1_030, usegmt=True), 0.0, 30.0),
        (0, formatdate(900, usegmt=True), 0.0, 0.0),
        (2, "soon", 1.0, 2.0),
    ],
)
def test_backing_off(attempt: int, retry_after: str, chance: float, seconds: float) -> None:
    assert backoff_s(attempt, retry_after, 1_000.0, lambda: chance) == seconds


def ended(breaker: Breaker, is_answered: bool | None, n: int = 1) -> None:
    for _ in range(n):
        with breaker.call() as call:
            call.is_answered = is_answered


def refused(breaker: Breaker, why: str) -> None:
    with pytest.raises(ProviderError, match=why) as caught, breaker.call():
        pytest.fail("the call was let in")
    assert caught.value.hint


def broken(clock: Callable[[], float]) -> Breaker:
    breaker = Breaker("the server", clock)
    ended(breaker, False, 5)
    return breaker


def test_five_failures_in_a_row_close_the_way_for_half_a_minute() -> None:
    time = Time()
    breaker = Breaker("the server", time.clock)
    ended(breaker, False, 4)
    ended(breaker, True)
    ended(breaker, False, 4)
    ended(breaker, None, 9)  # what was given up says nothing about the server
    ended(breaker, False)
    refused(breaker, "the server failed 5 times in a row and is not asked for 30 s")
    time.now += 29
    refused(breaker, "for 1 s")


def test_then_one_call_alone_may_try_and_opens_the_way() -> None:
    time = Time()
    breaker = broken(time.clock)
    time.now += 30
    with breaker.call() as trial:
        refused(breaker, "5 times in a row and is being tried by another call")
        trial.is_answered = True
    ended(breaker, False, 4)
    ended(breaker, True)


def test_a_trial_that_fails_closes_the_way_at_once() -> None:
    time = Time()
    breaker = broken(time.clock)
    time.now += 30
    with breaker.call() as trial:
        time.now += 100  # however long it takes
        refused(breaker, "being tried")
        trial.is_answered = False
    refused(breaker, "6 times in a row and is not asked for 30 s")


def test_a_trial_that_is_given_up_leaves_its_place_to_the_next() -> None:
    time = Time()
    breaker = broken(time.clock)
    time.now += 30
    with pytest.raises(KeyboardInterrupt), breaker.call():
        raise KeyboardInterrupt
    ended(breaker, True)
    ended(breaker, True)


def test_a_call_from_before_does_not_end_the_trial() -> None:
    time = Time()
    breaker = Breaker("the server", time.clock)
    with breaker.call():
        ended(breaker, False, 5)
        time.now += 30
        trial = breaker.call()
        trial.__enter__()
    refused(breaker, "being tried")
    trial.__exit__(None, None, None)
    ended(breaker, True)


def test_many_threads_and_one_trial() -> None:
    time = Time()
    breaker = broken(time.clock)
    time.now += 30
    together = Barrier(8)

    def call(_: int) -> bool:
        together.wait()
        try:
            with breaker.call():
                together.wait()  # all have asked to be let in
                return True
        except ProviderError:
            together.wait()
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(call, range(8))) == 1
