"""What stands around every page: menu, themes, languages; what it loads, and that everyone can use it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

from .conftest import STATIC, ServedPage, missing, serving

WEB = Path(__file__).parents[2] / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
PLACE = "project=shop&file=shop/pricing.py&lines=6-9"
PAGES = (
    "/search?q=price",
    "/chat",
    "/projects",
    "/projects?add",
    "/project/shop",
    "/monitoring",
    "/people",
    f"/projects?{PLACE}",
)
MOST_INITIAL_BYTES = 179_500
# With what a page needs itself, compressed. None may need more than 250,000.
MOST_BYTES_OF = {"search": 208_000, "projects": 234_500, "chat": 244_000, "monitoring": 240_000, "people": 237_500}
SECRET = "fathom_of_this_test"


def settled(page: Page, address: str) -> None:
    """Open a page and wait until it has all that it asks for at the beginning."""
    page.goto(address)
    expect(page.get_by_role("main")).to_be_visible()
    page.wait_for_load_state("networkidle")


# ---- where pages lead


def test_the_first_page_is_where_a_project_is_added_and_later_the_search(page: Page, served: ServedPage) -> None:
    page.goto(served.url)
    expect(page).to_have_url(re.compile("/projects$"))
    served.add()
    page.goto(served.url)
    expect(page).to_have_url(re.compile("/search$"))


def test_the_menu_leads_to_each_page_and_says_which_one_is_open(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}/projects")
    menu = page.get_by_role("navigation", name="Pages")
    for name, path in (("Chat", "chat"), ("Search", "search"), ("Monitoring", "monitoring"), ("Projects", "projects")):
        menu.get_by_role("link", name=name).click()
        expect(page).to_have_url(f"{served.url}/{path}")
        expect(menu.locator("[aria-current=page]")).to_have_text(name)
    page.go_back()
    expect(page).to_have_url(f"{served.url}/monitoring")


def test_each_page_has_a_title_of_its_own(page: Page, served: ServedPage) -> None:
    served.add()
    for path, title in (
        ("/search", "Search · Codefathom"),
        ("/search?q=price+of+orders", "price of orders · Search · Codefathom"),
        ("/chat", "Chat · Codefathom"),
        ("/projects", "Projects · Codefathom"),
        ("/monitoring", "Monitoring · Codefathom"),
    ):
        page.goto(f"{served.url}{path}")
        expect(page).to_have_title(title)


def test_an_address_that_leads_nowhere_says_so_and_leads_back(page: Page, served: ServedPage) -> None:
    response = page.goto(f"{served.url}/nothing/here")
    assert response is not None
    assert response.status == 404
    expect(page.get_by_role("main")).to_contain_text("There is no such page")
    page.get_by_role("main").get_by_role("link").click()
    expect(page).to_have_url(re.compile("/projects$"))


def test_the_keyboard_gets_past_the_menu_and_through_it(page: Page, served: ServedPage) -> None:
    settled(page, f"{served.url}/monitoring")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("link", name="Projects").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.url}/projects")


# ---- themes and languages


def theme_of(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.theme"))


def test_the_theme_is_that_of_the_system_until_one_is_chosen(page: Page, served: ServedPage) -> None:
    settled(page, f"{served.url}/projects")
    assert theme_of(page) == "light"
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("radio", name="Light").check()
    assert theme_of(page) == "light"
    page.reload()
    expect(page.get_by_role("radio", name="Light")).to_be_checked()
    assert theme_of(page) == "light"
    page.get_by_role("radio", name="Like the system").check()
    assert theme_of(page) == "dark"


def test_the_language_is_that_of_the_browser_until_one_is_chosen(chromium: Any, served: ServedPage) -> None:
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    settled(page, f"{served.url}/projects")
    expect(page.get_by_role("navigation", name="页面")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.get_by_role("radio", name="English").check()
    expect(page.get_by_role("link", name="Monitoring")).to_be_visible()
    page.reload()
    expect(page.get_by_role("link", name="Monitoring")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "en"
    context.close()


# ---- what it loads


def test_nothing_is_asked_of_another_host(page: Page, served: ServedPage) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    served.add()
    for path in PAGES:
        settled(page, f"{served.url}{path}")
    assert len(asked) > 20
    assert [url for url in asked if not url.startswith((f"{served.url}/", "data:", "blob:"))] == []
    # What the policy of the page forbids is said here. The shop is no repository, so its first page gets no commits.
    assert [text for text in complaints if "404 (Not Found)" not in text] == []


def initial_files(*pages: str) -> Iterator[Path]:
    """All that is loaded before a page is chosen, and with it what these pages need."""
    manifest = json.loads((STATIC / ".vite" / "manifest.json").read_text(encoding="utf-8"))
    left, seen = ["index.html", *(f"src/{page}/index.tsx" for page in pages)], set()
    yield STATIC / "index.html"
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            chunk = manifest[name]
            left += chunk.get("imports", [])
            yield from (STATIC / file for file in (chunk["file"], *chunk.get("css", [])))


def test_the_first_load_is_small_and_each_page_a_file_of_its_own() -> None:
    if not (STATIC / "index.html").is_file():
        missing("the page is not built: make web")
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in initial_files()}
    assert sum(sizes.values()) <= MOST_INITIAL_BYTES, sizes
    manifest = json.loads((STATIC / ".vite" / "manifest.json").read_text(encoding="utf-8"))
    lazy = {name for name, chunk in manifest.items() if chunk.get("isDynamicEntry")}
    assert {f"src/{name}/index.tsx" for name in ("chat", "search", "projects", "monitoring", "viewer")} <= lazy


@pytest.mark.parametrize("name", MOST_BYTES_OF)
def test_no_page_grows_unnoticed(name: str) -> None:
    if not (STATIC / "index.html").is_file():
        missing("the page is not built: make web")
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in initial_files(name)}
    assert sum(sizes.values()) <= MOST_BYTES_OF[name], sizes


def test_no_component_is_longer_than_two_hundred_lines() -> None:
    n_lines = {path.name: path.read_text(encoding="utf-8").count("\n") for path in (WEB / "src").rglob("*.tsx")}
    assert len(n_lines) > 50
    assert {name: n for name, n in n_lines.items() if n > 200} == {}


# ---- for everyone


def violations_in_each_theme(page: Page) -> list[str]:
    """Return all that axe finds, and then what it says of the colours of the dark theme."""
    light = violations(page)
    show_theme(page, "dark")
    dark = violations(page, ("color-contrast", "link-in-text-block"))
    show_theme(page, "light")
    return light + [f"dark: {text}" for text in dark]


def show_theme(page: Page, theme: Any) -> None:
    page.emulate_media(color_scheme=theme)
    expect(page.locator("html")).to_have_attribute("data-theme", theme)


def violations(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """Return all that axe finds, or what these of its rules find."""
    # An animation halfway has colours of its own.
    page.wait_for_timeout(400)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    # What opens, such as a menu, hangs below the body, beside all landmarks, so that nothing cuts it off.
    found = page.evaluate(
        """async (rules) => {
            const only = rules.length ? { runOnly: { type: "rule", values: rules } } : {};
            const { violations } = await axe.run(document, { resultTypes: ["violations"], ...only });
            const popups = ".ant-dropdown, .ant-popover, .ant-select-dropdown, .ant-tooltip";
            const isPopup = ({ target }) => {
                const node = document.querySelector(target[0]);
                return node?.closest(popups) || node?.querySelector(popups);
            };
            return violations.flatMap(({ id, nodes }) =>
                nodes.filter((node) => id !== "region" || !isPopup(node)).map((node) => ({ id, ...node })));
        }""",
        list(rules),
    )
    return [f"{node['id']}: {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}" for node in found]


@pytest.mark.parametrize("path", [*PAGES, "/nothing/here"])
def test_axe_finds_nothing(page: Page, served: ServedPage, path: str) -> None:
    if not AXE.is_file():
        missing("axe-core is not installed: make web")
    served.add()
    settled(page, f"{served.url}{path}")
    expect(page.get_by_role("heading", level=1)).not_to_have_count(0)
    wide = violations_in_each_theme(page)
    page.set_viewport_size({"width": 400, "height": 800})
    assert wide + violations_in_each_theme(page) == []


def test_every_page_fits_a_phone(page: Page, served: ServedPage) -> None:
    served.add()
    page.set_viewport_size({"width": 360, "height": 640})
    for path in PAGES:
        settled(page, f"{served.url}{path}")
        too_wide = page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll("main")]
                .filter((item) => item.scrollWidth > item.clientWidth).map((item) => item.tagName)"""
        )
        assert too_wide == [], path
    settled(page, f"{served.url}/projects")
    page.get_by_role("button", name="Appearance, Language").click()
    page.get_by_role("radio", name="Dark").check()
    assert theme_of(page) == "dark"
    page.get_by_role("link", name="Chat").click()
    expect(page).to_have_url(f"{served.url}/chat")


