"""Every request on its way into the measures."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codefathom.server.measures import Measures, Request

# A client may ask for any address and any method: these names keep the number of counts small.
_NO_ROUTE = "none"
_METHODS = {"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"}


class Measuring:
    """Counts requests by the route that answered them."""

    def __init__(self, app: ASGIApp, measures: Measures) -> None:
        self._app = app
        self._measures = measures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count it when its answer begins."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        self._measures.begin()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._measures.add(_request(scope, message["status"], time.perf_counter() - started))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._measures.end()


def _request(scope: Scope, status: int, seconds: float) -> Request:
    method = scope["method"] if scope["method"] in _METHODS else "other"
    route = getattr(scope.get("route"), "path", _NO_ROUTE)
    problem = scope.get("state", {}).get("problem")
    return Request(method, route, status, seconds, problem.detail if problem else "")
