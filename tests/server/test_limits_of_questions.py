"""What a question says about how much is to be done is done, or refused; never passed over."""

from __future__ import annotations

import json

import httpx
import pytest

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_routes_ask import CITED, QUESTION, asked_of, plain, spoken  # noqa: F401  plain is a fixture


def test_top_k_is_the_most_sources(
    config: ServerConfig, serve: Serve, shop: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, *[spoken(CITED)] * 3) as (client, _):
        answers = [
            client.post("/ask", json={"question": QUESTION, **more}).json() for more in ({"top_k": 1}, {"top_k": 2}, {})
        ]
    one, two, usual = (len({source["path"] for source in answer["sources"]}) for answer in answers)
    assert (one, two) == (1, 2)
    assert usual > 2


def test_top_k_of_fifty_takes_no_source_away(plain: httpx.Client) -> None:  # noqa: F811
    answers = [plain.post("/ask", json={"question": QUESTION, **more}).json() for more in ({}, {"top_k": 50})]
    assert answers[0]["sources"] == answers[1]["sources"]


def test_max_iterations_are_the_rounds_of_the_agent(
    config: ServerConfig, serve: Serve, shop: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = json.dumps({"tool": "read_file", "arguments": {"file_path": "shop/pricing.py"}})
    final = spoken(json.dumps({"answer": CITED, "confidence": "high", "sources": []}))
    with asked_of(config, serve, shop, monkeypatch, spoken(look), final, final) as (client, model):
        answer = client.post("/query", json={"question": QUESTION, "max_iterations": 2})
        n_asked = len(model.asked)
        more = client.post("/query", json={"question": QUESTION, "max_iterations": 7})
    assert "adds up its lines" in answer.json()["answer"]
    assert n_asked == 2, "one round with tools, one without"
    assert (more.status_code, more.json()["code"]) == (400, "usage")
    assert "6 rounds" in more.json()["detail"]
    assert "agent.rounds" in more.json()["hint"]
