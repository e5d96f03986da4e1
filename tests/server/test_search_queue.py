"""Searches wait for their turn: in fair order, not too many, not too long."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import ClassVar

import httpx
import pytest
from evals.load import request_of
from tests.waiting import LONG_S, comes, join

from codefathom.server.app import create_app
from codefathom.server.http.problem_json import (
    IN_THE_QUEUE,
    BusyError,
    SlowError,
    TooManyError,
    TryLaterError,
    bringing_up,
    taking_in,
)
from codefathom.server.http.time_spent import TimeSpent, measured, slow_error
from codefathom.server.searches.search_queue import SearchQueue
from codefathom.server.server_config import ServerConfig

from .conftest import serving
from .test_projects import add, index


@contextmanager
def queue(n_threads: int = 1, most_waiting: int = 100) -> Iterator[SearchQueue]:
    made = SearchQueue(n_threads, lambda: most_waiting)
    try:
        yield made
    finally:
        for gate in Gate.made:  # a test that fails must not wait for them
            gate.may_end.set()
        made.close()


class Gate:
    """Work that holds a thread until it is opened."""

    made: ClassVar[list[Gate]] = []

    def __init__(self) -> None:
        self.has_begun, self.may_end = Event(), Event()
        self.made.append(self)

    def __call__(self) -> str:
        self.has_begun.set()
        assert self.may_end.wait(LONG_S)
        return "gate"


async def held(made: SearchQueue, gate: Gate) -> asyncio.Task[str]:
    task = asyncio.create_task(made.run("first", gate, LONG_S))
    await asyncio.to_thread(gate.has_begun.wait, LONG_S)
    return task


def test_the_result_comes_back_and_so_does_the_error() -> None:
    def fail() -> None:
        raise TimeoutError("of the work itself")

    async def ask() -> None:
        with queue() as made:
            assert await made.run("a", lambda: 42, LONG_S) == 42
            with pytest.raises(TimeoutError, match="of the work itself"):
                await made.run("a", fail, LONG_S)
            assert await made.run("a", lambda: "goes on", LONG_S) == "goes on"

    asyncio.run(ask())


def test_a_client_that_asks_much_does_not_keep_the_others_waiting() -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    async def ask() -> None:
        with queue() as made:
            gate = Gate()
            first = await held(made, gate)
            names = ["much 1", "much 2", "much 3", "little 1", "other 1", "little 2"]
            waiting = []
            for name in names:
                waiting.append(asyncio.create_task(made.run(name.split()[0], note(name), LONG_S)))
                await asyncio.sleep(0)  # it is in the queue now
            assert made._n_waiting == len(names)
            gate.may_end.set()
            await asyncio.gather(first, *waiting)

    asyncio.run(ask())
    assert order == ["much 1", "little 1", "other 1", "much 2", "little 2", "much 3"]


def test_several_threads_work_at_once() -> None:
    async def ask() -> None:
        with queue(n_threads=3) as made:
            gates = [Gate() for _ in range(3)]
            tasks = [await held(made, gate) for gate in gates]  # none of them waits for another one
            for gate in gates:
                gate.may_end.set()
            assert await asyncio.gather(*tasks) == ["gate"] * 3

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("waiting", "one_more", "refused", "error"),
    [
        ("aa", "a", "last", TooManyError),  # the only client, which sends too much
        ("ab", "c", "last", BusyError),  # nobody sends more than others
        ("ab", "a", "last", TooManyError),
        ("abbb", "a", 3, TooManyError),  # makes room for the client of whom less waits
        ("aabb", "a", "last", TooManyError),
    ],
)
def test_of_too_many_the_one_is_refused_who_sends_most(
    waiting: str, one_more: str, refused: int | str, error: type[TryLaterError]
) -> None:
    async def ask() -> None:
        with queue(most_waiting=len(waiting)) as made:
            gate = Gate()
            first = await held(made, gate)
            tasks = [asyncio.create_task(made.run(client, lambda: 1, LONG_S)) for client in waiting + one_more]
            loser = tasks.pop(-1 if refused == "last" else int(refused))
            with pytest.raises(error, match=f"{len(waiting)} searches are waiting|{len(waiting) - 1} searches"):
                await loser
            gate.may_end.set()
            assert await asyncio.gather(first, *tasks) == ["gate", *[1] * len(tasks)]
            assert await made.run("b", lambda: 2, LONG_S) == 2

    asyncio.run(ask())


@pytest.mark.parametrize(("seconds", "wait_s"), [(0.001, 1), (20.0, 8), (100_000.0, 60)])
def test_who_is_refused_is_told_when_those_before_will_have_been_answered(seconds: float, wait_s: int) -> None:
    now = 0.0

    def work() -> None:
        nonlocal now
        now += seconds

    async def ask() -> None:
        made = SearchQueue(1, lambda: 4, clock=lambda: now)
        await made.run("a", work, LONG_S)  # counts for a tenth
        first = await held(made, gate := Gate())
        waiting = [asyncio.create_task(made.run("a", lambda: 1, LONG_S)) for _ in range(4)]
        await asyncio.sleep(0)
        with pytest.raises(TooManyError) as refused:
            await made.run("a", lambda: 1, LONG_S)
        gate.may_end.set()
        await asyncio.gather(first, *waiting)
        made.close()
        assert refused.value.wait_s == wait_s
        assert refused.value.hint == f"try again in {wait_s} s"

    asyncio.run(ask())


def test_what_waits_too_long_or_is_given_up_is_left_undone() -> None:
    done: list[str] = []

    async def ask() -> None:
        with queue() as made:
            gate = Gate()
            first = await held(made, gate)
            with pytest.raises(SlowError, match=r"not finished after 0\.01 s"):
                await made.run("a", lambda: done.append("late"), 0.01)
            left = asyncio.create_task(made.run("b", lambda: done.append("left"), LONG_S))
            await asyncio.sleep(0)
            left.cancel()
            await asyncio.wait({left})
            gate.may_end.set()
            await first
            await made.run("c", lambda: done.append("waited for"), LONG_S)

    asyncio.run(ask())
    assert done == ["waited for"]


def test_a_closed_one_takes_nothing() -> None:
    async def ask() -> None:
        with queue() as made:
            assert await made.run("a", lambda: 1, LONG_S) == 1
            made.close()
            with pytest.raises(BusyError):
                await made.run("a", lambda: 1, LONG_S)

    asyncio.run(ask())


def test_nobody_searches_for_a_client_that_has_left(config: ServerConfig, shop: Path) -> None:
    app = create_app(replace(config, search_processes=1))
    state, gate = app.state.server, Gate()
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        add(client, shop)
        index(shop)
        holding = Thread(target=lambda: asyncio.run(state.search_queue.run("gate", gate, LONG_S)))
        holding.start()
        assert gate.has_begun.wait(LONG_S)
        with socket.create_connection(("127.0.0.1", client.base_url.port)) as connection:
            connection.sendall(request_of("localhost", "/search", {"query": "left"}))
            assert comes(lambda: state.search_queue._n_waiting == 1)
        assert comes(lambda: any(route.route == "/search" for route in state.measures.routes())), "it is noticed"
        gate.may_end.set()
        join(holding)
        assert client.post("/search", json={"query": "where are orders priced"}).json()["hits"]
        assert state.cache.counts().n_misses == 1, "one search for two requests"


# ---- what a time limit says


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "cause"),
    [
        ({}, ""),
        ({"search": 9.0, "queue": 2.0}, ""),
        ({"search": 1.0, "queue": 9.0}, "it waited for its turn behind other searches"),
        ({"queue": 1.0, "index": 6.0, "search": 2.0}, "it waited until the index of 'shop' was up to date"),
        ({"files": 6.0, "index": 3.0}, "it took in the named files of 'shop'"),
        ({"run": 6.0, "index": 3.0}, "it waited for the run that is writing the index of 'shop'"),
    ],
)
def test_the_error_names_what_took_longest(seconds: dict[str, float], cause: str) -> None:
    clock = Clock()
    spent = TimeSpent(10.0, clock)
    delays = {
        "queue": IN_THE_QUEUE,
        "index": bringing_up("shop"),
        "files": taking_in("shop", is_written=False),
        "run": taking_in("shop", is_written=True),
    }
    for name, n_seconds in seconds.items():
        with spent.on(delays[name]) if name in delays else nullcontext():
            clock.now += n_seconds
    with measured(spent):
        error = slow_error(0.1)
    assert str(error) == "the search was not finished after 10 s" + (f": most of the time {cause}" if cause else "")
    assert ("simpler expression" in error.hint) is (not cause)
    assert "server.search_timeout_s" in error.hint


def test_what_is_still_under_way_counts() -> None:
    clock = Clock()
    spent = TimeSpent(10.0, clock)
    with spent.on(IN_THE_QUEUE):
        clock.now += 1.0
    with spent.on(bringing_up("shop")):
        clock.now += 5.0
        assert spent.longest() == bringing_up("shop")


def test_over_http_a_search_that_never_began_says_so(config: ServerConfig, shop: Path) -> None:
    app = create_app(replace(config, search_processes=1, search_timeout_s=0.2))
    state, gate = app.state.server, Gate()
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        client.post("/projects", json={"path": str(shop)}).raise_for_status()
        index(shop)
        with ThreadPoolExecutor(1) as threads:
            blocking = threads.submit(lambda: asyncio.run(state.search_queue.run("other", gate, LONG_S)))
            assert gate.has_begun.wait(LONG_S)
            answer = client.post("/search", json={"query": "price"})
            gate.may_end.set()
            blocking.result(LONG_S)
    assert (answer.status_code, answer.json()["code"]) == (504, "too_slow")
    assert "it waited for its turn behind other searches" in answer.json()["detail"]
    assert "simpler expression" not in answer.json()["hint"]
