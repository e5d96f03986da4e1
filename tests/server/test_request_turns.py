"""`/health` does not wait behind the requests that came before it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import pytest
from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from codefathom.server.app import create_app
from codefathom.server.http.request_turns import MOST_BEGUN, RequestTurns
from codefathom.server.server_config import ServerConfig

CROWD = 60


async def ask(app: Callable[[Scope, Receive, Send], Awaitable[None]], path: str, told: list[str]) -> None:
    """Send a request to an application as a server does, and note when its answer begins."""
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "path": path}
    scope |= {"raw_path": path.encode(), "query_string": b"", "headers": [(b"host", b"localhost")], "state": {}}
    scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "scheme": "http"}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200
            told.append(path)

    await app(scope, receive, send)


async def order_of_answers(app: FastAPI, paths: list[str]) -> list[str]:
    told: list[str] = []
    async with app.router.lifespan_context(app), asyncio.TaskGroup() as group:
        for path in paths:  # all of them are there before the loop has a turn
            group.create_task(ask(app, path, told))
    return told


@pytest.mark.parametrize("health", ["/health", "/api/health"])
def test_health_is_answered_before_the_crowd(config: ServerConfig, health: str) -> None:
    told = asyncio.run(order_of_answers(create_app(config), [*["/version"] * CROWD, health]))
    assert len(told) == CROWD + 1
    assert told.index(health) <= 2 * MOST_BEGUN, "those that began in the turn before, and in its own"


def test_the_others_begin_in_their_order_and_a_few_in_each_turn() -> None:
    begun: list[str] = []
    turns: list[int] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.append(scope["path"])

    async def look() -> None:
        while len(begun) < CROWD:
            turns.append(len(begun))
            await asyncio.sleep(0)

    async def run() -> None:
        paced = RequestTurns(app)
        async with asyncio.TaskGroup() as group:
            for number in range(CROWD):
                group.create_task(ask(paced, f"/{number}", []))
            group.create_task(look())

    asyncio.run(run())
    assert begun == [f"/{number}" for number in range(CROWD)]
    assert all(later - sooner <= MOST_BEGUN for sooner, later in itertools.pairwise(turns))


def test_one_that_is_given_up_holds_up_nobody() -> None:
    begun: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.append(scope["path"])

    async def run() -> None:
        paced = RequestTurns(app)
        tasks = [asyncio.create_task(ask(paced, f"/{number}", [])) for number in range(3 * MOST_BEGUN)]
        await asyncio.sleep(0)
        for task in tasks[MOST_BEGUN : 2 * MOST_BEGUN]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(run())
    left_out = range(MOST_BEGUN, 2 * MOST_BEGUN)
    assert begun == [f"/{number}" for number in range(3 * MOST_BEGUN) if number not in left_out]
