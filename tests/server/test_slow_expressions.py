"""An expression that no machine is done with: the server answers others meanwhile, ends it, and says so."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.protocols.server import serving as model_server

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_routes_ask import CITED, QUESTION, spoken

# Doubles its work with every letter; it reads as an expression, so that the planner takes it for one.
ENDLESS = "(a|a)+$"
FILTER = f'text ~ "{ENDLESS}"'
VICTIM = f"text = '{'a' * 60}!'\n"
LIMIT_S = 1.5

LOOK = spoken(json.dumps({"tool": "search_code", "arguments": {"question": ENDLESS}}))
FINAL = spoken(json.dumps({"answer": CITED, "confidence": "high", "sources": []}))

REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "search by expression": ("/search", {"query": ENDLESS, "mode": "regex"}),
    "search, planned": ("/search", {"query": ENDLESS}),
    "search, filtered": ("/search", {"query": QUESTION, "filter": FILTER}),
    "federated search": ("/federated/search", {"query": QUESTION, "filter": FILTER}),
    "context": ("/context", {"query": ENDLESS}),
    "context, filtered": ("/context", {"query": QUESTION, "filter": FILTER}),
    "ask": ("/ask", {"query": ENDLESS}),
    "ask, filtered": ("/ask", {"query": QUESTION, "filter": FILTER}),
    "ask as a stream": ("/ask/stream", {"query": QUESTION, "filter": FILTER}),
    "agent, filtered": ("/ask/agent", {"query": QUESTION, "filter": FILTER}),
    "agent whose model searches so": ("/ask/agent", {"query": QUESTION}),
    "agent that is not told": ("/query", {"question": QUESTION}),
    "as OpenAI does": ("/v1/chat/completions", {"model": "shop", "messages": [{"role": "user", "content": ENDLESS}]}),
}


@pytest.fixture
def client(config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    (shop / "victim.py").write_text(VICTIM)
    with model_server(*[turn for _ in range(3) for turn in (LOOK, FINAL)]) as model:
        for name, value in {
            "FATHOM_LLM__AGENT": f"openai:scripted@{model.base_url}/v1",
            "FATHOM_LIMITS__ATTEMPTS": "1",
            "FATHOM_SEARCH__EXPRESSION_TIMEOUT_S": str(LIMIT_S),
        }.items():
            monkeypatch.setenv(name, value)
        with serve(replace(config, search_timeout_s=300.0, variables=dict(os.environ))) as made:
            made.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
            made.timeout = httpx.Timeout(300.0)
            yield made


@pytest.mark.parametrize("name", REQUESTS)
def test_health_answers_meanwhile(client: httpx.Client, name: str) -> None:
    route, body = REQUESTS[name]
    n_healthy = 0
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(client.post, route, json=body)
        while not asked.done():
            assert client.get("/health").json()["status"] == "ok"
            n_healthy += not asked.done()
    assert n_healthy > 3, "it answered before the request was done"
    answer = asked.result()
    assert answer.status_code in (200, 504)
    # What /query gives has no place for it: the model was told.
    assert route == "/query" or "takes too long" in answer.text
    assert client.post("/search", json={"query": QUESTION}).json()["hits"], "the server goes on"


def test_what_cannot_be_decided_is_refused_with_the_reason(client: httpx.Client) -> None:
    for route in ("/search", "/context", "/ask"):
        answer = client.post(route, json={"query": QUESTION, "filter": FILTER})
        assert (answer.status_code, answer.json()["code"]) == (504, "too_slow")
        assert ENDLESS in answer.json()["detail"]
        assert "search.expression_timeout_s" in answer.json()["hint"]


def test_what_was_cut_short_is_told_with_what_was_found(client: httpx.Client) -> None:
    for route in ("/search", "/context", "/ask"):
        answer = client.post(route, json={"query": ENDLESS})
        assert answer.status_code == 200
        assert any("not searched to the end" in text for text in answer.json()["degraded"])
