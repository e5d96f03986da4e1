"""When changes are handed on, with made-up times."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.source.watching.debounce import LOCKED_S, LONGEST_S, QUIET_S, Burst, due_at, grown


def handed_on(changes: list[float], locked: tuple[float, float] = (0.0, 0.0), step: float = 0.01) -> list[float]:
    """Return the times at which a clock that ticks hands on changes at these times."""
    times: list[float] = []
    burst: Burst | None = None
    left = sorted(changes)
    for tick in range(int((max(changes) + LOCKED_S + 1) / step)):
        now = tick * step
        while left and left[0] <= now:
            burst = grown(burst, left.pop(0))
        if burst and now >= due_at(burst, is_locked=locked[0] <= now < locked[1]):
            times.append(round(now, 2))
            burst = None
    return times


@pytest.mark.parametrize(
    ("changes", "locked", "times"),
    [
        ([1.0], (0, 0), [1.3]),
        ([1.0, 1.2, 1.4], (0, 0), [1.7]),  # as one
        ([1.0, 1.5], (0, 0), [1.3, 1.8]),  # as two
        ([1.0], (1.0, 3.0), [3.0]),  # when git has done its work
        ([1.0, 1.9], (1.0, 2.0), [2.2]),
        ([1.0], (0.0, 99.0), [11.0]),  # but not for ever
    ],
)
def test_when_changes_are_handed_on(changes: list[float], locked: tuple[float, float], times: list[float]) -> None:
    assert handed_on(changes, locked) == times


def test_constant_changes_are_handed_on_every_two_seconds() -> None:
    times = handed_on([number * 0.1 for number in range(100)])
    assert times[0] == LONGEST_S
    assert all(LONGEST_S <= after - before <= LONGEST_S + 0.2 for before, after in pairwise(times[:5]))


@given(st.lists(st.floats(0, 20), min_size=1, max_size=40))
def test_each_change_is_handed_on_in_time_and_none_is_left(changes: list[float]) -> None:
    times = handed_on(changes)
    for change in changes:
        assert any(0 <= time - change <= LONGEST_S + 0.03 for time in times)
    assert times[-1] <= max(changes) + QUIET_S + 0.03
