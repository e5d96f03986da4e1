"""The same question to several: answers and errors stand side by side, in the order of the projects."""

from __future__ import annotations

from contextvars import ContextVar
from threading import Barrier, Lock

import pytest
from tests.waiting import LONG_S

from codefathom.askers.side_by_side import outcomes
from codefathom.errors import SourceError, StoppedError

WORK = ContextVar("WORK", default="none")


def test_answers_and_errors_keep_the_order_of_the_projects() -> None:
    def ask(number: int) -> int:
        if number % 2:
            raise SourceError(f"{number} is odd")
        return number * 10

    answers, failed = outcomes(ask, {"d": 4, "c": 3, "b": 2, "a": 1})
    assert list(answers.items()) == [("d", 40), ("b", 20)]
    assert {name: str(error) for name, error in failed.items()} == {"c": "3 is odd", "a": "1 is odd"}
    assert list(failed) == ["c", "a"]


def test_all_are_asked_at_the_same_time() -> None:
    together = Barrier(4, timeout=LONG_S)
    answers, _ = outcomes(lambda number: (together.wait(), number)[1], dict(zip("abcd", range(4), strict=True)))
    assert answers == {"a": 0, "b": 1, "c": 2, "d": 3}


def test_no_more_than_so_many_at_once() -> None:
    lock, running, most = Lock(), 0, 0

    def ask(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1
        return number

    assert len(outcomes(ask, {str(n): n for n in range(40)}, most_at_once=1)[0]) == 40
    assert most == 1


def test_nobody_is_asked_where_there_is_nobody() -> None:
    assert outcomes(len, {}) == ({}, {})


def test_each_runs_in_the_context_of_the_caller() -> None:
    WORK.set("search 7")
    answers, _ = outcomes(lambda _: WORK.get(), {"a": 1, "b": 2})
    assert answers == {"a": "search 7", "b": "search 7"}


def test_a_question_that_was_stopped_is_no_failure_of_a_project() -> None:
    def ask(_: int) -> int:
        raise StoppedError("nobody waits")

    with pytest.raises(StoppedError):
        outcomes(ask, {"a": 1, "b": 2})


def test_what_is_not_ours_is_not_kept() -> None:
    with pytest.raises(ZeroDivisionError):
        outcomes(lambda n: 1 // n, {"a": 0})
