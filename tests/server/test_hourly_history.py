"""Figures by hour: they survive the server, also one that is killed, and take little room."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.server.agents import call, headers_of
from tests.server.conftest import Serve
from tests.server.test_routes_ask import asked_of, spoken
from tests.waiting import Started

from codefathom.server.access.route_table import ROUTE_RULES
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.metrics.counters import RequestRecord
from codefathom.server.metrics.hourly_history import DAYS, QUESTION_ROUTES, AnswerFigures, HourlyHistory
from codefathom.server.server_config import ServerConfig

HOUR_S = 3_600.0


def test_what_was_done_is_told_by_hour(tmp_path: Path) -> None:
    now = [7_200.0]
    with closing(HourlyHistory(str(tmp_path), lambda: now[0])) as history:
        for number in range(1, 101):
            history.add_request(RequestRecord("POST", "/search", 200, number / 1000))
        history.add_request(RequestRecord("POST", "/ask", 502, 0.001, "the model failed"))
        history.add_request(RequestRecord("GET", "/monitoring/stats", 200, 9.0))
        history.add_request(RequestRecord("GET", "/projects", 200, 9.0))
        history.add_question(None)  # stopped before its first word
        history.add_answer(AnswerFigures(1_000, 50, 0.25))
        history.add_answer(AnswerFigures(10, 5, None))
        history.add_job(12.5, is_failed=False)
        history.add_job(2.5, is_failed=True)
        history.note_memory(100)
        history.note_memory(50)
        now[0] = 7_200.0 + 3 * HOUR_S
        history.add_answer(AnswerFigures(1, 1, None))
        first, second = history.hours()
    assert (first.at, first.n_questions, first.n_failed) == (7_200, 102, 1)
    assert first.p50_ms == pytest.approx(51, rel=0.05)
    assert first.p95_ms == pytest.approx(96, rel=0.05)
    assert (first.n_answers, first.prompt_tokens, first.completion_tokens, first.cost) == (2, 1_010, 55, 0.25)
    assert (first.n_jobs, first.n_failed_jobs, first.job_seconds, first.longest_job_s) == (2, 1, 15.0, 12.5)
    assert first.memory_bytes == 100
    assert (second.at, second.n_questions, second.p95_ms, second.cost) == (18_000, 0, 0.0, None)


def test_hours_of_two_servers_add_up(tmp_path: Path) -> None:
    now = [7_200.0]
    for seconds, n in ((0.01, 60), (1.0, 40)):
        with closing(HourlyHistory(str(tmp_path), lambda: now[0])) as history:
            for _ in range(n):
                history.add_question(seconds)
            history.note_memory(n)
    with closing(HourlyHistory(str(tmp_path), lambda: now[0])) as history:
        (hour,) = history.hours()
    assert (hour.n_questions, hour.memory_bytes) == (100, 60)
    assert hour.p50_ms == pytest.approx(10, rel=0.06)
    assert hour.p95_ms == pytest.approx(1_000, rel=0.06)


def test_only_thirty_days_are_kept(tmp_path: Path) -> None:
    now = [0.0]
    with closing(HourlyHistory(str(tmp_path), lambda: now[0])) as history:
        for number in range(DAYS * 24 + 100):
            now[0] = number * HOUR_S
            history.add_question(0.001 * (number + 1))
            history.save()
        assert len(history.hours()) == DAYS * 24
        assert len(history.hours(days=1)) == 24
        assert history._database.read("SELECT count(*) FROM hours") == [(DAYS * 24,)]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 1_000_000


def test_what_was_saved_survives_a_kill(tmp_path: Path) -> None:
    program = """
import sys, time
from codefathom.server.metrics.hourly_history import HourlyHistory
history = HourlyHistory(sys.argv[1])
history.add_question(0.5)
history.save()
print(flush=True)
time.sleep(1_000)
"""
    with Started([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
    with closing(HourlyHistory(str(tmp_path))) as history:
        assert sum(hour.n_questions for hour in history.hours()) == 1


def test_the_routes_of_questions_are_routes() -> None:
    assert {f"POST {route}" for route in QUESTION_ROUTES} <= set(ROUTE_RULES)


def summed(client: httpx.Client, name: str) -> float:
    hours = client.get("/monitoring/history").raise_for_status().json()["hours"]
    return sum(hour[name] or 0 for hour in hours)


def test_the_history_of_a_server_survives_its_restart(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken("It is priced [shop/pricing.py:1-2].")) as (client, _):
        client.post("/search", json={"query": "price"}).raise_for_status()
        client.post("/ask", json={"question": "where is a cart priced?"}).raise_for_status()
        body = call("search", query="price")
        assert "result" in client.post("/mcp", json=body, headers=headers_of(body)).text
        client.get("/projects")
    with serve(config) as client:
        assert summed(client, "n_questions") == 3
        assert summed(client, "n_answers") == 1
        assert summed(client, "n_jobs") == 1
        assert summed(client, "job_seconds") > 0
        assert summed(client, "completion_tokens") > 0
        assert summed(client, "memory_bytes") > 1_000_000
        assert summed(client, "p95_ms") > 0
        client.post("/search", json={"query": "cart"}).raise_for_status()
        assert summed(client, "n_questions") == 4


def test_the_history_is_for_administrators(config: ServerConfig, serve: Serve) -> None:
    tokens = (Token("root", hash_of("root")), Token("ann", hash_of("ann"), frozenset({"shop"}), Role.ADMIN))
    with serve(replace(config, tokens=tokens)) as client:
        answers = [
            client.get("/monitoring/history", params={"days": days}, headers={"authorization": f"Bearer {name}"})
            for name, days in (("root", 1), ("root", 31), ("ann", 1))
        ]
        assert [answer.status_code for answer in answers] == [200, 422, 403]
