"""Messages of the Model Context Protocol: JSON-RPC 2.0, one JSON value a line, in both of its eras. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from codefathom.text.foreign_json import read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Json: TypeAlias = Mapping[str, Any]

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
UNSUPPORTED_VERSION = -32022
STATELESS = "2026-07-28"
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_SERVER_KEY = "io.modelcontextprotocol/serverInfo"
TTL_MS = 3_600_000


class ToolMessage:
    """A request, or a notification where it has no `key`."""

    __slots__ = ("key", "method", "params")

    def __init__(self, method: str, params: Json, key: str | int | None = None) -> None:
        self.method = method
        self.params = params
        self.key = key

    @property
    def version(self) -> str:
        """The version of the protocol that the message names itself; "" in the older era."""
        meta = self.params.get("_meta")
        version = meta.get(VERSION_KEY, "") if isinstance(meta, Mapping) else ""
        return version if isinstance(version, str) else ""

    @property
    def is_supported(self) -> bool:
        """True if the message is of the older era, or names a version that is known here."""
        return self.version in ("", STATELESS)

    @property
    def progress_token(self) -> str | int | None:
        """Name for notices of progress; None where the caller does not want to hear of it."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, Mapping) else None
        return token if isinstance(token, str | int) and not isinstance(token, bool) else None


def read_message(line: bytes) -> ToolMessage | Json | None:
    """Return the message of a line, the response to one that is none, or None for an answer to a server."""
    try:
        value = read_json(line)
    except ValueError:
        return failure(None, PARSE_ERROR, "the message is not JSON")
    if not isinstance(value, dict):
        return failure(None, INVALID_REQUEST, "send one JSON object as a message; batches are not supported")
    if "method" not in value and ("result" in value or "error" in value):
        return None
    return _checked(value)


def answer(message: ToolMessage, tools: Callable[[], Sequence[Json]], version: str) -> Json:
    """Return the response to any request but a call of a tool."""
    if not message.is_supported:
        supported = {"supported": [STATELESS], "requested": message.version}
        return failure(message.key, UNSUPPORTED_VERSION, "unsupported protocol version", supported)
    server = {"name": "codefathom", "version": version}
    if message.method == "initialize":
        return success(message, _handshake(message.params, server))
    if message.method == "server/discover":
        versions = [STATELESS, *HANDSHAKE_VERSIONS]
        capabilities = {"supportedVersions": versions, "capabilities": {"tools": {}}, "instructions": INSTRUCTIONS}
        meta = {"serverInfo": server, "_meta": {_SERVER_KEY: server}}
        return success(message, {"resultType": "complete", **capabilities, **_CACHE, **meta})
    if message.method == "ping":
        return success(message, {})
    if message.method == "tools/list":
        return success(message, {"tools": tools(), **(_CACHE if message.version else {})})
    return failure(message.key, UNKNOWN_METHOD, "there is no such method")


def success(message: ToolMessage, result: Json) -> Json:
    """Return the response with a result."""
    kind = {"resultType": "complete"} if message.version else {}
    return {"jsonrpc": "2.0", "id": message.key, "result": {**kind, **result}}


def progress(token: str | int, n_done: int, n_total: int | None, text: str) -> Json:
    """Return the notification of how far a call is."""
    total = {} if n_total is None else {"total": n_total}
    params = {"progressToken": token, "progress": n_done, **total, "message": text}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def failure(key: str | int | None, code: int, text: str, details: Json | None = None) -> Json:
    """Return the response with an error of the protocol."""
    error = {"code": code, "message": text, **({"data": details} if details else {})}
    return {"jsonrpc": "2.0", "id": key, "error": error}


def _checked(value: Json) -> ToolMessage | Json:
    key, method, params = value.get("id"), value.get("method"), value.get("params", {})
    if isinstance(key, bool) or not isinstance(key, str | int | None):
        return failure(None, INVALID_REQUEST, "id must be a text or a whole number")
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        return failure(key, INVALID_REQUEST, 'a request needs "jsonrpc": "2.0" and a method')
    if not isinstance(params, dict):
        return failure(key, INVALID_PARAMS, "params must be a JSON object")
    return ToolMessage(method, params, key)


_CACHE: Json = {"ttlMs": TTL_MS, "cacheScope": "public"}
INSTRUCTIONS = "Search this project by meaning, words and names. For all places of one exact text, use grep."


def _handshake(params: Json, server: Json) -> Json:
    wished = params.get("protocolVersion")
    version = wished if wished in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
    capabilities = {"tools": {"listChanged": False}}
    return {
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": server,
        "instructions": INSTRUCTIONS,
    }
