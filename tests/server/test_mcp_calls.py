"""The tools for agents at /mcp, as the SDK's client sees them: both eras, many calls, calls that are given up."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import jsonschema
import pytest
from fastapi import FastAPI
from mcp import Client
from tests.fathom import Fathom
from tests.server.conftest import Serve, serving
from tests.waiting import LONG_S, comes

from codefathom.engine import Engine
from codefathom.mcp.tool_list import TOOLS
from codefathom.project.location import locate
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState
from codefathom.stores.lock import writer_lock
from codefathom.system.extras import EXTRAS, Extra

from .agents import ERAS, HEADERS, Era, agent, call, happens, headers_of, initialize, post, text_of
from .test_slow_expressions import ENDLESS, VICTIM

DIFF = """\
--- a/shop/pricing.py
+++ b/shop/pricing.py
@@ -8,1 +8,1 @@
-    return sum(cents for _, cents in items)
+    return sum(cents for _, cents in items) + 1
"""
SCHEMAS = {tool["name"]: tool["outputSchema"] for tool in TOOLS}
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": "where is the price made"}, "hits"),
    ("search", {"question": "cents", "directoryFilter": "web", "top_k": 2}, "hits"),
    ("search", {"query": "total_cents", "mode": "symbol"}, "hits"),
    ("read", {"path": "README.md"}, "text"),
    ("read", {"path": "README.md:2-3"}, "text"),
    ("related", {"target": "shop/orders.py"}, "edges"),
    ("related", {"diff": DIFF}, "reached"),
    ("map", {}, "outline"),
    ("map", {"query": "where is the price made", "max_tokens": 500}, "outline"),
]


@contextmanager
def shops(config: ServerConfig, *folders: Path, index: bool = True) -> Iterator[tuple[str, ServerState]]:
    """Serve projects; with `index`, each has one."""
    for folder in folders if index else ():
        with Engine.open(str(folder)) as engine:
            engine.index()
    app: FastAPI = create_app(config)
    state: ServerState = app.state.server
    for folder in folders:
        state.projects.find_or_add(str(folder))
    with serving(app) as address:
        yield address, state


def ask(address: str, era: Era, talk: Callable[[Client], Any]) -> Any:
    async def run() -> Any:
        async with agent(address, era) as client:
            return await talk(client)

    return asyncio.run(run())


# ---- every tool, in both eras


@pytest.mark.parametrize("era", ERAS)
def test_each_tool_answers(config: ServerConfig, shop: Path, era: Era) -> None:
    async def talk(client: Client) -> list[Any]:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == list(SCHEMAS)
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed.tools)
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in CALLS]

    with shops(config, shop) as (address, _):
        results = ask(address, era, talk)
    for (tool, _, key), result in zip(CALLS, results, strict=True):
        assert not result.is_error, text_of(result)
        assert result.structured_content[key]
        jsonschema.validate(result.structured_content, SCHEMAS[tool])


def test_the_answers_are_those_of_the_session_on_stdin(config: ServerConfig, shop: Path) -> None:
    """A search says how long it took nowhere, and so both ways give the same bytes."""
    requests = [call(tool, key=key, **arguments) for key, (tool, arguments, _) in enumerate(CALLS)]
    with shops(config, shop) as (address, _), httpx.Client(base_url=address, timeout=LONG_S) as server:
        over_http = [post(server, request).json()["result"] for request in requests]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Fathom(["mcp"], cwd=shop, **streams) as process:
        out, _ = process.communicate(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
    on_stdin = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    for key, result in enumerate(over_http):
        assert result["content"] == on_stdin[key]["content"]
        assert result["structuredContent"] == on_stdin[key]["structuredContent"]


@pytest.mark.parametrize("era", ERAS)
def test_mistakes_are_answers_that_name_the_remedy(config: ServerConfig, shop: Path, era: Era) -> None:
    mistakes: list[tuple[str, dict[str, Any], str]] = [
        ("search", {}, "query"),
        ("search", {"query": "x", "mode": "best"}, "semantic"),
        ("search", {"query": "x", "projects": ["shop", "other"]}, "name some of: shop"),
        ("search", {"query": "x", "speed": 3}, "it takes query"),
        ("read", {"path": "../secret"}, "../secret"),
        ("read", {"path": "/etc/passwd"}, "/etc/passwd"),
        ("related", {"target": "none.py"}, "none.py"),
        ("related", {"diff": "+ 1"}, "not a unified diff"),
        ("map", {"paths": ["nowhere"]}, "nowhere"),
    ]

    async def talk(client: Client) -> list[Any]:
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in mistakes]

    with shops(config, shop) as (address, _):
        results = ask(address, era, talk)
    for (_, _, said), result in zip(mistakes, results, strict=True):
        assert result.is_error
        assert said in text_of(result)


# ---- projects


def test_several_projects_are_named(config: ServerConfig, shop: Path) -> None:
    other = shop.parent / "docs"
    other.mkdir()
    (other / "fathom.toml").touch()
    (other / "prices.md").write_text("# Prices\n\nThe price of an order is the sum of its lines.\n")

    async def talk(client: Client) -> list[Any]:
        return [
            await client.call_tool("search", {"query": "price of an order"}),
            await client.call_tool("search", {"query": "price of an order", "projects": ["docs", "shop"]}),
            await client.call_tool("read", {"path": "docs/prices.md"}),
            await client.call_tool("search", {"query": "price", "paths": ["shop/web/"]}),
            await client.call_tool("map", {"projects": ["docs"]}),
        ]

    with shops(config, shop, other) as (address, _):
        unnamed, both, read, below, outline = ask(address, "2026-07-28", talk)
    assert unnamed.is_error
    assert text_of(unnamed).endswith("name some of them in `projects`: shop, docs")
    assert {hit["path"].split("/")[0] for hit in both.structured_content["hits"]} == {"shop", "docs"}
    assert read.structured_content["path"] == "docs/prices.md"
    assert "the sum of its lines" in read.structured_content["text"]
    assert {hit["path"][:9] for hit in below.structured_content["hits"]} == {"shop/web/"}
    assert "docs/prices.md" in outline.structured_content["outline"]


def test_a_project_that_was_never_indexed_is_indexed_for_the_first_call(config: ServerConfig, shop: Path) -> None:
    with shops(config, shop, index=False) as (address, state), httpx.Client(base_url=address, timeout=LONG_S) as server:
        first = post(server, call("search", query="total_cents")).json()["result"]
        assert not first["isError"]
        assert "shop/pricing.py" in {hit["path"] for hit in first["structuredContent"]["hits"]}
        (job,) = state.jobs.listed("shop")
        ended = state.jobs.wait(job.id, LONG_S)
        assert ended is not None and ended.state == "done"
        later = post(server, call("map")).json()["result"]
        assert "shop/pricing.py" in later["structuredContent"]["outline"]
        assert len(state.jobs.listed("shop")) == 1


@pytest.mark.parametrize("tool", ["search", "read", "map"])
def test_what_was_removed_or_cancelled_is_not_begun_again_by_a_call(
    config: ServerConfig, shop: Path, tool: str
) -> None:
    arguments = {"search": {"query": "price"}, "read": {"path": "README.md"}, "map": {}}[tool]
    with shops(config, shop) as (address, state), httpx.Client(base_url=address, timeout=LONG_S) as server:
        job = state.jobs.submit("shop", str(shop))
        state.jobs.wait(job.id, LONG_S)
        assert server.delete("/projects/shop/index").status_code == 204
        n_jobs = len(state.jobs.listed("shop"))
        none = post(server, call(tool, **arguments)).json()["result"]
        assert len(state.jobs.listed("shop")) == n_jobs
    assert none["isError"]
    assert "POST /projects/shop/index" in none["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
def test_a_first_index_under_way_is_searched_by_words(config: ServerConfig, shop: Path, era: Era) -> None:
    variables = {**os.environ, "FATHOM_INDEX__WAIT_S": str(int(LONG_S))}
    told: list[tuple[float, float | None]] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total))

    async def talk(client: Client) -> list[Any]:
        return [
            await client.call_tool("search", {"query": "total_cents"}, progress_callback=hear),
            await client.call_tool("map", {}),
            await client.call_tool("read", {"path": "README.md"}),
        ]

    with shops(replace(config, variables=variables), shop, index=False) as (address, state):
        folder = locate(str(shop)).index_folder
        folder.make()
        with writer_lock(folder):  # the job waits for it
            job = state.jobs.submit("shop", str(shop))
            searched, outline, read = ask(address, era, talk)
            state.jobs.cancel(job.id)
    assert not searched.is_error
    assert searched.structured_content["indexing"] == {"done": 0, "total": 0}
    assert "shop/pricing.py" in {hit["path"] for hit in searched.structured_content["hits"]}
    assert "Preliminary" in text_of(searched)
    assert outline.structured_content["indexing"]
    assert read.structured_content["text"].startswith("# Shop")
    assert told == [(0, None)]


@pytest.mark.parametrize("era", ERAS)
def test_whoever_listens_waits_for_a_first_index_and_hears_how_far_it_is(
    config: ServerConfig, shop: Path, era: Era
) -> None:
    variables = {**os.environ, "FATHOM_INDEX__WAIT_S": str(int(LONG_S))}
    told: list[tuple[float, float | None]] = []
    may_begin = Event()

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append((done, total))

    async def talk(client: Client, state: ServerState) -> list[Any]:
        calls = [
            asyncio.ensure_future(client.call_tool("map", {}, progress_callback=hear)),
            asyncio.ensure_future(client.call_tool("related", {"target": "shop/orders.py"}, progress_callback=hear)),
        ]
        silent = await client.call_tool("map", {})
        # Both listen to the job now: each of its listeners is one of them.
        channel = state.jobs.channel(state.jobs.listed("shop")[0].id)
        assert channel is not None
        assert await happens(lambda: len(channel._listeners) == 2)
        may_begin.set()
        return [silent, *await asyncio.gather(*calls)]

    with shops(replace(config, variables=variables), shop, index=False) as (address, state):
        folder = locate(str(shop)).index_folder
        folder.make()
        with ThreadPoolExecutor(1) as threads, ExitStack() as lock:
            lock.enter_context(writer_lock(folder))  # the job waits for it
            opening = threads.submit(lambda: (may_begin.wait(LONG_S), lock.close()))
            state.jobs.submit("shop", str(shop))
            silent, outline, related = ask(address, era, lambda client: talk(client, state))
            opening.result()
    assert silent.structured_content["indexing"]
    assert "shop/pricing.py" in outline.structured_content["outline"]
    assert related.structured_content["edges"]
    assert len(told) > 2
    assert max(told)[0] == max(told)[1] > 0  # at last all files


def test_no_project_at_all(server: httpx.Client) -> None:
    result = post(server, call("map")).json()["result"]
    assert result["isError"]
    assert "there is no project yet" in result["content"][0]["text"]


# ---- many calls, and calls that nobody waits for


@pytest.mark.parametrize("era", ERAS)
def test_fifty_calls_at_once(config: ServerConfig, shop: Path, era: Era) -> None:
    words = ["price", "retry", "database", "accounts", "order"]

    async def talk(client: Client) -> list[Any]:
        calls = [
            client.call_tool(*(("search", {"query": words[n % 5]}) if n % 3 else ("read", {"path": "README.md"})))
            for n in range(50)
        ]
        return await asyncio.gather(*calls)

    with shops(replace(config, search_processes=2), shop) as (address, state):
        results = ask(address, era, talk)
        assert len(state.search_pool._all) <= 2
    assert len(results) == 50
    assert not [text_of(result) for result in results if result.is_error]


@pytest.fixture
def slow(config: ServerConfig, shop: Path) -> Iterator[tuple[str, ServerState]]:
    """A server on which one search never ends."""
    (shop / "victim.py").write_text(VICTIM)
    variables = {**os.environ, "FATHOM_SEARCH__EXPRESSION_TIMEOUT_S": "600"}
    patient = replace(config, search_timeout_s=10 * LONG_S, search_processes=1, variables=variables)
    with shops(patient, shop) as served:
        yield served


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_ends_its_search(slow: tuple[str, ServerState], era: Era) -> None:
    address, state = slow

    async def talk(client: Client) -> Any:
        endless = asyncio.ensure_future(client.call_tool("search", {"query": ENDLESS, "mode": "regex"}))
        assert await happens(lambda: state.search_pool._all)
        endless.cancel()
        assert await happens(lambda: not state.search_pool._all)
        # There is one process, and it is free again.
        return await client.call_tool("search", {"query": "price"})

    assert ask(address, era, talk).structured_content["hits"]


@pytest.mark.parametrize("era", ERAS)
def test_a_client_that_leaves_ends_its_search(slow: tuple[str, ServerState], era: Era) -> None:
    address, state = slow
    body = call("search", query=ENDLESS, mode="regex")
    with httpx.Client(base_url=address, timeout=LONG_S) as server:
        headers = headers_of(body)
        if era == "legacy":
            session = initialize(server).headers["mcp-session-id"]
            headers = {**HEADERS, "mcp-session-id": session}
        with pytest.raises(httpx.ReadTimeout):
            server.post("/mcp", json=body, headers=headers, timeout=httpx.Timeout(LONG_S, read=1.0))
        assert comes(lambda: not state.search_pool._all)
        assert not post(server, call("search", query="price")).json()["result"]["isError"]


def test_what_waits_when_it_is_cancelled_is_never_begun(slow: tuple[str, ServerState]) -> None:
    address, state = slow

    async def talk(client: Client) -> Any:
        endless = asyncio.ensure_future(client.call_tool("search", {"query": ENDLESS, "mode": "regex"}))
        assert await happens(lambda: state.search_pool._all)
        waiting = [asyncio.ensure_future(client.call_tool("search", {"query": f"price {n}"})) for n in range(5)]
        assert await happens(lambda: state.search_queue._n_waiting == 5)
        for one in waiting:
            one.cancel()
        assert await happens(
            lambda: all(turn.is_given_up for turns in state.search_queue._waiting.values() for turn in turns)
        )
        endless.cancel()
        assert await happens(lambda: not state.search_pool._all)
        await client.call_tool("read", {"path": "README.md"})
        return len(state.search_pool._all)

    assert ask(address, "2026-07-28", talk) == 1, "the process that has read"


def test_limits_of_searches_hold(config: ServerConfig, shop: Path) -> None:
    (shop / "victim.py").write_text(VICTIM)
    variables = {**os.environ, "FATHOM_SEARCH__EXPRESSION_TIMEOUT_S": "600"}
    with (
        shops(replace(config, search_timeout_s=1.0, variables=variables), shop) as (address, _),
        httpx.Client(base_url=address, timeout=LONG_S) as server,
    ):
        late = post(server, call("search", query=ENDLESS, mode="regex")).json()["result"]
    assert late["isError"]
    assert "not finished after 1 s" in late["content"][0]["text"]
    with (
        shops(replace(config, waiting_searches=0), shop) as (address, _),
        httpx.Client(base_url=address, timeout=LONG_S) as server,
    ):
        busy = post(server, call("search", query="price")).json()["result"]
    assert busy["isError"]
    assert "try again in 1 s" in busy["content"][0]["text"]


# ---- the library


def test_without_the_library_it_is_said_what_to_install(server: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "mcp", Extra("tools", ("no_such_library",)))
    answer = post(server, call("map"))
    assert answer.status_code == 501
    assert answer.json()["code"] == "not_installed"
    assert "pip install 'codefathom[mcp]'" in answer.json()["hint"]
    assert server.get("/health").status_code == 200


def test_a_server_that_no_agent_asks_does_not_load_it() -> None:
    program = "import sys, codefathom.server.app; print([name for name in sys.modules if name.split('.')[0] == 'mcp'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    assert done.stdout.strip() == "[]"


def test_requests_are_counted(serve: Serve, config: ServerConfig) -> None:
    with serve(config) as server:
        post(server, call("map")).raise_for_status()
        metrics = server.get("/metrics").text
    assert 'codefathom_requests_total{method="POST",route="/mcp",status="200"} 1' in metrics
