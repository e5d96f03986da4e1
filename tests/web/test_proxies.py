"""Behind Caddy and nginx at a sub-path, by the recipes of `deploy/`: the page in a browser, routes, events, agents."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import expect
from tests.proxies import DEPLOY, PROXIES, proxy, settings_of
from tests.server.test_first_run import held_writer
from tests.waiting import LONG_S

from codefathom.config.configuration import load_settings
from codefathom.server.server_config import ServerConfig, config_of

from .conftest import ServedPage

QUESTION = "where are orders priced"


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    """The settings of `deploy/fathom.env`."""
    variables = {**settings_of(DEPLOY / "fathom.env"), "HOME": str(tmp_path)}
    del variables["FATHOM_SERVER__TOKENS"]  # a placeholder
    variables |= {"FATHOM_SERVER__DATA_DIR": str(tmp_path / "data"), "FATHOM_SERVER__ALLOWED_ROOTS": str(tmp_path)}
    return config_of(load_settings(str(tmp_path), environ=variables).server, variables)


@pytest.fixture(params=PROXIES)
def behind(request: pytest.FixtureRequest, served: ServedPage, tmp_path: Path) -> Iterator[str]:
    """The address of a server, with the shop indexed, behind a proxy."""
    served.add()
    with proxy(request.param, served.url, tmp_path / "proxy") as address:
        yield address


@pytest.fixture
def client(behind: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=behind, verify=False, timeout=LONG_S) as client:
        yield client


def test_the_page_works_below_the_sub_path(chromium: Any, behind: str) -> None:
    """Loads, searches, opens a file, reloads what its address says, and goes on from there."""
    context = chromium.new_context(ignore_https_errors=True, reduced_motion="reduce", locale="en-GB")
    context.set_default_timeout(LONG_S * 1_000)
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    page.on("response", lambda answer: failures.append(answer.url) if answer.status >= 400 else None)
    page.goto(behind)  # without a slash
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_role("textbox", name="Search the code of your projects").fill(QUESTION)
    first = page.get_by_role("list", name="Results").locator("> li").first.get_by_role("link").first
    expect(first).to_contain_text("shop/")
    address = first.get_attribute("href")
    assert address is not None
    assert address.startswith("/code/search?")
    first.click()
    viewer = page.get_by_role("complementary", name="Code")
    expect(viewer.locator(".code-line-marked").first).to_be_visible()
    assert page.url.startswith(f"{behind}/search?")
    page.reload()
    expect(viewer.locator(".code-line-marked").first).to_be_visible()
    expect(first).to_contain_text("shop/")
    page.goto(f"{behind}/projects?project=shop&file=shop/pricing.py&lines=6-9")  # a deep link of somebody else
    expect(viewer.get_by_role("region", name="shop/pricing.py")).to_contain_text("def total_cents")
    assert [url for url in asked if not url.startswith((f"{behind}/", "data:")) and url != behind] == []
    assert failures == []
    context.close()


def test_routes_answer_below_the_sub_path_with_addresses_that_lead_there(client: httpx.Client, behind: str) -> None:
    browser = {"accept": "text/html"}
    found = client.post("/api/search", json={"query": QUESTION}, headers={"origin": behind.removesuffix("/code")})
    assert found.raise_for_status().json()["hits"]
    assert (
        client.post("/search", json={"query": QUESTION}, headers={"origin": "https://evil.example"}).status_code == 403
    )
    assert client.get("/v1/models").json()["object"] == "list"
    assert client.get("/openapi.json").json()["servers"] == [{"url": "/code"}]
    assert "openapi.json" in client.get("/docs", headers=browser).text
    moved = client.get("/training", headers=browser)
    assert str(moved.url.join(moved.headers["location"])) == f"{behind}/projects"
    odd = client.get("/", headers={**browser, "x-forwarded-prefix": "/other", "x-forwarded-host": "evil.example"})
    assert (odd.status_code, 'content="/code"' in odd.text) == (200, True)


def test_events_arrive_one_by_one(client: httpx.Client, served: ServedPage) -> None:
    """The first ones are here while the job cannot go on; a proxy that keeps them back would keep the test waiting."""
    accept = {"accept": "application/json"}
    with held_writer(served.shop):
        job = client.post("/api/projects/shop/index", headers=accept).raise_for_status()
        place = job.headers["location"].removeprefix("/code")
        with client.stream("GET", f"/api{place}/events") as answer:
            lines = answer.iter_lines()
            assert '"type": "status"' in next(line for line in lines if line.startswith("data: "))
            assert client.get(place).json()["state"] in {"queued", "running"}
            client.post(f"/api{place}/cancel").raise_for_status()
            assert any('"type": "done"' in line for line in lines)


def test_agents_use_the_tools_below_the_sub_path(behind: str) -> None:
    async def hits() -> Any:
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        async with (
            httpx2.AsyncClient(verify=trusting, timeout=LONG_S) as http,
            Client(streamable_http_client(f"{behind}/mcp", http_client=http), mode="legacy") as agent,
        ):
            return await agent.call_tool("search", {"query": QUESTION})

    with ThreadPoolExecutor(1) as elsewhere:  # the browser's loop counts as running in this thread
        result = elsewhere.submit(asyncio.run, hits()).result()
    assert "shop/" in result.content[0].text
