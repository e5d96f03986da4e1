"""Nothing runs off a page, whatever has to be said on it, and however narrow the window is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.web.conftest import ServedPage, replied

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS = (1440, 1024, 360)
LONG = "the-infrastructure-of-all-environments-and-the-modules-that-are-shared-between-them"
# The address of each page, and what is there when it is whole.
PAGES = {
    "search": ("/search?q=cart", "[role=note]"),
    "nothing found": (f"/search?q=%40nowhere%2F{LONG}.py+cart", "main [role=alert]"),
    "chat": ("/chat", "main textarea"),
    "projects": ("/projects", "li.card:nth-child(3)"),
    "left out": (f"/projects?about={LONG[:40].strip('-')}&tab=left-out", ".ant-drawer h3, .ant-drawer p"),
    "monitoring": ("/monitoring", "main table"),
}
# Elements that stand out of the window, also where a part around them can be scrolled to the side: only code, tables,
# and lines that end in an ellipsis, may be cut.
OUTSIDE = """() => {
  const MAY_BE_CUT = "pre, code, table, textarea, input, .visually-hidden, .skip, " +
    "[class*=code], [class*=snippet], [class*=table]";
  const isCut = (element) => {
    for (let part = element; part && part !== document.body; part = part.parentElement) {
      if (part.matches(MAY_BE_CUT) || getComputedStyle(part).textOverflow === "ellipsis") return true;
    }
    return false;
  };
  const outside = [...document.body.querySelectorAll("*")].filter((element) => {
    if (element instanceof SVGElement || isCut(element)) return false;
    const box = element.getBoundingClientRect();
    return box.width && box.height && (box.right > innerWidth + 1 || box.left < -1);
  });
  const told = outside.map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
  return document.documentElement.scrollWidth > innerWidth ? [...told, "the page itself"] : told;
}"""


@pytest.fixture
def crowded(answering: ServedPage) -> ServedPage:
    """An indexed project, and two without an index whose names are long."""
    answering.add()
    for name in (LONG, f"x{LONG}"):
        folder = answering.folder / name
        folder.mkdir()
        (folder / "fathom.toml").touch()
        answering.add(folder, index=False)
    return answering


@pytest.fixture
def turns() -> list[Any]:
    return [replied(f"Prices are in `{LONG}`: {LONG.replace('-', '_')} and {'y' * 300}.")]


def stands_out(page: Page, name: str) -> list[str]:
    """Elements outside the window by width; keeps a picture where PICTURES says so."""
    told = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if pictures := os.environ.get("FATHOM_TEST_PICTURES"):
            page.screenshot(path=str(Path(pictures) / f"{name}-{width}.png"))
        told += [f"{width}: {text}" for text in page.evaluate(OUTSIDE)]
    return told


@pytest.mark.parametrize(
    ("language", "theme"),
    [
        ("en", "light"),
        ("zh", "dark"),
        pytest.param("en", "dark", marks=pytest.mark.long),
        pytest.param("zh", "light", marks=pytest.mark.long),
    ],
)
def test_no_note_runs_off_a_page(page: Page, crowded: ServedPage, language: str, theme: str) -> None:
    keep = f"localStorage.setItem('fathom.language', '{language}'); localStorage.setItem('fathom.theme', '{theme}')"
    page.add_init_script(keep)
    told = {}
    for name, (address, part) in PAGES.items():
        page.goto(crowded.url + address)
        page.locator(part).first.wait_for()
        page.wait_for_load_state("networkidle")
        told[name] = stands_out(page, f"{name.replace(' ', '-')}-{language}-{theme}")
    assert told == {name: [] for name in PAGES}


def test_no_note_of_an_answer_runs_off_the_page(page: Page, crowded: ServedPage) -> None:
    page.goto(f"{crowded.url}/chat")
    page.get_by_role("textbox").first.fill(f"where are orders priced in {LONG}?")
    page.get_by_role("textbox").first.press("Enter")
    page.get_by_text("Prices are in").first.wait_for()
    assert stands_out(page, "answer") == []
