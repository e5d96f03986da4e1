"""The Search page: results as one types, filters in the address, all by keyboard, and why a place stands here."""

from __future__ import annotations

import re
import shutil
import time
from itertools import cycle
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.server.test_first_run import held_run, large
from tests.waiting import LONG_S

from codefathom.search.ranking.explain import MEANING
from codefathom.search.ranking.weights import WEIGHTS

from .conftest import ServedPage, slow_down
from .test_shell import violations_in_each_theme

QUESTION = "where are orders priced"
UNANSWERED = "render the template of a page"
TRACE = 'Traceback (most recent call last):\n  File "shop/pricing.py", line 13, in discount\nZeroDivisionError'


@pytest.fixture
def ready(served: ServedPage) -> ServedPage:
    """A server with the shop indexed."""
    served.add()
    return served


def box(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Search the code of your projects")


def hits(page: Page) -> Locator:
    return page.get_by_role("list", name="Results").locator("> li")


def links(page: Page) -> Locator:
    return hits(page).get_by_role("link")


def written(hit: dict) -> str:
    """Return a place as the page writes it."""
    lines = f"{hit['start_line']}-{hit['end_line']}" if hit["end_line"] > hit["start_line"] else f"{hit['start_line']}"
    return f"{hit['path']}:{lines}"


def found(served: ServedPage, query: str, **body: object) -> dict:
    answer = served.client.post("/search", json={"query": query, "limit": 20, **body})
    return answer.raise_for_status().json()


def asked(page: Page) -> dict[str, list[str]]:
    """Return what the address of the page asks."""
    return parse_qs(urlsplit(page.url).query)


def choose(page: Page, name: str, option: str) -> None:
    """Choose an option of a filter."""
    field = page.get_by_role("combobox", name=name, exact=True)
    field.click()
    page.locator(".ant-select-item-option", has_text=re.compile(f"^{re.escape(option)}")).locator(
        "visible=true"
    ).click()
    field.press("Escape")


# ---- what is found


def test_results_come_as_one_types_and_are_those_of_the_server(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    expect(page.get_by_role("heading", name="Ask in your own words")).to_be_visible()
    box(page).press_sequentially(QUESTION, delay=10)
    expected = found(ready, QUESTION)
    expect(hits(page)).to_have_count(len(expected["hits"]))
    places = [written(hit) for hit in expected["hits"]]
    assert links(page).all_text_contents() == places
    expect(page.get_by_role("status").first).to_have_text(re.compile(rf"^{len(places)} places in \d"))
    assert asked(page) == {"q": [QUESTION]}


def test_words_of_the_question_are_marked_in_coloured_code(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=large+order+discounts&dir=shop")
    first = hits(page).filter(has=page.get_by_role("link", name=re.compile("pricing.py")))
    marked = first.locator("mark")
    expect(marked.first).to_be_visible()
    assert {text.lower() for text in marked.all_inner_texts()} == {"discount", "large", "orders"}
    expect(first.locator(".hljs-keyword").get_by_text("def").first).to_be_visible()
    shown = first.locator("td").all_inner_texts()
    file = (ready.shop / "shop" / "pricing.py").read_text().split("\n")
    numbers = [int(text) for text in first.locator("th").all_inner_texts()]
    assert [text.strip() for text in shown] == [file[number - 1].strip() for number in numbers]


def test_an_older_answer_never_comes_after_a_newer_one(page: Page, ready: ServedPage) -> None:
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.post_data_json["query"] == "cart":
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/api/search", hold)
    page.goto(f"{ready.url}/search")
    with page.expect_request("**/api/search"):
        box(page).fill("cart")
    until = time.monotonic() + LONG_S
    while not waiting:
        assert time.monotonic() < until
        page.wait_for_timeout(10)  # in which the page goes on
    box(page).fill("retry")
    expect(links(page).first).to_have_text(re.compile("retry.go"))
    newer = links(page).all_text_contents()
    body = found(ready, "cart")
    assert body["hits"]
    waiting[0].fulfill(json=body)  # the page has left it: nothing may come of it
    page.wait_for_timeout(400)
    assert links(page).all_text_contents() == newer
    assert asked(page) == {"q": ["retry"]}


def test_a_pasted_stack_trace_keeps_its_lines_and_finds_the_one_it_names(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    box(page).fill(TRACE)
    expect(links(page).first).to_have_text(re.compile("shop/pricing.py"))
    assert asked(page) == {"q": [TRACE]}
    expect(hits(page).first.locator("tr.is-best th")).to_have_text("13")


def test_enter_opens_the_first_place_also_of_an_answer_that_is_on_its_way(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    box(page).fill(QUESTION)
    box(page).press("Enter")
    first = found(ready, QUESTION)["hits"][0]
    expect(page).to_have_url(re.compile(f"lines={first['start_line']}-{first['end_line']}"))
    assert asked(page)["file"] == [first["path"]]


def test_enter_opens_the_first_place_also_after_a_space_that_changes_nothing(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    box(page).fill(QUESTION)
    expect(hits(page).first).to_be_visible()
    box(page).fill(f"{QUESTION} ")
    box(page).press("Enter")
    expect(page).to_have_url(re.compile("lines="))


def test_what_is_typed_while_hits_come_stays_as_it_was_typed(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    slow_down(page, 12)
    typed = "pricedorders"
    for letter, pause_ms in zip(typed, cycle((5, 140, 60, 150, 100, 120)), strict=False):
        box(page).press(letter)
        page.wait_for_timeout(pause_ms)
    expect(page).to_have_url(re.compile(typed))
    expect(box(page)).to_have_value(typed)


def test_who_types_on_after_enter_is_not_taken_elsewhere(page: Page, ready: ServedPage) -> None:
    def typed_on(route: Route) -> None:
        box(page).fill("price")
        route.continue_()

    page.goto(f"{ready.url}/search")
    page.route(re.compile("/search$"), typed_on, times=1)
    box(page).fill(QUESTION)
    box(page).press("Enter")
    expect(hits(page)).to_have_count(len(found(ready, "price")["hits"]))
    assert "file" not in asked(page)


# ---- filters


def test_filters_stand_in_the_address_and_survive_reload_and_back(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=price")
    whole = len(found(ready, "price")["hits"])
    expect(hits(page)).to_have_count(whole)
    choose(page, "Language", "python")
    python = found(ready, "price", language_filter=["python"])["hits"]
    expect(hits(page)).to_have_count(len(python))
    assert len(python) < whole
    choose(page, "Kind", "function")
    both = found(ready, "price", language_filter=["python"], kind_filter=["function"])["hits"]
    expect(hits(page)).to_have_count(len(both))
    assert asked(page) == {"q": ["price"], "lang": ["python"], "kind": ["function"]}
    page.reload()
    expect(hits(page)).to_have_count(len(both))
    expect(page.get_by_text("python", exact=True).first).to_be_visible()
    page.go_back()
    expect(hits(page)).to_have_count(len(python))
    page.go_back()
    expect(hits(page)).to_have_count(whole)
    page.go_forward()
    expect(hits(page)).to_have_count(len(python))
    page.get_by_role("button", name="Clear filters").click()
    expect(hits(page)).to_have_count(whole)
    assert asked(page) == {"q": ["price"]}


def test_folders_are_offered_step_by_step(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=price")
    field = page.get_by_role("combobox", name="Folder")
    field.click()
    options = page.locator(".ant-select-item-option")
    expect(options.get_by_text("shop", exact=True)).to_be_visible()
    field.press_sequentially("shop/")
    expect(options.get_by_text("shop/store", exact=True)).to_be_visible()
    options.get_by_text("shop/store", exact=True).click()
    expect(page).to_have_url(re.compile("dir=shop%2Fstore"))
    expected = found(ready, "price", directory_filter=["shop/store"])["hits"]
    assert expected
    expect(hits(page)).to_have_count(len(expected))
    assert all(text.startswith("shop/store/") for text in links(page).all_text_contents())


def test_what_to_find_and_how_stand_in_the_address_too(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=def+%5Cw%2B_cents")
    choose(page, "How to search", "Regular expression")
    expected = found(ready, r"def \w+_cents", mode="regex")
    expect(hits(page)).to_have_count(len(expected["hits"]))
    choose(page, "What to find", "Files")
    expected = found(ready, r"def \w+_cents", mode="regex", level="file")
    expect(hits(page)).to_have_count(len(expected["hits"]))
    assert asked(page) == {"q": [r"def \w+_cents"], "mode": ["regex"], "level": ["file"]}


def test_functions_alone_can_be_looked_for(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=price+of+an+order")
    choose(page, "What to find", "Functions")
    expected = found(ready, "price of an order", level="function")["hits"]
    expect(hits(page)).to_have_count(len(expected))
    assert {hit["kind"] for hit in expected} <= {"function", "method"}
    assert asked(page)["level"] == ["function"]
    page.reload()
    expect(hits(page)).to_have_count(len(expected))
    page.evaluate("localStorage.setItem('fathom.language', 'zh')")
    page.reload()
    expect(page.get_by_text("函数", exact=True).first).to_be_visible()


def test_places_of_several_projects_name_theirs(page: Page, ready: ServedPage) -> None:
    other = ready.folder / "crm"
    shutil.copytree(ready.shop / "shop", other)
    (other / "fathom.toml").touch()
    ready.add(other)
    page.goto(f"{ready.url}/search?q={QUESTION}")
    expect(hits(page).locator(".hit-project").get_by_text("crm", exact=True).first).to_be_visible()
    expect(hits(page).locator(".hit-project").get_by_text("shop", exact=True).first).to_be_visible()
    choose(page, "Project", "crm")
    expected = found(ready, QUESTION, project_ids=["crm"])["hits"]
    expect(hits(page)).to_have_count(len(expected))
    expect(hits(page).locator(".hit-project")).to_have_count(0)
    assert asked(page)["in"] == ["crm"]


# ---- keyboard


def test_by_keyboard_alone_from_the_question_to_the_line_and_back(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=cart")
    expect(hits(page)).not_to_have_count(0)
    page.keyboard.press("/")
    expect(box(page)).to_be_focused()
    page.keyboard.type(QUESTION)  # the old question is selected
    second = found(ready, QUESTION)["hits"][1]
    expect(page).to_have_url(re.compile("q=where"))
    expect(page.get_by_role("list", name="Results")).to_have_attribute("aria-busy", "false")
    expect(links(page).nth(1)).to_have_text(written(second))
    page.keyboard.press("ArrowDown")
    expect(links(page).nth(0)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(box(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(links(page).nth(1)).to_be_focused()
    page.keyboard.press("w")
    expect(page.get_by_role("region", name=f"Why {second['path']} is here")).to_be_visible()
    page.keyboard.press("Enter")
    viewer = page.get_by_role("complementary").filter(has_text=second["path"].rpartition("/")[2])
    expect(viewer).to_be_visible()
    assert asked(page)["file"] == [second["path"]]
    assert asked(page)["lines"] == [f"{second['start_line']}-{second['end_line']}"]
    page.keyboard.press("Escape")
    expect(viewer).to_be_hidden()
    assert asked(page) == {"q": [QUESTION]}
    page.go_back()
    expect(viewer).to_be_visible()


def test_keys_of_the_page_do_not_get_into_what_is_typed(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search")
    box(page).press_sequentially("w/o carts")
    expect(box(page)).to_have_value("w/o carts")
    box(page).press("Shift+Enter")
    box(page).press_sequentially("and")
    expect(box(page)).to_have_value("w/o carts\nand")


# ---- why, and how sure


def test_why_here_shows_every_signal_with_what_it_adds(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q={QUESTION}")
    hits(page).first.get_by_role("button", name="Why here").click()
    panel = hits(page).first.get_by_role("region", name=re.compile("^Why "))
    rows = panel.get_by_role("listitem")
    signals = found(ready, QUESTION, explain=True)["hits"][0]["signals"]
    expect(rows).to_have_count(len(signals))
    shown = {row.get_attribute("data-signal"): row for row in rows.all()}
    assert set(shown) == set(signals)
    weights = WEIGHTS["short"]
    longest = max(abs(weights.get(name, 0.0) * value) for name, value in signals.items())
    for name, row in shown.items():
        added = weights.get(name, 0.0) * signals[name]
        number = row.locator(".why-number > [aria-hidden]").inner_text().replace("−", "-")
        bar = row.locator(".why-bar > span")
        width = float((bar.get_attribute("style") or "").removeprefix("width: ").removesuffix("%;"))
        if name != "repeat":
            assert float(number) == pytest.approx(added, abs=0.0051), name
            assert width == pytest.approx(50 * abs(added) / longest, abs=0.1), name
        side = "is-against" if added < 0 else "is-for"
        assert side in (row.locator(".why-bar").get_attribute("class") or ""), name


def test_no_bar_is_shown_before_the_weights_are_there(page: Page, ready: ServedPage) -> None:
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/signals", hold)
    page.goto(f"{ready.url}/search?q={QUESTION}")
    with page.expect_request("**/signals"):
        hits(page).first.get_by_role("button", name="Why here").click()
    rows = hits(page).first.get_by_role("region", name=re.compile("^Why ")).get_by_role("listitem")
    expect(page.get_by_role("region", name=re.compile("^Why ")).get_by_role("status")).to_have_count(1)
    assert rows.count() == 0
    waiting[0].continue_()
    expect(rows).not_to_have_count(0)


def test_weak_results_are_marked_as_the_server_says(page: Page, ready: ServedPage) -> None:
    weak = found(ready, UNANSWERED)
    assert weak["weak"]
    assert weak["hits"]
    page.goto(f"{ready.url}/search?q={UNANSWERED}")
    expect(page.get_by_text("Probably nothing here answers this")).to_be_visible()
    expect(page.get_by_text("weak", exact=True)).to_have_count(len(weak["hits"]))
    box(page).fill(QUESTION)
    strong = found(ready, QUESTION)
    assert not strong["weak"]
    expect(links(page).first).to_have_text(written(strong["hits"][0]))
    expect(page.get_by_text("Probably nothing here answers this")).to_be_hidden()
    expect(page.get_by_text("weak", exact=True)).to_have_count(0)


def test_each_signal_has_a_text_on_the_page() -> None:
    for file in ("text.ts", "text-zh.ts"):
        text = (Path(__file__).parents[2] / "web" / "src" / "search" / file).read_text(encoding="utf-8")
        for name in MEANING:
            assert text.count(f'"search.signal.{name}":') == 1, (file, name)


def test_how_a_question_was_read_is_said(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=who+calls+total_cents")
    plan = found(ready, "who calls total_cents")["plan"]
    assert plan["route"] == "graph"
    expect(page.get_by_title(plan["why"])).to_have_text("read as a question about connected code")
    hits(page).first.get_by_role("button", name="Why here").click()
    expect(hits(page).first.locator('[data-signal="called by"]')).to_contain_text("How often it calls")


# ---- nothing, and what is wrong


def test_where_nothing_can_be_searched_the_page_says_what_to_do(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}/search")
    page.get_by_role("link", name="Add a project").click()
    expect(page.get_by_role("dialog", name="Add a project")).to_be_visible()
    served.add(index=False)
    page.goto(f"{served.url}/search")
    expect(page.get_by_role("heading", name="No project has an index yet")).to_be_visible()
    page.get_by_role("link", name="To the projects").click()
    expect(page.get_by_role("listitem").filter(has_text="Not indexed")).to_be_visible()


def test_where_nothing_is_found_the_page_says_what_to_try(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=cart&lang=cobol")
    expect(page.get_by_role("heading", name="Nothing was found")).to_be_visible()
    page.get_by_role("main").locator(".message").get_by_role("button", name="Clear filters").click()
    expect(hits(page)).not_to_have_count(0)
    assert asked(page) == {"q": ["cart"]}


def test_a_question_that_cannot_be_understood_is_answered_with_the_reason(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q=@nowhere.py+cart")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("no indexed file matches @nowhere.py")
    expect(alert.get_by_role("button")).to_have_count(0)
    box(page).fill("cart")
    expect(hits(page)).not_to_have_count(0)
    expect(alert).to_have_count(0)


def test_a_project_without_an_index_does_not_keep_others_from_answering(page: Page, ready: ServedPage) -> None:
    other = ready.folder / "crm"
    other.mkdir()
    (other / "fathom.toml").touch()
    ready.add(other, index=False)
    page.goto(f"{ready.url}/search?q=cart")
    expect(page.get_by_text(re.compile("^crm was not searched: .*has no index yet"))).to_be_visible()
    expect(hits(page)).not_to_have_count(0)


@pytest.mark.parametrize(
    ("language", "line"), [("en", "terraform is being indexed, 15%"), ("zh", "terraform 正在建立索引，已完成 15%")]
)
def test_a_project_that_is_being_indexed_is_one_quiet_line(
    page: Page, ready: ServedPage, language: str, line: str
) -> None:
    page.add_init_script(f"localStorage.setItem('fathom.language', '{language}')")
    folder = large(ready.folder / "terraform")
    ready.add(folder, index=False)
    with held_run(folder):
        page.goto(f"{ready.url}/search?q=cart")
        expect(page.get_by_role("note")).to_contain_text(line)
        expect(page.get_by_text("cart.ts").first).to_be_visible()
        expect(page.get_by_text("damaged")).to_have_count(0)


def test_projects_without_results_are_one_quiet_line_that_can_be_closed(page: Page, ready: ServedPage) -> None:
    for name in ("crm", "erp"):
        (ready.folder / name).mkdir()
        (ready.folder / name / "fathom.toml").touch()
        ready.add(ready.folder / name, index=False)
    page.goto(f"{ready.url}/search?q=cart")
    line = page.get_by_role("note")
    expect(line).to_have_count(1)
    expect(line).to_contain_text("crm was not searched: ")
    expect(line).to_contain_text("erp was not searched: ")
    expect(page.get_by_role("alert")).to_have_count(0)
    line.get_by_role("button", name="Close this note").click()
    expect(line).to_have_count(0)
    box(page).fill("order")
    expect(page).to_have_url(re.compile("q=order"))
    expect(hits(page)).not_to_have_count(0)
    expect(line).to_have_count(0)


def test_a_project_that_was_searched_is_not_called_unsearched(page: Page, ready: ServedPage) -> None:
    other = ready.folder / "crm"
    other.mkdir()
    (other / "customer.py").write_text("def greet_customer():\n    return 'hello'\n")
    ready.add(other)
    page.goto(f"{ready.url}/search?q=callers+of+greet_customer&mode=graph")
    expect(page.get_by_role("note")).to_contain_text("shop has no answer: no symbol is called")
    expect(page.get_by_text("was not searched")).to_have_count(0)


def test_projects_of_one_name_can_be_told_apart(page: Page, ready: ServedPage) -> None:
    for folder in ("first", "second"):
        root = ready.folder / folder / "crm"
        root.mkdir(parents=True)
        (root / "fathom.toml").touch()
        (root / "customer.py").write_text(f"def greet_customer():\n    return 'hello, {folder}'\n")
        ready.add(root)
    page.goto(f"{ready.url}/search?q=greet+customer")
    expect(hits(page).filter(has_text="crm (first/crm)")).to_have_count(1)
    expect(hits(page).filter(has_text="crm (second/crm)")).to_have_count(1)
    page.get_by_role("combobox", name="Project").click()
    expect(page.get_by_role("option")).to_have_text(["shop", "crm (first/crm)", "crm (second/crm)"])


def test_an_index_that_is_behind_is_brought_up_to_date_from_here(page: Page, ready: ServedPage) -> None:
    settings = {"search.refresh_max_files": 0}  # a search takes in nothing by itself
    ready.client.patch("/projects/shop", json={"settings": settings}).raise_for_status()
    (ready.shop / "shop" / "refunds.py").write_text("def refund_parcel(order):\n    return order.cents\n")
    assert found(ready, "refund parcel")["stale"]
    page.goto(f"{ready.url}/search?q=refund+parcel")
    expect(page.get_by_text("Files have changed since shop was indexed")).to_be_visible()
    page.get_by_role("button", name="Update the index").click()
    expect(links(page).first).to_have_text(re.compile("shop/refunds.py"))
    expect(page.get_by_text("Files have changed since shop was indexed")).to_be_hidden()


# ---- for everyone


def test_axe_finds_nothing_serious_in_what_opens(page: Page, ready: ServedPage) -> None:
    page.goto(f"{ready.url}/search?q={UNANSWERED}&lang=python")
    expect(page.get_by_text("Probably nothing here answers this")).to_be_visible()
    hits(page).first.get_by_role("button", name="Why here").click()
    expect(page.get_by_role("region", name=re.compile("^Why "))).to_be_visible()
    page.get_by_role("combobox", name="Kind").click()
    assert violations_in_each_theme(page) == []


def test_a_phone_shows_it_all(page: Page, ready: ServedPage) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    page.goto(f"{ready.url}/search?q={QUESTION}")
    expect(page.get_by_role("combobox", name="Language")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    expect(page.get_by_role("combobox", name="Language")).to_be_visible()
    hits(page).first.get_by_role("button", name="Why here").click()
    expect(page.get_by_role("region", name=re.compile("^Why "))).to_be_visible()
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 360


def test_in_chinese_too(chromium: object, ready: ServedPage) -> None:
    page = chromium.new_context(locale="zh-CN").new_page()  # type: ignore[attr-defined]
    page.goto(f"{ready.url}/search?q=订单价格")
    button = page.get_by_role("button", name="为何在此").first
    button.click()
    row = page.locator("[data-signal=vector]").first
    expect(row).to_contain_text("含义与问题接近")
    page.context.close()
