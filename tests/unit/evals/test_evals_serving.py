"""The load that is put on a server, and what the page says of it."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evals.health import FAILED_S, watched_health
from evals.load import Clients, Reply, ask_all, request_of
from evals.mixed import MixedLoad
from evals.server import Cpu, queries, sentences
from evals.serving import CROWD, MANY, READERS, Held, Measured, Wave, growth, main, page
from evals.trials.served import HeldAt
from tests.waiting import LONG_S, comes, join


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives these answers in turn, and closes the connection for an empty one."""
    asked: list[bytes] = []
    left = iter(answers)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = int((head.lower().partition(b"content-length:")[2].split() or [b"0"])[0])
            asked.append(head + await reader.readexactly(length))
            content = next(left, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            if not content:
                writer.close()
                return
            writer.write(content)

    async def serve(loop_is_up: threading.Event, place: list[object]) -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        place += [server.sockets[0].getsockname()[1], asyncio.get_running_loop(), end := asyncio.Event()]
        loop_is_up.set()
        await end.wait()
        server.close()

    is_up, place = threading.Event(), list[object]()
    thread = threading.Thread(target=lambda: asyncio.run(serve(is_up, place)))
    thread.start()
    assert is_up.wait(LONG_S)
    port, loop, end = place
    try:
        yield f"http://127.0.0.1:{port}", asked
    finally:
        loop.call_soon_threadsafe(end.set)  # type: ignore[attr-defined]
        join(thread)


def test_every_body_is_sent_once_whoever_sends_it() -> None:
    bodies = [{"query": f"q{number}"} for number in range(40)]
    with answering() as (address, asked):
        replies = ask_all(address, "/search", bodies, Clients(7))
        host = address.removeprefix("http://")
    assert [reply.status for reply in replies] == [200] * 40
    assert sorted(asked) == sorted(request_of(host, "/search", body) for body in bodies)


def test_errors_and_broken_connections_are_counted_and_the_client_goes_on() -> None:
    refused = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"
    with answering(refused, b"") as (address, asked):
        replies = ask_all(address, "/search", [{}, {}, {}], Clients(1))
    assert [(reply.status, reply.body[:4]) for reply in replies[:1]] == [(503, b"busy")]
    assert [reply.status for reply in replies] == [503, 0, 200]
    assert len(asked) == 3


def test_with_a_pause_each_client_asks_when_it_is_due() -> None:
    seen = []
    with answering() as (address, _):
        replies = ask_all(address, "/", [{}] * 4, Clients(2, every_s=0.01), lambda: seen.append(1))
    assert len(replies) == len(seen) == 4
    assert all(reply.seconds > 0 for reply in replies)


def test_growth_is_the_slope() -> None:
    assert growth([Held(0, 100), Held(10, 120), Held(20, 140)]) == 2.0
    assert growth([Held(0, 100), Held(10, 130), Held(20, 100)]) == 0.0
    assert growth([Held(5, 100)]) == 0.0


def test_searches_are_all_different_and_go_to_two_projects_in_turn(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        'def f():\n    """Turn a thing into another.\n\n    More."""\n\ndef g():\n    "Two words"\n'
    )
    (tmp_path / "bad.py").write_text("def (")
    assert list(sentences(tmp_path / "a.py")) == ["Turn a thing into another."]
    assert list(sentences(tmp_path / "bad.py")) == []
    asked = queries({"one": tmp_path, "two": tmp_path, "third": tmp_path})
    first = [next(asked) for _ in range(300)]
    assert len({str(body) for body in first}) == 300
    assert {body["project_id"] for body in first} == {"one", "two"}  # type: ignore[index]
    assert any(body["query"] == "Turn a thing into another." for body in first)  # type: ignore[index]


def wave(name: str, number: int, seconds: float, status: int = 200) -> Wave:
    return Wave(name, Clients(number), [Reply(status, seconds, b"")] * 100, 10.0, Cpu(0.2, 0.8), [0.004, 0.05])


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(0.19, "9.5 times that of one client (reached; goal: at most 10)"), (0.3, "missed")]
)
def test_the_page_says_whether_the_goals_are_reached(seconds: float, verdict: str) -> None:
    held = [Held(number * 100, 200_000_000 + number) for number in range(41)]
    waves = [wave("one at a time", 1, 0.02), wave("all the time, while indexing", 200, seconds, 503)]
    text = page(Measured(0.1, {"a": 3}, waves, 1, held))
    assert verdict in text
    assert "Errors: 100 (goal: 0)" in text
    assert "One search takes 10.0 ms of a processor" in text
    assert "rises by 0 bytes with each search:\nmemory is flat" in text
    assert "| 400 | 200.0 |" in text
    assert "Other programs used the machine" not in text
    assert "Other programs used the machine" in page(Measured(3.0))
    growing = [Held(number * 100, number * 1_000_000) for number in range(41)]
    assert "10000 bytes with each search:\nmemory is growing" in page(Measured(0.1, held=growing))


def test_the_page_judges_crowds_readers_and_health() -> None:
    waves = [
        wave("one at a time", 1, 0.02),
        wave("each client without a pause", CROWD, 0.5),
        wave(READERS, MANY, 0.05),
    ]
    text = page(Measured(0.1, waves=waves))
    assert "the p50 is 25.0 times that of one client (missed; goal: at most 12)" in text
    assert "the p95 is 2.5 times that of one client (reached; goal: at most 3)" in text
    assert "The slowest /health took 50 ms (reached; goal: at most 100 ms)" in text


def test_the_page_says_whether_memory_is_flat_under_mixed_load() -> None:
    growing = [HeldAt(second, 100_000_000 + second * 1_000_000, 50_000_000) for second in range(90)]
    flat = [HeldAt(second, 100_000_000 + min(second, 30), 50_000_000) for second in range(90)]
    for held, verdict in ((growing, "growing"), (flat, "flat")):
        text = page(Measured(3.0, mixed=MixedLoad(1.5, {"/search": 7, "/mcp": 2}, [], held)))
        assert f": {verdict} (it is called flat up to 1.05)" in text
        assert "Requests: 9 (`/search` 7, `/mcp` 2). Errors: 0 (goal: 0)." in text
        assert text.startswith("## Mixed load")


def test_health_is_asked_as_long_as_the_block_runs() -> None:
    fine, busy = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    with answering(fine, busy) as (address, asked), watched_health(address) as seconds:
        assert comes(lambda: len(seconds) > 1)
    assert 0 < seconds[0] < FAILED_S
    assert seconds[1] == FAILED_S
    assert len(asked) >= 2


def test_the_time_of_health_is_that_of_the_answer_and_of_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading these takes 60 ms of a processor, which stood in the figures of the server."""
    n_read = []
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: n_read.append(1))
    with answering() as (address, _), watched_health(address) as seconds:
        assert comes(lambda: seconds)
    assert n_read == []


def test_the_command_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--short" in capsys.readouterr().out
