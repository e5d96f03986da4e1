"""Ctrl+K: one dialog finds projects, pages, files, symbols, questions and actions."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

from .conftest import ServedPage, serving
from .test_shell import violations_in_each_theme

SECRET = "fathom_of_this_test"


def opened(page: Page, served: ServedPage, path: str = "/projects") -> Locator:
    """Open the dialog by its key; return its text field, which has the focus."""
    page.goto(f"{served.url}{path}")
    expect(page.get_by_role("button", name="Find")).to_be_visible()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find a project, page, file, symbol, question or action")
    expect(field).to_be_focused()
    return field


def group(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True).get_by_role("option")


def chosen(page: Page, field: Locator) -> Locator:
    """Return the option that the text field names as the one that Enter opens."""
    option = page.locator(f"#{field.get_attribute('aria-activedescendant')}")
    expect(option).to_have_attribute("aria-selected", "true")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(1)
    return option


def test_the_keyboard_alone_finds_a_project_a_file_a_symbol_and_a_page(page: Page, served: ServedPage) -> None:
    served.add()
    field = opened(page, served)
    expect(group(page, "Projects")).to_contain_text(["shop"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.url}/project/shop")
    expect(field).to_be_hidden()
    opened(page, served).fill("pricing.p")
    expect(group(page, "Files")).to_contain_text(["pricing.py"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/projects\?project=shop&file=shop%2Fpricing.py$"))
    field = opened(page, served)
    field.fill("total_cents")
    expect(group(page, "Symbols").first).to_contain_text("total_cents")
    while "total_cents" not in chosen(page, field).inner_text():
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"file=shop%2Fpricing.py&lines=\d+-\d+$"))
    opened(page, served).fill("monit")
    expect(group(page, "Pages")).to_have_text(["Monitoring"])
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.url}/monitoring")


def test_arrows_go_round_and_esc_gives_the_focus_back(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects")
    link = page.get_by_role("link", name="Monitoring")
    link.focus()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox")
    expect(group(page, "Projects")).to_have_count(1)
    first = chosen(page, field).inner_text()
    page.keyboard.press("ArrowUp")
    expect(chosen(page, field)).to_have_text("中文")
    page.keyboard.press("ArrowDown")
    assert chosen(page, field).inner_text() == first
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(link).to_be_focused()


def test_a_click_opens_and_the_button_does_as_the_key(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/monitoring")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("option", name="Add a project").click()
    expect(page).to_have_url(f"{served.url}/projects?add")
    expect(page.get_by_role("dialog", name="Add a project")).to_be_visible()
    page.goto(f"{served.url}/monitoring")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("option", name="Appearance: dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_what_was_asked_is_found_and_words_lead_to_the_search(page: Page, answering: ServedPage) -> None:
    answering.add()
    page.goto(f"{answering.url}/chat")
    page.get_by_role("textbox", name="Your question").fill("where is the discount?")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/chat/."))
    conversation = page.url
    opened(page, answering).fill("discount?")
    expect(group(page, "Recent questions")).to_have_text(["where is the discount?"])
    group(page, "Recent questions").click()
    expect(page).to_have_url(conversation)
    opened(page, answering).fill('total "of" orders')
    page.get_by_role("option", name="Search the code for").click()
    expect(page).to_have_url(f"{answering.url}/search?q=total%20%22of%22%20orders")


def test_nothing_found_is_said(page: Page, served: ServedPage) -> None:
    served.add()
    opened(page, served).fill("qqxyzzy")
    expect(page.get_by_role("option")).to_have_count(1)
    expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("1 result")


def test_what_was_typed_before_is_not_waited_for(page: Page, served: ServedPage) -> None:
    served.add()
    begun = re.compile(r"/federated/symbols\?query=tot&")
    page.route(begun, lambda route: None)  # never answered
    field = opened(page, served)
    with page.expect_event("requestfailed", lambda request: bool(begun.search(request.url))):
        with page.expect_request(begun):
            field.fill("tot")
        field.fill("total_cents")
    expect(group(page, "Symbols").first).to_contain_text("total_cents")


def test_who_may_see_one_project_finds_nothing_of_another(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    tokens = (Token("team", hash_of(SECRET), frozenset({"shop"})), Token("manager", hash_of("m")))
    page.add_init_script(f"localStorage.setItem('fathom.token', '{SECRET}')")
    with serving(tmp_path, replace(config, tokens=tokens)) as served:
        served.client.headers["authorization"] = "Bearer m"
        served.add()
        other = tmp_path / "bakery"
        shutil.copytree(served.shop, other)
        (other / "shop" / "pricing.py").rename(other / "shop" / "pricing_of_bread.py")
        served.add(other)
        field = opened(page, served)
        expect(group(page, "Projects")).to_have_count(1)
        expect(group(page, "Pages")).to_have_text(["Search", "Chat", "Projects"])
        expect(page.get_by_role("option", name="Add a project")).to_have_count(0)
        field.fill("pricing")
        expect(group(page, "Files")).to_have_count(1)
        expect(group(page, "Files")).to_contain_text(["pricing.py"])
        expect(page.get_by_role("option").filter(has_text="bread")).to_have_count(0)


def test_its_code_is_loaded_when_it_is_opened(page: Page, served: ServedPage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{served.url}/projects")
    expect(page.get_by_role("button", name="Add a project")).to_be_visible()
    page.wait_for_load_state("networkidle")
    before = len(asked)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    assert [url for url in asked[before:] if url.endswith(".js")]


def test_axe_finds_nothing_and_it_fits(page: Page, served: ServedPage) -> None:
    served.add()
    opened(page, served).fill("total_cents")
    expect(group(page, "Symbols")).not_to_have_count(0)
    assert violations_in_each_theme(page) == []
    page.set_viewport_size({"width": 360, "height": 640})
    assert violations_in_each_theme(page) == []
    box = page.get_by_role("dialog").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_it_is_chinese_on_a_chinese_page(chromium: Any, served: ServedPage) -> None:
    served.add()
    context = chromium.new_context(locale="zh-CN", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{served.url}/projects")
    page.get_by_role("button", name="查找").click()
    expect(page.get_by_role("group", name="项目", exact=True).get_by_role("option")).to_have_count(1)
    page.get_by_role("option", name="English").click()
    expect(page.get_by_role("link", name="Monitoring")).to_be_visible()
    context.close()
