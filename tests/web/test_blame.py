"""Who wrote each line, beside the code, and the history of lines that a click shows."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.waiting import LONG_S

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

from .conftest import ServedPage, serving
from .test_shell import violations_in_each_theme

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

PLACE = "projects?project=shop&file=shop/pricing.py"


def committed(shop: Path, author: str, subject: str) -> None:
    who = ("-c", f"user.name={author}", "-c", "user.email=a@b.c")
    for words in (("add", "-A"), ("commit", "-qm", subject)):
        subprocess.run(["git", "-C", str(shop), *who, *words], check=True, timeout=LONG_S)


def with_history(served: ServedPage) -> ServedPage:
    """The shop with two commits and a change that is in none."""
    file = served.shop / "shop/pricing.py"
    subprocess.run(["git", "-C", str(served.shop), "init", "-q"], check=True, timeout=LONG_S)
    committed(served.shop, "Ann Example", "Open the shop")
    file.write_text(file.read_text().replace("for _, cents in items)", "for _, cents in items) + 1"))
    committed(served.shop, "Bo Li", "Charge the bag (#7)")
    file.write_text(file.read_text() + "\n\nLIMIT = 3\n")
    served.add()
    return served


@pytest.fixture
def shop(served: ServedPage) -> ServedPage:
    return with_history(served)


def test_each_line_says_who_wrote_it_and_leads_to_its_history(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/{PLACE}")
    code = page.get_by_role("region", name="shop/pricing.py")
    expect(code).to_contain_text("def total_cents")
    expect(code.locator(".wrote")).to_have_count(0)
    button = page.get_by_role("button", name="Who wrote each line")
    button.click()
    expect(code.locator('[data-line="1"] .wrote')).to_contain_text("Ann Example")
    changed = code.get_by_role("button", name="Charge the bag (#7)")
    expect(changed).to_contain_text("Bo Li")
    expect(code.get_by_text("In no commit yet")).to_have_count(1)
    changed.click()
    side = page.locator(".line-history")
    expect(side.get_by_role("listitem").first).to_contain_text("Charge the bag (#7)")
    expect(side.locator("pre").first).to_contain_text("for _, cents in items)")
    expect(side.locator('[data-sign="+"]').first).to_contain_text("+ 1")
    expect(side.get_by_role("listitem").last).to_contain_text("Open the shop")
    button.click()
    expect(code.locator(".wrote")).to_have_count(0)


def test_it_is_for_everyone_and_fits_a_phone(page: Page, shop: ServedPage) -> None:
    page.goto(f"{shop.url}/{PLACE}")
    page.get_by_role("button", name="Who wrote each line").click()
    page.get_by_role("button", name="Charge the bag (#7)").click()
    expect(page.locator(".line-history pre").first).to_be_visible()
    wide = violations_in_each_theme(page)
    page.set_viewport_size({"width": 360, "height": 640})
    dialog = page.get_by_role("dialog", name="Code")
    dialog.get_by_role("button", name="Who wrote each line").click()
    expect(dialog.get_by_role("button", name="Charge the bag (#7)")).to_be_visible()
    assert wide + violations_in_each_theme(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_folder_without_commits_says_why(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/{PLACE}")
    page.get_by_role("button", name="Who wrote each line").click()
    expect(page.get_by_role("alert")).to_contain_text("not inside a git repository")
    expect(page.get_by_role("region", name="shop/pricing.py")).to_contain_text("def total_cents")


def test_only_those_who_may_read_commits_are_offered_it(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    tokens = (Token("reader", hash_of("r"), frozenset({"shop"}), Role.READER), Token("manager", hash_of("m")))
    page.add_init_script("localStorage.setItem('fathom.token', 'r')")
    with serving(tmp_path, replace(config, tokens=tokens)) as served:
        served.client.headers["authorization"] = "Bearer m"
        with_history(served)
        page.goto(f"{served.url}/{PLACE}")
        expect(page.get_by_role("region", name="shop/pricing.py")).to_contain_text("def total_cents")
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("button", name="Who wrote each line")).to_have_count(0)
