"""/mcp: the tools of `fathom mcp` over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup
from fastapi import APIRouter, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from codefathom.mcp.protocol import STATELESS, VERSION_KEY
from codefathom.mcp.tool_calls import TOLD_PATIENCE_S
from codefathom.server.http.error_responses import PROBLEM
from codefathom.server.http.problem_json import NotInstalledError
from codefathom.server.mcp.tool_turns import ToolTurns
from codefathom.server.state import ServerState
from codefathom.system.extras import EXTRAS, install_line

_EXTRA = "mcp"
_SDK_SIDE = "codefathom.server.mcp.mcp_sessions"
_MORE_S = 10.0  # beside the time for the request, for a first index and for its search
_JSON, _STREAM = "application/json", "text/event-stream"
_PARAMETERS = {
    "name": "search",
    "arguments": {"query": "where are orders priced", "projects": ["shop"]},
    "_meta": {VERSION_KEY: STATELESS, "io.modelcontextprotocol/clientCapabilities": {}},
}
_MESSAGE = {"type": "object", "description": "a message of JSON-RPC 2.0"}
_REQUEST = {
    "requestBody": {
        "required": True,
        "content": {
            _JSON: {
                "schema": _MESSAGE,
                "example": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _PARAMETERS},
            }
        },
    }
}
# Errors of the protocol have its form; refusals by the server, such as of a token, have that of every other route.
_FAILURE = {"description": "What is wrong", "content": {_JSON: {"schema": _MESSAGE}, **PROBLEM["content"]}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The response, alone or at the end of a stream of progress",
        "content": {
            _JSON: {"schema": _MESSAGE, "example": {"jsonrpc": "2.0", "id": 1, "result": {}}},
            _STREAM: {"schema": {"type": "string"}},
        },
    },
    202: {"description": "A notification was taken"},
    "4XX": _FAILURE,
}


def _tool_server(state: ServerState) -> Any:
    return import_module(_SDK_SIDE).tool_server(ToolTurns(state))


class McpEndpoint:
    """The SDK, brought here by the first request."""

    def __init__(self, state: ServerState, load_server: Callable[[ServerState], Any] = _tool_server) -> None:
        """`load_server` gives the SDK's server; it is called once, in a thread."""
        self._state = state
        self._load_server = load_server
        self._lock = anyio.Lock()
        self._tasks: TaskGroup | None = None
        self._sessions: Any = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let requests be answered while the block runs."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, in limited time unless a model writes the answer."""
        config = self._state.config
        with anyio.move_on_after(
            config.read_timeout_s + TOLD_PATIENCE_S + config.search_timeout_s + _MORE_S
        ) as time_limit:
            scope["state"]["time_limit"] = time_limit  # an answer lifts it
            await self._sessions.answer(scope, receive, send)

    async def response(self) -> Response:
        """Return the answer to a request, which the SDK gives. Raises NotInstalledError without it."""
        async with self._lock:
            if self._sessions is None:
                _check_installed()
                server = await to_thread.run_sync(self._load_server, self._state)
                self._sessions = import_module(_SDK_SIDE).McpSessions(server, self._tasks)
        return _Passed(self._answer)


def _check_installed() -> None:
    if missing := EXTRAS[_EXTRA].missing():
        raise NotInstalledError(
            f"this server cannot speak MCP: the library {missing[0]!r} is not installed",
            hint=f"run {install_line(_EXTRA)} where the server runs, and start the server again",
        )


class _Passed(Response):
    """An answer that another application gives."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def router(endpoint: McpEndpoint) -> APIRouter:
    """Return the route."""
    routes = APIRouter(tags=["agents"])

    @routes.post(
        "/mcp",
        summary="Call the tools for coding agents (Model Context Protocol)",
        responses=_ANSWERS,
        response_class=Response,
        openapi_extra=_REQUEST,
    )
    async def post() -> Response:
        return await endpoint.response()

    @routes.delete(
        "/mcp",
        summary="End a session of the protocol before 2026-07-28",
        responses={200: {"description": "The session has ended"}, "4XX": _FAILURE},
        response_class=Response,
    )
    async def end() -> Response:
        return await endpoint.response()

    return routes
