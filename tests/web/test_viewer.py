"""The code beside the page: opened by an address, moved through by mouse and keyboard, shared by its address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from .conftest import ServedPage

PLACE = "project=shop&file=shop/pricing.py&lines=6-9"


@pytest.fixture
def shop(served: ServedPage) -> ServedPage:
    """The shop with one more file, a long one, indexed."""
    lines = [f"def step_{number}():\n    return {number}\n" for number in range(5_000)]
    (served.shop / "long.py").write_text("".join(lines), encoding="utf-8")
    served.add()
    return served


def marked(page: Page) -> list[str]:
    return page.locator(".code-line-marked").evaluate_all("lines => lines.map((line) => line.dataset.line)")


def test_an_address_opens_a_file_at_its_lines(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?{PLACE}")
    viewer = page.get_by_role("complementary", name="Code")
    expect(viewer.get_by_role("region", name="shop/pricing.py")).to_contain_text("def total_cents")
    assert marked(page) == ["6", "7", "8", "9"]
    expect(viewer.locator(".hljs-keyword").first).to_be_visible()
    expect(viewer.locator(".viewer-head")).to_contain_text("6-9")


def test_lines_far_down_are_in_sight(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file=long.py&lines=2001-2002")
    expect(page.locator('[data-line="2001"]')).to_be_in_viewport()
    expect(page.locator('[data-line="2001"]')).to_contain_text("def step_1000")
    expect(page.locator('[data-line="1"]')).not_to_be_in_viewport()


def test_of_a_long_file_a_part_is_shown_and_then_the_next(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file=long.py")
    expect(page.get_by_text("Only lines 1 to 4,000 of 10,000 are shown.")).to_be_visible()
    page.get_by_role("button", name="Go on reading").click()
    expect(page.locator('[data-line="4001"]')).to_be_in_viewport()
    expect(page.locator('[data-line="1"]')).to_have_count(0)


def test_a_click_on_numbers_marks_lines_and_changes_the_address(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?{PLACE}")
    page.locator('[data-number="3"]').click()
    expect(page).to_have_url(re.compile("lines=3$"))
    expect(page.locator(".code-line-marked")).to_have_count(1)
    page.locator('[data-number="5"]').click(modifiers=["Shift"])
    expect(page).to_have_url(re.compile("lines=3-5$"))
    expect(page.locator(".code-line-marked")).to_have_count(3)
    assert marked(page) == ["3", "4", "5"]


def test_outline_and_tree_lead_to_other_places_and_back(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?{PLACE}")
    page.get_by_role("button", name="Outline").click()
    page.get_by_role("button", name="discount").click()
    expect(page.locator('.code-line-marked[data-line="11"]')).to_contain_text("def discount")
    page.get_by_role("button", name="Files", exact=True).click()
    expect(page.locator(".tree [aria-current]")).to_have_text("pricing.py")
    page.get_by_role("button", name="web", exact=True).click()
    page.get_by_role("button", name="src", exact=True).click()
    page.get_by_role("button", name="cart.ts").click()
    expect(page.get_by_role("region", name="web/src/cart.ts")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("region", name="shop/pricing.py")).to_be_visible()


def test_escape_closes_it_and_keeps_the_page(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?{PLACE}")
    expect(page.get_by_role("region", name="shop/pricing.py")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary", name="Code")).to_have_count(0)
    expect(page).to_have_url(f"{shop.url}/projects")


def test_its_width_is_changed_by_keyboard_and_remembered(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?{PLACE}")
    handle = page.get_by_role("separator", name="Width of the viewer")
    before = int(handle.get_attribute("aria-valuenow") or 0)
    handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuenow", str(before - 40))
    page.reload()
    expect(handle).to_have_attribute("aria-valuenow", str(before - 40))


def test_a_file_that_comes_late_leaves_the_keyboard_where_it_is(page: Page, shop: ServedPage) -> None:
    outline = page.get_by_role("button", name="Outline")

    def moved_on(route: Route) -> None:
        outline.focus()
        route.continue_()

    page.route(re.compile("/file\\?"), moved_on)
    page.goto(f"{shop.url}/projects?{PLACE}")
    expect(page.get_by_role("region", name="shop/pricing.py")).to_be_visible()
    expect(outline).to_be_focused()


def test_on_a_phone_it_lies_over_the_page(page: Page, shop: ServedPage) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{shop.url}/projects?{PLACE}")
    dialog = page.get_by_role("dialog", name="Code")
    expect(dialog.get_by_role("region", name="shop/pricing.py")).to_be_visible()
    dialog.get_by_role("button", name="Close the viewer").click()
    expect(dialog).to_have_count(0)


def test_a_file_that_is_not_there_is_named(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file=gone.py")
    expect(page.get_by_role("alert")).to_contain_text("no such file in the index: 'gone.py'")
