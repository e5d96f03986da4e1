"""Calls of a model at the same time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.waiting import LONG_S

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, ChatModel, Delta, Message, Reply, whole
from codefathom.providers.parallel import in_parallel
from codefathom.testing import ScriptedChat


def asked(value: str, model: ChatModel) -> str:
    return whole(model, Ask([Message("user", value)])).text


def echo(ask: Ask) -> Reply:
    return Reply(ask.messages[-1].content.upper())


@pytest.mark.parametrize("workers", [1, 2, 3, 50])
@pytest.mark.parametrize("n_values", [0, 1, 2, 20])
def test_results_stand_in_the_order_of_the_values(workers: int, n_values: int) -> None:
    values = [f"value {number}" for number in range(n_values)]
    model = ScriptedChat([echo] * n_values)
    assert in_parallel(asked, values, model, workers) == [value.upper() for value in values]
    assert len(model.asks) == n_values


def test_the_first_value_may_be_the_last_to_be_done() -> None:
    second_is_done = threading.Event()

    def work(value: int, _: ChatModel) -> int:
        if value == 1:
            assert second_is_done.wait(LONG_S)
        else:
            second_is_done.set()
        return value

    assert in_parallel(work, [1, 2], ScriptedChat([]), 2) == [1, 2]


def test_no_more_at_once_than_there_are_workers() -> None:
    lock, together, most = threading.Lock(), 0, 0

    def work(value: int, _: ChatModel) -> int:
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        with lock:
            together -= 1
        return value

    in_parallel(work, range(50), ScriptedChat([]), 3)
    assert most <= 3


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_raised_where_the_results_are_waited_for(workers: int) -> None:
    model = ScriptedChat([ProviderError("gone")] * 2)
    with pytest.raises(ProviderError, match="gone"):
        in_parallel(asked, ["a", "b"], model, workers)


def test_an_interruption_ends_the_call_that_is_under_way_and_begins_no_other() -> None:
    begun, ended = threading.Event(), threading.Event()
    asks: list[str] = []

    class Endless:
        name = "endless"

        def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
            asks.append(ask.messages[-1].content)
            begun.set()
            try:
                while True:
                    yield Delta("on and on")
            finally:
                ended.set()

    def work(value: str, model: ChatModel) -> str:
        if value == "stop":
            assert begun.wait(LONG_S)
            raise KeyboardInterrupt
        return asked(value, model)

    with pytest.raises(KeyboardInterrupt):
        in_parallel(work, ["stop", "first", "second", "third"], Endless(), 2)
    assert ended.wait(LONG_S)
    assert set(asks) <= {"first", "second"}
    assert "third" not in asks


def test_a_thread_that_waits_for_a_silent_server_keeps_no_program_from_ending() -> None:
    release = threading.Event()
    kinds: list[bool] = []

    def work(value: int, _: ChatModel) -> None:
        kinds.append(threading.current_thread().daemon)
        if value == 1:
            raise KeyboardInterrupt
        release.wait(LONG_S)

    with pytest.raises(KeyboardInterrupt):
        in_parallel(work, [1, 2], ScriptedChat([]), 2)
    release.set()
    assert all(kinds)
