"""A real server with the page, a scripted model, and a real browser in front of them."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from tests.protocols.server import ServedSettings as ServedModel
from tests.protocols.server import Turn
from tests.protocols.server import serving as serving_model
from tests.waiting import LONG_S, join

import codefathom.server.http.page as page_module
from codefathom.engine import Engine
from codefathom.server.app import create_app
from codefathom.server.run import options_of
from codefathom.server.server_config import ServerConfig

SHOP = Path(__file__).parents[1] / "repos" / "shop"
# Another build of the page than the one in the package, for those who change it.
STATIC = Path(os.environ.get("FATHOM_TEST_STATIC") or page_module.STATIC)
# How many times slower the browser is made; answers then come late, too. Brings out what depends on timing.
SLOWER = float(os.environ.get("FATHOM_TEST_SLOWER") or 1)
PATIENCE_MS = 60_000  # for what the page does at once on a machine that is idle
_BROWSER_LOOPS: list[asyncio.AbstractEventLoop] = []
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--mute-audio",
    "--process-per-site",
]


@dataclass
class ServedPage:
    """A server that answers, what it keeps, and a client of it."""

    url: str
    folder: Path  # tests may write in it; projects may lie in it
    shop: Path
    client: httpx.Client
    model: ServedModel | None = None

    def add(self, path: Path | None = None, *, index: bool = True, by_job: bool = False) -> str:
        """Add a project, the shop if none is named, with its index; return its id."""
        folder = str(path or self.shop)
        if by_job:
            answer = self.client.post("/index", json={"codebase_path": folder})
            return str(answer.raise_for_status().json()["project_id"])
        if index:  # here: a job begins a process, which takes long on a busy machine
            with Engine.open(folder) as engine:
                engine.index()
        added = self.client.post("/projects", json={"path": folder})
        if added.status_code == httpx.codes.CONFLICT:
            known = self.client.get("/projects").json()["projects"]
            return next(str(project["id"]) for project in known if project["root"] == folder)
        return str(added.raise_for_status().json()["id"])


def missing(what: str) -> None:
    """Skip a test for want of a program; where everything must be there, fail."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser, once for all tests."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        missing("no Chromium is installed: apt-get install chromium")
    if not (STATIC / "index.html").is_file():
        missing("the page is not built: make web")
    sync_api.expect.set_options(timeout=PATIENCE_MS * SLOWER)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_OPTIONS)
        _BROWSER_LOOPS.append(asyncio.get_running_loop())
        yield browser
        asyncio._set_running_loop(_BROWSER_LOOPS.pop())
        browser.close()


@pytest.fixture(autouse=True)
def loop_of_the_browser() -> Iterator[None]:
    """Playwright counts its loop as running while a browser is open; in between, tests of other files need none."""
    if _BROWSER_LOOPS:
        asyncio._set_running_loop(_BROWSER_LOOPS[-1])
    yield
    asyncio._set_running_loop(None)


def new_window(chromium: Any) -> Any:
    """Return a window that remembers nothing: `new_page()` is a tab of it.

    Its user wants no motion: on a busy machine, a click would meet a dialog that is still moving, and miss."""
    window = chromium.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", color_scheme="light", reduced_motion="reduce"
    )
    window.set_default_timeout(PATIENCE_MS * SLOWER)
    if SLOWER > 1:
        window.on("page", slow_down)
    return window


@pytest.fixture(scope="session")
def kept_window(chromium: Any) -> Any:
    """The window of all tests that need none of their own, with a tab that stays.

    The process of that tab reads the pages of all servers on this host, which are of one site: to start one for each
    test, which compiles the page anew, takes two thirds of the time of a short test."""
    window = new_window(chromium)
    tab = window.new_page()
    tab.route("**/*", lambda route: route.fulfill(body=""))
    tab.goto("http://127.0.0.1/")
    return window


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """A window of its own, for a test that changes what holds for all tabs."""
    window = new_window(chromium)
    yield window
    window.close()


