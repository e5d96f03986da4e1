"""Questions on the page: what is streamed and verified, stopped, come back to, kept, and what is said of what fails."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from tests.protocols.server import ServedSettings, Turn
from tests.protocols.server import serving as serving_model
from tests.waiting import LONG_S, comes

from .conftest import ServedPage, missing, replied
from .test_shell import AXE, violations_in_each_theme

QUESTION = "where is the total of a cart priced?"
CITED = (
    "The total is the **sum of all prices** [shop/pricing.py:6-8].\n\n"
    "Large orders get a discount [shop/pricing.py:11-13], others nothing [shop/nowhere.py:1-2].\n\n"
    "```python\nreturn sum(cents for _, cents in items)  # [shop/pricing.py:6-8]\n```\n"
)
ENDLESS = "I think on and on.\n\n"


def endless() -> Turn:
    """An answer that is written until somebody stops it."""
    turn = replied("", pieces=[ENDLESS], pause_s=0.02)
    turn.pieces, turn.repeat = turn.pieces[:1], 100_000
    return turn


def broken_off(text: str) -> Turn:
    """An answer whose connection breaks."""
    turn = replied("", pieces=[text])
    turn.pieces, turn.reset = turn.pieces[:1], "middle"
    return turn


def ask(page: Page, text: str = QUESTION) -> None:
    page.get_by_role("textbox", name="Your question").fill(text)
    page.keyboard.press("Enter")


def opened(page: Page, served: ServedPage, path: str = "/chat") -> Page:
    """Open the page about the shop."""
    served.add()
    page.goto(f"{served.url}{path}")
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    return page


def answer(page: Page) -> Locator:
    return page.get_by_role("article").last


def n_written(page: Page) -> int:
    return answer(page).get_by_text(ENDLESS.strip()).count()


def grows(page: Page) -> None:
    """Wait until more is written than now."""
    page.wait_for_function(
        "n => document.querySelectorAll('article:last-of-type .answer-text > p').length > n",
        arg=n_written(page),
        polling=50,  # a tab behind another one draws nothing
    )


def model_of(served: ServedPage) -> ServedSettings:
    assert served.model is not None
    return served.model


def kept(served: ServedPage) -> list[dict[str, Any]]:
    """The conversations that the server keeps, with their turns."""
    listed = served.client.get("/conversations").json()["conversations"]
    return [served.client.get(f"/conversations/{item['id']}").json() for item in listed]


def turns_of(served: ServedPage, key: str) -> list[Any]:
    """One value of each turn that is kept by now: the last one is kept when its citations are checked."""
    return [turn[key] for conversation in kept(served) for turn in conversation["turns"]]


# ---- asking


class TestAnswers:
    @pytest.fixture
    def turns(self) -> list[Turn]:
        return [replied(CITED), replied("It is five per cent [shop/pricing.py:11-13].")]

    def test_an_answer_has_links_only_where_a_place_was_verified(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        text = answer(page).locator(".answer-text")
        expect(text.get_by_role("link")).to_have_text(["pricing.py:6-8", "pricing.py:11-13"])
        expect(text.locator("strong")).to_have_text("sum of all prices")
        expect(text.locator("pre")).to_contain_text("# [shop/pricing.py:6-8]")
        expect(text.locator("pre .hljs-keyword").first).to_have_text("return")
        expect(text).not_to_contain_text("nowhere")
        expect(answer(page)).to_contain_text("2 places verified")
        expect(answer(page)).to_contain_text("1 citation removed")
        answer(page).get_by_text(re.compile("notes? on this answer")).click()
        expect(answer(page)).to_contain_text("Removed: [shop/nowhere.py:1-2]")
        sources = answer(page).get_by_role("region", name="Sources")
        expect(sources.get_by_role("link").filter(has=page.get_by_label("cited"))).to_contain_text(["pricing.py"])
        expect(answer(page)).to_contain_text("openai:scripted")
        assert len(model_of(answering).asked) == 1

    def test_an_answer_is_never_shown_as_plain_words_first(self, page: Page, answering: ServedPage) -> None:
        page.add_init_script(
            """window.plain = [];
            new MutationObserver(() => {
                const found = document.querySelector(".answer-text-plain");
                if (found) window.plain.push(found.textContent);
            }).observe(document, { childList: true, subtree: true, characterData: true });"""
        )
        opened(page, answering)
        page.wait_for_load_state("networkidle")
        ask(page)
        strong = answer(page).locator(".answer-text strong")
        expect(strong).to_have_text("sum of all prices")
        assert page.evaluate("window.plain") == []
        expect(page).to_have_url(re.compile("/chat/[0-9a-f]+$"))
        page.reload()
        expect(strong).to_have_text("sum of all prices")
        assert page.evaluate("window.plain") == []

    def test_a_click_on_a_citation_opens_the_file_at_its_lines(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        answer(page).get_by_role("link", name="pricing.py:11-13").first.click()
        viewer = page.get_by_role("complementary", name="Code")
        expect(viewer.get_by_role("region", name="shop/pricing.py")).to_contain_text("def discount")
        marked = page.locator(".code-line-marked")
        expect(marked).to_have_count(3)
        assert marked.first.get_attribute("data-line") == "11"
        expect(answer(page)).to_contain_text("2 places verified")
        page.go_back()
        expect(viewer).to_have_count(0)
        expect(answer(page)).to_contain_text("2 places verified")

    def test_the_next_question_goes_on_with_the_conversation(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        expect(page).to_have_url(re.compile("/chat/[0-9a-f]+$"))
        expect(answer(page)).to_contain_text("2 places verified")
        expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
        ask(page, "and how large is the discount?")
        expect(answer(page)).to_contain_text("It is five per cent")
        expect(page.get_by_role("article")).to_have_count(2)
        assert comes(lambda: turns_of(answering, "question") == [QUESTION, "and how large is the discount?"])
        assert QUESTION in json.dumps(model_of(answering).asked[-1].body["messages"])
        page.reload()
        expect(page.get_by_role("article")).to_have_count(2)
        expect(page.get_by_role("article").first.get_by_role("link", name="pricing.py:6-8")).to_be_visible()
        expect(page.get_by_role("heading", level=1)).to_have_text(QUESTION)

    def test_an_answer_can_be_copied_as_it_was_written(self, page: Page, answering: ServedPage) -> None:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        opened(page, answering)
        ask(page)
        answer(page).get_by_role("button", name="Copy the answer").click()
        expect(answer(page).get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == kept(answering)[0]["turns"][0]["answer"]
        assert "[shop/pricing.py:6-8]" in copied

    def test_all_of_it_works_with_the_keyboard(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        page.keyboard.type("how is the total price")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("of an order calculated")
        page.keyboard.press("Enter")
        expect(answer(page)).to_contain_text("2 places verified")
        assert kept(answering)[0]["turns"][0]["question"] == "how is the total price\nof an order calculated"
        answer(page).locator(".answer-text").get_by_role("link").first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("region", name="shop/pricing.py")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("complementary", name="Code")).to_have_count(0)

    def test_an_example_is_put_where_questions_are_written(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        page.get_by_role("button", name="Where are errors handled").click()
        box = page.get_by_role("textbox", name="Your question")
        expect(box).to_have_value(re.compile("Where are errors handled"))
        expect(box).to_be_focused()
        assert model_of(answering).asked == []

    def test_an_answer_can_be_read_by_everyone(self, page: Page, answering: ServedPage) -> None:
        if not AXE.is_file():
            missing("axe-core is not installed: make web")
        opened(page, answering)
        ask(page)
        expect(answer(page)).to_contain_text("2 places verified")
        answer(page).get_by_text(re.compile("notes? on this answer")).click()
        expect(answer(page).locator("pre .hljs-keyword").first).to_be_visible()
        wide = violations_in_each_theme(page)
        page.set_viewport_size({"width": 400, "height": 800})
        assert wide + violations_in_each_theme(page) == []
        for item in (page.locator("html"), page.get_by_role("main"), page.locator(".thread-scroll")):
            assert item.evaluate("item => item.scrollWidth <= item.clientWidth")


def test_several_projects_are_asked_at_once(
    page: Page, answering: ServedPage, turns: list[Turn], tmp_path: Path
) -> None:
    other = tmp_path / "zoo"
    other.mkdir()
    (other / "keeper.py").write_text("def feed_lions():\n    return 'the lions eat at noon'\n", encoding="utf-8")
    (other / "fathom.toml").touch()
    answering.add(other)
    model_of(answering).turns[:] = [replied("At noon [zoo/keeper.py:1-2].")]
    opened(page, answering)
    ask(page, "when do the lions eat")
    answer(page).locator(".answer-text").get_by_role("link", name="keeper.py:1-2").click()
    expect(page).to_have_url(re.compile("project=zoo&file=keeper.py&lines=1-2"))
    expect(page.get_by_role("complementary", name="Code")).to_contain_text("feed_lions")


@pytest.mark.parametrize("text", [">" * 20_000 + " the end", "- a\n" * 20_000 + "\nthe end"], ids=["deep", "long"])
def test_an_answer_that_would_hold_up_the_page_is_shown_as_it_was_written(
    page: Page, answering: ServedPage, text: str
) -> None:
    answering.add()
    model_of(answering).turns[:] = [replied(text, pieces=[text])]
    opened(page, answering)
    ask(page)
    # Not what is shown while Markdown is loaded.
    expect(page.locator(".answer-text[data-unset]")).to_contain_text("the end")
    assert page.locator(".answer-text li, .answer-text blockquote").count() == 0


def test_only_the_chosen_projects_are_asked(page: Page, answering: ServedPage, tmp_path: Path) -> None:
    other = tmp_path / "zoo"
    other.mkdir()
    (other / "keeper.py").write_text("def feed_lions():\n    return 'the lions eat at noon'\n", encoding="utf-8")
    (other / "fathom.toml").touch()
    answering.add(other)
    opened(page, answering)
    page.get_by_role("combobox", name="Projects to ask about").click()
    page.get_by_title("zoo", exact=True).click()
    page.keyboard.press("Escape")
    ask(page, "when do the lions eat")
    expect(answer(page)).to_contain_text("All is well.")
    assert kept(answering)[0]["projects"] == ["zoo"]
    page.goto(f"{answering.url}/chat")
    expect(page.locator(".composer-projects")).to_contain_text("zoo")


# ---- what goes on


class TestWhileItIsWritten:
    @pytest.fixture
    def turns(self) -> list[Turn]:
        return [endless()]

    def test_stop_ends_the_call_of_the_model(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        grows(page)
        assert not model_of(answering).asked[0].is_closed.is_set()
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped. The text written so far is kept.")
        expect(page.get_by_role("button", name="Send")).to_be_visible()
        assert model_of(answering).asked[0].is_closed.wait(LONG_S)
        n = n_written(page)
        assert n
        page.reload()
        expect(answer(page)).to_contain_text("Stopped. The text written so far is kept.")
        expect(answer(page).get_by_text(ENDLESS.strip())).to_have_count(n)  # Markdown is set once its part is loaded
        assert kept(answering)[0]["turns"][0]["state"] == "stopped"

    def test_a_page_loaded_again_goes_on_reading(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        expect(page).to_have_url(re.compile("/chat/[0-9a-f]+$"))
        grows(page)
        before = n_written(page)
        page.reload()
        expect(answer(page)).to_contain_text(QUESTION)
        page.wait_for_function(
            "n => document.querySelectorAll('article:last-of-type .answer-text > p').length >= n", arg=before
        )
        grows(page)
        assert len(model_of(answering).asked) == 1
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped.")
        assert model_of(answering).asked[0].is_closed.wait(LONG_S)

    def test_an_answer_goes_on_while_another_page_is_looked_at(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        grows(page)
        before = n_written(page)
        page.get_by_role("textbox", name="Your question").fill("and what of ")
        menu = page.get_by_role("navigation", name="Pages")
        menu.get_by_role("link", name="Search").click()
        expect(page).to_have_url(re.compile("/search"))
        menu.get_by_role("link", name="Chat").click()
        page.get_by_role("navigation", name="Conversations").get_by_role("link", name=QUESTION).click()
        grows(page)
        assert n_written(page) > before
        expect(page.get_by_role("textbox", name="Your question")).to_have_value("and what of ")
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped.")
        assert len(model_of(answering).asked) == 1

    def test_what_is_selected_stays_so_when_it_ends(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        grows(page)
        page.evaluate("getSelection().selectAllChildren(document.querySelector('.answer-text > p'))")
        selected = page.evaluate("getSelection().toString()")
        assert selected
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped.")
        with page.expect_response(lambda response: "/conversations/" in response.url):
            # What the server has kept takes the place of what was read.
            page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("getSelection().toString()") == selected

    def test_another_tab_reads_and_stops_the_same_answer(
        self, browser: BrowserContext, page: Page, answering: ServedPage
    ) -> None:
        other = opened(browser.new_page(), answering)
        page.bring_to_front()
        opened(page, answering)
        ask(page)
        listed = other.get_by_role("navigation", name="Conversations").get_by_role("link", name=QUESTION)
        expect(listed).to_contain_text("is being answered")
        other.bring_to_front()
        listed.click()
        grows(other)
        grows(page)
        other.get_by_role("button", name="Stop").click()
        for tab in (page, other):
            expect(answer(tab)).to_contain_text("Stopped.")
        expect(listed).not_to_contain_text("is being answered")
        assert len(model_of(answering).asked) == 1

    def test_a_conversation_deleted_while_it_is_answered_is_gone(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        ask(page)
        grows(page)
        page.locator(".chat-head").get_by_role("button", name=re.compile("More about")).click()
        page.get_by_role("menuitem", name="Delete").click()
        page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        expect(page).to_have_url(f"{answering.url}/chat")
        assert model_of(answering).asked[0].is_closed.wait(LONG_S)
        assert kept(answering) == []


def test_a_page_that_is_closed_ends_the_call_of_the_model_at_last(
    browser: BrowserContext, answering: ServedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("codefathom.server.answers.answer_runs.PATIENCE_S", 0.3)
    model_of(answering).turns[:] = [endless()]
    tab = opened(browser.new_page(), answering)
    ask(tab)
    grows(tab)
    tab.close()
    assert model_of(answering).asked[0].is_closed.wait(LONG_S)


# ---- a thorough answer


class TestThorough:
    @pytest.fixture
    def turns(self) -> list[Turn]:
        return [replied("", pieces=['{"file_list": []}']), Turn([b""], silent_s=600)]

    def test_the_model_judges_first_and_the_page_says_so(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        page.get_by_role("radiogroup", name="How to answer").get_by_text("Thorough").click()
        ask(page)
        expect(answer(page)).to_contain_text(re.compile(r"grading \d+ of \d+ files"))
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped before anything was written.")
        page.reload()
        chosen = page.get_by_role("radiogroup", name="How to answer").get_by_label("Thorough")
        expect(chosen).to_be_checked()


class TestCost:
    def test_a_thorough_answer_says_its_cost_before_it_is_asked(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        page.get_by_role("textbox", name="Your question").fill(QUESTION)
        cost = page.locator(".composer-cost")
        expect(cost).to_have_count(0)
        page.get_by_role("radiogroup", name="How to answer").get_by_text("Thorough").click()
        expect(cost).to_have_text(re.compile(r"^It will take about \d+ calls of models · [\d,]+ tokens$"))
        page.set_viewport_size({"width": 360, "height": 800})
        expect(cost).to_be_visible()
        page.get_by_role("textbox", name="Your question").fill("")
        expect(cost).to_have_text("")
        assert not model_of(answering).asked
        assert not page.request.get(f"{answering.url}/conversations").json()["conversations"]


# ---- an agent


class TestAgent:
    @pytest.fixture
    def turns(self) -> list[Turn]:
        call = json.dumps({"tool": "read_file", "arguments": {"file_path": "shop/pricing.py"}})
        final = json.dumps({"answer": "They are summed up [shop/pricing.py:6-8].", "confidence": "high", "sources": []})
        said = (f"I look into the prices.\n{call}", "I know enough.", final)
        return [replied("", pieces=[text]) for text in said]

    def test_its_steps_are_shown_and_kept(self, page: Page, answering: ServedPage) -> None:
        opened(page, answering)
        page.get_by_role("radiogroup", name="How to answer").get_by_text("Agent").click()
        ask(page)
        text = answer(page).locator(".answer-text")
        steps = answer(page).locator(".steps")
        for _ in range(2):
            expect(text.get_by_role("link", name="pricing.py:6-8")).to_be_visible()
            # Folded up once there is an answer; the server keeps them.
            expect(steps.get_by_text("I look into the prices.")).to_be_hidden()
            steps.get_by_text(re.compile(r"\d+ steps of the agent")).click()
            expect(steps).to_contain_text("I look into the prices.")
            expect(steps).to_contain_text(re.compile(r"read_file\s*shop/pricing\.py"))
            steps.get_by_text("What it found").first.click()
            expect(steps.locator("pre").first).to_contain_text("def total_cents")
            expect(steps).to_contain_text(re.compile(r"Answered after \d rounds"))
            page.reload()
        expect(page.get_by_role("radiogroup", name="How to answer").get_by_label("Agent")).to_be_checked()

    def test_its_steps_come_while_it_looks(self, page: Page, answering: ServedPage) -> None:
        model_of(answering).turns[1:] = [endless()]
        opened(page, answering)
        page.get_by_role("radiogroup", name="How to answer").get_by_text("Agent").click()
        ask(page)
        steps = answer(page).locator(".steps")
        expect(steps.get_by_text("I look into the prices.")).to_be_visible()
        expect(steps.get_by_text("read_file")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        expect(answer(page)).to_contain_text("Stopped before anything was written.")
        assert model_of(answering).asked[-1].is_closed.wait(LONG_S)

    def test_it_looks_in_several_projects(self, page: Page, answering: ServedPage, tmp_path: Path) -> None:
        other = tmp_path / "zoo"
        other.mkdir()
        (other / "keeper.py").write_text("def feed_lions():\n    return 'at noon'\n", encoding="utf-8")
        (other / "fathom.toml").touch()
        opened(page, answering)
        answering.add(other)
        page.reload()
        page.get_by_role("radiogroup", name="How to answer").get_by_text("Agent").click()
        expect(page.locator(".composer-projects")).to_contain_text("All projects")
        ask(page)
        expect(answer(page).locator(".answer-text")).to_contain_text("They are summed up")
        assert set(kept(answering)[0]["projects"]) == {"shop", "zoo"}
        assert "several projects" in str(model_of(answering).asked[0].body["messages"])


# ---- what the server keeps


class TestConversations:
    @pytest.fixture
    def conversation(self, page: Page, answering: ServedPage) -> Locator:
        """The conversation in the list, answered."""
        opened(page, answering)
        ask(page)
        expect(answer(page)).to_contain_text("All is well.")
        return page.get_by_role("navigation", name="Conversations").get_by_role("listitem")

    def menu(self, page: Page, conversation: Locator, name: str) -> None:
        conversation.hover()
        conversation.get_by_role("button", name=re.compile("More about")).click()
        page.get_by_role("menuitem", name=name).click()

    def test_can_be_renamed(self, page: Page, answering: ServedPage, conversation: Locator) -> None:
        self.menu(page, conversation, "Rename")
        title = page.get_by_role("textbox", name="New title")
        expect(title).to_be_focused()
        title.fill("Something else")
        page.keyboard.press("Escape")
        expect(conversation).to_contain_text(QUESTION)
        self.menu(page, conversation, "Rename")
        expect(title).to_be_focused()
        title.fill("Prices of carts")
        page.keyboard.press("Enter")
        expect(conversation).to_contain_text("Prices of carts")
        expect(page.get_by_role("heading", level=1)).to_have_text("Prices of carts")
        assert [item["title"] for item in kept(answering)] == ["Prices of carts"]

    def test_can_be_deleted_after_a_question(self, page: Page, answering: ServedPage, conversation: Locator) -> None:
        self.menu(page, conversation, "Delete")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(QUESTION)
        dialog.get_by_role("button", name="Keep it").click()
        expect(dialog).to_be_hidden()  # or else the next click meets the button of the one that is closing
        expect(conversation).to_have_count(1)
        self.menu(page, conversation, "Delete")
        dialog.get_by_role("button", name="Delete").click()
        expect(conversation).to_have_count(0)
        expect(page).to_have_url(f"{answering.url}/chat")
        expect(page.get_by_role("heading", name="Ask your code")).to_be_visible()
        assert kept(answering) == []

    def test_can_be_exported(self, page: Page, answering: ServedPage, conversation: Locator, tmp_path: Path) -> None:
        with page.expect_download() as download:
            self.menu(page, conversation, "Export as Markdown")
        assert download.value.suggested_filename == "where is the total of a cart priced.md"
        download.value.save_as(tmp_path / "saved.md")
        saved = (tmp_path / "saved.md").read_text(encoding="utf-8")
        assert saved.startswith(f"# {QUESTION}\n\nProjects: shop\n\n## {QUESTION}\n\nAll is well.")

    def test_are_changed_in_every_tab(
        self, browser: BrowserContext, page: Page, answering: ServedPage, conversation: Locator
    ) -> None:
        other = browser.new_page()
        other.goto(f"{answering.url}/chat")
        listed = other.get_by_role("navigation", name="Conversations").get_by_role("listitem")
        expect(listed).to_contain_text(QUESTION)
        page.bring_to_front()
        self.menu(page, conversation, "Rename")
        page.get_by_role("textbox", name="New title").fill("Prices")
        page.keyboard.press("Enter")
        expect(listed).to_contain_text("Prices")

    def test_another_one_can_be_begun(self, page: Page, answering: ServedPage, conversation: Locator) -> None:
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("heading", name="Ask your code")).to_be_visible()
        expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
        ask(page, "and what of shipping?")
        expect(conversation).to_have_count(2)
        expect(conversation.first).to_contain_text("and what of shipping?")
        conversation.last.get_by_role("link").click()
        expect(answer(page)).to_contain_text(QUESTION)

    def test_are_behind_a_button_on_a_phone(self, page: Page, answering: ServedPage, conversation: Locator) -> None:
        page.set_viewport_size({"width": 400, "height": 800})
        page.locator(".chat-head").get_by_role("button", name="New conversation").click()
        expect(page.get_by_role("heading", name="Ask your code")).to_be_visible()
        page.get_by_role("button", name="Show the conversations").click()
        drawer = page.get_by_role("dialog")
        drawer.get_by_role("link", name=QUESTION).click()
        expect(drawer).to_be_hidden()
        expect(answer(page)).to_contain_text("All is well.")


def test_a_conversation_that_is_gone_is_named_as_the_trouble(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/chat/0123456789abcdef")
    expect(page.get_by_role("alert")).to_contain_text("no such conversation")


# ---- what is missing, and what fails


def test_before_anything_is_indexed_the_page_leads_to_the_projects(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}/chat")
    expect(page.get_by_role("heading", name="Nothing is indexed yet")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Add a project").click()
    expect(page).to_have_url(f"{served.url}/projects")


def test_without_a_model_the_answer_consists_of_excerpts_and_says_what_is_missing(
    page: Page, served: ServedPage
) -> None:
    opened(page, served)
    notice = page.get_by_role("main").get_by_role("alert").filter(has_text="No language model is configured")
    expect(notice).to_contain_text('model = "ollama:qwen2.5-coder:14b"')
    expect(notice).to_contain_text("codefathom/fathom.toml")
    expect(notice).to_contain_text("FATHOM_LLM__MODEL")
    expect(page.get_by_role("radiogroup", name="How to answer").get_by_label("Agent")).to_be_disabled()
    ask(page)
    expect(answer(page)).to_contain_text("Excerpts, no model")
    expect(answer(page).locator(".answer-text").get_by_role("link").first).to_be_visible()
    expect(answer(page).locator("pre").first).to_be_visible()
    page.get_by_text("No language model is configured", exact=True).first.click()
    expect(notice).to_be_visible()


def test_a_model_that_is_configured_meanwhile_is_noticed(page: Page, served: ServedPage) -> None:
    opened(page, served)
    notice = page.get_by_role("alert").filter(has_text="No language model is configured")
    notice.get_by_role("link", name="Settings of shop").click()
    expect(page).to_have_url(f"{served.url}/projects?about=shop&tab=settings")
    page.go_back()
    expect(notice).to_be_visible()
    with serving_model(replied("Now it answers.")) as model:
        set_model = {"settings": {"llm.model": f"openai:scripted@{model.base_url}/v1", "select.filter_level": 0}}
        served.client.patch("/projects/shop", json=set_model).raise_for_status()
        # As when one comes back from another tab.
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(notice).to_have_count(0)
        expect(page.get_by_role("radiogroup", name="How to answer").get_by_label("Agent")).to_be_enabled()
        ask(page)
        expect(answer(page)).to_contain_text("Now it answers.")


def test_a_model_that_breaks_off_leaves_what_it_wrote_and_a_hint(page: Page, answering: ServedPage) -> None:
    model_of(answering).turns[:] = [
        broken_off("It begins well [shop/pricing.py:6-8].\n\nThen "),
        replied("All is well."),
    ]
    opened(page, answering)
    ask(page)
    trouble = answer(page).get_by_role("alert")
    expect(trouble).to_contain_text("The model’s answer is not complete")
    text = answer(page).locator(".answer-text")
    expect(text).to_contain_text("It begins well")
    expect(text.get_by_role("link", name="pricing.py:6-8").first).to_be_visible()
    hint = kept(answering)[0]["turns"][0]["details"]["hint"]
    expect(trouble).to_contain_text(hint)
    page.reload()
    expect(text).to_contain_text("It begins well")
    expect(trouble).to_contain_text("The model’s answer is not complete")


def test_what_failed_can_be_asked_again(page: Page, answering: ServedPage) -> None:
    model_of(answering).turns[:] = [Turn([b"overloaded"], 500), replied("Now it works.")]
    opened(page, answering)
    ask(page)
    expect(answer(page).get_by_role("alert")).to_contain_text("500")
    answer(page).get_by_role("button", name="Ask again").click()
    expect(answer(page)).to_contain_text("Now it works.")
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)
    assert comes(lambda: turns_of(answering, "state") == ["failed", "done"])


def test_what_has_just_failed_is_asked_again_in_the_same_conversation(page: Page, answering: ServedPage) -> None:
    model_of(answering).turns[:] = [Turn([b"overloaded"], 500), replied("Now it works.")]
    opened(page, answering)
    page.route(re.compile(r"/conversations/\w+$"), lambda _: None)  # what the server has kept does not come
    ask(page)
    answer(page).get_by_role("button", name="Ask again").click()
    expect(answer(page)).to_contain_text("Now it works.")
    page.unroute_all(behavior="ignoreErrors")
    assert comes(lambda: turns_of(answering, "state") == ["failed", "done"])


def test_a_question_that_the_server_refuses_is_answered_with_its_hint(page: Page, answering: ServedPage) -> None:
    opened(page, answering)
    ask(page, "where is the price @nowhere/at/all.py")
    trouble = answer(page).get_by_role("alert")
    expect(trouble).to_contain_text("There is no answer")
    expect(trouble).to_contain_text("nowhere/at/all.py")
    assert model_of(answering).asked == []


def test_a_server_that_is_busy_or_away_says_so_and_is_asked_again(page: Page, answering: ServedPage) -> None:
    busy = {
        "status": 503,
        "code": "busy",
        "detail": "the server is writing 16 answers already",
        "hint": "try again in a moment",
    }
    opened(page, answering)
    page.route("**/api/ask/stream", lambda route: route.fulfill(status=503, json=busy))
    ask(page)
    trouble = answer(page).get_by_role("alert")
    expect(trouble).to_contain_text("the server is writing 16 answers already")
    expect(trouble).to_contain_text("try again in a moment")
    page.unroute("**/api/ask/stream")
    page.route("**/api/ask/stream", lambda route: route.abort())
    trouble.get_by_role("button", name="Ask again").click()
    expect(trouble).to_contain_text("The server does not answer")
    page.unroute("**/api/ask/stream")
    trouble.get_by_role("button", name="Ask again").click()
    expect(answer(page)).to_contain_text("All is well.")
    # What never came to the server is not kept, nor shown any more.
    expect(page.get_by_role("article")).to_have_count(1)


def test_what_a_model_writes_is_text_and_never_part_of_the_page(page: Page, answering: ServedPage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    written = (
        "<img src=https://elsewhere.example/a.png onerror=alert(1)><script>alert(2)</script>\n\n"
        "![a picture](https://elsewhere.example/b.png) [click](javascript:alert(3)) [docs](https://elsewhere.example/c)\n\n"
        "[shop/pricing.py:6-8](https://elsewhere.example/d)\n"
    )
    model_of(answering).turns[:] = [replied(written)]
    opened(page, answering)
    ask(page)
    text = answer(page).locator(".answer-text")
    expect(text.get_by_role("link", name="docs")).to_have_attribute("rel", re.compile("noreferrer"))
    assert text.locator("img, script").count() == 0
    addresses = text.get_by_role("link").evaluate_all("links => links.map((link) => link.getAttribute('href'))")
    assert not any(address.startswith("javascript:") for address in addresses)
    expect(text.locator(".citation")).to_have_count(0)
    assert [url for url in asked if "elsewhere" in url] == []


def test_the_page_speaks_chinese(chromium: Any, answering: ServedPage) -> None:
    answering.add()
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{answering.url}/chat")
    page.get_by_role("textbox", name="您的问题").fill("购物车的总价在哪里计算？")
    page.get_by_role("button", name="发送").click()
    expect(answer(page)).to_contain_text("All is well.")
    expect(answer(page)).to_contain_text("没有标明出处")
    context.close()


RICH = (
    "# Prices\n\n"
    "The total is the **sum** of all prices [shop/pricing.py:6-8], see [the handbook](https://example.com/prices) and "
    "[nowhere](shop/none.py) for `price_of`. ![a picture](https://example.com/picture.png)\n\n"
    "> A quotation with [a link](https://example.com/quoted).\n\n"
    "- first [shop/pricing.py:11-13]\n- second, [an item](https://example.com/item)\n\n"
    "| name | place |\n| --- | --- |\n| total | [shop/pricing.py:6-8] and [more](https://example.com/more) |\n\n"
    "```python\nreturn sum(cents for _, cents in items)  # [shop/pricing.py:6-8]\n```\n\n"
    "A claim that nothing shows [shop/nowhere.py:1-2].\n"
)


@pytest.mark.parametrize("turns", [[replied(RICH)]])
def test_axe_finds_nothing_serious_in_an_answer(page: Page, answering: ServedPage) -> None:
    if not AXE.is_file():
        missing("axe-core is not installed: make web")
    opened(page, answering)
    ask(page)
    expect(answer(page).get_by_text("A claim that nothing shows")).to_be_visible(timeout=LONG_S * 1000)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    wide = violations_in_each_theme(page)
    answer(page).get_by_role("link", name=re.compile("pricing.py:6-8")).first.click()
    expect(page.get_by_role("complementary").last).to_be_visible()
    viewing = violations_in_each_theme(page)
    page.set_viewport_size({"width": 400, "height": 800})
    assert wide + viewing + violations_in_each_theme(page) == []
