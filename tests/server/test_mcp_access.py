"""Who may ask at /mcp, and what: tokens, sessions, hosts, pages, sizes, slow and hostile clients."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import LONG_S

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.metrics.logs import start_log
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState

from .agents import ERAS, HEADERS, META, Era, agent, call, happens, headers_of, initialize, post
from .conftest import Serve
from .hostile import LEAKS
from .test_mcp_calls import shops
from .test_slow_clients import connect, dribble, problem_in
from .test_slow_expressions import ENDLESS, VICTIM

TOKENS = (
    Token("of the shop", hash_of("one"), frozenset({"shop"})),
    Token("of the vault", hash_of("two"), frozenset({"vault"})),
    Token("of all", hash_of("three")),
)
SECRET = "zanzibar"


@pytest.fixture
def vault(shop: Path) -> Path:
    """A project that the other token must never hear of."""
    folder = shop.parent / "vault"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    (folder / f"{SECRET}.py").write_text(f"def open_{SECRET}(key):\n    return key\n")
    return folder


@pytest.fixture
def two(config: ServerConfig, shop: Path, vault: Path) -> Iterator[tuple[str, ServerState]]:
    with shops(replace(config, tokens=TOKENS), shop, vault) as served:
        yield served


# ---- two tokens


PRYING: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": f"open_{SECRET}"}),
    ("search", {"query": f"@@open_{SECRET}"}),
    ("search", {"query": "key", "projects": ["vault"]}),
    ("search", {"query": "key", "projects": ["shop", "vault"]}),
    ("search", {"query": "key", "projects": ["*"]}),
    ("search", {"query": "key", "paths": ["vault/"]}),
    ("search", {"query": "key", "paths": ["../vault/**"]}),
    ("read", {"path": f"vault/{SECRET}.py"}),
    ("read", {"path": f"../vault/{SECRET}.py"}),
    ("read", {"path": f"{SECRET}.py", "projects": ["vault"]}),
    ("related", {"target": f"@@open_{SECRET}"}),
    ("related", {"target": f"vault/{SECRET}.py"}),
    ("map", {}),
    ("map", {"projects": ["vault"]}),
    ("map", {"paths": ["vault"]}),
]


@pytest.mark.parametrize("era", ERAS)
def test_a_token_never_hears_of_the_projects_of_another(two: tuple[str, ServerState], vault: Path, era: Era) -> None:
    address, _ = two

    async def pry(token: str) -> list[tuple[dict[str, Any], str]]:
        async with agent(address, era, token) as client:
            said = [(given, await client.call_tool(tool, given)) for tool, given in PRYING]
            return [(given, f"{result.content} {result.structured_content}") for given, result in said]

    for given, said in asyncio.run(pry("one")):
        echoed = json.dumps(given)  # a question may be repeated; what it does not contain may not be told
        assert str(vault) not in said
        for word in (f"{SECRET}.py", f"open_{SECRET}", "return key", "vault"):
            assert word not in said or word in echoed, (given, said)
        assert "def open_" not in said
    found = asyncio.run(pry("two"))[0][1]
    assert f"def open_{SECRET}" in found


def test_a_project_of_another_is_refused_like_one_that_is_not_there(two: tuple[str, ServerState]) -> None:
    address, _ = two
    with httpx.Client(base_url=address, timeout=LONG_S) as server:
        answers = [
            post(server, call(tool, **arguments, projects=[name]), "one").text.replace(name, "NAME")
            for tool, arguments in (("search", {"query": "key"}), ("map", {}), ("read", {"path": "a.py"}))
            for name in ("vault", "nolla")
        ]
        everything = post(server, call("search", query="key", projects=["shop", "vault"]), "three").json()["result"]
    assert answers[0::2] == answers[1::2]
    assert not everything["isError"]


def test_a_session_is_of_no_use_to_another_token(two: tuple[str, ServerState]) -> None:
    address, _ = two
    tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with httpx.Client(base_url=address, timeout=LONG_S) as server:
        session = initialize(server, "one").headers["mcp-session-id"]

        def in_session(token: str, method: str = "POST", **body: Any) -> httpx.Response:
            headers = {**HEADERS, "mcp-session-id": session, "authorization": f"Bearer {token}"}
            return server.request(method, "/mcp", headers=headers, **body)

        assert in_session("one", json=tools).status_code == 200
        stranger = in_session("two", json=tools)
        assert stranger.status_code == 404
        assert in_session("two", "DELETE").status_code == 404
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
        assert in_session("two", json=cancel).status_code == 404
        assert in_session("one", json=tools).status_code == 200
        assert in_session("one", "DELETE").status_code == 200
        gone = in_session("one", json=tools)
        assert (gone.status_code, gone.text) == (404, stranger.text)


def test_a_call_is_cancelled_by_its_own_token_only(config: ServerConfig, shop: Path) -> None:
    """Both clients give their calls the same keys, and the same names to their progress."""
    (shop / "victim.py").write_text(VICTIM)
    variables = {**os.environ, "FATHOM_SEARCH__EXPRESSION_TIMEOUT_S": "600"}
    patient = replace(config, tokens=TOKENS, search_timeout_s=10 * LONG_S, search_processes=1, variables=variables)

    async def run(address: str, state: ServerState) -> None:
        async with agent(address, "legacy", "one") as owner, agent(address, "legacy", "three") as other:
            endless = asyncio.ensure_future(owner.call_tool("search", {"query": ENDLESS, "mode": "regex"}))
            assert await happens(lambda: state.search_pool._all)
            (process,) = state.search_pool._all
            for key in range(20):
                await other.session._dispatcher.notify("notifications/cancelled", {"requestId": key})
            await other.list_tools()  # what was sent before has come
            assert process.is_running
            assert not endless.done()
            endless.cancel()
            assert await happens(lambda: not process.is_running)

    with shops(patient, shop) as (address, state):
        asyncio.run(run(address, state))


# ---- who gets nothing


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "unauthorized"),
        ({"authorization": "Bearer four"}, 401, "unauthorized"),
        ({"authorization": "Bearer one", "host": "evil.example.org"}, 403, "forbidden"),
        ({"authorization": "Bearer one", "origin": "https://evil.example.org"}, 403, "forbidden"),
        ({"authorization": "Bearer one", "origin": "null"}, 403, "forbidden"),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/api/mcp"])
def test_unknown_tokens_hosts_and_pages_get_nothing(
    serve: Serve, config: ServerConfig, path: str, headers: dict[str, str], status: int, code: str
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    with serve(replace(config, tokens=TOKENS)) as server:
        for method in ("POST", "DELETE"):
            answer = server.request(method, path, json=body, headers={**headers_of(body), **headers})
            assert (answer.status_code, answer.json()["code"]) == (status, code)
        right = server.post(path, json=body, headers={**headers_of(body), "authorization": "Bearer one"})
        assert [tool["name"] for tool in right.json()["result"]["tools"]] == ["search", "read", "related", "map"]


def test_an_allowed_page_can_be_an_agent(serve: Serve, config: ServerConfig) -> None:
    page = "https://code.example.org"
    body = call("map")
    with serve(replace(config, cors=(page,))) as server:
        needs = ", ".join(name for name in headers_of(body) if name != "accept")
        asked = {"access-control-request-method": "POST", "access-control-request-headers": needs}
        assert server.options("/mcp", headers={"origin": page, **asked}).status_code == 200
        assert post(server, body, origin=page).status_code == 200
        exposed = server.post("/mcp", json=body, headers={**headers_of(body), "origin": page})
        assert exposed.headers["access-control-expose-headers"] == "mcp-session-id"


def test_the_rate_of_requests_holds(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, tokens=TOKENS, requests_per_minute=3)) as server:
        answers = [post(server, call("map"), "one").status_code for _ in range(4)]
        assert answers == [200, 200, 200, 429]
        assert post(server, call("map"), "two").status_code == 200


def test_the_size_of_a_body_is_limited(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, max_body_bytes=2_000)) as server:
        large = call("search", query="x" * 3_000)
        for content in (json.dumps(large).encode(), iter([json.dumps(large).encode()])):  # with its length, and without
            answer = server.post("/mcp", content=content, headers=headers_of(large))
            assert answer.status_code == 413
        assert post(server, call("map")).status_code == 200


def test_nobody_waits_for_a_slow_body(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, read_timeout_s=0.3)) as server, connect(server) as connection:
        connection.sendall(
            b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"accept: application/json, text/event-stream\r\ncontent-length: 100000\r\n\r\n{"
        )
        assert problem_in(dribble(connection, b" "))[0] == 408


def test_a_stream_that_only_waits_is_not_offered(server: httpx.Client) -> None:
    """It would hold a connection for as long as its client likes, and nothing of ours would ever be sent on it."""
    session = initialize(server).headers["mcp-session-id"]
    answer = server.get("/mcp", headers={"accept": "text/event-stream", "mcp-session-id": session})
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]


def test_sessions_are_few_and_a_full_table_shuts_nobody_else_out(
    serve: Serve, config: ServerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codefathom.server.mcp.mcp_sessions._MOST_SESSIONS", 3)
    with serve(replace(config, tokens=TOKENS)) as server:
        statuses = [initialize(server, "one").status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 503, 503]
        assert initialize(server, "two").status_code == 200
        assert post(server, call("map"), "one").status_code == 200


# ---- garbage


def bodies() -> list[bytes]:
    """What no client of the protocol sends."""
    raw = [
        *(b"", b"garbage \xff", b"[]", b"null", b"3", b'"x"', b"{}", b"[" * 50_000, b'{"a":' * 50_000, b"1" * 5_000),
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list"',
        b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":1,"result":5}',
        b'{"jsonrpc":"2.0","id":1,"error":"x"}',
    ]
    odd_keys: list[Any] = [1, "\ud800", None, True, {}, 10**40, -1, 1.5]
    parameters: list[Any] = [
        *({"_meta": META}, {}, None, [], "x", {"_meta": None}, {"_meta": {}}),
        {"_meta": {**META, "progressToken": {"a": 1}}},
        {"_meta": {**META, "progressToken": "\ud800"}},
        {"_meta": META, "notifications": {"toolsListChanged": True}},
        {"_meta": META, "requestId": "\ud800"},
        {"_meta": META, "cursor": "x"},
    ]
    calls: list[Any] = [
        *({"name": "search"}, {"name": 3}, {"name": "\ud800", "arguments": {}}, {"name": "ask", "arguments": {}}),
        *({"name": "search", "arguments": odd} for odd in ([], "x", {"query": "\ud800"}, {"query": {}}, {"\ud800": 1})),
        *(
            {"name": "search", "arguments": {"query": "price", **odd}}
            for odd in (
                {"max_tokens": 1e308},
                {"max_tokens": -1},
                {"projects": ["\ud800"]},
                {"projects": {}},
                {"paths": ["\0"]},
                {"cursor": "-1"},
                {"cursor": "\u0663"},
                {"mode": []},
                {"min_score": "NaN"},
                {"limit": True},
            )
        ),
        *({"name": "read", "arguments": {"path": odd}} for odd in ("\0", "\ud800", ["a"], "a" * 100_000, "//")),
        *({"name": "map", "arguments": odd} for odd in ({"files": ["\ud800"]}, {"paths": ["\0"]}, {"query": 3})),
        *({"name": "related", "arguments": {"target": odd}} for odd in ("\ud800", "@@", "@@\0", {}, "\u202e")),
    ]
    methods = ["tools/list", "initialize", "ping", "server/discover", "subscriptions/listen", "\ud800", "", "\0"]
    messages = [{"method": method, "params": given, "id": 1} for method in methods for given in parameters]
    messages += [{"method": "tools/list", "params": {"_meta": META}, "id": key} for key in odd_keys]
    messages += [{"method": "tools/call", "params": {**given, "_meta": META}, "id": 1} for given in calls]
    messages += [{"method": "notifications/cancelled", "params": given} for given in parameters]
    return raw + [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]


def test_garbage_is_answered_and_breaks_nothing(config: ServerConfig, shop: Path) -> None:
    with shops(config, shop) as (address, _), httpx.Client(base_url=address, timeout=LONG_S) as server:
        session = initialize(server).headers["mcp-session-id"]
        for body in bodies():
            for headers in ways_to_send(body, session):
                answer = server.post("/mcp", content=body, headers=headers)
                assert answer.status_code < 500, (body, headers, answer.text)
                assert not [word for word in LEAKS if word in answer.text], (body, headers, answer.text)
        assert not post(server, call("search", query="price")).json()["result"]["isError"]
        tools = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
        assert "related" in server.post("/mcp", json=tools, headers={**HEADERS, "mcp-session-id": session}).text
        assert 'status="5' not in server.get("/metrics").text


def ways_to_send(body: bytes, session: str) -> Iterator[dict[str, str]]:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        message = None
    fit = {name: value for name, value in headers_of(message).items() if value.isprintable() and value.strip()}
    yield fit
    yield HEADERS
    yield {**HEADERS, "mcp-session-id": session}
    yield {**fit, "mcp-session-id": "x" * 2_000, "mcp-protocol-version": "9" * 200}
    yield {**fit, "accept": "text/html", "content-type": "text/plain"}


def test_what_is_no_message_is_said_in_plain_words(server: httpx.Client) -> None:
    for headers in (HEADERS, headers_of({"method": "tools/list"})):
        for body, words in ((b"[]", "one JSON object"), (b"{", "is not JSON"), (b"{}", "a request needs")):
            answer = server.post("/mcp", content=body, headers=headers)
            assert answer.status_code == 400
            assert words in answer.json()["error"]["message"]


# ---- the log


def test_the_log_holds_no_session_and_no_secret(
    serve: Serve, config: ServerConfig, capfd: pytest.CaptureFixture[str]
) -> None:
    start_log("json")
    with serve(replace(config, tokens=TOKENS)) as server:
        session = initialize(server, "one").headers["mcp-session-id"]
        server.delete("/mcp", headers={"authorization": "Bearer two", "mcp-session-id": session})
        post(server, call("search", query="\x1b]0;pwned\x07"), "one")
    said = capfd.readouterr().err
    assert "POST /mcp" in said
    for word in (session, "Bearer", "pwned", "\x1b"):
        assert word not in said