def slow_down(tab: Any, times: float = SLOWER) -> None:
    tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": times})


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An empty tab. What fails in it without being noticed fails the test."""
    has_own = "browser" in request.fixturenames
    window = request.getfixturevalue("browser" if has_own else "kept_window")
    tab = window.new_page()
    failures: list[str] = []
    origins: set[str] = set()
    tab.on("pageerror", lambda error: failures.append(str(error)))
    tab.on("framenavigated", lambda frame: origins.add(frame.url))
    yield tab
    if not has_own:
        forget(window, origins)
    assert failures == []


def forget(window: Any, addresses: set[str]) -> None:
    """Close the tabs but for the one that stays, and remove what the pages at these addresses have stored."""
    kept, *tabs = window.pages
    for tab in tabs:
        tab.close()
    window.clear_cookies()
    window.clear_permissions()
    session = window.new_cdp_session(kept)
    for origin in {f"{url.scheme}://{url.netloc}" for url in map(urlsplit, addresses) if url.netloc}:
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    session.detach()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(page_module, "STATIC", STATIC)


@pytest.fixture
def turns() -> list[Turn]:
    """What the scripted model answers, the last turn again and again; a test that fills it gets a model."""
    return []


@pytest.fixture
def config(tmp_path: Path) -> ServerConfig:
    """What the server goes by; a test file may override it."""
    return ServerConfig(data_dir=str(tmp_path / "data"), allowed_roots=(str(tmp_path.resolve()),))


@pytest.fixture
def served(tmp_path: Path, config: ServerConfig) -> Iterator[ServedPage]:
    """A server with the shop in its folder (not added), without a model."""
    with serving(tmp_path, config) as found:
        yield found


@pytest.fixture
def answering(tmp_path: Path, config: ServerConfig, turns: list[Turn]) -> Iterator[ServedPage]:
    """The same with a model, which answers by `turns`."""
    with serving_model(*(turns or [replied("All is well.")])) as model, pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "FATHOM_LLM__MODEL": f"openai:scripted@{model.base_url}/v1",
            "FATHOM_SELECT__FILTER_LEVEL": "0",
            "FATHOM_ANSWER__LEAST_CONFIDENCE": "0",
            "FATHOM_LIMITS__ATTEMPTS": "1",
        }.items():
            patch.setenv(name, value)
        with serving(tmp_path, replace(config, variables=dict(os.environ))) as found:
            found.model = model
            yield found


@contextmanager
def serving(folder: Path, config: ServerConfig, port: int = 0) -> Iterator[ServedPage]:
    """Run a server for the time of the block, with a copy of the shop beside it; at any port that is free."""
    shop = folder / "shop"
    if not shop.exists():
        shutil.copytree(SHOP, shop)
        (shop / "fathom.toml").touch()
    listener = socket.create_server(("127.0.0.1", port))
    app: Any = create_app(config)
    settings = options_of(app, grace_s=2)
    settings.app, settings.access_log = late(app) if SLOWER > 1 else app, False
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx.Client(base_url=url, timeout=LONG_S) as client:
            yield ServedPage(url, folder, shop, client)
    finally:
        server.should_exit = True
        join(thread)
        listener.close()


def late(app: Any) -> Any:
    """Answer some requests later than others, as a line that is far away does."""
    chance = random.Random(0)

    async def answered_late(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(chance.expovariate(1 / (0.02 * SLOWER)))
        await app(scope, receive, send)

    return answered_late


def replied(text: str, *, pieces: Sequence[str] = (), pause_s: float = 0.0) -> Turn:
    """Return an answer of the model as it streams it: in these pieces, or word by word."""
    parts = list(pieces) or [word + " " for word in text.split(" ")]
    chunks = [{"choices": [{"index": 0, "delta": {"content": part}}]} for part in parts]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks]
    return Turn([*lines, b"data: [DONE]\n\n"], headers={"content-type": "text/event-stream"}, pause_s=pause_s)
