"""The monitoring page: what it shows of the service, that it goes on by itself, and rests when nobody looks."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.server_config import ServerConfig

from .conftest import ServedPage, serving


def tile(page: Page, name: str) -> Locator:
    return page.locator(".tile").filter(has=page.get_by_text(name, exact=True))


def opened(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}/monitoring")
    expect(page.get_by_role("heading", name="Services and models")).to_be_visible()


def test_it_shows_services_indexes_and_what_was_asked(page: Page, served: ServedPage) -> None:
    served.add()
    for _ in range(3):
        served.client.post("/search", json={"query": "where are orders priced"}).raise_for_status()
    opened(page, served)
    stats = served.client.get("/monitoring/stats").json()["projects"][0]
    expect(tile(page, "Files")).to_contain_text(str(stats["n_documents"]))
    expect(tile(page, "Passages")).to_contain_text(f"{stats['n_symbols']} definitions")
    expect(tile(page, "Requests")).to_contain_text("4")  # and the one that indexed
    language = page.locator(".checks li").filter(has_text="Language model")
    expect(language).to_contain_text("set llm.model")
    expect(page.get_by_text("1 part needs attention")).to_be_visible()
    expect(page.locator(".breakdown").filter(has_text="Languages")).to_contain_text("python")
    expect(page.locator(".breakdown").filter(has_text="Modules")).to_contain_text("web")
    row = page.get_by_role("region", name="Indexes").get_by_role("row").filter(has_text="shop")
    expect(row).to_contain_text("up to date")
    routes = page.get_by_role("region", name="Routes").get_by_role("row")
    expect(routes.filter(has_text="POST /search").locator("td").first).to_have_text("3")
    expect(page.get_by_text("67% of 3 searches came from the cache")).to_be_visible()
    expect(page.get_by_text("No request has failed since the server started.")).to_be_visible()


def test_a_chart_tells_of_the_minute_that_is_pointed_at(page: Page, served: ServedPage) -> None:
    served.add()
    opened(page, served)
    chart = page.get_by_role("group", name=re.compile("^Requests per minute in the last hour: 1 in all"))
    chart.focus()
    for _ in range(2):  # the request may have come in the minute before this one
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(chart).to_contain_text("answered")
    page.keyboard.press("Escape")
    expect(chart.get_by_text("answered")).to_be_hidden()
    chart.hover()
    expect(chart.get_by_text("answered 0")).to_be_visible()


def test_the_last_30_days_are_drawn_and_listed(page: Page, served: ServedPage) -> None:
    served.add()
    for _ in range(3):
        served.client.post("/search", json={"query": "where are orders priced"}).raise_for_status()
    opened(page, served)
    days = page.get_by_role("group", name=re.compile("^Questions per day in the last 30 days: 3 in all"))
    days.focus()
    page.keyboard.press("ArrowLeft")
    expect(days).to_contain_text("answered 3")
    table = page.get_by_role("region", name="The last 30 days")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(table.get_by_role("cell").first).to_have_text("3")
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Appearance, Language").click()
    page.get_by_role("radio", name="中文").check()
    expect(page.get_by_role("region", name="最近 30 天")).to_contain_text("提问")


def test_what_has_changed_is_shown_and_a_project_can_be_chosen(page: Page, served: ServedPage, tmp_path: Path) -> None:
    served.add()
    other = tmp_path / "other"
    other.mkdir()
    (other / "fathom.toml").touch()
    (other / "only.go").write_text("package other\n\nfunc Only() {}\n", encoding="utf-8")
    served.add(other)
    (other / "more.go").write_text("package other\n", encoding="utf-8")
    opened(page, served)
    table = page.get_by_role("region", name="Indexes").get_by_role("row")
    expect(table.filter(has_text="other")).to_contain_text("1 file has changed")
    expect(page.locator(".breakdown").filter(has_text="Languages")).to_contain_text("python")
    page.get_by_role("combobox", name="Project").click()
    page.locator(".ant-select-item-option").filter(has_text="other").click()
    expect(page.locator(".breakdown").filter(has_text="Languages")).not_to_contain_text("python")
    expect(table.filter(has_text="shop")).to_have_count(0)


def test_a_request_that_failed_is_listed(page: Page, served: ServedPage, monkeypatch: pytest.MonkeyPatch) -> None:
    served.add()

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(SearchPool, "answer", broken)
    assert served.client.get("/related", params={"project_id": "shop", "target": "x"}).status_code == 500
    monkeypatch.undo()
    opened(page, served)
    failed = page.get_by_role("list", name="Recent errors")
    expect(failed).to_contain_text("GET /related")
    expect(tile(page, "Failed")).to_contain_text("1")


@pytest.mark.usefixtures("browser")  # the clock is that of a window
def test_it_goes_on_by_itself_and_rests_while_nobody_looks(page: Page, served: ServedPage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/monitoring/stats" in request.url else None)
    page.clock.install()
    opened(page, served)
    expect(tile(page, "Files")).to_contain_text("0")
    served.add()
    page.clock.run_for(6_000)
    expect(tile(page, "Files")).not_to_have_text(re.compile("^Files0"))
    look_as(page, "hidden")
    before = len(asked)
    page.clock.run_for(60_000)
    assert len(asked) == before
    with page.expect_request("**/monitoring/stats"):
        look_as(page, "visible")


def look_as(page: Page, state: str) -> None:
    """Have the page believe that it is seen, or not."""
    page.evaluate(
        """(state) => {
            Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        state,
    )


def test_nothing_is_indexed_yet(page: Page, served: ServedPage) -> None:
    opened(page, served)
    page.get_by_role("link", name="Add a project").click()
    expect(page).to_have_url(f"{served.url}/projects")


def test_what_is_not_as_it_should_be_is_said_at_the_top(page: Page, served: ServedPage) -> None:
    told = {"status": "degraded", "version": "0", "degraded": ["the settings file has changed but cannot be used"]}
    page.route("**/api/health", lambda route: route.fulfill(json=told))
    opened(page, served)
    expect(page.get_by_role("status").filter(has_text="Problems of the server")).to_contain_text("cannot be used")


def test_models_are_asked_and_the_dead_one_is_named_with_the_time(
    page: Page, config: ServerConfig, tmp_path: Path
) -> None:
    variables = {**os.environ, "FATHOM_LLM__MODEL": "ollama:dead@http://127.0.0.1:1"}
    with serving(tmp_path, replace(config, variables=variables)) as served:
        opened(page, served)
        dead = page.locator(".checks li").filter(has_text="ollama:dead")
        expect(dead).to_contain_text("cannot be reached")
        expect(dead).to_contain_text("needs attention")
        expect(page.get_by_text(re.compile("The models were asked (now|.* ago)"))).to_be_visible()
        expect(page.locator(".checks li").filter(has_text="Embedding model")).to_contain_text("256 dimensions")
