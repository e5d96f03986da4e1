"""The page of people and tokens: who has signed in, tokens of programs, who did what."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import httpx
from playwright.sync_api import Browser, Page, expect

from codefathom.server.access.audit_list import AuditAction
from codefathom.server.access.credentials import SignInRules
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.client_address import network_of
from codefathom.server.http.user_roles import Role, rule_of
from codefathom.server.server_config import ServerConfig

from .conftest import serving

WEB = Path(__file__).parents[2] / "web"
ROOT = Token("root", hash_of("of-root"))
READER = Token("reader", hash_of("of-reader"), frozenset({"shop"}), Role.READER)


def signed_in(page: Page, secret: str) -> None:
    page.add_init_script(f"localStorage.getItem('seen') || localStorage.setItem('fathom.token', '{secret}')")


def test_a_token_is_made_shown_once_and_revoked(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    signed_in(page, "of-root")
    with serving(tmp_path, replace(config, tokens=(ROOT,))) as served:
        page.goto(f"{served.url}/people")
        page.get_by_label("Name", exact=True).fill("ci")
        page.get_by_label("Projects", exact=True).fill("shop, pay-*")
        page.get_by_role("button", name="Make a token").click()
        dialog = page.get_by_role("dialog", name="The new token ci")
        secret = dialog.locator("code").inner_text().strip()
        headers = {"authorization": f"Bearer {secret}"}
        assert httpx.get(f"{served.url}/api/session", headers=headers).json()["name"] == "ci"
        dialog.get_by_role("button", name="I have copied it").click()
        expect(dialog).to_be_hidden()
        row = page.get_by_role("row", name=re.compile("^ci"))
        expect(row).to_contain_text("reader")
        expect(row).to_contain_text("shop, pay-*")
        row.get_by_role("button", name="Revoke the token ci").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
        expect(row).to_contain_text("revoked")
        assert httpx.get(f"{served.url}/api/session", headers=headers).status_code == 401
        page.reload()
        audit = page.get_by_role("region", name="Who did what")
        expect(audit.get_by_role("row")).to_have_count(3)
        expect(audit).to_contain_text("token revoked")
        assert secret not in page.content()


def test_what_was_done_is_said_in_the_language_of_the_page(
    chromium: Browser, config: ServerConfig, tmp_path: Path
) -> None:
    text = (WEB / "src/people/actions-text.ts").read_text(encoding="utf-8")
    named = re.findall(r'^    "([a-z ]+)": "', text, re.MULTILINE)
    assert named == [*get_args(AuditAction)] * 2  # English and Chinese
    with serving(tmp_path, replace(config, tokens=(ROOT,))) as served, chromium.new_context(locale="zh-CN") as context:
        signed_in(context, "of-root")
        page = context.new_page()
        served.client.headers["authorization"] = "Bearer of-root"
        served.add()
        page.goto(f"{served.url}/people")
        row = page.get_by_role("region", name="操作记录").get_by_role("row").nth(1)
        expect(row.get_by_role("cell").nth(2)).to_have_text("添加项目")


def test_only_administrators_see_the_page(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    signed_in(page, "of-reader")
    with serving(tmp_path, replace(config, tokens=(ROOT, READER))) as served:
        served.client.headers["authorization"] = "Bearer of-root"
        served.add()
        page.goto(f"{served.url}/projects")
        expect(page.get_by_role("heading", name="shop")).to_be_visible()
        expect(page.get_by_text("Signed in as reader")).to_be_visible()
        expect(page.get_by_role("link", name="People")).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("^(Update|Index)"))).to_have_count(0)
        page.goto(f"{served.url}/people")
        expect(page.get_by_role("alert").first).to_be_visible()


def test_signing_out_forgets_the_token(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    with serving(tmp_path, replace(config, tokens=(ROOT,))) as served:
        page.goto(served.url)
        page.get_by_role("dialog").get_by_label("Token", exact=True).fill("of-root")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Forget the token in this browser").click()
        expect(page.get_by_role("dialog", name="This server requires a token")).to_be_visible()
        assert page.evaluate("localStorage.getItem('fathom.token')") is None


def test_a_person_of_a_proxy_is_named(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    rules = SignInRules(roles=(rule_of("*=admin"),), user_header="X-Forwarded-User")
    page.set_extra_http_headers({"X-Forwarded-User": "ada@example.org"})
    with serving(tmp_path, replace(config, trusted_proxies=(network_of("127.0.0.1"),), sign_in=rules)) as served:
        page.goto(f"{served.url}/people")
        expect(page.get_by_text("Signed in as ada@example.org")).to_be_visible()
        expect(page.get_by_role("heading", name="Tokens of programs")).to_be_visible()
        expect(page.get_by_role("button", name="Forget the token in this browser")).to_have_count(0)
