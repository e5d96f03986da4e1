"""Conversations that are shared: the button and its link, what readers see, exports, ratings, questions asked again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from tests.protocols.server import Turn

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

from .conftest import ServedPage, replied, serving
from .test_chat import CITED, QUESTION, answer, ask, kept, opened, turns_of
from .test_shell import violations_in_each_theme

TOKENS = (
    Token("root", hash_of("root")),
    Token("ann", hash_of("ann"), frozenset({"shop"}), Role.READER),
    Token("ben", hash_of("ben"), frozenset({"shop"}), Role.READER),
)


def said(client: httpx.Client, name: str, method: str, path: str, body: Any = None) -> httpx.Response:
    answer = client.request(method, path, json=body, headers={"authorization": f"Bearer {name}"})
    return answer.raise_for_status()


@pytest.fixture
def team(config: ServerConfig, tmp_path: Path) -> Iterator[ServedPage]:
    """A server with two readers of the shop, without a model."""
    with serving(tmp_path, replace(config, tokens=TOKENS)) as served:
        served.client.headers["authorization"] = "Bearer root"
        served.add()
        yield served


def asked(served: ServedPage, name: str) -> str:
    """Let somebody ask a question, and return the id of its conversation."""
    answer = said(served.client, name, "POST", "/ask", {"query": QUESTION, "keep": True})
    return str(answer.json()["conversation_id"])


def sign_in(page: Page, name: str) -> None:
    page.add_init_script(f"localStorage.setItem('fathom.token', '{name}')")


def test_a_conversation_is_shared_by_a_button_that_gives_its_link(page: Page, team: ServedPage) -> None:
    conversation = asked(team, "ann")
    sign_in(page, "ann")
    page.goto(f"{team.url}/chat/{conversation}")
    page.get_by_role("button", name="Share", exact=True).click()
    page.get_by_role("switch", name="Share this conversation").click()
    link = page.get_by_text(f"{team.url}/chat/{conversation}")
    expect(link).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == f"{team.url}/chat/{conversation}"
    said(team.client, "ben", "GET", f"/conversations/{conversation}")
    page.get_by_role("switch", name="Share this conversation").click()
    expect(link).to_have_count(0)
    with pytest.raises(httpx.HTTPStatusError):
        said(team.client, "ben", "GET", f"/conversations/{conversation}")


def test_a_reader_finds_it_in_a_list_and_can_only_read(page: Page, team: ServedPage) -> None:
    conversation = asked(team, "ann")
    said(team.client, "ann", "PATCH", f"/conversations/{conversation}", {"shared": True})
    sign_in(page, "ben")
    page.goto(f"{team.url}/chat")
    page.get_by_text("Shared with me").click()
    page.get_by_role("link", name=re.compile(QUESTION[:20])).click()
    expect(page).to_have_url(f"{team.url}/chat/{conversation}")
    expect(page.get_by_text("ann shares this conversation.")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your question")).to_have_count(0)
    expect(page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Ask this question again")).to_have_count(0)
    expect(answer(page)).to_contain_text("Cited lines unchanged")
    expect(answer(page)).to_contain_text(re.compile("(High|Medium|Low) confidence"))
    page.get_by_role("banner").get_by_role("button", name=re.compile("^More about")).or_(
        page.locator(".chat-head").get_by_role("button", name=re.compile("^More about"))
    ).click()
    expect(page.get_by_role("menuitem")).to_have_text(["Export as Markdown", "Export as HTML"])
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start your own conversation").click()
    expect(page.get_by_role("textbox", name="Your question")).to_be_visible()


def test_a_reader_is_told_which_cited_lines_have_changed_since(page: Page, team: ServedPage) -> None:
    conversation = asked(team, "ann")
    said(team.client, "ann", "PATCH", f"/conversations/{conversation}", {"shared": True})
    cited = said(team.client, "ann", "GET", f"/conversations/{conversation}/cited").json()["lines"]
    path = team.shop / cited[0]["path"]
    path.write_text("# another first line\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    sign_in(page, "ben")
    page.goto(f"{team.url}/chat/{conversation}")
    expect(answer(page)).to_contain_text(re.compile("cited places? changed since"))
    answer(page).get_by_text(re.compile("notes? on this answer")).click()
    expect(answer(page)).to_contain_text(f"Changed since the answer: {cited[0]['path']}")


class TestAnswers:
    @pytest.fixture
    def turns(self) -> list[Turn]:
        return [replied(CITED)]

    def test_a_conversation_is_exported_as_html(self, page: Page, answering: ServedPage, tmp_path: Path) -> None:
        opened(page, answering)
        ask(page)
        expect(answer(page)).to_contain_text("2 places verified")
        page.locator(".chat-head").get_by_role("button", name=re.compile("^More about")).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="Export as HTML").click()
        assert download.value.suggested_filename == f"{QUESTION.rstrip('?')}.html"
        file = tmp_path / "exported.html"
        download.value.save_as(file)
        page.goto(file.as_uri())
        expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)
        expect(page.locator("b").first).to_have_text("sum of all prices")
        expect(page.get_by_role("heading", name="Removed")).to_be_visible()
        assert page.locator("script, img, link").count() == 0

    def test_an_answer_is_rated_and_an_administrator_reads_why(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        expect(answer(page)).to_contain_text("2 places verified")
        bad = answer(page).get_by_role("button", name="Bad answer")
        bad.click()
        expect(bad).to_have_attribute("aria-pressed", "true")
        answer(page).get_by_role("textbox", name="What is wrong or missing?").fill("The discount is missing.")
        answer(page).get_by_role("button", name="Send the comment").click()
        expect(answer(page).get_by_role("textbox", name="What is wrong or missing?")).to_have_count(0)
        page.reload()
        expect(answer(page).get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("link", name="People").click()
        ratings = page.get_by_role("region", name="Ratings of answers")
        expect(ratings).to_contain_text("The discount is missing.")
        expect(ratings).to_contain_text(QUESTION)
        expect(page.get_by_text("0 good, 1 bad")).to_be_visible()
        page.go_back()
        answer(page).get_by_role("button", name="Bad answer").click()
        expect(answer(page).get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "false")
        assert answering.client.get("/ratings").json()["ratings"] == []

    def test_a_question_is_edited_and_asked_again(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        expect(answer(page)).to_contain_text("2 places verified")
        page.get_by_role("article").first.get_by_role("button", name="Ask this question again").click()
        expect(page.get_by_role("article")).to_have_count(2)
        expect(answer(page)).to_contain_text("2 places verified")
        page.get_by_role("article").first.get_by_role("button", name=re.compile("^Edit the question")).click()
        box = page.get_by_role("textbox", name="Your question")
        expect(box).to_be_focused()
        expect(box).to_have_value(QUESTION)
        box.fill("where is the discount?")
        page.keyboard.press("Enter")
        expect(page.get_by_role("article")).to_have_count(3)
        expect(answer(page)).to_contain_text("2 places verified")
        assert turns_of(answering, "question") == [QUESTION, QUESTION, "where is the discount?"]
        assert len(kept(answering)) == 1


def test_axe_finds_nothing_serious_in_what_a_reader_sees(page: Page, team: ServedPage) -> None:
    conversation = asked(team, "ann")
    said(team.client, "ann", "PATCH", f"/conversations/{conversation}", {"shared": True})
    sign_in(page, "ben")
    page.goto(f"{team.url}/chat/{conversation}")
    expect(answer(page)).to_contain_text("Cited lines unchanged")
    answer(page).get_by_role("button", name="Good answer").click()
    expect(answer(page).get_by_role("button", name="Send the comment")).to_be_visible()
    wide = violations_in_each_theme(page)
    page.set_viewport_size({"width": 360, "height": 740})
    assert wide + violations_in_each_theme(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
