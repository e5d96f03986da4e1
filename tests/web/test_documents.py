"""Documents in the viewer: Markdown and notebooks as their writers meant them, and nothing that could do harm."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from .conftest import ServedPage
from .test_shell import violations_in_each_theme

README = """---
title: Shop
---
# Shop

Prices of [orders](shop/pricing.py#L6-L9), see [below](#how-it-works) or [the web](https://example.org/x).

![logo](https://tracker.example/pixel.png) <img src=x onerror="window.hit = 1">

<script>window.hit = 1</script>

[run](javascript:window.hit=1) [out](../../etc/passwd) [host](//evil.example/x)

| item | price |
| --- | --- |
| pear | 3 |

```python
def total():
    return 1
```

- [x] done

## How it works

It adds.
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["## Analysis\n", "\n", "of prices"]},
        {
            "cell_type": "code",
            "source": ["print(sum([1, 2]))"],
            "outputs": [{"output_type": "stream", "text": ["3\n"]}],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
}


@pytest.fixture
def shop(served: ServedPage) -> ServedPage:
    (served.shop / "GUIDE.md").write_text(README, encoding="utf-8")
    (served.shop / "deep.md").write_text(">" * 20_000 + " deep\n" + "[" * 20_000, encoding="utf-8")
    (served.shop / "book.ipynb").write_text(json.dumps(NOTEBOOK), encoding="utf-8")
    served.add()
    return served


def opened(page: Page, shop: ServedPage, file: str) -> None:
    page.goto(f"{shop.url}/projects?project=shop&file={file}")


def test_a_page_of_markdown_is_rendered_and_its_source_one_click_away(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "GUIDE.md")
    text = page.get_by_role("region", name="GUIDE.md")
    expect(text.get_by_role("heading", name="Shop")).to_be_visible()
    expect(text.get_by_role("cell", name="pear")).to_be_visible()
    expect(text.locator(".hljs-keyword").first).to_be_visible()
    expect(text).not_to_contain_text("title: Shop")
    page.get_by_role("button", name="Show the source").click()
    expect(page.locator('[data-line="2"]')).to_contain_text("title: Shop")
    page.get_by_role("button", name="Show as a page").click()
    expect(text.get_by_role("heading", name="Shop")).to_be_visible()


def test_lines_of_a_page_are_shown_in_its_source(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "GUIDE.md&lines=4")
    expect(page.locator('.code-line-marked[data-line="4"]')).to_contain_text("# Shop")
    page.get_by_role("button", name="Show as a page").click()
    page.get_by_role("button", name="Outline").click()
    page.locator(".outline").get_by_role("button", name="How it works").click()
    expect(page.locator(".code-line-marked").first).to_contain_text("## How it works")


def test_links_lead_into_the_project_to_headings_and_to_the_web(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "GUIDE.md")
    text = page.get_by_role("region", name="GUIDE.md")
    link = text.get_by_role("link", name="the web")
    expect(link).to_have_attribute("href", "https://example.org/x")
    expect(link).to_have_attribute("rel", re.compile("noreferrer"))
    text.get_by_role("button", name="below").click()
    expect(text.get_by_role("heading", name="How it works")).to_be_in_viewport()
    text.get_by_role("link", name="orders").click()
    expect(page).to_have_url(re.compile(r"file=shop%2Fpricing.py&lines=6-9"))
    expect(page.locator('.code-line-marked[data-line="6"]')).to_be_visible()


def test_nothing_of_a_page_runs_and_no_picture_is_loaded(page: Page, shop: ServedPage) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    opened(page, shop, "GUIDE.md")
    text = page.get_by_role("region", name="GUIDE.md")
    expect(text.get_by_role("heading", name="How it works")).to_be_visible()
    expect(text).to_contain_text("The HTML in this file is left out here.")
    expect(text.locator("img, script, iframe")).to_have_count(0)
    expect(text.get_by_text("logo")).to_be_visible()
    expect(text.get_by_role("link")).to_have_count(2)
    for name in ("run", "out", "host"):
        expect(text.get_by_text(name, exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hit") is None
    assert [url for url in asked if not url.startswith((f"{shop.url}/", "data:"))] == []


def test_a_page_that_cannot_be_rendered_is_shown_as_it_is(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "deep.md")
    expect(page.get_by_role("region", name="deep.md")).to_contain_text("deep")


def test_a_notebook_is_shown_cell_by_cell(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "book.ipynb")
    text = page.get_by_role("region", name="book.ipynb")
    expect(text.get_by_role("heading", name="Analysis")).to_be_visible()
    expect(text.locator("pre")).to_have_text(["print(sum([1, 2]))", "3"])


def test_a_rendered_page_is_for_everyone_and_fits_a_phone(page: Page, shop: ServedPage) -> None:
    opened(page, shop, "GUIDE.md")
    expect(page.get_by_role("region", name="GUIDE.md").get_by_role("heading", name="Shop")).to_be_visible()
    wide = violations_in_each_theme(page)
    page.set_viewport_size({"width": 360, "height": 640})
    expect(page.get_by_role("dialog", name="Code")).to_be_visible()
    assert wide + violations_in_each_theme(page) == []
    assert page.evaluate(
        "document.querySelector('.rendered').scrollWidth <= document.querySelector('.rendered').clientWidth"
    )
