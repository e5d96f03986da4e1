"""Messages of the protocol: what is a message, and what is answered to one that is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codefathom.mcp.protocol import (
    HANDSHAKE_VERSIONS,
    STATELESS,
    VERSION_KEY,
    ToolMessage,
    answer,
    failure,
    progress,
    read_message,
    success,
)

TOOLS = [{"name": "search"}]


def message(method: str, key: str | int | None = 1, **params: Any) -> ToolMessage:
    return ToolMessage(method, params, key)


def of_era(version: str) -> dict[str, Any]:
    return {"_meta": {VERSION_KEY: version}}


@pytest.mark.parametrize(
    ("value", "method", "key", "params"),
    [
        ({"method": "ping", "id": 1}, "ping", 1, {}),
        ({"method": "ping", "id": "a", "params": {"x": 1}}, "ping", "a", {"x": 1}),
        ({"method": "notifications/cancelled"}, "notifications/cancelled", None, {}),
        ({"method": "ping", "id": None}, "ping", None, {}),
        ({"method": "ping", "id": 0, "result": 1}, "ping", 0, {}),
    ],
)
def test_a_line_is_a_message(value: dict[str, Any], method: str, key: object, params: dict[str, Any]) -> None:
    read = read_message(json.dumps({"jsonrpc": "2.0", **value}).encode())
    assert isinstance(read, ToolMessage)
    assert (read.method, read.key, read.params) == (method, key, params)


@pytest.mark.parametrize(
    ("line", "key", "code", "word"),
    [
        (b"", None, -32700, "not JSON"),
        (b"{", None, -32700, "not JSON"),
        (b"\xff", None, -32700, "not JSON"),
        (b"[" * 100_000, None, -32700, "not JSON"),
        (b"[" * 800 + b"]" * 800, None, -32700, "not JSON"),
        (b"[]", None, -32600, "batches"),
        (b"3", None, -32600, "one JSON object"),
        (b"{}", None, -32600, "jsonrpc"),
        (b'{"jsonrpc": "1.0", "method": "ping", "id": 4}', 4, -32600, "jsonrpc"),
        (b'{"jsonrpc": "2.0", "method": 3, "id": 4}', 4, -32600, "a method"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": true}', None, -32600, "id must be"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": 1.5}', None, -32600, "id must be"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": [1]}', None, -32600, "id must be"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": 4, "params": []}', 4, -32602, "params"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": 4, "params": null}', 4, -32602, "params"),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(line: bytes, key: object, code: int, word: str) -> None:
    told = read_message(line)
    assert isinstance(told, dict)
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", key, code)
    assert word in told["error"]["message"]
    assert "data" not in told["error"]


@pytest.mark.parametrize("line", [b'{"jsonrpc": "2.0", "id": 1, "result": {}}', b'{"id": 1, "error": {"code": 1}}'])
def test_an_answer_to_a_server_is_not_answered(line: bytes) -> None:
    assert read_message(line) is None


@pytest.mark.parametrize(
    ("meta", "version", "is_supported", "token"),
    [
        ({}, "", True, None),
        ({"_meta": None}, "", True, None),
        ({"_meta": []}, "", True, None),
        ({"_meta": {VERSION_KEY: STATELESS}}, STATELESS, True, None),
        ({"_meta": {VERSION_KEY: "2031-01-01"}}, "2031-01-01", False, None),
        ({"_meta": {VERSION_KEY: 3}}, "", True, None),
        ({"_meta": {"progressToken": "a"}}, "", True, "a"),
        ({"_meta": {"progressToken": 0}}, "", True, 0),
        ({"_meta": {"progressToken": True}}, "", True, None),
        ({"_meta": {"progressToken": [1]}}, "", True, None),
    ],
)
def test_what_a_message_says_of_itself(meta: Any, version: str, is_supported: bool, token: object) -> None:
    told = message("ping", **meta)
    assert (told.version, told.is_supported, told.progress_token) == (version, is_supported, token)


@pytest.mark.parametrize(
    ("wished", "version"),
    [
        *((version, version) for version in HANDSHAKE_VERSIONS),
        ("2020-01-01", HANDSHAKE_VERSIONS[0]),
        (3, HANDSHAKE_VERSIONS[0]),
    ],
)
def test_a_handshake_agrees_on_a_version(wished: object, version: str) -> None:
    result = answer(message("initialize", protocolVersion=wished), lambda: TOOLS, "1.2")["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "codefathom", "version": "1.2"}
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "grep" in result["instructions"]
    assert "resultType" not in result


def test_in_the_newer_era_results_say_that_they_are_complete_and_may_be_kept() -> None:
    found = answer(message("server/discover", **of_era(STATELESS)), lambda: TOOLS, "1.2")["result"]
    assert found["supportedVersions"] == [STATELESS, *HANDSHAKE_VERSIONS]
    assert (found["resultType"], found["ttlMs"], found["cacheScope"]) == ("complete", 3_600_000, "public")
    assert found["serverInfo"] == found["_meta"]["io.modelcontextprotocol/serverInfo"]
    listed = answer(message("tools/list", **of_era(STATELESS)), lambda: TOOLS, "1.2")["result"]
    assert listed == {"resultType": "complete", "tools": TOOLS, "ttlMs": 3_600_000, "cacheScope": "public"}
    assert answer(message("tools/list"), lambda: TOOLS, "1.2")["result"] == {"tools": TOOLS}


@pytest.mark.parametrize(("era", "result"), [("", {}), (STATELESS, {"resultType": "complete"})])
def test_a_ping_is_answered(era: str, result: dict[str, Any]) -> None:
    told = answer(message("ping", "k", **of_era(era)), lambda: TOOLS, "1.2")
    assert told == {"jsonrpc": "2.0", "id": "k", "result": result}


def test_another_version_or_method_is_an_error_that_says_what_there_is() -> None:
    told = answer(message("ping", 7, **of_era("2031-01-01")), lambda: TOOLS, "1.2")
    assert (told["id"], told["error"]["code"]) == (7, -32022)
    assert told["error"]["data"] == {"supported": [STATELESS], "requested": "2031-01-01"}
    told = answer(message("resources/list", 7), lambda: TOOLS, "1.2")
    assert (told["id"], told["error"]["code"]) == (7, -32601)


def test_progress_tells_the_whole_where_it_is_known() -> None:
    known, unknown = progress("a", 2, 5, "reading"), progress(3, 2, None, "reading")
    assert known["params"] == {"progressToken": "a", "progress": 2, "total": 5, "message": "reading"}
    assert unknown["params"] == {"progressToken": 3, "progress": 2, "message": "reading"}
    assert "id" not in known and known["method"] == "notifications/progress"


def test_a_result_keeps_what_it_says_and_an_error_its_details() -> None:
    assert success(message("x", **of_era(STATELESS)), {"resultType": "partial"})["result"] == {"resultType": "partial"}
    assert failure(1, -1, "no", {"a": 1})["error"] == {"code": -1, "message": "no", "data": {"a": 1}}
