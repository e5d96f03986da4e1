"""Pictures and pages of PDF files in the viewer, by click and by key, in both languages; nothing in them runs."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Request, expect
from tests.documents import pdf, png

from .conftest import ServedPage
from .test_shell import violations

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" onload="window.hit = 1">
<script>window.hit = 1</script><image href="https://tracker.example/pixel.png"/><rect width="40" height="30"/>
</svg>
"""
GUIDE = """\
# Guide

![the logo](pictures/logo.png) ![elsewhere](https://tracker.example/pixel.png) ![none](pictures/none.png)

See [the logo alone](pictures/logo.png).
"""


@pytest.fixture
def shop(served: ServedPage) -> ServedPage:
    (served.shop / "pictures").mkdir()
    (served.shop / "pictures" / "logo.png").write_bytes(png(40, 30))
    (served.shop / "drawing.svg").write_text(SVG)
    (served.shop / "GUIDE.md").write_text(GUIDE)
    (served.shop / "book.pdf").write_bytes(pdf(["Prices\nof pears", "Orders\nof plums"]))
    served.add()
    return served


def is_elsewhere(request: Request, shop: ServedPage) -> bool:
    return not request.url.startswith((shop.url, "data:"))


def is_drawn(picture: Locator) -> None:
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("image => image.naturalWidth") > 0


def test_pictures_are_in_the_tree_and_are_shown(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file=GUIDE.md")
    page.get_by_role("button", name="Files").click()
    page.locator(".tree").get_by_role("button", name="pictures").click()
    page.locator(".tree").get_by_role("button", name="logo.png").press("Enter")
    is_drawn(page.get_by_role("img", name="pictures/logo.png"))
    expect(page.get_by_role("button", name="Outline")).to_have_count(0)
    assert violations(page) == []
    page.goto(f"{shop.url}/projects?project=shop&file=pictures/none.png")
    expect(page.get_by_text("no such picture in the index")).to_be_visible()


def test_a_text_has_its_own_pictures_and_none_from_elsewhere(page: Page, shop: ServedPage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{shop.url}/projects?project=shop&file=GUIDE.md")
    is_drawn(page.get_by_role("img", name="the logo"))
    expect(page.locator(".rendered-picture")).to_have_text(["elsewhere", "none"])
    page.get_by_role("link", name="the logo alone").click()
    is_drawn(page.get_by_role("img", name="pictures/logo.png"))
    assert [url for url in asked if not url.startswith((shop.url, "data:"))] == []


def test_a_drawing_is_an_image_and_its_source_one_click_away(page: Page, shop: ServedPage) -> None:
    elsewhere: list[str | None] = []
    page.on("requestfinished", lambda request: elsewhere.append(request.url) if is_elsewhere(request, shop) else None)
    page.on("requestfailed", lambda request: elsewhere.append(request.failure) if is_elsewhere(request, shop) else None)
    page.goto(f"{shop.url}/projects?project=shop&file=drawing.svg")
    is_drawn(page.get_by_role("img", name="drawing.svg"))
    assert (page.evaluate("window.hit"), elsewhere) == (None, [])
    page.get_by_role("button", name="Show the source").click()
    expect(page.locator('[data-line="2"]')).to_contain_text("window.hit = 1")
    page.goto(f"{shop.url}/api/picture?project_id=shop&path=drawing.svg")
    assert page.evaluate("window.hit") is None
    assert set(elsewhere) <= {"csp"}  # as an answer of its own, too


def test_a_pdf_is_its_pages_one_at_a_time(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file=book.pdf")
    is_drawn(page.get_by_role("img", name="book.pdf, Page 1"))
    expect(page.get_by_role("button", name="Previous page")).to_be_disabled()
    page.get_by_role("button", name="Next page").press("Enter")
    is_drawn(page.get_by_role("img", name="book.pdf, Page 2"))
    assert violations(page) == []
    # From a line of its text one comes to the page that has it.
    page.goto(f"{shop.url}/projects?project=shop&file=book.pdf&lines=6")
    expect(page.locator('.code-line-marked[data-line="6"]')).to_contain_text("Orders")
    page.get_by_role("button", name="Show as a page").click()
    is_drawn(page.get_by_role("img", name="book.pdf, Page 2"))
