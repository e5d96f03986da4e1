"""Calls wait for their turn, attempts wait longer each time, and what is away is left alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from threading import Barrier

import pytest
from tests.waiting import LONG_S

from codefathom.errors import ProviderError
from codefathom.providers.pace import Breaker, CallLimits, CallTurn, Pace, WaitNotices, backoff_s, requested_wait_s


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


def turns(limits: CallLimits, *tokens: int) -> list[CallTurn]:
    """Return how long each call waits that is made when the one before has begun."""
    time = Time()
    pace = Pace(limits, time.clock)
    found = []
    for n_tokens in tokens:
        turn = pace.turn(n_tokens)
        time.sleep(turn.seconds)
        found.append(turn)
    return found


REQUESTS, TOKENS, INTERVAL = "limits.requests_per_minute", "limits.tokens_per_minute", "limits.min_interval_ms"


@pytest.mark.parametrize(
    ("limits", "tokens", "expected"),
    [
        (CallLimits(), (10**9, 10**9, 10**9), []),
        (CallLimits(interval_s=0.25), (1, 1, 1), [(0.25, INTERVAL), (0.25, INTERVAL)]),
        (CallLimits(requests_per_minute=2), (1, 1, 1, 1, 1), [(60.0, REQUESTS), (60.0, REQUESTS)]),
        (CallLimits(tokens_per_minute=100), (60, 40, 1), [(60.0, TOKENS)]),
        (CallLimits(tokens_per_minute=100), (60, 41), [(60.0, TOKENS)]),
        (CallLimits(tokens_per_minute=100), (500, 1), [(60.0, TOKENS)]),  # one that is too large by itself goes alone
        (CallLimits(interval_s=40.0, requests_per_minute=2), (1, 1, 1), [(40.0, INTERVAL), (40.0, INTERVAL)]),
        (
            CallLimits(10.0, requests_per_minute=2, tokens_per_minute=100),
            (60, 1, 100),
            [(10.0, INTERVAL), (60.0, TOKENS)],
        ),
    ],
)
def test_waiting(limits: CallLimits, tokens: tuple[int, ...], expected: list[tuple[float, str]]) -> None:
    found = turns(limits, *tokens)
    assert [turn for turn in found if turn.seconds] == expected
    assert all(not turn.limit for turn in found if not turn.seconds)


def test_calls_that_come_together_get_one_turn_after_another() -> None:
    pace = Pace(CallLimits(interval_s=2.0, requests_per_minute=3), Time().clock)
    assert [pace.turn(1).seconds for _ in range(5)] == [0.0, 2.0, 4.0, 60.0, 62.0]


def told(*waits: tuple[float, float]) -> list[str]:
    """Return what is told of waits that begin at these times and last so long, as threads have them."""
    time, said = Time(), list[str]()
    waiting = WaitNotices(said.append, sleep=lambda _: None, clock=time.clock)
    for at, seconds in waits:
        time.now = at
        waiting.sleep(seconds, "the server asks to")
    return said


@pytest.mark.parametrize(
    ("waits", "seconds"),
    [
        ([(0, 2.0)], []),  # short
        ([(0, 0.25)] * 99, []),
        ([(0, 2.1)], [3]),
        ([(0, 20.0)], [20]),
        ([(0, 20.0), (0.1, 20.0), (0.2, 20.0)], [20]),  # several threads
        ([(0, 20.0), (20, 20.0)], [20, 20]),  # one after another
        ([(0, 12.0), (0, 24.0), (0, 36.0), (0, 48.0)], [12, 36]),
        ([(0, 3.0), (1, 60.0)], [3, 60]),
        ([(0, 60.0), (30, 20.0), (59, 2.5)], [60, 3]),
    ],
)
def test_one_note_for_a_long_wait(waits: list[tuple[float, float]], seconds: list[int]) -> None:
    assert told(*waits) == [f"waiting {n} s: the server asks to" for n in seconds]


def test_every_wait_is_slept() -> None:
    time = Time()
    waiting = WaitNotices(lambda _: None, time.sleep, time.clock)
    for seconds in (0.0, 0.25, 20.0, 20.0):
        waiting.sleep(seconds, "")
    assert time.slept == [0.25, 20.0, 20.0]


@pytest.mark.parametrize(
    ("attempt", "chance", "seconds"), [(0, 0.0, 0.25), (0, 1.0, 0.5), (3, 1.0, 4.0), (99, 1.0, 60)]
)
def test_backing_off(attempt: int, chance: float, seconds: float) -> None:
    assert backoff_s(attempt, lambda: chance) == seconds


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("7", 7.0),
        (" 1.5 ", 1.5),
        ("0", 0.0),
        ("-3", 0.0),
        ("86400", 86_400.0),
        ("", None),
        ("inf", None),
        ("nan", None),
        (formatdate(1_030, usegmt=True), 30.0),
        (formatdate(900, usegmt=True), 0.0),
        ("Fri, 31 Dec 99999 23:59:59 GMT", None),
        ("soon", None),
    ],
)
def test_what_a_server_asks_for(retry_after: str, seconds: float | None) -> None:
    assert requested_wait_s(retry_after, 1_000.0) == seconds


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
    refused(breaker, "the server failed 5 times in a row and is not called for 30 s")
    time.now += 29
    refused(breaker, "for 1 s")


def test_who_is_refused_is_told_of_the_last_failure() -> None:
    breaker = Breaker("the server", Time().clock)
    for n in range(5):
        with breaker.call() as call:
            call.is_answered, call.error = False, ProviderError(f"failure {n}", hint=f"hint {n}")
    with pytest.raises(ProviderError, match=r"is not called for 30 s: failure 4$") as caught, breaker.call():
        pytest.fail("the call was let in")
    assert caught.value.hint == "hint 4"


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
    refused(breaker, "6 times in a row and is not called for 30 s")


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
    together = Barrier(8, timeout=LONG_S)

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