# ---- who may ask


def test_a_server_with_tokens_asks_for_one_and_remembers_it(page: Page, config: ServerConfig, tmp_path: Path) -> None:
    guarded = replace(config, tokens=(Token("team", hash_of(SECRET)),))
    with serving(tmp_path, guarded) as served:
        page.goto(f"{served.url}/projects")
        dialog = page.get_by_role("dialog", name="This server requires a token")
        field = dialog.get_by_label("Token", exact=True)
        field.fill("wrong")
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog.get_by_role("alert")).to_have_text("The server does not know this token.")
        field.fill(SECRET)
        page.keyboard.press("Enter")
        expect(dialog).to_be_hidden()
        expect(page.get_by_role("main").get_by_role("alert")).to_have_count(0)
        page.reload()
        page.wait_for_load_state("networkidle")
        expect(dialog).to_be_hidden()


@pytest.mark.parametrize("projects", [frozenset(), frozenset({"shop"})], ids=["all", "kept"])
def test_what_a_token_may_not_do_is_not_offered(
    page: Page, config: ServerConfig, tmp_path: Path, projects: frozenset[str]
) -> None:
    tokens = (Token("team", hash_of(SECRET), projects), Token("manager", hash_of("m")))
    page.add_init_script(f"localStorage.setItem('fathom.token', '{SECRET}')")
    may = int(not projects)
    with serving(tmp_path, replace(config, tokens=tokens)) as served:
        served.client.headers["authorization"] = "Bearer m"
        served.add()
        page.goto(f"{served.url}/projects?add")
        expect(page.get_by_role("heading", name="shop")).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("dialog")).to_have_count(may)
        page.goto(f"{served.url}/projects")
        expect(page.get_by_role("heading", name="shop")).to_be_visible()
        expect(page.get_by_role("link", name="Monitoring")).to_have_count(may)
        expect(page.get_by_role("button", name="Add a project")).to_have_count(may)
        page.get_by_role("button", name="More about shop").click()
        items = page.get_by_role("menuitem")
        expect(items.filter(has_text=re.compile("left out", re.IGNORECASE))).to_have_count(1)
        for name in ("Settings", "Store", "Remove"):
            expect(items.filter(has_text=name)).to_have_count(may)
        page.goto(f"{served.url}/projects?about=shop&tab=history")
        watched = page.get_by_role("switch")
        expect(watched).to_be_enabled() if may else expect(watched).to_be_disabled()
        expect(page.get_by_role("tab")).to_have_count(4 if may else 2)


def test_a_server_that_is_gone_is_named_as_the_trouble(page: Page, served: ServedPage) -> None:
    page.route("**/api/**", lambda route: route.abort())
    page.goto(served.url)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    expect(page).to_have_url(re.compile("/projects$"))
