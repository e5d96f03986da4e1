"""The tool `ask` at /mcp: offered where a model is set, with the limits of /ask, ended with its call."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import httpx
import pytest
from mcp import Client
from tests.protocols.server import ServedSettings, Turn
from tests.protocols.server import serving as model_server
from tests.waiting import LONG_S, comes

from codefathom.answer.tokens import estimate
from codefathom.project.location import locate
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.mcp import mcp_route
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState
from codefathom.stores.lock import writer_lock

from .agents import ERAS, Era, agent, call, happens, post, text_of
from .test_mcp_calls import ask, shops
from .test_routes_ask import spoken

QUESTION = "how is the price of an order computed"
CLAIM = "Prices are summed [shop/pricing.py:6-8]. And taxed [shop/tax.py:1-3]. "
OTHERS = ["search", "read", "related", "map"]


@contextmanager
def asked_of(
    config: ServerConfig, *turns: Turn, folders: tuple[Path, ...], index: bool = True, **limits: Any
) -> Iterator[tuple[str, ServerState, ServedSettings]]:
    """Serve projects whose answering model follows a script."""
    with model_server(*turns) as model:
        variables = {
            **os.environ,
            "FATHOM_LLM__MODEL": f"openai:scripted@{model.base_url}/v1",
            "FATHOM_SELECT__FILTER_LEVEL": "0",
            "FATHOM_ANSWER__LEAST_CONFIDENCE": "0",
            "FATHOM_LIMITS__ATTEMPTS": "1",
        }
        with shops(replace(config, variables=variables, **limits), *folders, index=index) as (address, state):
            yield address, state, model


def endless() -> Turn:
    piece = {"choices": [{"delta": {"content": "word "}}]}
    return Turn([f"data: {json.dumps(piece)}\n\n".encode()], repeat=10**6, pause_s=0.01)


@pytest.mark.parametrize("era", ERAS)
def test_an_answer_has_checked_places_and_keeps_its_budget(config: ServerConfig, shop: Path, era: Era) -> None:
    told: list[float] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        assert message
        told.append(done)

    async def talk(client: Client) -> list[Any]:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == [*OTHERS, "ask"]
        return [
            await client.call_tool("ask", {"question": QUESTION}, progress_callback=hear),
            await client.call_tool("ask", {"query": QUESTION, "max_tokens": 300}),
            await client.call_tool("ask", {"question": QUESTION, "projects": ["vault"]}),
            await client.call_tool("ask", {}),
        ]

    with asked_of(config, spoken(CLAIM), spoken(CLAIM * 200), folders=(shop,)) as (address, _, _):
        whole, cut, unknown, empty = ask(address, era, talk)
    assert whole.structured_content["places"] == [{"path": "shop/pricing.py", "start_line": 6, "end_line": 8}]
    assert "shop/tax.py" not in text_of(whole)  # no such file
    assert told
    assert told == sorted(set(told))
    assert estimate(text_of(cut)) <= 300
    assert estimate(json.dumps(cut.structured_content, ensure_ascii=False)) <= 300
    assert unknown.is_error
    assert "name some of: shop" in text_of(unknown)
    assert empty.is_error
    assert "question is missing" in text_of(empty)


@pytest.mark.parametrize("era", ERAS)
def test_without_a_model_there_is_no_such_tool(config: ServerConfig, shop: Path, era: Era) -> None:
    async def talk(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    with shops(config, shop) as (address, _), httpx.Client(base_url=address, timeout=LONG_S) as server:
        assert ask(address, era, talk) == OTHERS
        assert post(server, call("ask", question=QUESTION)).json()["error"]["code"] == -32602


def test_an_answer_waits_for_a_first_index(config: ServerConfig, shop: Path) -> None:
    told: list[float] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append(done)

    async def talk(client: Client, state: ServerState, folder: ExitStack) -> list[Any]:
        silent = await client.call_tool("ask", {"question": QUESTION})
        heard = asyncio.ensure_future(client.call_tool("ask", {"question": QUESTION}, progress_callback=hear))
        channel = state.jobs.channel(state.jobs.listed("shop")[0].id)
        assert channel is not None
        assert await happens(lambda: len(channel._listeners) == 1)
        await asyncio.to_thread(folder.close)
        return [silent, await heard]

    with asked_of(config, spoken(CLAIM), folders=(shop,), index=False) as (address, state, _), ExitStack() as lock:
        folder = locate(str(shop)).index_folder
        folder.make()
        lock.enter_context(writer_lock(folder))  # the job waits for it
        silent, heard = ask(address, "2026-07-28", lambda client: talk(client, state, lock))
        assert len(state.jobs.listed("shop")) == 1
    assert silent.structured_content["indexing"] == {"done": 0, "total": 0}
    assert heard.structured_content["places"] == [{"path": "shop/pricing.py", "start_line": 6, "end_line": 8}]
    assert told == sorted(set(told))  # the steps of the answer go on after the files of the index
    assert len(told) > 2


def test_paths_begin_with_their_project_where_there_are_several(config: ServerConfig, shop: Path) -> None:
    other = shop.parent / "docs"
    other.mkdir()
    (other / "fathom.toml").touch()
    (other / "prices.md").write_text("# Prices\n\nThe price of an order is the sum of its lines.\n")
    claim = "Prices are summed [shop/shop/pricing.py:6-8]."

    async def talk(client: Client) -> list[Any]:
        return [
            await client.call_tool("ask", {"question": QUESTION}),
            await client.call_tool("ask", {"question": QUESTION, "projects": ["shop", "docs"]}),
            await client.call_tool("ask", {"question": QUESTION, "projects": ["shop"]}),
            await client.call_tool("read", {"path": "shop/shop/pricing.py:6-8"}),
        ]

    with asked_of(config, spoken(claim), folders=(shop, other)) as (address, _, _):
        unnamed, both, one, read = ask(address, "2026-07-28", talk)
    assert unnamed.is_error
    assert "shop, docs" in text_of(unnamed)
    for result in (both, one):
        assert [place["path"] for place in result.structured_content["places"]] == ["shop/shop/pricing.py"]
    assert read.structured_content["path"] == "shop/shop/pricing.py"  # a place of an answer is one to read


def test_a_token_asks_its_own_projects(config: ServerConfig, shop: Path) -> None:
    vault = shop.parent / "vault"
    vault.mkdir()
    (vault / "fathom.toml").touch()
    (vault / "zanzibar.py").write_text("def open_zanzibar(key):\n    return key\n")
    tokens = (Token("of the shop", hash_of("one"), frozenset({"shop"})), Token("of all", hash_of("two")))

    async def talk(address: str) -> list[Any]:
        async with agent(address, token="one") as client:
            names = [[], ["vault"], ["shop", "vault"]]
            return [await client.call_tool("ask", {"question": "open_zanzibar", "projects": some}) for some in names]

    with asked_of(config, spoken(CLAIM), folders=(shop, vault), tokens=tokens) as (address, _, model):
        results = asyncio.run(talk(address))
        sent = json.dumps([one.body for one in model.asked])
    assert [result.is_error for result in results] == [False, True, True]
    assert "zanzibar.py" not in sent
    assert all("zanzibar" not in text_of(result) for result in results)


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_answer_ends_the_call_of_the_model(config: ServerConfig, shop: Path, era: Era) -> None:
    with asked_of(config, endless(), folders=(shop,)) as (address, state, model):

        async def talk(client: Client) -> Any:
            call = asyncio.ensure_future(client.call_tool("ask", {"question": QUESTION}))
            assert await happens(lambda: model.asked)
            call.cancel()
            assert await happens(model.asked[0].is_closed.is_set)
            return await client.call_tool("search", {"query": "price"})

        assert ask(address, era, talk).structured_content["hits"]
        assert comes(lambda: not state.answers._threads)


def test_a_client_that_leaves_ends_the_call_of_the_model(config: ServerConfig, shop: Path) -> None:
    with (
        asked_of(config, endless(), folders=(shop,)) as (address, state, model),
        httpx.Client(base_url=address, timeout=LONG_S) as server,
    ):
        with pytest.raises(httpx.ReadTimeout):
            impatient = httpx.Timeout(LONG_S, read=1.0)
            with httpx.Client(base_url=address, timeout=impatient) as leaving:
                post(leaving, call("ask", question=QUESTION))
        assert comes(lambda: not state.answers._threads)
        assert all(one.is_closed.wait(LONG_S) for one in model.asked)
        assert not post(server, call("search", query="price")).json()["result"]["isError"]


def test_it_counts_among_the_answers_of_the_server_and_not_among_its_searches(config: ServerConfig, shop: Path) -> None:
    with (
        asked_of(config, spoken(CLAIM), folders=(shop,), waiting_searches=0) as (address, state, _),
        httpx.Client(base_url=address, timeout=LONG_S) as server,
    ):
        assert not post(server, call("ask", question=QUESTION)).json()["result"]["isError"]
        state.answers._most_at_once = 0
        busy = post(server, call("ask", question=QUESTION)).json()["result"]
    assert busy["isError"]
    assert "try again in 1 s" in busy["content"][0]["text"]


@pytest.mark.long  # it waits for a limit that must not be reached before the model is asked, on a busy machine either
def test_a_model_that_thinks_for_long_is_waited_for(
    config: ServerConfig, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of a search would be over long before."""
    monkeypatch.setattr(mcp_route, "_MORE_S", 0.0)
    monkeypatch.setattr(mcp_route, "TOLD_PATIENCE_S", 0.0)
    may_answer = Event()

    def reply(_: object) -> bytes:
        assert may_answer.wait(LONG_S)
        return b"".join(spoken(CLAIM).pieces)

    async def talk(client: Client) -> Any:
        await client.list_tools()  # the library is here now
        call = asyncio.ensure_future(client.call_tool("ask", {"question": QUESTION}))
        await asyncio.to_thread(sleep, 50.0)
        may_answer.set()
        return await call

    limits = {"search_timeout_s": 20.0, "read_timeout_s": 20.0}
    with asked_of(config, Turn(reply=reply), folders=(shop,), **limits) as (address, _, _):
        assert ask(address, "2026-07-28", talk).structured_content["places"]


def test_a_model_that_fails_is_told(config: ServerConfig, shop: Path) -> None:
    with (
        asked_of(config, Turn([b'{"error": "no"}'], status=401), folders=(shop,)) as (address, _, _),
        httpx.Client(base_url=address, timeout=LONG_S) as server,
    ):
        failed = post(server, call("ask", question=QUESTION)).json()["result"]
    assert failed["isError"]
    assert "401" in failed["content"][0]["text"]
    assert "Use search instead" in failed["content"][0]["text"]
