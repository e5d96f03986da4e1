"""What a request must pass before it is answered: host, page, token, size, time, rate."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator, MutableMapping
from dataclasses import replace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.conftest import Serve
from tests.waiting import LONG_S

from codefathom.config.settings import ServerSettings
from codefathom.errors import SettingsError
from codefathom.server.app import create_app
from codefathom.server.http.auth import (
    ANYONE,
    Caller,
    RateLimit,
    Token,
    caller_of,
    hash_of,
    host_of,
    is_known_host,
    is_loopback,
    is_own_page,
    new_token,
    token_of,
)
from codefathom.server.http.user_roles import Grant, Role
from codefathom.server.server_config import ServerConfig, config_of

TOKENS = (Token("all", hash_of("one")), Token("some", hash_of("two"), frozenset({"shop"})))
AS_JSON = {"content-type": "application/json"}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


# ---- hosts and pages


@pytest.mark.parametrize(
    ("header", "known"),
    [
        ("localhost", True),
        ("LOCALHOST:8900", True),
        ("127.0.0.1:8900", True),
        ("[::1]:8900", True),
        ("192.168.1.7", True),
        ("code.example.org:443", True),
        ("evil.example.org", False),
        ("localhost.example.org", False),
        ("127.0.0.1.example.org", False),
        ("", False),
        ("a:b:c", False),
    ],
)
def test_only_names_of_this_server_are_known(header: str, known: bool) -> None:
    assert is_known_host(header, {"code.example.org"}) is known


@given(st.text())
def test_any_host_header_can_be_read(header: str) -> None:
    assert isinstance(host_of(header), str)
    assert is_known_host(header, set()) in {True, False}


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_addresses(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
    assert is_loopback("example.org") is False


def test_a_rebound_name_is_refused(server: httpx.Client) -> None:
    assert code_of(server.get("/health", headers={"host": "evil.example.org"})) == (403, "forbidden")
    assert server.get("/health", headers={"host": "localhost:1"}).status_code == 200


def test_a_page_of_another_server_changes_nothing(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, cors=("https://code.example.org",))) as server:
        for origin in ("https://evil.example.org", "null", "http://127.0.0.1:1"):
            answer = server.post("/projects", json={"path": "/"}, headers={"origin": origin})
            assert code_of(answer) == (403, "forbidden")
            assert "access-control-allow-origin" not in server.get("/health", headers={"origin": origin}).headers
        own = str(server.base_url).rstrip("/")
        for origin in (own, "https://code.example.org"):
            assert server.post("/validate-path", json={"path": "/"}, headers={"origin": origin}).status_code == 200
        asked = {"origin": "https://code.example.org", "access-control-request-method": "POST"}
        answer = server.options("/search", headers={**asked, "access-control-request-headers": "authorization"})
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "https://code.example.org"
        assert "authorization" in answer.headers["access-control-allow-headers"].lower()


def test_own_pages() -> None:
    assert is_own_page("http://localhost:8900", "localhost:8900", ())
    assert not is_own_page("http://localhost:8900", "localhost:8901", ())
    assert not is_own_page("null", "null.example.org", ())


def test_every_answer_protects_its_reader(server: httpx.Client) -> None:
    for answer in (server.get("/health"), server.get("/nothing"), server.get("/x", headers={"host": "evil"})):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


# ---- tokens


@pytest.fixture
def guarded(serve: Serve, config: ServerConfig) -> Iterator[httpx.Client]:
    with serve(replace(config, tokens=TOKENS)) as server:
        yield server


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer three", "Basic one", "one", "Bearer " + hash_of("one")])
def test_without_a_right_token_nothing_is_answered(guarded: httpx.Client, header: str) -> None:
    headers = {"authorization": header} if header else {}
    for path in ("/projects", "/api/projects", "/openapi.json", "/nothing", "/assets", "/health/x"):
        answer = guarded.get(path, headers=headers)
        assert code_of(answer) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    assert guarded.get("/health", headers=headers).status_code == 200


@pytest.mark.parametrize("header", ["Bearer one", "bearer one", "Bearer  one"])
def test_a_right_token_opens(guarded: httpx.Client, header: str) -> None:
    assert guarded.get("/projects", headers={"authorization": header}).status_code == 200


def test_a_token_is_read_from_its_text_and_found_by_its_secret() -> None:
    secret = new_token()
    tokens = [token_of(f"me:{hash_of(secret)}"), token_of(f"you:{hash_of('other')}:shop+docs")]
    assert caller_of(secret, tokens) == Caller("me", (Grant(Role.ADMIN),), "token", "me", words=frozenset({"token:me"}))
    assert caller_of("other", tokens) == Caller(
        "you", (Grant(Role.INDEXER, ("docs", "shop")),), "token", "you", words=frozenset({"token:you"})
    )
    assert caller_of("", tokens) is caller_of(secret[:-1], tokens) is None
    assert secret != new_token()


def test_a_caller_may_use_what_the_token_says() -> None:
    assert ANYONE.may_manage and ANYONE.may_use("any")
    some = Caller("you", (Grant(Role.INDEXER, ("shop",)),))
    assert not some.may_manage
    assert (some.may_use("shop"), some.may_use("docs")) == (True, False)


def test_an_address_that_others_reach_needs_a_token() -> None:
    with pytest.raises(SettingsError, match="there is no token") as raised:
        config_of(ServerSettings(host="0.0.0.0"), {})
    assert "--new-token" in raised.value.hint
    open_to_all = ServerSettings(host="0.0.0.0", tokens=(f"me:{hash_of('x')}",))
    assert config_of(open_to_all, {}).tokens == (Token("me", hash_of("x")),)
    assert config_of(ServerSettings(), {}).tokens == ()


# ---- size, time, rate


@pytest.mark.parametrize("header", [(b"content-length", b"4"), (b"transfer-encoding", b"chunked")])
@pytest.mark.parametrize("host", [b"evil", b"localhost"])
def test_an_answer_comes_after_a_body_that_nobody_reads(
    config: ServerConfig, host: bytes, header: tuple[bytes, bytes]
) -> None:
    happened = order_of(config, (b"host", host), header)
    assert happened == ["request", "request", "http.response.start", "http.response.body"]


def test_a_body_that_is_sent_when_it_is_asked_for_is_not_asked_for(config: ServerConfig) -> None:
    happened = order_of(config, (b"host", b"evil"), (b"content-length", b"4"), (b"expect", b"100-continue"))
    assert happened == ["http.response.start", "http.response.body"]


@pytest.mark.parametrize(("limit", "n_taken"), [(3, 2), (1, 1)])
def test_a_body_above_the_limit_is_left_where_it_is(config: ServerConfig, limit: int, n_taken: int) -> None:
    smaller = replace(config, max_body_bytes=limit)
    happened = order_of(smaller, (b"host", b"evil"), (b"transfer-encoding", b"chunked"))
    assert happened == [*["request"] * n_taken, "http.response.start", "http.response.body"]


def order_of(config: ServerConfig, *headers: tuple[bytes, bytes]) -> list[str]:
    """Post four bytes in two pieces to a path without a route; return what happens, in its order."""
    happened: list[str] = []
    pieces = [b"{}", b"  "]

    async def receive() -> dict[str, object]:
        happened.append("request")
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(message: MutableMapping[str, object]) -> None:
        happened.append(str(message["type"]))

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": "/nowhere"}
    scope |= {"raw_path": b"/nowhere", "query_string": b"", "root_path": "", "scheme": "http", "headers": [*headers]}
    scope |= {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 8900), "app": None}
    asyncio.run(create_app(config)(scope, receive, send))
    return happened


def test_a_large_body_is_refused_with_and_without_its_length(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, max_body_bytes=1_000)) as server:
        large = b'{"path": "' + b"x" * 2_000 + b'"}'
        assert code_of(server.post("/validate-path", content=large, headers=AS_JSON)) == (413, "too_large")
        pieces = (large[start : start + 100] for start in range(0, len(large), 100))
        assert code_of(server.post("/validate-path", content=pieces, headers=AS_JSON)) == (413, "too_large")
        small = b'{"path": "' + b"x" * 900 + b'"}'
        assert server.post("/validate-path", content=small, headers=AS_JSON).status_code == 200


def test_a_body_that_does_not_come_is_not_waited_for(serve: Serve, config: ServerConfig) -> None:
    with (
        serve(replace(config, read_timeout_s=0.2)) as server,
        socket.create_connection((server.base_url.host, server.base_url.port or 0), timeout=LONG_S) as client,
    ):
        client.sendall(b"POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
        client.sendall(b"content-length: 10\r\n\r\n{")
        assert client.recv(100).startswith(b"HTTP/1.1 408 ")


def test_a_client_asks_so_often_and_then_waits() -> None:
    now = [0.0]
    limit = RateLimit(lambda: now[0])
    assert [limit.wait_s("a", 2) for _ in range(3)] == [0.0, 0.0, 30.0]
    assert limit.wait_s("b", 2) == 0.0
    now[0] = 29.0
    assert limit.wait_s("a", 2) == pytest.approx(1.0)
    now[0] = 30.0
    assert [limit.wait_s("a", 2) for _ in range(2)] == [0.0, 30.0]
    now[0] = 10_000.0
    assert [limit.wait_s("a", 2) for _ in range(3)] == [0.0, 0.0, 30.0]
    assert [limit.wait_s("a", 0) for _ in range(9)] == [0.0] * 9


def test_a_token_has_one_quota_and_this_machine_none(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, requests_per_minute=2, tokens=TOKENS)) as server:
        one, two = {"authorization": "Bearer one"}, {"authorization": "Bearer two"}
        assert [server.get("/projects", headers=one).status_code for _ in range(3)] == [200, 200, 429]
        assert code_of(server.get("/projects", headers=one)) == (429, "too_many_requests")
        assert int(server.get("/projects", headers=one).headers["retry-after"]) >= 1
        assert server.get("/projects", headers=two).status_code == 200
        assert {server.get("/health").status_code for _ in range(5)} == {200}
