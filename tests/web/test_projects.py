"""The Projects page: add, watch, cancel, look at what is left out, set, test, remove; with reloads and restarts."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from tests.protocols.server import serving as serving_model
from tests.server.test_git import commit, git
from tests.waiting import LONG_S, comes

from codefathom import Engine
from codefathom.fleet.fleet import Fleet
from codefathom.fleet.reader_lists import HOST_READERS, ReaderList, write_lists
from codefathom.fleet.readers_file import READERS
from codefathom.server.server_config import ServerConfig
from codefathom.system.adapters import VECTOR_STORES

from .conftest import ServedPage, replied, serving
from .test_shell import violations, violations_in_each_theme

LONG_MS = 1_000 * LONG_S
WAITING = "Waiting for another program that writes this index"


@contextmanager
def held(root: Path) -> Iterator[Callable[[], None]]:
    """Keep the jobs over a folder waiting, until the block ends or what is given is called."""
    with Engine.open(str(root)) as engine:
        writing = engine.index_events()
        next(writing)
        yield writing.close
        writing.close()


def card(page: Page, name: str = "shop") -> Locator:
    cards = page.get_by_role("list", name="Projects").get_by_role("listitem")
    return cards.filter(has=page.get_by_role("heading", name=name, exact=True))


def more(page: Page, item: str, name: str = "shop") -> None:
    """Choose what stands behind the button of a card."""
    page.get_by_role("button", name=f"More about {name}").click()
    page.get_by_role("menuitem", name=item).click()


def many_files(folder: Path, count: int) -> Path:
    """Make a project of so many files."""
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()  # what marks a project, and is no file of it
    for number in range(count):
        body = "\n".join(f"def part_{number}_{place}(value):\n    return value + {place}\n" for place in range(12))
        (folder / "src" / f"part_{number}.py").write_text(body)
    return folder


def ended(served: ServedPage, state: str) -> None:
    """Wait until the latest job is over, and check how."""
    until = time.monotonic() + LONG_MS / 1000
    while time.monotonic() < until:
        job = served.client.get("/jobs").json()["jobs"][0]
        if job["ended_at"]:
            assert job["state"] == state
            return
        time.sleep(0.05)
    pytest.fail("the job did not end")


# ---- from nothing to a project that can be searched


def test_a_project_is_added_and_watched_to_the_end(page: Page, served: ServedPage) -> None:
    root = many_files(served.folder / "parts", 250)
    page.goto(f"{served.url}/projects")
    page.evaluate(SEEN_PHASES)
    expect(page.get_by_role("heading", name="There is no project yet")).to_be_visible()
    page.get_by_role("button", name="Add a project").click()
    dialog = page.get_by_role("dialog", name="Add a project")
    path = dialog.get_by_label("Folder on the server")
    expect(path).to_be_focused()
    path.press_sequentially(str(root / "src"))
    expect(dialog.get_by_text("Will be the project parts")).to_be_visible()
    expect(dialog.get_by_text(f"The project around it is {root}")).to_be_visible()
    path.press("Enter")
    expect(dialog).to_be_hidden()
    expect(card(page, "parts").get_by_role("progressbar")).to_be_visible()
    expect(card(page, "parts").get_by_text(re.compile("^250 files and "))).to_be_visible(timeout=LONG_MS)
    expect(card(page, "parts").get_by_text("250 new, 0 changed, 0 gone")).to_be_visible()
    expect(card(page, "parts").get_by_role("progressbar")).to_have_count(0)
    expect(card(page, "parts").locator("dd").first).to_have_text("250")
    shown = page.evaluate("window.seen")
    percents = [step["percent"] for step in shown]
    assert percents == sorted(percents), "progress went back"
    assert "index" in {step["phase"] for step in shown}  # how it begins, a busy browser comes too late to see
    assert any(re.match(r"\d+ of 250 files · [\d,.]+ files?/s", step["numbers"]) for step in shown), shown
    held_now = served.client.get("/projects/parts").json()
    numbers = card(page, "parts").locator("dd").all_inner_texts()
    assert numbers == [f"{held_now[name]:,}" for name in ("n_documents", "n_chunks", "n_symbols")]
    card(page, "parts").get_by_role("link", name="Search").click()
    expect(page).to_have_url(re.compile(r"/search\?in=parts$"))
    page.get_by_role("textbox").fill("part_7_3")
    expect(page.get_by_role("list", name="Results").get_by_role("link").first).to_contain_text("part_7.py")


SEEN_PHASES = """() => {
    window.seen = [];
    new MutationObserver(() => {
        const running = document.querySelector(".running");
        if (!running) return;
        const step = {
            phase: running.dataset.phase,
            percent: Number(running.querySelector("[role=progressbar]").ariaValueNow),
            numbers: running.querySelector(".running-numbers").innerText,
        };
        if (JSON.stringify(step) !== JSON.stringify(window.seen.at(-1))) window.seen.push(step);
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def test_a_path_is_told_about_while_it_is_typed(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?add")
    dialog = page.get_by_role("dialog", name="Add a project")
    path, add = dialog.get_by_label("Folder on the server"), dialog.get_by_role("button", name="Add", exact=True)
    expect(add).to_be_disabled()
    path.fill(str(served.folder / "nowhere"))
    expect(dialog.get_by_text("no such folder on the server")).to_be_visible()
    path.fill("/")
    expect(dialog.get_by_text("outside the folders that this server may index")).to_be_visible()
    path.fill(str(served.shop))
    expect(dialog.get_by_text("This is already the project shop.")).to_be_visible()
    expect(add).to_be_disabled()
    path.fill(str(served.folder / "nowhere"))
    expect(add).to_be_disabled()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert urlsplit(page.url).query == ""


def test_folders_are_offered_while_a_path_is_typed(page: Page, served: ServedPage) -> None:
    for name in ("shop-api", "shop-web", "other"):
        (served.folder / name).mkdir()
    page.goto(f"{served.url}/projects?add")
    dialog = page.get_by_role("dialog", name="Add a project")
    path = dialog.get_by_label("Folder on the server")
    path.fill(str(served.folder / "shop-"))
    offered = page.locator(f"datalist#{path.get_attribute('list')} option")
    expect(offered).to_have_count(2)
    names = offered.evaluate_all("options => options.map((option) => option.value)")
    assert names == [str(served.folder / name) for name in ("shop-api", "shop-web")]
    path.fill(names[1])
    expect(dialog.get_by_text("Will be the project shop-web")).to_be_visible()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_the_plan_is_shown_before_anything_starts(page: Page, served: ServedPage) -> None:
    git(served.shop, "init", "--initial-branch=trunk")
    (served.shop / "node_modules").mkdir()
    page.goto(f"{served.url}/projects?add")
    dialog = page.get_by_role("dialog", name="Add a project")
    dialog.get_by_label("Folder on the server").fill(str(served.shop))
    plan = dialog.get_by_role("region", name="Plan")
    facts = served.client.post("/projects/plan", json={"path": str(served.shop)}).json()
    expect(plan.get_by_role("definition").nth(0)).to_have_text("trunk")
    expect(plan.get_by_role("definition").nth(1)).to_have_text(
        re.compile(f"^{facts['n_files']}, together .*(kB|bytes)$")
    )
    expect(plan.get_by_role("definition").nth(2)).to_contain_text("python 6, ")
    expect(plan.get_by_role("definition").nth(3)).to_have_text(re.compile(r"^about \d.* sec"))
    expect(plan.get_by_role("listitem").filter(has_text="node_modules/")).to_have_count(1)
    dialog.get_by_text("Which files").click()
    dialog.get_by_label("Only files that end with").press_sequentially(".py,")
    expect(plan.get_by_role("definition").nth(2)).to_have_text("python 6")
    assert served.client.get("/projects").json()["projects"] == []
    assert not (served.shop / ".fathom").exists()


def test_what_is_chosen_while_adding_is_set_for_the_project(page: Page, served: ServedPage) -> None:
    page.goto(f"{served.url}/projects?add")
    dialog = page.get_by_role("dialog", name="Add a project")
    dialog.get_by_label("Folder on the server").fill(str(served.shop))
    dialog.get_by_label("Name").fill("Our shop")
    dialog.get_by_text("Which files").click()
    dialog.get_by_label("Only files that end with").press_sequentially(".py,")
    dialog.get_by_label("Leave out").press_sequentially("store/,")
    dialog.get_by_label("Start indexing now").uncheck()
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(card(page, "Our shop").get_by_text("Not indexed")).to_be_visible()
    (project,) = served.client.get("/projects").json()["projects"]
    assert (project["name"], project["generation"]) == ("Our shop", 0)
    assert project["settings"] == {"source.required_exts": [".py"], "source.ignore": ["store/"]}
    card(page, "Our shop").get_by_role("button", name="Index").click()
    expect(card(page, "Our shop").get_by_text(re.compile(r"^\d+ files and "))).to_be_visible(timeout=LONG_MS)
    files = served.client.get("/files", params={"project_id": project["id"]}).json()["files"]
    assert {file["path"] for file in files} >= {"shop/pricing.py", "shop/orders.py"}
    assert all(file["path"].endswith(".py") and "store/" not in file["path"] for file in files)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository elsewhere, with one file."""
    folder = tmp_path / "remote" / "orders.git"
    folder.mkdir(parents=True)
    git(folder, "init")
    commit(folder, "first.py", "def first_price(): pass\n")
    return folder


def test_a_repository_is_added_by_its_address(
    page: Page, config: ServerConfig, tmp_path: Path, repository: Path
) -> None:
    with serving(tmp_path, replace(config, git_schemes=("file",))) as served:
        page.goto(f"{served.url}/projects?add")
        dialog = page.get_by_role("dialog", name="Add a project")
        path, add = dialog.get_by_label("Folder on the server"), dialog.get_by_role("button", name="Add", exact=True)
        path.fill("git clone https://example.com/team/orders.git")
        expect(dialog.get_by_text("The server clones this repository")).to_be_visible()
        expect(dialog.get_by_label("Name")).to_have_attribute("placeholder", "orders")
        plan = dialog.get_by_role("region", name="Plan")
        expect(plan).to_contain_text("Until then the server does not contact this address.")
        add.click()
        expect(page.get_by_role("alert").get_by_text(re.compile("https"))).to_be_visible()
        assert served.client.get("/projects").json()["projects"] == []
        path.fill(repository.as_uri())
        plan.get_by_role("button", name="Ask for its branch").click()
        expect(plan.get_by_role("definition")).to_have_text("main")
        expect(plan).to_contain_text("are known when the server has its copy")
        dialog.get_by_label("Branch, tag or commit").fill("main")
        add.click()
        expect(dialog).to_be_hidden()
        expect(card(page, "orders").get_by_text(f"{repository.as_uri()} main")).to_be_visible()
        expect(card(page, "orders").get_by_text(re.compile("^1 file and "))).to_be_visible(timeout=LONG_MS)
        commit(repository, "second.py", "def second_price(): pass\n")
        card(page, "orders").get_by_role("button", name="Update").click()
        expect(card(page, "orders").get_by_text("1 new, 0 changed, 0 gone")).to_be_visible(timeout=LONG_MS)
        more(page, "Remove", "orders")
        expect(page.get_by_role("dialog")).to_contain_text("its copy are deleted")


# ---- in the middle of a run


def test_a_page_that_is_loaded_again_goes_on_watching(page: Page, served: ServedPage) -> None:
    served.add(index=False)
    page.goto(f"{served.url}/projects")
    with held(served.shop) as release:
        card(page).get_by_role("button", name="Index").click()
        expect(card(page).get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        page.reload()
        expect(card(page).get_by_text(WAITING)).to_be_visible()
        expect(card(page).get_by_role("button", name="Index")).to_be_disabled()
        release()
        expect(card(page).get_by_text(re.compile(r"^\d+ files and "))).to_be_visible(timeout=LONG_MS)
    assert len(served.client.get("/jobs").json()["jobs"]) == 1


def test_a_server_that_comes_back_in_the_middle_goes_on_and_so_does_the_page(
    page: Page, config: ServerConfig, tmp_path: Path
) -> None:
    with serving(tmp_path, config) as first:
        port = urlsplit(first.url).port or 0
        first.add(index=False)
        page.goto(f"{first.url}/projects")
        stack = held(first.shop)
        release = stack.__enter__()
        card(page).get_by_role("button", name="Index").click()
        expect(card(page).get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
    try:
        expect(page.get_by_text("The server does not answer.")).to_be_visible(timeout=LONG_MS)
        expect(card(page).get_by_role("progressbar")).to_be_visible()
        with serving(tmp_path, config, port) as second:
            expect(page.get_by_text("The server does not answer.")).to_be_hidden(timeout=LONG_MS)
            release()
            expect(card(page).get_by_text(re.compile(r"^\d+ files and "))).to_be_visible(timeout=LONG_MS)
            expect(card(page).get_by_text("Indexed", exact=True)).to_be_visible()
            ended(second, "done")
    finally:
        stack.__exit__(None, None, None)


def test_a_run_is_cancelled_and_can_be_begun_again(page: Page, served: ServedPage) -> None:
    served.add(index=False)
    page.goto(f"{served.url}/projects")
    with held(served.shop):
        card(page).get_by_role("button", name="Index").click()
        expect(card(page).get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        card(page).get_by_role("button", name="Cancel").click()
        expect(card(page).get_by_text(re.compile("^Cancelled."))).to_be_visible()
    ended(served, "cancelled")
    expect(card(page).get_by_text("Not indexed")).to_be_visible()
    card(page).get_by_role("button", name="Index").click()
    expect(card(page).get_by_text(re.compile(r"^\d+ files and "))).to_be_visible(timeout=LONG_MS)


def test_a_second_tab_sees_what_the_first_one_does(browser: BrowserContext, served: ServedPage) -> None:
    served.add(index=False)
    first, second = browser.new_page(), browser.new_page()
    for page in (first, second):
        page.goto(f"{served.url}/projects")
    first.bring_to_front()
    with held(served.shop) as release:
        card(first).get_by_role("button", name="Index").click()
        expect(card(second).get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        release()
        for page in (first, second):
            expect(card(page).get_by_text(re.compile(r"^\d+ files and "))).to_be_visible(timeout=LONG_MS)
    more(first, "Remove")
    first.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(card(second)).to_have_count(0, timeout=LONG_MS)


def test_a_project_that_waits_for_others_says_so(page: Page, served: ServedPage) -> None:
    roots = [many_files(served.folder / f"parts{number}", 1) for number in range(3)]
    for root in roots:
        served.add(root, index=False)
    page.goto(f"{served.url}/projects")
    with held(roots[0]) as release, held(roots[1]):
        for root in roots[:2]:  # the third job may start only when both places are taken
            card(page, root.name).get_by_role("button", name="Index").click()
            expect(card(page, root.name).get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        card(page, "parts2").get_by_role("button", name="Index").click()
        expect(card(page, "parts2").get_by_text("Waiting for another project")).to_be_visible(timeout=LONG_MS)
        expect(card(page, "parts2").get_by_text("Waiting", exact=True)).to_be_visible()
        release()
        for name in ("parts0", "parts2"):
            expect(card(page, name).get_by_text(re.compile("^1 file and "))).to_be_visible(timeout=LONG_MS)


def test_a_run_that_fails_says_why(page: Page, served: ServedPage) -> None:
    served.add()
    shutil.move(served.shop, served.folder / "elsewhere")
    page.goto(f"{served.url}/projects")
    expect(card(page).get_by_text("Failed", exact=True)).to_be_visible()
    reason = served.client.get("/projects/shop").json()["problem"]
    expect(card(page).get_by_text(reason)).to_be_visible()


# ---- details


def test_files_left_out_are_listed_with_their_reasons(page: Page, served: ServedPage) -> None:
    (served.shop / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    (served.shop / "link.py").symlink_to(served.shop / "shop" / "pricing.py")
    served.add()
    page.goto(f"{served.url}/projects")
    more(page, "Files left out")
    drawer = page.get_by_role("dialog")
    status = served.client.get("/projects/shop/status").json()
    told = {item["path"]: item["reason"] for item in status["skipped"]}
    assert {"logo.png": "binary", "link.py": "symlink"}.items() <= told.items()
    rows = drawer.get_by_role("row")
    expect(rows).to_have_count(len(told) + 1)
    expect(rows.filter(has_text="logo.png")).to_contain_text("binary")
    drawer.get_by_role("button", name=re.compile("^symlink 1")).click()
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("link.py")
    drawer.get_by_role("button", name=re.compile("^All")).click()
    drawer.get_by_label("Find a path").fill("LOGO")
    expect(rows).to_have_count(2)
    page.reload()
    expect(page.get_by_role("dialog").get_by_role("row")).to_have_count(len(told) + 1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert urlsplit(page.url).query == ""


def test_an_administrator_sees_what_a_code_host_said_of_readers(
    page: Page, served: ServedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(served.folder / "state"))
    now, source = time.time(), "github:acme"
    answered = ReaderList("git.example.org", source, "acme/shop", False, ("ada", "eve"), now - 7_250, now - 7_250)
    refused = answered._replace(path="acme/web", tried_at=now - 130, problem="the host answers 403")
    with Fleet.make("company", str(served.folder / "company")) as fleet:
        fleet.add([str(served.shop)])
        fleet.index()
        (Path(fleet.root) / READERS).write_text('[[host]]\nname = "git.example.org"\nlogins = { ada = "ada" }\n')
        write_lists(fleet.root, {"shop": answered, "web": refused})
    served.client.post("/projects", json={"path": fleet.root}).raise_for_status()
    page.goto(f"{served.url}/projects")
    more(page, "Files left out", "company")
    told = page.get_by_role("region", name="Who may read it, from code hosts")
    expect(told).to_contain_text("git.example.org: lists of 2 repositories, 2 logins, of which 1 mean nobody here")
    expect(told).to_contain_text("Newest answer 2 hours ago, oldest 2 hours ago")
    expect(told).to_contain_text("No answer about 1 repository, last asked 2 minutes ago")
    expect(told).to_contain_text("acme/web: the host answers 403")
    page.evaluate("localStorage.setItem('fathom.language', 'zh')")
    page.reload()
    told = page.get_by_role("region", name="代码托管平台给出的读者")
    expect(told).to_contain_text("2 个仓库的名单")
    expect(told.locator("[lang=en]")).to_have_text("acme/web: the host answers 403")
    (Path(fleet.root) / HOST_READERS).write_text("{")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("只有管理员可以查询这个仓库群")


def test_models_are_tried_before_they_are_set_for_a_project(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    drawer = page.get_by_role("dialog")
    field, test = drawer.get_by_label("Language model"), drawer.get_by_role("button", name="Test connection")
    with serving_model(replied("yes")) as model:
        name = f"openai:scripted@{model.base_url}/v1"
        field.fill(name)
        test.click()
        expect(drawer.get_by_role("heading", name="Everything works")).to_be_visible(timeout=LONG_MS)
        assert model.asked
    assert served.client.get("/projects/shop").json()["settings"] == {}
    test.click()
    expect(drawer.get_by_role("heading", name="1 part does not work")).to_be_visible(timeout=LONG_MS)
    expect(drawer.get_by_role("listitem").filter(has_text="does not work")).to_contain_text("cannot be reached")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    expect(drawer.get_by_text("llm.model · set here")).to_be_visible()
    assert served.client.get("/projects/shop").json()["settings"] == {"llm.model": name}
    drawer.get_by_role("button", name="Reset Language model").click()
    expect(field).to_have_value("")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_text("llm.model · default")).to_be_visible()
    # The sentence may stand there before the server has answered.
    assert comes(lambda: served.client.get("/projects/shop").json()["settings"] == {})


def test_a_setting_with_choices_offers_only_these(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    page.get_by_role("dialog").get_by_label("Vector store").click()
    # By class: the list for screen readers holds only the chosen one and its neighbours.
    expect(page.locator(".ant-select-item-option-content")).to_have_text(list(VECTOR_STORES))


def test_a_setting_that_would_stop_the_project_is_not_saved(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    drawer = page.get_by_role("dialog")
    field, save = drawer.get_by_role("textbox", name="Embedding model"), drawer.get_by_role("button", name="Save")
    field.fill("qdrant")
    save.click()
    refusal = drawer.get_by_role("alert")
    expect(refusal).to_contain_text("embed.model = 'qdrant' does not name a provider and a model")
    expect(refusal).to_contain_text("write one of")
    expect(drawer.get_by_text("Saved", exact=True)).to_have_count(0)
    assert served.client.get("/projects/shop").json()["settings"] == {}
    field.fill("ollama:e@http://127.0.0.1:1")
    save.click()
    expect(drawer.get_by_text("Saved", exact=True)).to_be_visible()
    expect(refusal.filter(has_text="qdrant")).to_have_count(0)


def test_a_key_is_not_taken(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    drawer = page.get_by_role("dialog")
    drawer.get_by_label("Language model").fill("openai:gpt@https://me:secret@example.com/v1")
    drawer.get_by_role("button", name="Save").click()
    expect(page.get_by_text("contains a login or a key")).to_be_visible()
    assert served.client.get("/projects/shop").json()["settings"] == {}


def test_the_page_says_why_a_setting_is_closed_in_both_languages(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    drawer = page.get_by_role("dialog")
    masking = drawer.get_by_label("Secrets are masked")
    expect(masking).to_be_disabled()
    expect(masking).to_have_value("yes")
    expect(drawer.get_by_text("This cannot be changed here: it protects secrets")).to_be_visible()
    expect(drawer.get_by_text("The model may be at: localhost, 127.0.0.1, [::1].").first).to_be_visible()
    drawer.get_by_label("Language model").fill("openai:gpt@https://evil.example/v1")
    drawer.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This setting cannot be changed here")).to_be_visible()
    assert served.client.get("/projects/shop").json()["settings"] == {}
    page.evaluate("localStorage.setItem('fathom.language', 'zh')")
    page.reload()
    expect(page.get_by_label("屏蔽机密")).to_be_disabled()
    expect(page.get_by_text("不能在这里更改：它保护离开本机的机密")).to_be_visible()


def test_settings_can_be_seen_although_the_file_of_the_project_is_broken(page: Page, served: ServedPage) -> None:
    served.add()
    (served.shop / "fathom.toml").write_text("[search]\nlimit = 0\n")
    page.goto(f"{served.url}/projects")
    reason = served.client.get("/projects/shop").json()["problem"]
    expect(card(page).get_by_text(reason)).to_be_visible()
    more(page, "Settings")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("alert")).to_contain_text("search.limit")
    expect(drawer.get_by_label("Embedding model")).to_have_value("bundled")


def test_the_history_tells_every_run(page: Page, served: ServedPage) -> None:
    served.add(by_job=True)
    (served.shop / "shop" / "refunds.py").write_text("def refund(order): ...\n")
    served.add(by_job=True)
    page.goto(f"{served.url}/projects")
    more(page, "History")
    runs = page.get_by_role("dialog").get_by_role("tabpanel").get_by_role("listitem")
    expect(runs).to_have_count(2)
    expect(runs.nth(0)).to_contain_text("1 new, 0 changed, 0 gone")
    expect(runs.nth(1)).to_contain_text("Done")


def test_the_history_says_in_chinese_why_a_run_failed(page: Page, served: ServedPage) -> None:
    served.add()
    (served.shop / "fathom.toml").write_text("[search]\nlimit = 0\n")
    served.client.post("/projects/shop/index")  # which tells its events until it ends
    page.goto(f"{served.url}/projects")
    page.evaluate("localStorage.setItem('fathom.language', 'zh')")
    page.reload()
    page.get_by_role("button", name="shop 的更多操作").click()
    page.get_by_role("menuitem", name="历史").click()
    error = page.get_by_role("dialog").locator(".history-error").first
    expect(error).to_contain_text("操作未成功")
    expect(error.locator("[lang=en]").first).to_contain_text("search.limit")


def test_a_project_is_removed_only_when_that_is_meant(page: Page, served: ServedPage) -> None:
    served.add()
    page.goto(f"{served.url}/projects")
    more(page, "Remove")
    asks = page.get_by_role("dialog")
    expect(asks).to_contain_text("Its files and its index stay where they are.")
    asks.get_by_role("button", name="Keep it").click()
    expect(asks).to_be_hidden()
    expect(card(page)).to_be_visible()
    more(page, "Remove")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="There is no project yet")).to_be_visible()
    assert served.client.get("/projects").json()["projects"] == []
    assert (served.shop / ".fathom").is_dir()


# ---- for everyone


def test_axe_finds_nothing_serious_in_what_opens(page: Page, served: ServedPage) -> None:
    (served.shop / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    served.add()
    found = {}
    for query in ("add", "about=shop&tab=left-out", "about=shop&tab=settings", "about=shop&tab=history"):
        page.goto(f"{served.url}/projects?{query}")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.wait_for_load_state("networkidle")
        found[query] = violations_in_each_theme(page)
    page.goto(f"{served.url}/projects")
    with held(served.shop):
        card(page).get_by_role("button", name="Update").click()
        expect(card(page).get_by_role("progressbar")).to_be_visible()
        found["running"] = violations_in_each_theme(page)
        page.get_by_role("button", name="More about shop").click()
        expect(page.get_by_role("menu")).to_be_visible()
        found["menu"] = violations_in_each_theme(page)
        expect(page.get_by_role("menu")).to_be_visible()
    assert {query: items for query, items in found.items() if items} == {}


def test_a_phone_shows_it_all(page: Page, served: ServedPage) -> None:
    served.add()
    page.set_viewport_size({"width": 360, "height": 640})
    page.goto(f"{served.url}/projects?about=shop&tab=settings")
    # It slides in.
    expect(page.get_by_role("dialog").get_by_label("Embedding model")).to_be_in_viewport(ratio=1)
    page.goto(f"{served.url}/projects")
    expect(card(page)).to_be_visible()
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 360


def test_the_vectors_are_moved_to_another_store_and_back(page: Page, served: ServedPage) -> None:
    project_id = served.add()
    page.goto(f"{served.url}/projects")
    more(page, "Store")
    drawer = page.get_by_role("dialog")
    used = drawer.get_by_role("region", name="Store in use")
    expect(used.get_by_role("row", name="Store flat")).to_be_visible()
    expect(used.get_by_text("this project")).to_be_visible()

    def choose(name: str, action: str) -> Locator:
        drawer.get_by_role("combobox", name="Store").click()
        page.locator(".ant-select-item-option").get_by_text(name, exact=True).click()
        drawer.get_by_role("button", name=action).click()
        return drawer.get_by_role("status").get_by_role("alert")

    expect(choose("chroma", "Test connection")).to_contain_text("Chroma at http://localhost:8000 cannot be reached")
    expect(choose("faiss", "Test connection")).to_contain_text("faiss answers")
    expect(choose("faiss", "Compare")).to_contain_text("faiss differs from the index")
    expect(choose("faiss", "Move here")).to_contain_text("and finds 100% of a sample")
    expect(used.get_by_role("row", name="Store faiss")).to_be_visible()
    moves = [job["move_to"] for job in served.client.get("/jobs").json()["jobs"] if job["move_to"]]
    assert moves == ["faiss"]
    expect(used.get_by_role("row", name="index IndexFlatIP")).to_be_visible()
    expect(choose("flat", "Move here")).to_contain_text("and finds 100% of a sample")
    drawer.get_by_role("combobox", name="Store").click()
    page.locator(".ant-select-item-option").get_by_text("faiss", exact=True).click()
    drawer.get_by_role("button", name="Remove").click()
    page.get_by_role("tooltip").get_by_role("button", name="Remove").click()
    expect(drawer.get_by_role("status").get_by_role("alert")).to_contain_text("faiss has nothing of this project")
    store = served.client.get(f"/projects/{project_id}/store", params={"target": "faiss"}).json()
    assert store["projects"] == {}
    assert violations(page) == []


def test_a_move_is_followed_also_after_the_page_was_loaded_again(page: Page, served: ServedPage) -> None:
    served.add()
    with held(served.shop):
        page.goto(f"{served.url}/projects?about=shop&tab=store")
        drawer = page.get_by_role("dialog")
        drawer.get_by_role("combobox", name="Store").click()
        page.locator(".ant-select-item-option").get_by_text("faiss", exact=True).click()
        drawer.get_by_role("button", name="Move here").click()
        expect(drawer.get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        page.reload()
        expect(drawer.get_by_text(WAITING)).to_be_visible(timeout=LONG_MS)
        expect(drawer.get_by_role("button", name="Compare")).to_be_disabled()
    expect(drawer.get_by_role("status").get_by_role("alert")).to_contain_text("and finds 100% of a sample")
    expect(drawer.get_by_role("button", name="Compare")).to_be_enabled()
    page.goto(f"{served.url}/projects?about=shop&tab=history")
    expect(page.get_by_text("moving the vectors to faiss")).to_be_visible()


def test_a_project_follows_its_files_at_a_switch(page: Page, served: ServedPage) -> None:
    served.add(by_job=True)
    page.goto(f"{served.url}/projects")
    more(page, "History")
    switch = page.get_by_role("switch", name="Update the index when files change")
    expect(switch).not_to_be_checked()
    switch.click()
    expect(switch).to_be_checked()
    (served.shop / "shop" / "refunds.py").write_text("def refund(order): ...\n")
    page.reload()
    expect(switch).to_be_checked()
    assert violations(page) == []
    switch.click()
    expect(switch).not_to_be_checked()
