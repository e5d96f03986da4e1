"""When a run stops early, and which failures it has told already."""

from __future__ import annotations

import pytest

from codefathom.index.tally import ErrorLimit, Tally
from codefathom.types import Failure


@pytest.mark.parametrize(
    ("n_failed", "n_done", "stops"),
    [(16, 50, True), (15, 50, False), (49, 49, False), (31, 100, True), (30, 100, False), (0, 500, False)],
)
def test_a_run_stops_when_more_than_a_third_of_many_files_fail(n_failed: int, n_done: int, stops: bool) -> None:
    assert ErrorLimit().is_exceeded(n_failed, n_done) == stops


def test_the_reason_names_the_commonest_words_once() -> None:
    tally = Tally(0.0, n_done=60)
    assert tally.reason_to_pause(ErrorLimit()) == ""
    tally.failures += [Failure(f"{n}.py", f"reason {n % 4}") for n in range(40)]
    assert tally.reason_to_pause(ErrorLimit()) == "40 of 60 files failed (reason 0; reason 1; reason 2)"
    again = Tally(0.0, n_done=60, failures=[Failure("a.py", "away")] * 40)  # one file
    assert again.reason_to_pause(ErrorLimit()) == ""


def test_a_failure_is_told_once() -> None:
    tally = Tally(0.0)
    first, second, third = (Failure(f"{name}.py", "away") for name in "abc")
    tally.failures.append(first)
    tally.unfinished.append(second)
    assert tally.new_failures() == (first, second)
    assert tally.new_failures() == ()
    tally.failures.append(third)
    tally.not_embedded.append(first)
    assert tally.new_failures() == (third,)
