"""The SDK's end of /mcp: messages in both eras of the protocol, and the sessions of the older one.

Imported at the first request only: the SDK costs 25 MB and a third of a second.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Mapping
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from codefathom import __version__
from codefathom.mcp.protocol import INSTRUCTIONS, INVALID_REQUEST, TTL_MS, failure, read_message
from codefathom.mcp.tool_calls import ToolResult
from codefathom.mcp.tool_list import own_name, unknown_tool
from codefathom.server.http.auth import Caller
from codefathom.server.http.client_address import counted_address
from codefathom.server.mcp.tool_turns import ToolRequest, ToolTurns

_log = logging.getLogger(__name__)

_MOST_SESSIONS = 500  # of one token
_IDLE_S = 30 * 60.0  # after which a session is forgotten; its client begins a new one


class McpSessions:
    """Requests at /mcp, each in its era. The sessions of a token are known to that token only."""

    def __init__(self, server: Server[Any], tasks: TaskGroup) -> None:
        """Run the sessions in `tasks`."""
        self._server = server
        self._tasks = tasks
        self._of_tokens: dict[str, StreamableHTTPSessionManager] = {}
        self._lock = anyio.Lock()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that the guard has let through."""
        caller: Caller = scope["state"]["caller"]
        scope["state"]["departure"] = departure = _Departure(receive)
        if scope["method"] == "POST" and (problem := _problem(await departure.read_body())) is not None:
            await JSONResponse(problem, 400)(scope, departure, send)
            return
        sessions = await self._sessions_of(caller.id)
        await sessions.handle_request(scope, departure, send)

    async def _sessions_of(self, token: str) -> StreamableHTTPSessionManager:
        async with self._lock:
            if token not in self._of_tokens:
                sessions = StreamableHTTPSessionManager(
                    self._server,
                    max_sessions=_MOST_SESSIONS,
                    session_idle_timeout=_IDLE_S,
                    max_request_body_size=sys.maxsize,  # the guard holds the limit of the settings
                )
                await self._tasks.start(_keep_running, sessions)
                self._of_tokens[token] = sessions
            return self._of_tokens[token]


def tool_server(turns: ToolTurns) -> Server[Any]:
    """Return the SDK's server with our tools."""

    async def list_tools(context: ServerRequestContext[Any], _: PaginatedRequestParams | None) -> ListToolsResult:
        specs = await turns.listed(_scope(context)["state"]["caller"])
        return ListToolsResult(tools=[Tool.model_validate(spec) for spec in specs])

    async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        scope = _scope(context)
        caller: Caller = scope["state"]["caller"]
        name = str(own_name(params.name))
        if not await turns.is_offered(name, caller):
            raise MCPError(INVALID_PARAMS, unknown_tool(name, await turns.listed(caller)))
        if name == "ask":
            scope["state"]["time_limit"].deadline = math.inf
        client = caller.id or counted_address((scope.get("client") or ("",))[0])
        is_heard = "progress_token" in (params.meta or {})
        request = ToolRequest(caller, client, name, params.arguments or {}, is_heard)
        departure: _Departure = scope["state"]["departure"]
        result: ToolResult = {"content": [], "isError": True}  # for a client that has left: nobody reads it
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(departure.end, tasks.cancel_scope)
            result = await turns.call(request, context.session.report_progress)
            tasks.cancel_scope.cancel()
        return CallToolResult.model_validate(result)

    return Server(
        "codefathom",
        version=__version__,
        instructions=INSTRUCTIONS,
        # Whether there is a model depends on the projects of a token.
        cache_hints={"tools/list": CacheHint(TTL_MS, "private"), "server/discover": CacheHint(TTL_MS, "public")},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _scope(context: ServerRequestContext[Any]) -> Scope:
    """Return the request of HTTP that a message came with, in either era."""
    assert context.request is not None
    scope: Scope = context.request.scope
    return scope


def _problem(body: bytes) -> Mapping[str, Any] | None:
    """Return the answer to a body that is no message for a server; the library gives it in words of its own."""
    message = read_message(body)
    if message is None:
        return failure(None, INVALID_REQUEST, "unexpected response: this server sends no requests")
    return message if isinstance(message, Mapping) else None


class _Departure:
    """The messages of a client, and whether it has left; either era has somebody who listens for that."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._body: bytes | None = None  # that was read already, for whoever asks next
        self._has_left = anyio.Event()

    async def read_body(self) -> bytes:
        """Return the body, within the limits of the guard."""
        pieces, is_whole = [], False
        while not is_whole:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._has_left.set()
                break
            pieces.append(message.get("body", b""))
            is_whole = not message.get("more_body", False)
        self._body = b"".join(pieces)
        return self._body

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._receive()
        if message["type"] == "http.disconnect":
            self._has_left.set()
        return message

    async def end(self, work: anyio.CancelScope) -> None:
        """Cancel the work when the client leaves."""
        await self._has_left.wait()
        work.cancel()


async def _keep_running(
    sessions: StreamableHTTPSessionManager, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    try:
        async with sessions.run():
            task_status.started()
            await anyio.sleep_forever()
    except Exception:  # of one token; it must not end the tasks of all
        _log.exception("the sessions of agents ended")
