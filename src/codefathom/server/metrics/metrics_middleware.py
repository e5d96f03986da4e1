"""Every request on its way into the measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codefathom.server.metrics.counters import RequestRecord, ServerCounters
from codefathom.server.metrics.tracing import REQUEST, following
from codefathom.telemetry import span

# A client may ask for any address and any method: these names keep the number of counts small.
_NO_ROUTE = "none"
_METHODS = {"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"}


class WrittenAnswer(Protocol):
    """An answer that is written while its reader waits; a route puts it into the state of its request as `answer`."""

    @property
    def first_word_at(self) -> float | None:
        """The time of its first word, by `time.perf_counter`; None as long as it has none."""
        ...

    @property
    def failure(self) -> str:
        """The reason why it failed, "" where it did not."""
        ...

    def on_end(self, tell: Callable[[], None]) -> None:
        """Call `tell` when the answer has ended, at once where it has already."""
        ...


@dataclass(frozen=True, slots=True)
class _Count:
    """The count of a request whose answer is being written."""

    measures: ServerCounters
    answer: WrittenAnswer
    request: RequestRecord  # as its answer began
    started: float

    def __call__(self) -> None:
        word_at, failure = self.answer.first_word_at, self.answer.failure
        seconds = None if word_at is None else word_at - self.started
        request = self.request._replace(seconds=seconds, detail=failure, has_failed=bool(failure))
        self.measures.add(request)


class MetricsMiddleware:
    """Counts requests by the route that answered them; see `WrittenAnswer` for those that are written."""

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
                self._add(scope, request, started)
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

    def _add(self, scope: Scope, request: RequestRecord, started: float) -> None:
        answer: WrittenAnswer | None = scope.get("state", {}).get("answer")
        if answer is None or request.is_failed:
            self._measures.add(request)
        else:
            answer.on_end(_Count(self._measures, answer, request, started))


def _method(scope: Scope) -> str:
    return scope["method"] if scope["method"] in _METHODS else "other"


def _request(scope: Scope, status: int, seconds: float) -> RequestRecord:
    route = getattr(scope.get("route"), "path", _NO_ROUTE)
    problem = scope.get("state", {}).get("problem")
    return RequestRecord(_method(scope), route, status, seconds, problem.detail if problem else "")
