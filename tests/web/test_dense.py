"""Results at a glance: many on a screen, by file, counted, narrowed by a click, and found again by Back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.waiting import LONG_S

from .conftest import ServedPage
from .test_search import asked, box, choose, found, hits, links, written
from .test_shell import violations_in_each_theme

BODY = "\n".join(f"    weight = weight + parcel.parts[{n}]" for n in range(14))
WORDS = "weigh parcel"
WHOLE_IN_SIGHT = """() => {
  const page = document.querySelector('main').getBoundingClientRect();
  const list = [...document.querySelectorAll('[data-hit]')].map((hit) => hit.getBoundingClientRect());
  const top = document.querySelector('.search-top').getBoundingClientRect().bottom;
  return list.filter((hit) => hit.top >= top && hit.bottom <= Math.min(page.bottom, innerHeight)).length;
}"""


def parcels(folder: Path, n_files: int = 30) -> Path:
    """Make a project of functions that one question finds."""
    for number in range(n_files):
        place = folder / ("air" if number % 2 else "sea") / ("tests" if number % 5 == 4 else "src")
        place.mkdir(parents=True, exist_ok=True)
        name = f"test_parcel_{number}.py" if number % 5 == 4 else f"parcel_{number}.py"
        text = f"def weigh_parcel_{number}(parcel):\n    weight = {number}\n{BODY}\n    return weight\n"
        other = f"\n\ndef weigh_returned_parcel_{number}(parcel):\n    weight = -{number}\n{BODY}\n    return weight\n"
        (place / name).write_text(text + other * (number % 3 == 0))
    (folder / "fathom.toml").touch()
    return folder


@pytest.fixture
def stock(served: ServedPage) -> ServedPage:
    """A server with the parcels indexed."""
    served.add(parcels(served.folder / "stock"))
    return served


def open_list(page: Page, stock: ServedPage, query: str = WORDS) -> dict:
    page.goto(f"{stock.url}/search?q={query.replace(' ', '+')}")
    expect(hits(page).first).to_be_visible()
    expect(page.get_by_role("list", name="Results")).to_have_attribute("aria-busy", "false")
    return found(stock, query)


def hold(route: Route) -> None:
    """Never answer a request: what is seen comes from the page itself."""


def facet(page: Page, name: str | re.Pattern[str]) -> Locator:
    return page.get_by_role("complementary", name="Narrow down").get_by_role("button").filter(has_text=name)


# ---- many on a screen


def test_six_places_and_more_are_whole_on_a_laptops_screen(page: Page, stock: ServedPage) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_list(page, stock)
    assert page.evaluate(WHOLE_IN_SIGHT) >= 6
    first = hits(page).first
    assert 1 <= first.locator("tr").count() <= 3
    expect(first.locator("tr").first).to_contain_text("def weigh")
    expect(first.locator("mark").first).to_be_visible()


def test_roomy_shows_the_lines_around_and_is_remembered(page: Page, stock: ServedPage) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_list(page, stock)
    compact = page.evaluate(WHOLE_IN_SIGHT)
    page.get_by_role("radio", name="Roomy").check()
    expect(hits(page).first.locator("tr")).to_have_count(8)
    assert page.evaluate(WHOLE_IN_SIGHT) < compact
    page.reload()
    expect(page.get_by_role("radio", name="Roomy")).to_be_checked()
    expect(hits(page).first.locator("tr")).to_have_count(8)


def test_places_of_one_file_stand_together_and_name_it_once(page: Page, stock: ServedPage) -> None:
    answer = open_list(page, stock, f"{WORDS} @sea/src/")
    paths = list(dict.fromkeys(hit["path"] for hit in answer["hits"]))
    grouped = [written(hit) for path in paths for hit in answer["hits"] if hit["path"] == path]
    assert len(paths) < len(grouped)
    assert links(page).all_text_contents() == grouped
    expect(page.locator(".hit-file")).to_have_count(len(paths))


# ---- narrowed by a click


def test_counts_are_those_of_the_list_and_a_click_narrows_it(page: Page, stock: ServedPage) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_list(page, stock)
    aside = page.get_by_role("complementary", name="Narrow down")
    listed = found(stock, WORDS, limit=50)["hits"]
    n_tests = sum(hit["is_test"] for hit in listed)
    assert 0 < n_tests < 20 < len(listed)
    expect(hits(page)).to_have_count(20)
    expect(aside).to_contain_text(f"Counted in all {len(listed)} places")
    expect(facet(page, "Tests only")).to_have_text(f"Tests only{n_tests}")
    heights = aside.get_by_role("button").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
    assert min(heights) >= 24  # pixels that a finger needs, as Lighthouse counts
    facet(page, "Tests only").click()
    expect(page).to_have_url(re.compile("tests=only"))
    only = found(stock, WORDS, filter="is_test")["hits"]
    expect(hits(page)).to_have_count(len(only))
    expect(aside).to_contain_text(f"Counted in all {len(only)} places")
    facet(page, "Tests only").click()
    expect(hits(page)).to_have_count(20)
    n_sea = sum(hit["path"].startswith("sea/") for hit in listed)
    expect(facet(page, re.compile("^sea\\d"))).to_have_text(f"sea{n_sea}")
    facet(page, re.compile("^sea\\d")).click()
    expect(facet(page, "sea/src")).to_be_visible()
    assert asked(page)["dir"] == ["sea"]


def test_what_changed_lately_can_be_asked_for(page: Page, stock: ServedPage) -> None:
    open_list(page, stock)
    choose(page, "Changed", "Changed in the last 7 days")
    expect(page).to_have_url(re.compile(r"after=\d{4}-\d{2}-\d{2}"))
    expect(hits(page)).to_have_count(20)
    page.goto(f"{stock.url}/search?q={WORDS.replace(' ', '+')}&after=2999-01-01")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()


# ---- more, and back


def test_the_rest_is_counted_and_loads(page: Page, stock: ServedPage) -> None:
    answer = open_list(page, stock)
    assert answer["n_left_out"] > 0
    least = "" if answer["n_left_out_is_exact"] else "at least "
    page.get_by_role("button", name=f"And {least}{answer['n_left_out']} more").click()
    expect(hits(page)).to_have_count(len(found(stock, WORDS, limit=50)["hits"]))


def test_back_brings_the_list_with_its_length_and_place_before_the_server_answers(
    page: Page, stock: ServedPage
) -> None:
    open_list(page, stock)
    page.get_by_role("button", name=re.compile("^And .* more")).click()
    n_hits = len(found(stock, WORDS, limit=50)["hits"])
    expect(hits(page)).to_have_count(n_hits)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 8})  # things happen in between
    page.locator("main").evaluate("main => { main.scrollTop = 900; }")
    expect(hits(page).nth(12)).to_be_in_viewport()
    page.get_by_role("link", name="Projects").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    page.route("**/api/search", hold)
    page.go_back()
    expect(hits(page)).to_have_count(n_hits)
    assert page.locator("main").evaluate("main => main.scrollTop") == 900
    page.unroute_all(behavior="ignoreErrors")


def test_a_letter_that_is_typed_does_not_draw_the_old_places_again(page: Page, stock: ServedPage) -> None:
    open_list(page, stock)
    page.route("**/api/search", hold)
    page.evaluate(
        """() => {
            window.changes = 0;
            const options = {subtree: true, childList: true, characterData: true, attributes: true};
            new MutationObserver((list) => { window.changes += list.length; })
                .observe(document.querySelector('[data-hit]').parentElement, options);
        }"""
    )
    with page.expect_request("**/api/search", timeout=LONG_S * 1_000):
        box(page).press("End")
        box(page).press("s")
    expect(page).to_have_url(re.compile("parcels"))
    expect(page.get_by_role("list", name="Results")).to_have_attribute("aria-busy", "true")
    # The list itself says that it is old: its class and aria-busy.
    assert page.evaluate("window.changes") <= 2
    page.unroute_all(behavior="ignoreErrors")


# ---- elsewhere


def test_a_place_opens_in_an_editor_at_its_line(page: Page, stock: ServedPage) -> None:
    first = open_list(page, stock)["hits"][0]
    hits(page).first.get_by_role("button", name="Open elsewhere").click()
    link = page.get_by_role("link", name="Open in VS Code")
    root = f"{stock.folder.resolve()}/stock".lstrip("/")
    expect(link).to_have_attribute("href", f"vscode://file/{root}/{first['path']}:{first['line']}")
    expect(page.get_by_role("link", name="Open in IntelliJ IDEA")).to_have_attribute(
        "href", re.compile(rf"^idea://open\?file=.*&line={first['line']}$")
    )


def test_axe_finds_nothing_in_a_list(page: Page, stock: ServedPage) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    open_list(page, stock)
    facet(page, re.compile("^sea\\d")).click()
    expect(facet(page, "sea/src")).to_be_visible()
    assert violations_in_each_theme(page) == []
