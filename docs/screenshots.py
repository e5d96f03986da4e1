"""Makes docs/screenshots: every page in both themes, of a server that has indexed Codefathom itself.

The words of the answer in the chat and the hour before on the monitoring page are made up here; all else is real.
"""

from __future__ import annotations

import base64
import math
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright
from tests.protocols.server import serving as serving_model
from tests.web.conftest import CHROMIUM_OPTIONS, ServedPage, replied, serving

from codefathom.server.server_config import ServerConfig

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "screenshots"
THEMES = ("light", "dark")
QUESTION = "how are ignore rules applied"
SEARCHES = (QUESTION, "where is the vector index written", "parse chinese", "lock of a dead writer", "retry after 429")
MOST_BYTES = 150_000
FAILED_AGO_S = 18 * 60
_LEFT_OUT = shutil.ignore_patterns("static", "model", "__pycache__", "screenshots*")


def main() -> int:
    """Make all pictures; return 1 when one is larger than a page of documents should load."""
    expect.set_options(timeout=60_000)  # the server may share the machine with others
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
        place = Path(folder).resolve() / "code"
        place.mkdir()
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
                served.add(served.shop, index=False)
                model.turns[:] = [replied(answer_about(served.client))]
                yield served


def answer_about(client: httpx.Client) -> str:
    """Return an answer about the ignore rules, with the lines of the definitions that it is about."""
    return (
        "Ignore files become **layers**, strongest first: a deeper file goes before those above it "
        f"{cited(client, 'add_layer')}.\n\n"
        "- **Deciding.** `decide` lets the weakest layer speak first, so that stronger ones write over it "
        f"{cited(client, 'decide')}.\n"
        "- **Bringing back.** A negated pattern of a stronger layer opens a folder that was left out "
        f"{cited(client, 'may_enter')}.\n"
        "- **Build output.** A folder such as `dist` counts as output only beside a build file "
        f"{cited(client, 'is_output')}.\n\n"
        "`.git` and the index itself are never entered, whatever a rule says."
    )


def cited(client: httpx.Client, name: str) -> str:
    """Return the place of a definition in the module of the ignore rules, as an answer writes it."""
    asked = {"project_id": "codefathom", "path": "src/codefathom/source/ignore.py"}
    symbols: list[dict[str, Any]] = client.get("/symbols", params=asked).raise_for_status().json()["symbols"]
    found = next(symbol for symbol in symbols if symbol["name"] == name)
    return f"[{found['path']}:{found['start_line']}-{found['end_line']}]"


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
    expect(page.get_by_role("article").last).to_contain_text("whatever a rule says", timeout=60_000)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.mouse.move(5, 5)


def projects_page(page: Page, served: ServedPage) -> None:
    """Show the projects."""
    page.goto(f"{served.url}/projects")
    expect(page.get_by_text("codefathom-web").first).to_be_visible()


def monitoring_page(page: Page, served: ServedPage) -> None:
    """Show how the service is doing, at the end of a busy hour."""
    stats = served.client.get("/monitoring/stats").json()
    now = int(time.time()) // 60 * 60
    failure = {"method": "POST", "route": "/ask", "status": 502, "detail": "the model did not answer in 60 s"}
    stats |= {
        "minutes": list(busy_hour(now)),
        "failed": [{"at": now - FAILED_AGO_S + second, **failure} for second in (31, 9)],
    }
    page.route("**/api/monitoring/stats", lambda route: route.fulfill(json=stats))
    page.goto(f"{served.url}/monitoring")
    expect(page.get_by_role("heading", name="Services and models")).to_be_visible()


def busy_hour(now: int) -> Iterator[dict[str, float]]:
    """Yield minutes as a team fills them."""
    chance = random.Random(7)
    for number in range(60):
        n_requests = int(38 + 22 * math.sin(number / 9) + chance.uniform(-9, 9))
        p50_ms = 9 + 3 * math.sin(number / 9) + chance.uniform(-1, 1)
        n_failed = 2 if number == 59 - FAILED_AGO_S // 60 else 0
        p95_ms = p50_ms * chance.uniform(2.4, 3.4)
        yield {
            "at": now - (59 - number) * 60,
            "n_requests": n_requests,
            "n_failed": n_failed,
            "p50_ms": p50_ms,
            "p95_ms": p95_ms,
        }


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
