"""Signing in with OpenID Connect in a browser: to the provider and back, the name, signing out, and failures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.openid import CLIENT, SECRET, Provider, providing

from codefathom.server.access.credentials import SignInRules
from codefathom.server.access.openid_client import OpenIdClient
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import rule_of
from codefathom.server.server_config import ServerConfig

from .conftest import ServedPage, serving

ROOT = Token("root", hash_of("of-root"))


@contextmanager
def site(folder: Path, config: ServerConfig, root: str = "") -> Iterator[tuple[ServedPage, Provider]]:
    """A server with the shop indexed, and its provider."""
    with providing() as provider:
        openid = OpenIdClient(provider.issuer, CLIENT, SECRET)
        rules = SignInRules(roles=(rule_of("ada@example.org=admin"),), openid=openid)
        with serving(folder, replace(config, sign_in=rules, tokens=(ROOT,), root_path=root)) as served:
            provider.redirects.add(f"{served.url}{root}/sign-in/callback")
            served.client.headers["authorization"] = "Bearer of-root"
            served.add()
            yield served, provider


@pytest.mark.parametrize("root", ["", "/code"])
def test_a_person_is_led_to_the_provider_and_back_to_the_page(
    root: str, page: Page, config: ServerConfig, tmp_path: Path
) -> None:
    with site(tmp_path, config, root) as (served, _):
        page.goto(f"{served.url}{root}/search?q=price")
        expect(page.get_by_text("Signed in as ada@example.org")).to_be_visible()
        assert page.url.startswith(f"{served.url}{root}/search?q=price")
        # What changes something works with the session, too.
        page.goto(f"{served.url}{root}/people")
        page.get_by_label("Name", exact=True).fill("ci")
        page.get_by_role("button", name="Make a token").click()
        page.get_by_role("button", name="I have copied it").click()
        assert page.evaluate("document.cookie") == ""
        page.set_viewport_size({"width": 360, "height": 720})
        expect(page.get_by_role("button", name="Sign out").locator("svg")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        dialog = page.get_by_role("dialog", name="Sign in to continue")
        expect(dialog).to_be_visible()
        page.reload()
        expect(dialog).to_be_visible()  # nobody is signed in again unasked
        expect(dialog).to_contain_text("Or use a token")
        dialog.get_by_role("button", name="Sign in").click()
        expect(page.locator(".who")).to_contain_text("Signed in as ada@example.org")


@pytest.mark.parametrize(
    ("language", "said", "button"),
    [("en", "no line of server.roles fits", "Sign in"), ("zh", "你在此服务器上没有任何权限", "登录")],
)
def test_a_person_without_rights_is_told_so(
    language: str, said: str, button: str, page: Page, config: ServerConfig, tmp_path: Path
) -> None:
    page.add_init_script(f"localStorage.setItem('fathom.language', '{language}')")
    with site(tmp_path, config) as (served, provider):
        provider.person["email"] = "eve@example.org"
        page.goto(served.url)
        alert = page.get_by_role("alert").filter(has_text=said)
        expect(alert).to_be_visible()
        expect(alert).to_contain_text("eve@example.org")
        expect(page.get_by_role("dialog")).to_have_count(0)
        provider.person["email"] = "ada@example.org"
        page.get_by_role("button", name=re.compile(button)).click()
        expect(page.locator(".who")).to_contain_text("ada@example.org")


def test_when_a_session_has_ended_the_provider_is_asked_again(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    with site(tmp_path, config) as (served, provider):
        page.goto(f"{served.url}/projects")
        expect(page.get_by_text("Signed in as ada@example.org")).to_be_visible()
        page.context.clear_cookies()
        page.goto(f"{served.url}/search")
        expect(page.get_by_text("Signed in as ada@example.org")).to_be_visible()
        expect(page).to_have_url(f"{served.url}/search")
        assert provider.log.count("/authorize") == 2
