"""Every request on its way into the measures."""

from __future__ import annotations

import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codefathom.server.metrics.counters import RequestRecord, ServerCounters
from codefathom.server.metrics.tracing import REQUEST, following
from codefathom.telemetry import span

# A client may ask for any address and any method: these names keep the number of counts small.
_NO_ROUTE = "none"
_METHODS = {"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"}


class MetricsMiddleware:
    """Counts requests by the route that answered them."""

    def __init__(self, app: ASGIApp, measures: ServerCounters) -> None:
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
                request = _request(scope, message["status"], time.perf_counter() - started)
                self._measures.add(request)
                under_way.note(
                    name=f"{request.method} {request.route}",
                    http_route=request.route,
                    http_response_status_code=request.status,
                )
            await send(message)

        method = _method(scope)
        try:
            with (
                following(Headers(scope=scope)),
                span(REQUEST, http_request_method=method, url_path=scope["path"]) as under_way,
            ):
                await self._app(scope, receive, counted)
        finally:
            self._measures.end()


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


def _request(scope: Scope, status: int, seconds: float) -> RequestRecord:
    route = getattr(scope.get("route"), "path", _NO_ROUTE)
    problem = scope.get("state", {}).get("problem")
    return RequestRecord(_method(scope), route, status, seconds, problem.detail if problem else "")
