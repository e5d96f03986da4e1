"""The beginnings of requests, a few in each turn of the event loop: `/health` is answered between them.

A request works for milliseconds before it first waits: its head, its rights, its body. Where hundreds arrive at once,
the loop would do all of that before it looks at anything else.
"""

from __future__ import annotations

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

MOST_BEGUN = 4  # in one turn of the loop
_HEALTH = "/health"  # also below a path of a proxy


class RequestTurns:
    """Lets requests begin in the order in which they came, a few in each turn of the loop; `/health` never waits."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._n_begun = 0  # in this turn
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on when it is its turn."""
        if scope["type"] == "http" and not scope["path"].endswith(_HEALTH):
            await self._turn()
        await self._app(scope, receive, send)

    async def _turn(self) -> None:
        loop = asyncio.get_running_loop()
        if self._n_begun < MOST_BEGUN and not self._waiting:
            if not self._n_begun:
                loop.call_soon(self._next_turn, loop)
            self._n_begun += 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        self._n_begun = 0
        while self._waiting and self._n_begun < MOST_BEGUN:
            turn = self._waiting.popleft()
            if not turn.done():  # else it was given up
                turn.set_result(None)
                self._n_begun += 1
        if self._n_begun:
            loop.call_soon(self._next_turn, loop)
