"""Clients of /mcp: those of the SDK, in either era of the protocol, and bare requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.waiting import LONG_S, comes

Era = Literal["2026-07-28", "legacy"]
ERAS: list[Era] = ["2026-07-28", "legacy"]
STATELESS = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@asynccontextmanager
async def agent(address: str, era: Era = "2026-07-28", token: str = "") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=LONG_S) as http,
        Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=era) as client,
    ):
        yield client


async def happens(condition: Callable[[], object]) -> bool:
    return await asyncio.to_thread(comes, condition)


def text_of(result: Any) -> str:
    return str(result.content[0].text)


def call(tool: str, *, key: int | str = 1, **arguments: object) -> dict[str, Any]:
    """The body of a call without a handshake."""
    params = {"name": tool, "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}


def headers_of(body: object) -> dict[str, str]:
    """The headers that a request without a handshake needs."""
    method = body.get("method") if isinstance(body, dict) else None
    params = body.get("params") if isinstance(body, dict) else None
    name = params.get("name") if isinstance(params, dict) else None
    return {
        **HEADERS,
        "mcp-protocol-version": STATELESS,
        **({"mcp-method": method} if isinstance(method, str) and method.isascii() else {}),
        **({"mcp-name": name} if isinstance(name, str) and name.isascii() else {}),
    }


def post(server: httpx.Client, body: dict[str, Any], token: str = "", **headers: str) -> httpx.Response:
    """Send one request without a handshake."""
    secret = {"authorization": f"Bearer {token}"} if token else {}
    return server.post("/mcp", json=body, headers={**headers_of(body), **secret, **headers})


def initialize(server: httpx.Client, token: str = "") -> httpx.Response:
    """Begin a session of the older era."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    secret = {"authorization": f"Bearer {token}"} if token else {}
    return server.post("/mcp", json=body, headers={**HEADERS, **secret})
