"""The name under the pointer: what it means, where it is defined, who uses it, and how certain that is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .conftest import ServedPage
from .test_shell import violations_in_each_theme

# Where a word stands in a line of the code: the middle of it, in the window.
WORD = """([line, word]) => {
  const code = document.querySelector(`[data-line="${line}"] code`);
  const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const place = node.data.indexOf(word);
    if (place < 0) continue;
    const range = document.createRange();
    range.setStart(node, place);
    range.setEnd(node, place + word.length);
    const box = range.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  }
  return null;
}"""


@pytest.fixture
def shop(served: ServedPage) -> ServedPage:
    """The shop, a file that uses its prices, and a test of them, indexed."""
    (served.shop / "shop" / "bill.py").write_text(
        "from shop.pricing import total_cents\n\n\ndef bill(order):\n    return total_cents(order)\n", encoding="utf-8"
    )
    (served.shop / "tests").mkdir(exist_ok=True)
    (served.shop / "tests" / "test_totals.py").write_text(
        "from shop.pricing import total_cents\n\n\ndef test_nothing():\n    assert total_cents([]) == 0\n",
        encoding="utf-8",
    )
    served.add()
    return served


def opened(page: Page, shop: ServedPage, path: str, lines: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{shop.url}/projects?project=shop&file={path}&lines={lines}")
    expect(page.locator(".hljs-keyword").first).to_be_visible()


def word(page: Page, line: int, name: str) -> tuple[float, float]:
    x, y = page.evaluate(WORD, [line, name])
    return x, y


def card(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name=name, exact=True)


def test_a_name_tells_what_it_means_and_who_uses_it(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "shop/bill.py", "4-5")
    page.mouse.move(*word(page, 5, "total_cents"))
    told = card(page, "total_cents")
    expect(told).to_contain_text("def total_cents(")
    expect(told).to_contain_text("function shop/pricing.py:6")
    expect(told).to_contain_text("known by scope and imports")
    place = shop.client.get(
        "/name-at", params={"project_id": "shop", "path": "shop/bill.py", "line": 5, "name": "total_cents"}
    ).json()
    assert place["n_uses"] >= 2
    expect(told.get_by_role("button", name=f"{place['n_uses']} uses")).to_be_visible()
    page.mouse.move(0, 0)
    expect(told).to_have_count(0)


def test_a_click_leads_to_the_definition_and_from_there_to_its_uses(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "shop/bill.py", "4-5")
    page.mouse.click(*word(page, 5, "total_cents"))
    expect(page).to_have_url(re.compile(r"file=shop%2Fpricing\.py&lines=6-"))
    expect(page.get_by_role("region", name="shop/pricing.py")).to_contain_text("def total_cents")
    expect(page.locator('[data-line="6"] .hljs-title').first).to_be_visible()
    page.mouse.click(*word(page, 6, "total_cents"))
    uses = page.locator(".uses")
    expect(uses.get_by_role("heading", name="Tests that touch it")).to_be_visible()
    expect(uses.get_by_role("link").filter(has_text="tests/test_totals.py:5")).to_be_visible()
    expect(uses.get_by_role("listitem").filter(has_text="shop/bill.py:5")).to_contain_text("known by scope and imports")
    uses.get_by_role("link").filter(has_text="shop/bill.py:5").click()
    expect(page.get_by_role("region", name="shop/bill.py")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("region", name="shop/pricing.py")).to_be_visible()


def test_uses_are_found_by_keyboard_too(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "shop/pricing.py", "6-9")
    page.get_by_role("button", name="Uses").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".uses").get_by_role("heading", name="total_cents")).to_be_visible()
    expect(page.locator(".uses").get_by_role("link").filter(has_text="shop/bill.py:5")).to_be_visible()


def test_words_that_name_nothing_tell_nothing(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "shop/bill.py", "4-5")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/name-at" in request.url else None)
    page.mouse.move(*word(page, 5, "return"))
    page.mouse.click(*word(page, 5, "return"))
    page.mouse.move(*word(page, 5, "total_cents"))
    expect(card(page, "total_cents")).to_be_visible()
    assert [url for url in asked if "name=return" in url] == []


def test_of_a_name_that_stands_everywhere_not_all_uses_are_looked_at(page: Page, served: ServedPage) -> None:
    calls = "".join(f"\n\ndef cost_{number}(order):\n    return total_cents(order)\n" for number in range(400))
    (served.shop / "costs.py").write_text(f"from shop.pricing import total_cents\n{calls}", encoding="utf-8")
    served.add()
    opened(page, served, "costs.py", "4-5")
    page.mouse.move(*word(page, 5, "total_cents"))
    expect(card(page, "total_cents").get_by_role("button")).to_have_text("At least 100 uses")


def test_what_is_copied_can_be_chosen(page: Page, shop: ServedPage) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, shop, "shop/pricing.py", "6-9")
    for name, text in (
        ("Copy the place", "shop/pricing.py:6-9"),
        ("Copy the place with its project", "shop/shop/pricing.py:6-9"),
        ("Copy a link to this page", page.url),
    ):
        page.get_by_role("button", name="Copy", exact=True).click()
        page.get_by_role("menuitem", name=name, exact=True).click()
        expect(page.get_by_text("Copied").first).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_axe_finds_nothing_in_a_card_and_the_uses(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "shop/pricing.py", "6-9")
    page.get_by_role("button", name="Uses").click()
    expect(page.locator(".uses").get_by_role("link").first).to_be_visible()
    page.mouse.move(*word(page, 6, "total_cents"))
    expect(card(page, "total_cents")).to_be_visible()
    assert violations_in_each_theme(page) == []
    expect(card(page, "total_cents")).to_be_visible()
