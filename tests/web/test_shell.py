"""What stands around every page: menu, themes, languages; what it loads, and that everyone can use it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .conftest import ServedPage


def test_the_first_page_is_where_a_project_is_added_and_later_the_search(page: Page, served: ServedPage) -> None:
    page.goto(served.url)
    expect(page).to_have_url(re.compile("/projects$"))
    served.add()
    page.goto(served.url)
    expect(page).to_have_url(re.compile("/search$"))
