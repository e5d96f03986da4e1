"""Clients that send half a request, or do not read: they are left, and everyone else is answered meanwhile."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from tests.fathom import Fathom
from tests.waiting import LONG_S, comes

from codefathom.server.connections import ConnectionTable
from codefathom.server.http.problem_json import BusyError, TryLaterError
from codefathom.server.server_config import ServerConfig

from .conftest import Serve

HEAD = b"GET /health HTTP/1.1\r\nhost: localhost\r\n"
POST = b"POST /validate-path HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def connect(client: httpx.Client, source: str = "127.0.0.1") -> socket.socket:
    address = (client.base_url.host, client.base_url.port or 0)
    return socket.create_connection(address, timeout=LONG_S, source_address=(source, 0))


def rest(connection: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    data = b""
    with suppress(ConnectionError):
        while piece := connection.recv(65_536):
            data += piece
    return data


def dribble(connection: socket.socket, piece: bytes) -> bytes:
    """Send a byte now and then until the other side has enough; return what it said, "" where the system lost that."""
    said, until = b"", time.monotonic() + LONG_S
    connection.settimeout(0.05)
    with suppress(ConnectionError):
        while time.monotonic() < until:
            connection.sendall(piece)
            with suppress(TimeoutError):
                if not (more := connection.recv(65_536)):
                    return said
                said += more
        raise AssertionError("the server takes one byte after the other")
    return said


def problem_in(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower(), answer
    return int(head.split()[1]), json.loads(body)["code"]


@pytest.fixture
def hasty(serve: Serve, config: ServerConfig) -> Iterator[httpx.Client]:
    with serve(replace(config, read_timeout_s=0.3, write_timeout_s=0.3)) as client:
        yield client


# ---- requests that do not come


@pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\n", HEAD, POST + b"content-length: 5\r\n"])
def test_half_a_head_is_not_waited_for(hasty: httpx.Client, sent: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(sent)
        answer = rest(connection)
    assert problem_in(answer) == (408, "timeout")
    assert hasty.get("/health").status_code == 200


def test_a_connection_without_a_word_is_closed(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        assert rest(connection) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        connection.sendall(HEAD + b"x-slow: ")
        answer = dribble(connection, b"x")
        assert not answer or problem_in(answer) == (408, "timeout")


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(hasty: httpx.Client) -> None:
    for length in (b"content-length: 100000\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"):
        with connect(hasty) as connection:
            connection.sendall(POST + length)
            piece = b"1\r\n \r\n" if b"chunked" in length else b" "
            answer = dribble(connection, piece)
            assert not answer or problem_in(answer) == (408, "timeout")


@pytest.mark.parametrize("after", [b"", b"GET"])
def test_the_head_after_an_answer_must_come_too(hasty: httpx.Client, after: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(HEAD + b"\r\n" + after)
        first = b""
        while b'"version"' not in first:
            first += connection.recv(65_536)
        connection.sendall(b"GET /health"[len(after) :])
        answer = first.partition(b"}")[2] + rest(connection)
    assert problem_in(answer) == (408, "timeout")


def test_a_body_that_nobody_reads_does_not_hold_the_connection(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        connection.sendall(b"POST /nowhere HTTP/1.1\r\nhost: evil\r\ncontent-length: 100000\r\n\r\n")
        answer = dribble(connection, b"x")
    assert not answer or b"HTTP/1.1 403" in answer


def test_an_answer_may_take_longer_than_a_request(serve: Serve, config: ServerConfig, shop: Path) -> None:
    with serve(replace(config, read_timeout_s=0.5)) as client:
        client.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
        assert client.get("/projects/shop/index").status_code == 200


# ---- answers that nobody reads

REQUESTS = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 200


def unread(client: httpx.Client, source: str = "127.0.0.1") -> socket.socket:
    """Ask for far more than the system keeps, and read none of it."""
    connection = connect(client, source)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.sendall(REQUESTS)
    return connection


def test_a_client_that_does_not_read_is_left(hasty: httpx.Client) -> None:
    with unread(hasty) as connection:
        until = time.monotonic() + LONG_S
        broken = False
        while not broken and time.monotonic() < until:
            time.sleep(0.1)
            try:
                connection.sendall(b"\r\n")
            except ConnectionError:
                broken = True
        assert broken
    assert hasty.get("/health").status_code == 200


def test_a_client_that_reads_slowly_gets_all_of_it(serve: Serve, config: ServerConfig) -> None:
    with serve(replace(config, write_timeout_s=2.0)) as client:
        whole = len(client.get("/openapi.json").content)
        n_answers = 40
        with connect(client) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            connection.sendall(REQUESTS[: len(REQUESTS) // 200 * n_answers])
            n_bytes = 0
            while n_bytes < n_answers * whole:
                n_bytes += len(connection.recv(65_536))
                time.sleep(0.01)


# ---- how many there are


def test_hundreds_of_half_requests_leave_room_for_others(serve: Serve, config: ServerConfig) -> None:
    crowded = replace(config, connections=40, connections_of_one=30, read_timeout_s=LONG_S)
    with serve(crowded) as client, ExitStack() as stack:
        for number in range(300):
            connection = stack.enter_context(connect(client))
            connection.sendall((HEAD, POST + b"content-length: 9\r\n\r\n{", b"")[number % 3])
            if number % 20 == 0:
                assert httpx.get(f"{client.base_url}/health", timeout=LONG_S).status_code == 200
        assert httpx.get(f"{client.base_url}/health", timeout=LONG_S).status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_one_address_cannot_take_the_room_of_others(serve: Serve, config: ServerConfig) -> None:
    crowded = replace(config, connections=40, connections_of_one=5, write_timeout_s=LONG_S)
    with serve(crowded) as client, ExitStack() as stack:
        busy = [stack.enter_context(unread(client, "127.0.0.2")) for _ in range(5)]
        for connection in busy:  # its first answer has begun
            assert connection.recv(12) == b"HTTP/1.1 200"
        with connect(client, "127.0.0.2") as one_more:
            assert problem_in(rest(one_more)) == (429, "too_many_requests")
        assert client.get("/health").status_code == 200


def test_a_connection_that_gives_way_to_another_is_told_why(serve: Serve, config: ServerConfig) -> None:
    crowded = replace(config, connections_of_one=3, read_timeout_s=LONG_S)
    with serve(crowded) as client, ExitStack() as stack:
        held = [stack.enter_context(connect(client)) for _ in range(3)]
        held[0].sendall(HEAD)
        for place in (0, 1):  # the one that waits for longest first
            one_more = stack.enter_context(connect(client))
            one_more.sendall(HEAD + b"\r\n")
            assert one_more.recv(12) == b"HTTP/1.1 200"
            answer = rest(held[place])
            assert problem_in(answer) == (429, "too_many_requests")
            assert b"retry-after: " in answer.lower()


@dataclass(eq=False)
class Held:
    address: str = "a"
    is_waiting: bool = True
    is_dropped: bool = False

    def give_way(self, refusal: TryLaterError) -> None:
        self.is_dropped = bool(str(refusal))


def test_the_longest_waiting_of_the_largest_crowd_makes_room(config: ServerConfig) -> None:
    places = ConnectionTable(lambda: replace(config, connections=5, connections_of_one=4), 1_000)
    held = [Held("b"), Held("a", is_waiting=False), Held("a"), Held("a"), Held("c")]
    for one in held:
        places.take(one)
    places.again(held[2])
    places.take(Held("d"))
    assert [one.is_dropped for one in held] == [False, False, False, True, False]
    for one in (held[0], held[2], held[4], *places._held):
        one.is_waiting = False
    with pytest.raises(BusyError):
        places.take(Held("e"))
    places.leave(held[0])
    places.take(Held("e"))
    assert len(places) == 5


def test_half_of_what_the_system_lets_open_is_for_other_things(config: ServerConfig) -> None:
    places = ConnectionTable(lambda: config, 20)
    held = [Held(str(number)) for number in range(15)]
    for one in held:
        places.take(one)
    assert [one.is_dropped for one in held] == [True] * 5 + [False] * 10


# ---- a process of its own


@pytest.mark.skipif(sys.platform != "linux", reason="counts the descriptors of a process under /proc")
def test_descriptors_come_back(shop: Path, tmp_path: Path) -> None:
    settings = {
        "DATA_DIR": str(tmp_path / "data"),
        "CONNECTIONS": "60",
        "READ_TIMEOUT_S": "2",
        "WRITE_TIMEOUT_S": "2",
    }
    own = {f"FATHOM_SERVER__{name}": value for name, value in settings.items()} | {"HOME": str(tmp_path)}
    log = tmp_path / "log"
    with (
        log.open("wb") as written,
        Fathom(["serve", shop, "--port", "0"], env={**os.environ, **own}, stderr=written) as server,
        ExitStack() as stack,
    ):
        stack.callback(server.kill)
        assert comes(lambda: b"serving" in log.read_bytes())
        address = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
        assert address is not None

        def n_open() -> int:
            return len(os.listdir(f"/proc/{server.pid}/fd"))

        with httpx.Client(base_url=address[0], timeout=LONG_S) as client:
            assert client.get("/health").status_code == 200
            before = n_open()
            for number in range(200):
                connection = stack.enter_context(connect(client))
                with suppress(ConnectionError):
                    connection.sendall((HEAD, POST + b"content-length: 9\r\n\r\n{", REQUESTS)[number % 3])
                if number % 50 == 0:
                    assert httpx.get(f"{address[0]}/health", timeout=LONG_S).status_code == 200
            assert comes(lambda: n_open() <= before + 60)
            assert comes(lambda: n_open() <= before + 1)
            assert client.get("/health").status_code == 200
        server.kill()
