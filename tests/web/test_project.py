"""A project's first page: what it is made of, a map of its modules that can be clicked and zoomed, and its commits."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

from .conftest import STATIC, ServedPage, serving
from .test_blame import PLACE, with_history
from .test_shell import initial_files, settled, violations_in_each_theme

# The library of the map keeps itself in the element that it draws in.
PLACE_OF = "([path, part]) => document.querySelector('.module-picture')._cyreg.cy.getElementById('/' + path)[part]()"
# The names that are shown, and how many of them lie on another one.
NAMES = """() => {
    const cy = document.querySelector(".module-picture")._cyreg.cy;
    const only = { includeNodes: false, includeEdges: false, includeOverlays: false, includeLabels: true };
    const shown = cy.nodes().toArray().filter((node) => node.numericStyle("text-opacity") > 0);
    const boxes = shown.map((node) => node.renderedBoundingBox(only));
    const onAnother = boxes.filter((one, index) => boxes.slice(index + 1).some((other) =>
        one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2));
    return [shown.map((node) => node.data("path")), onAnother.length];
}"""
ZOOM = "document.querySelector('.module-picture')._cyreg.cy.zoom()"


def depot(folder: Path) -> Path:
    """Make a project of several folders that import each other."""
    files = {
        "main.py": "from shop.cart import checkout\n",
        "shop/cart.py": "from shop.tax.rates import rate\n\n\nclass Cart:\n    pass\n",
        "shop/report.py": "from shop.cart import Cart\n\n\ndef report(cart: Cart): ...\n",
        "shop/tax/rates.py": "def rate():\n    return 7\n",
        "shop/tax/eu/vat.py": "from shop.tax import rates\n",
        "tests/test_cart.py": "from shop.cart import Cart\n",
        "README.md": "# Depot\n\nA Cart is checked out.\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    (folder / "fathom.toml").touch()
    return folder


@pytest.fixture
def ready(served: ServedPage) -> ServedPage:
    served.add(depot(served.folder / "depot"))
    return served


def opened(page: Page, served: ServedPage, query: str = "") -> Locator:
    page.goto(f"{served.url}/project/depot{query}")
    picture = page.get_by_role("img", name=re.compile("Map of"))
    picture.scroll_into_view_if_needed()  # it is drawn when somebody comes there
    expect(picture.locator("canvas").first).to_be_attached()
    return picture


def click_on(page: Page, picture: Locator, path: str) -> None:
    """Click where a folder is drawn."""
    picture.scroll_into_view_if_needed()
    at = page.evaluate(PLACE_OF, [path, "renderedPosition"])
    picture.click(position={"x": at["x"], "y": at["y"]})


def test_it_is_reached_from_the_projects_and_from_the_search(page: Page, ready: ServedPage) -> None:
    for path in ("projects", "search"):
        page.goto(f"{ready.url}/{path}")
        page.get_by_role("main").get_by_role("link", name="Overview" if path == "projects" else "depot").click()
        expect(page).to_have_url(f"{ready.url}/project/depot")
        expect(page.get_by_role("heading", name="depot", exact=True)).to_be_visible()
        expect(page).to_have_title("depot · Overview · Codefathom")
    page.reload()
    expect(page.get_by_role("region", name="Languages")).to_contain_text("python")
    expect(page.locator(".project-entries").get_by_role("link", name="main.py")).to_be_visible()
    types = page.get_by_role("region", name="Main types")
    types.get_by_role("link", name="Cart").click()
    expect(page).to_have_url(re.compile("file=shop%2Fcart.py&lines=4"))


def test_a_click_on_the_map_says_what_a_folder_imports(page: Page, ready: ServedPage) -> None:
    picture = opened(page, ready)
    click_on(page, picture, "shop")
    about = page.get_by_role("complementary", name="shop")
    expect(about).to_contain_text("Files: 2")
    lists = about.get_by_role("list")
    expect(lists.nth(0)).to_have_text("shop/tax 1")
    expect(lists.nth(1).get_by_role("listitem")).to_have_text([". 1", "tests 1"])
    lists.nth(0).get_by_role("button", name="shop/tax").click()
    expect(page.get_by_role("complementary", name="shop/tax")).to_be_visible()
    page.get_by_role("link", name="Search in this folder").click()
    expect(page).to_have_url(re.compile(r"/search\?in=depot&dir=shop%2Ftax"))


def test_the_map_is_zoomed_and_shows_the_inside_of_a_folder(page: Page, ready: ServedPage) -> None:
    opened(page, ready)
    before = page.evaluate(ZOOM)
    page.get_by_role("button", name="Zoom in").click()
    assert page.evaluate(ZOOM) == pytest.approx(before * 1.4)
    page.get_by_role("button", name="Show all").click()
    assert page.evaluate(ZOOM) == pytest.approx(before)
    opened(page, ready, "?folder=shop/tax")
    expect(page.get_by_role("img", name="Map of 2 modules.")).to_be_visible()
    page.get_by_role("navigation", name="Folder of the map").get_by_role("button", name="shop").click()
    expect(page).to_have_url(f"{ready.url}/project/depot?folder=shop")
    expect(page.get_by_role("img", name="Map of 3 modules.")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("img", name="Map of 2 modules.")).to_be_visible()


def test_no_name_lies_on_another_one_on_a_phone(page: Page, served: ServedPage) -> None:
    folder = depot(served.folder / "depot")
    for number in range(24):
        part = folder / f"department_of_goods_{number:02}"
        part.mkdir()
        (part / "goods.py").write_text("from shop.cart import Cart\n")
    served.add(folder)
    page.set_viewport_size({"width": 360, "height": 640})
    opened(page, served)
    few, n_on_another = page.evaluate(NAMES)
    assert n_on_another == 0
    assert "shop" in few  # what most others import
    assert len(few) > 3
    for _ in range(4):
        page.get_by_role("button", name="Zoom in").click()
    more, n_on_another = page.evaluate(NAMES)
    assert n_on_another == 0
    assert len(more) > len(few)
    hidden = "department_of_goods_07"
    page.get_by_text("All folders of this map").click()
    page.get_by_role("row").get_by_role("button", name=hidden).click()
    chosen, n_on_another = page.evaluate(NAMES)
    assert n_on_another == 0
    assert hidden in chosen


def test_the_table_says_the_same_to_the_keyboard(page: Page, ready: ServedPage) -> None:
    opened(page, ready)
    page.get_by_text("All folders of this map").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name="shop", exact=True))
    expect(row.get_by_role("cell")).to_have_text(["2", "9", "1", "2"])
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary", name="shop")).to_be_visible()


def test_a_wide_project_is_cut_and_a_folder_that_is_gone_named(page: Page, served: ServedPage) -> None:
    root = depot(served.folder / "depot")
    for number in range(70):
        (root / f"part{number}").mkdir()
        (root / f"part{number}" / "part.py").touch()
    served.add(root)
    opened(page, served)
    expect(page.get_by_role("main")).to_contain_text("smaller folders with")
    page.goto(f"{served.url}/project/depot?folder=gone")
    expect(page.get_by_role("alert")).to_contain_text("no code is indexed below 'gone'")
    page.goto(f"{served.url}/project/nowhere")
    expect(page.get_by_role("main")).to_contain_text("There is no such project")


def test_it_says_what_it_is_for_and_where_to_read_it(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/project/depot")
    expect(page.locator("blockquote")).to_contain_text("A Cart is checked out.")
    expect(page.locator("blockquote")).to_contain_text("The project's own words, from README.md")
    steps = page.get_by_role("region", name="Reading tour").get_by_role("listitem")
    expect(steps.nth(0)).to_contain_text("a program starts here, by its name")
    expect(steps.nth(1)).to_contain_text("imported by main.py")
    steps.nth(1).get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"file=shop%2Fcart\.py&lines=\d"))


def test_files_are_boxes_by_size_that_open_them(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/project/depot")
    region = page.get_by_role("region", name="Files by size and age")
    picture = region.get_by_role("img", name="8 files as boxes.")
    expect(picture.locator("g.is-week")).to_have_count(8)
    picture.locator("g.is-week", has_text="report.py").first.click()
    expect(page).to_have_url(re.compile("file=shop%2Freport.py"))
    page.go_back()
    region.get_by_text("All files of this map").click()
    expect(region.get_by_role("row")).to_have_count(9)
    loaded = [path.name for name in ("search", "projects", "chat", "project") for path in initial_files(name)]
    assert not [name for name in loaded if name.startswith("treemap-")]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_only_those_who_may_read_commits_see_the_last_ones(
    browser: BrowserContext, config: ServerConfig, tmp_path: Path
) -> None:
    tokens = tuple(Token(role.word, hash_of(role.word), role=role) for role in (Role.READER, Role.ADMIN))
    with serving(tmp_path, replace(config, tokens=tokens)) as served:
        served.client.headers["authorization"] = "Bearer admin"
        with_history(served)
        for name, may in (("reader", 0), ("admin", 1)):
            page: Any = browser.new_page()
            page.add_init_script(f"localStorage.setItem('fathom.token', '{name}')")
            settled(page, f"{served.url}/project/shop")
            commits = page.get_by_role("region", name="Recent commits")
            expect(commits).to_have_count(may)
            if may:
                expect(commits.get_by_role("listitem").first).to_contain_text("Charge the bag (#7)")
                expect(commits.get_by_role("listitem").last).to_contain_text("Open the shop")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_leads_to_the_host_of_its_repository(page: Page, served: ServedPage) -> None:
    with_history(served)

    def cloned(route: Route) -> None:
        """Answer as for a copy of a repository at a host that cannot be reached here."""
        answer = route.fetch()
        project = answer.json()
        for one in project.get("projects", [project]):
            one["url"] = "https://github.com/ann/shop.git"
        route.fulfill(response=answer, json=project)

    page.route(re.compile(r"/api/projects(/shop)?$"), cloned)
    host = re.compile(r"^https://github\.com/ann/shop/commit/[0-9a-f]{40}$")
    page.goto(f"{served.url}/project/shop")
    link = page.get_by_role("region", name="Recent commits").get_by_role("link")
    expect(link.first).to_have_attribute("href", host)
    page.goto(f"{served.url}/{PLACE}")
    page.get_by_role("button", name="Who wrote each line").click()
    page.get_by_role("button", name="Charge the bag (#7)").click()
    expect(page.locator(".line-history").get_by_role("link").first).to_have_attribute("href", host)


def test_it_is_for_everyone_and_fits_a_phone(page: Page, ready: ServedPage) -> None:
    picture = opened(page, ready)
    click_on(page, picture, "shop")
    page.get_by_text("All folders of this map").click()
    page.wait_for_load_state("networkidle")
    wide = violations_in_each_theme(page)
    page.set_viewport_size({"width": 360, "height": 640})
    assert wide + violations_in_each_theme(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 360


def test_the_library_of_the_map_is_loaded_with_it_alone() -> None:
    loaded = [path for name in ("search", "projects", "chat", "monitoring", "project") for path in initial_files(name)]
    assert any("cytoscape" in path.read_text() for path in STATIC.glob("assets/graph-*.js"))
    assert not [path.name for path in loaded if path.name.startswith("graph-")]


MOVES = """
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    window.moved = (window.moved ?? 0) + entry.value;
    (window.movers ??= []).push(...entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 80)));
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize(("width", "height"), [(1350, 940), (412, 823)])
def test_a_page_stays_where_it_is_while_its_parts_come(page: Page, served: ServedPage, width: int, height: int) -> None:
    for number in range(12):
        (served.shop / f"part{number}.py").write_text(
            f"import part{number + 1}\n\n\ndef part{number}():\n    return 1\n"
        )
    served.add()
    page.set_viewport_size({"width": width, "height": height})
    page.add_init_script(MOVES)
    # The parts come in the order that is worst for those below.
    held: dict[str, Route] = {}

    def hold(route: Route) -> None:
        held[route.request.url.partition("/api/")[2].partition("?")[0]] = route

    page.route(re.compile("/api/(glance|tour)"), hold)
    page.goto(f"{served.url}/project/shop")
    expect(page.locator(".module-picture")).to_be_attached()
    held.pop("glance").continue_()
    expect(page.locator(".treemap svg")).to_be_visible()
    held.pop("tour").continue_()
    expect(page.locator(".project-tour li")).to_have_count(10)
    assert page.evaluate("[window.moved ?? 0, window.movers]")[0] < 0.02, page.evaluate("window.movers")
