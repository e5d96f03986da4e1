"""Searches wait for their turn: in fair order, not too many, not too long."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import ClassVar

import httpx
import pytest
from evals.load import request_of
from tests.waiting import LONG_S, comes, join

from codefathom.server.app import create_app
from codefathom.server.http.problem_json import BusyError, SlowError
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


def test_too_many_are_refused_at_once() -> None:
    async def ask() -> None:
        with queue(most_waiting=2) as made:
            gate = Gate()
            first = await held(made, gate)
            waiting = [asyncio.create_task(made.run("a", lambda: 1, LONG_S)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(BusyError, match="2 searches are waiting"):
                await made.run("b", lambda: 1, LONG_S)
            gate.may_end.set()
            assert await asyncio.gather(first, *waiting) == ["gate", 1, 1]
            assert await made.run("b", lambda: 2, LONG_S) == 2

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
