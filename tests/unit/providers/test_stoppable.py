"""Model calls that are stopped from outside, also while the model is silent."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.waiting import LONG_S, join

from codefathom.errors import ProviderError, StoppedError
from codefathom.providers.base import Ask, Delta, Message, Reply
from codefathom.providers.stoppable import Stoppable
from codefathom.system.stopping import stopping

ASK = Ask([Message("user", "hello")])


class Model:
    """Says "a", waits for the test, says "b"."""

    name = "model"

    def __init__(self, error: Exception | None = None) -> None:
        self.go_on = threading.Event()
        self.is_closed = threading.Event()
        self.n_calls = 0
        self._error = error

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        self.n_calls += 1
        try:
            yield Delta("a")
            self.go_on.wait(LONG_S)
            if self._error:
                raise self._error
            yield Delta("b")
            yield Reply("ab")
        finally:
            self.is_closed.set()


def test_a_call_that_nobody_stops_is_passed_on() -> None:
    model = Model()
    model.go_on.set()
    whole = [Delta("a"), Delta("b"), Reply("ab")]
    assert list(Stoppable(model).stream(ASK)) == whole
    with stopping(lambda: False):
        assert list(Stoppable(model).stream(ASK)) == whole
    assert Stoppable(model).name == "model"


def test_a_silent_call_ends_at_once_and_its_connection_at_the_next_piece() -> None:
    model, is_stopped = Model(), threading.Event()
    with stopping(is_stopped.is_set):
        pieces = Stoppable(model).stream(ASK)
        assert next(pieces) == Delta("a")
        is_stopped.set()
        with pytest.raises(StoppedError):
            next(pieces)
        assert not model.is_closed.is_set()  # it is silent still
        model.go_on.set()
        assert model.is_closed.wait(LONG_S)
        with pytest.raises(StoppedError):
            next(Stoppable(model).stream(ASK))
    assert model.n_calls == 1  # who has left asks nothing more


def test_closing_a_call_ends_it() -> None:
    model = Model()
    with stopping(lambda: False):
        pieces = Stoppable(model).stream(ASK)
        next(pieces)
        pieces.close()  # type: ignore[attr-defined]
        model.go_on.set()
        assert model.is_closed.wait(LONG_S)


def test_an_error_of_the_model_is_raised_where_it_is_waited_for() -> None:
    model = Model(ProviderError("overloaded", hint="wait"))
    model.go_on.set()
    with stopping(lambda: False):
        pieces = Stoppable(model).stream(ASK)
        assert next(pieces) == Delta("a")
        with pytest.raises(ProviderError, match="overloaded"):
            next(pieces)


def test_threads_are_stopped_one_by_one() -> None:
    model = Model()
    model.go_on.set()
    found: list[int] = []
    with stopping(lambda: True):
        other = threading.Thread(target=lambda: found.append(len(list(Stoppable(model).stream(ASK)))))
        other.start()
        join(other)
    assert found == [3]
