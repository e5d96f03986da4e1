"""Makes docs/screenshots: every page in both themes, of a server that has indexed Codefathom itself.

The answer in the chat is written by a script, about places that the search has found; all else is real.
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright
from tests.protocols.server import serving as serving_model
from tests.web.conftest import CHROMIUM_OPTIONS, ServedPage, replied, serving

from codefathom.server.config import ServerConfig

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "screenshots"
THEMES = ("light", "dark")
QUESTION = "how are ignore rules applied"
SEARCHES = (QUESTION, "where is the vector index written", "parse chinese", "lock of a dead writer", "retry after 429")
MOST_BYTES = 150_000
_LEFT_OUT = shutil.ignore_patterns("static", "model", "__pycache__", "data")


def main() -> int:
    """Make all pictures; return 1 when one is larger than a page of documents should load."""
    FOLDER.mkdir(exist_ok=True)
    with indexed() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_OPTIONS)
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": 1280, "height": 800}, device_scale_factor=1.5, locale="en-GB", color_scheme=theme
            )
            for name, show in SHOWN.items():
                page = context.new_page()
                show(page, served)
                keep(context, page, FOLDER / f"{name}-{theme}.webp")
                page.close()
            context.close()
        browser.close()
    large = [path.name for path in FOLDER.iterdir() if path.stat().st_size > MOST_BYTES]
    sys.stderr.write(f"too large: {', '.join(large)}\n" if large else "")
    return 1 if large else 0


@contextmanager
def indexed() -> Iterator[ServedPage]:
    """Serve copies of our own sources, one project after the other, with a model that answers by a script."""
    with TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        for name, sources in {"codefathom": ("src", "docs"), "codefathom-web": ("web/src",)}.items():
            for source in sources:
                shutil.copytree(ROOT / source, place / name / source, ignore=_LEFT_OUT)
            (place / name / "fathom.toml").touch()
        os.environ |= {"XDG_CACHE_HOME": str(place / "cache"), "XDG_CONFIG_HOME": str(place / "config")}
        with serving_model(replied("")) as model:
            os.environ |= {
                "FATHOM_LLM__MODEL": f"openai:qwen2.5-coder:14b@{model.base_url}/v1",
                "FATHOM_SELECT__FILTER_LEVEL": "0",
            }
            config = ServerConfig(str(place / "data"), (str(place),), variables=dict(os.environ))
            with serving(place, config) as served:
                served.add(place / "codefathom")
                served.add(place / "codefathom-web")
                model.turns[:] = [replied(answer_about(served.client))]
                yield served


def answer_about(client: httpx.Client) -> str:
    """Return an answer whose citations are places that the search finds."""
    body = {"query": QUESTION, "project_id": "codefathom", "level": "symbol", "directory_filter": ["src"]}
    hits: list[dict[str, Any]] = client.post("/search", json=body).raise_for_status().json()["hits"]
    places = [f"[{hit['path']}:{hit['start_line']}-{min(hit['end_line'], hit['start_line'] + 8)}]" for hit in hits]
    return (
        f"Every folder contributes the rules of its own ignore files, and inner ones win {places[0]}.\n\n"
        f"- **Reading.** A pattern becomes one compiled expression; a leading `!` takes a path back in {places[1]}.\n"
        f"- **Order.** The rules are tried from the last to the first, and the first that fits decides {places[2]}.\n"
        f"- **Folders.** What lies below an ignored folder is never looked at, so nothing in it can come back.\n\n"
        f"Tests compare the result with git on made-up trees."
    )


def search_page(page: Page, served: ServedPage) -> None:
    """Show a search with the file of its first hit beside it."""
    for query in SEARCHES:
        served.client.post("/search", json={"query": query}).raise_for_status()
    page.goto(f"{served.url}/search?q={QUESTION.replace(' ', '+')}&in=codefathom")
    page.get_by_role("main").get_by_role("link").first.click()
    expect(page.locator(".hljs-keyword").first).to_be_visible()


def chat_page(page: Page, served: ServedPage) -> None:
    """Show a question with its answer and sources."""
    page.goto(f"{served.url}/chat")
    page.get_by_role("textbox", name="Your question").fill(QUESTION.capitalize() + "?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").last).to_contain_text("made-up trees", timeout=60_000)
    page.mouse.move(5, 5)


def projects_page(page: Page, served: ServedPage) -> None:
    """Show the projects."""
    page.goto(f"{served.url}/projects")
    expect(page.get_by_text("codefathom-web").first).to_be_visible()


def monitoring_page(page: Page, served: ServedPage) -> None:
    """Show how the service is doing."""
    page.goto(f"{served.url}/monitoring")
    expect(page.get_by_role("heading", name="Services and models")).to_be_visible()


SHOWN = {"search": search_page, "chat": chat_page, "projects": projects_page, "monitoring": monitoring_page}


def keep(context: BrowserContext, page: Page, path: Path) -> None:
    """Write the picture of a page that has come to rest."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(600)
    session = context.new_cdp_session(page)
    picture = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    path.write_bytes(base64.b64decode(picture["data"]))


if __name__ == "__main__":
    sys.exit(main())
