"""Whose request it is, behind proxies that are trusted and others; and `/health` while everything is taken."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.waiting import LONG_S

from codefathom.config.settings import ServerSettings
from codefathom.errors import SettingsError
from codefathom.server.http.client_address import client_of, counted_address, network_of
from codefathom.server.server_config import ServerConfig, config_of

from .conftest import Serve
from .test_slow_clients import connect, problem_in, rest

PROXIES = tuple(map(network_of, ("127.0.0.1", "10.0.0.0/8", "fd00::/16")))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.7"], "203.0.113.9"),  # not a proxy: anybody can send the header
        ("127.0.0.1", [], "127.0.0.1"),
        ("127.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("127.0.0.1", ["6.6.6.6, 198.51.100.7"], "198.51.100.7"),  # the first was sent by the client
        ("127.0.0.1", ["6.6.6.6", "198.51.100.7"], "198.51.100.7"),
        ("127.0.0.1", ["198.51.100.7, 10.1.2.3"], "198.51.100.7"),  # through two proxies
        ("127.0.0.1", ["6.6.6.6, 198.51.100.7, 10.1.2.3, 10.9.9.9"], "198.51.100.7"),
        ("127.0.0.1", ["10.1.2.3"], "10.1.2.3"),  # a proxy that asks for itself
        ("127.0.0.1", ["127.0.0.1"], "127.0.0.1"),
        ("127.0.0.1", ["127.0.0.1, 198.51.100.7"], "198.51.100.7"),
        ("127.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        ("127.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("127.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
        ("::ffff:127.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("fd00::1", ["198.51.100.7"], "198.51.100.7"),
        ("127.0.0.1", ["198.51.100.7, unknown"], "127.0.0.1"),
        ("127.0.0.1", [""], "127.0.0.1"),
        ("127.0.0.1", [" , ,,"], "127.0.0.1"),
        ("", ["198.51.100.7"], ""),
    ],
)
def test_the_last_address_that_is_no_proxy_is_the_client(peer: str, forwarded: list[str], client: str) -> None:
    assert client_of(peer, forwarded, PROXIES) == client


def test_without_trusted_proxies_the_header_means_nothing() -> None:
    assert client_of("127.0.0.1", ["198.51.100.7"], ()) == "127.0.0.1"


def test_all_addresses_of_a_network_of_ipv6_are_one_client() -> None:
    assert counted_address("2001:db8::1") == counted_address("2001:db8::ffff:1") == "2001:db8::/64"
    assert counted_address("::ffff:198.51.100.7") == counted_address("198.51.100.7") == "198.51.100.7"


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.0/99", "*", ""])
def test_a_proxy_that_is_no_address_is_named(value: str) -> None:
    with pytest.raises(SettingsError, match=r"server\.trusted_proxies") as error:
        config_of(ServerSettings()._replace(trusted_proxies=(value,)), {})
    assert repr(value) in str(error.value)


def waiting(client: httpx.Client, stack: ExitStack, forwarded: str) -> socket.socket:
    """Open a request whose body does not come."""
    connection = stack.enter_context(connect(client))
    head = b"POST /validate-path HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    connection.sendall(head + f"x-forwarded-for: {forwarded}\r\ncontent-length: 9\r\n\r\n".encode())
    return connection


def test_one_client_behind_a_proxy_does_not_take_the_place_of_others(serve: Serve, config: ServerConfig) -> None:
    limits = replace(config, connections_of_one=5, read_timeout_s=LONG_S, trusted_proxies=PROXIES)
    with serve(limits) as client, ExitStack() as stack:
        held = [waiting(client, stack, f"6.6.6.{number}, 198.51.100.7") for number in range(6)]
        (refused,) = _first_answered(held, 1)
        assert problem_in(refused) == (429, "too_many_requests")
        other = {"x-forwarded-for": "198.51.100.8"}
        assert client.get("/version", headers=other).status_code == 200
        same = client.get("/version", headers={"x-forwarded-for": "198.51.100.7"})
        assert (same.status_code, same.json()["code"]) == (429, "too_many_requests")
        assert same.json()["hint"] == f"try again in {same.headers['retry-after']} s"
        assert client.get("/health", headers={"x-forwarded-for": "198.51.100.7"}).status_code == 200


def _first_answered(connections: list[socket.socket], n: int) -> list[bytes]:
    """Return the answers of the first n connections that get one."""
    import select

    answers: list[bytes] = []
    while len(answers) < n:
        ready, _, _ = select.select(connections, [], [], LONG_S)
        assert ready
        for connection in ready:
            connections.remove(connection)
            answers.append(rest_of_one(connection))
    return answers


def rest_of_one(connection: socket.socket) -> bytes:
    """Return one answer, which has a length."""
    data = b""
    while b"\r\n\r\n" not in data or not data.endswith(b"}"):
        data += connection.recv(65_536)
    return data


def test_the_header_of_a_client_changes_nothing(serve: Serve, config: ServerConfig) -> None:
    """Neither its rate, nor the right of whoever sits at the machine."""
    limits = replace(config, requests_per_minute=1, trusted_proxies=(network_of("127.0.0.1"),))
    forwarded = {"x-forwarded-for": "127.0.0.1, 198.51.100.7"}
    with serve(limits) as client:
        codes = [client.get("/version", headers=forwarded).status_code for _ in range(3)]
        assert codes == [200, 429, 429]
        assert client.get("/health", headers=forwarded).status_code == 200
        assert client.get("/version", headers={"x-forwarded-for": "198.51.100.8"}).status_code == 200
    with serve(replace(limits, trusted_proxies=())) as client:
        assert [client.get("/version", headers=forwarded).status_code for _ in range(3)] == [200, 200, 200]


@pytest.mark.parametrize(("of_one", "refusal"), [(3, (429, "too_many_requests")), (100, (503, "busy"))])
def test_health_answers_while_every_connection_is_taken(
    serve: Serve, config: ServerConfig, of_one: int, refusal: tuple[int, str]
) -> None:
    limits = replace(config, connections=3, connections_of_one=of_one, read_timeout_s=LONG_S, write_timeout_s=LONG_S)
    with serve(limits) as client, ExitStack() as stack:
        request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 200
        for _ in range(3):
            connection = stack.enter_context(connect(client))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.sendall(request)
            assert connection.recv(12) == b"HTTP/1.1 200"  # at work, and unread
        for _ in range(3):
            answer = httpx.get(f"{client.base_url}/health", timeout=LONG_S)
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        refused = httpx.get(f"{client.base_url}/version", timeout=LONG_S)
        assert (refused.status_code, refused.json()["code"]) == refusal
        for _ in range(40):  # who takes the spare places and says nothing loses them again
            stack.enter_context(connect(client))
        assert httpx.get(f"{client.base_url}/health", timeout=LONG_S).status_code == 200
        with connect(client) as silent:
            assert problem_in(rest(silent)) == refusal


def test_behind_a_proxy_all_connections_may_come_from_it(serve: Serve, config: ServerConfig, shop: Path) -> None:
    limits = replace(config, connections_of_one=2, read_timeout_s=LONG_S, trusted_proxies=PROXIES)
    with serve(limits) as client, ExitStack() as stack:
        for number in range(8):
            waiting(client, stack, f"198.51.100.{number}")
        answer = client.get("/version", headers={"x-forwarded-for": "198.51.100.99"})
        assert answer.status_code == 200
