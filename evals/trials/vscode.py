"""The extension of VS Code in VS Code's own workbench, as code-server brings it to a browser: every view and answer.

    npm install --prefix FOLDER code-server@4.100.3
    python -m evals.trials.vscode FOLDER [--pictures docs/screenshots]

The packed extension (`npm run package` in editors/vscode) is installed into an empty profile, a small project is opened
in Chromium, and the commands are given as a person gives them: by the command palette, a click, the keyboard. Nothing
asks a language model, so answers consist of excerpts. code-server wants Node.js 20, and builds native modules; where
its own scripts cannot load what they need, `npm install --ignore-scripts` (again in its `lib/vscode`) and `node-gyp
rebuild` of spdlog, native-watchdog, node-pty and argon2 are enough.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Locator, Page, expect, sync_playwright

from evals.run import REPOSITORY

EXTENSION = REPOSITORY / "editors" / "vscode" / "dist" / "codefathom.vsix"
PROJECT = {
    "shop/orders.py": '''"""Orders of the shop."""

from shop.prices import gross_price


def total_of_order(lines):
    """Add up what the lines of an order cost, taxes included."""
    return sum(gross_price(line.net, line.rate) * line.count for line in lines)


def invoice(order):
    """Write the invoice of an order for its customer."""
    return f"{order.customer}: {total_of_order(order.lines):.2f}"
''',
    "shop/prices.py": '''"""Prices and taxes."""


def gross_price(net, rate):
    """Return the price with value added tax, rounded to cents."""
    return round(net * (1 + rate), 2)
''',
    "tests/test_prices.py": """from shop.prices import gross_price


def test_tax_is_added():
    assert gross_price(100, 0.2) == 120
""",
}
QUESTION = "where is tax added to a price"
_LIMIT_MS = 120_000.0


def main() -> int:
    """Do all steps; return 1 where one of them shows something else than it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where npm has installed code-server")
    parser.add_argument("--pictures", type=Path, help="a folder for the picture of the editor")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser (default: %(default)s)")
    options = parser.parse_args()
    entry = (options.folder / "node_modules" / "code-server" / "out" / "node" / "entry.js").absolute()
    failures = 0
    with opened_editor(entry, options.chromium) as page:
        for name, step in STEPS.items():
            try:
                step(page)
                print(f"{name}: as it should be", flush=True)
            except (AssertionError, BrowserError) as error:
                failures += 1
                print(f"{name}: {str(error).strip().splitlines()[0]}", flush=True)
        if options.pictures:
            take_picture(page, options.pictures / "vscode.webp")
    return min(failures, 1)


def take_picture(page: Page, file: Path) -> None:
    """Write what the window shows."""
    session = page.context.new_cdp_session(page)
    picture: dict[str, Any] = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
    file.write_bytes(base64.b64decode(picture["data"]))


@contextmanager
def opened_editor(entry: Path, chromium: str) -> Iterator[Page]:
    """Give the page of a workbench with the extension and a small project."""
    with TemporaryDirectory(prefix="fathom-vscode-") as name:
        folder = Path(name)
        for path, text in PROJECT.items():
            (file := folder / "project" / path).parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        profile = profile_of(folder)
        command = ("node", str(entry), "--user-data-dir", str(folder / "data"), "--extensions-dir", str(folder / "own"))
        subprocess.run([*command, "--install-extension", str(EXTENSION)], check=True, env=profile, capture_output=True)
        with served(command, profile) as url, sync_playwright() as browsers:
            browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(_LIMIT_MS)
            expect.set_options(timeout=_LIMIT_MS)
            page.goto(f"{url}/?folder={folder / 'project'}")
            expect(page.locator(".activitybar a[aria-label='Codefathom']")).to_be_visible()
            yield page
            browser.close()


def profile_of(folder: Path) -> Mapping[str, str]:
    """Write the settings of the editor, and return an environment in which nothing of this user counts."""
    settings = {
        "codefathom.path": str(Path(sys.executable).with_name("fathom")),
        "security.workspace.trust.enabled": False,  # else a person says first that the folder is trusted
        "workbench.startupEditor": "none",
        "telemetry.telemetryLevel": "off",
        "git.enabled": False,
    }
    (folder / "data" / "User").mkdir(parents=True)
    (folder / "data" / "User" / "settings.json").write_text(json.dumps(settings))
    own = {f"FATHOM_{name}_DIR": str(folder / name.lower()) for name in ("INDEX", "CACHE", "STATE")}
    return {**os.environ, **own, "FATHOM_CONFIG": str(folder / "none.toml"), "HOME": str(folder / "home")}


@contextmanager
def served(command: Sequence[str], profile: Mapping[str, str]) -> Iterator[str]:
    """Give the address of code-server on loopback while it runs."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [*command, "--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry"]
    words = [*words, "--disable-update-check"]
    # A group of its own, as the process for extensions outlives the server for a while.
    with subprocess.Popen(words, env=profile, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _await(f"{url}/healthz")
            yield url
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(_LIMIT_MS / 1000)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _await(url: str) -> None:
    end = time.monotonic() + _LIMIT_MS / 1000
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, ConnectionError) as error:
            if time.monotonic() > end:
                raise SystemExit(f"code-server did not answer: {error}") from error
            time.sleep(0.2)


# ---- what a person does


def give(page: Page, command: str, answer: str = "") -> None:
    """Run a command by its title; answer the question that it asks."""
    page.keyboard.press("F1")
    box = page.locator(".quick-input-widget input[type=text]")
    box.fill(f">{command}")
    page.locator(".quick-input-list .monaco-list-row", has_text=command).first.wait_for()
    page.keyboard.press("Enter")
    if answer:
        expect(page.locator(".quick-input-message")).to_contain_text("Press 'Enter'")
        box.fill(answer)
        page.keyboard.press("Enter")


def rows(page: Page, view: str) -> Locator:
    """Return the rows of one of the views of the extension."""
    header = page.locator(f".pane-header[aria-label^='{view}']")
    return page.locator(".pane", has=header).locator(".monaco-list-row")


def expect_open(page: Page, path: str, line: int) -> None:
    """Expect a file in the editor, with the cursor on a line."""
    expect(page.locator(".tab.active")).to_contain_text(Path(path).name)
    expect(page.locator("#status\\.editor\\.selection")).to_contain_text(f"Ln {line},")


def search(page: Page) -> None:
    """A question gives places; a click opens the first one."""
    give(page, "Codefathom: Search by a Question", QUESTION)
    first = rows(page, "Search").first
    expect(first).to_contain_text("gross_price")
    first.click()
    expect_open(page, "shop/prices.py", 5)


def who_calls(page: Page) -> None:
    """The name under the cursor has its callers listed; a click opens one."""
    place_cursor(page, "def gross_price", "gross_price")
    give(page, "Codefathom: Who Calls This")
    callers = rows(page, "Who Calls")
    expect(callers).to_have_count(2)
    expect(callers.filter(has_text="test_tax_is_added")).to_have_count(1)
    callers.filter(has_text="total_of_order").click()
    expect_open(page, "shop/orders.py", 8)


def place_cursor(page: Page, text: str, name: str) -> None:
    """Click into a name in the editor."""
    line = page.locator(".view-line", has_text=text.replace(" ", "\N{NO-BREAK SPACE}")).first
    line.locator("span", has_text=re.compile(rf"^\s*{name}$")).last.click()


def ask(page: Page) -> None:
    """A question gives an answer with checked citations; a click opens one."""
    give(page, "Codefathom: Ask for an Answer", "how is value added tax computed")
    answer = page.frame_locator("iframe.webview").frame_locator("iframe#active-frame")
    expect(answer.locator("h3")).to_have_text("Checked citations")
    answer.locator("a", has_text="shop/prices.py").first.click()
    expect(page.locator(".tab.active")).to_contain_text("prices.py")


def lenses(page: Page) -> None:
    """The language server counts callers above a function."""
    expect(page.locator(".codelens-decoration").first).to_contain_text("1 caller, 1 test")


def symbols(page: Page) -> None:
    """Symbols of the workspace are found by their names; of those found by meaning VS Code hides the others."""
    page.keyboard.press("Control+t")
    page.locator(".quick-input-widget input[type=text]").fill("#invoi")
    expect(page.locator(".quick-input-list .monaco-list-row", has_text="invoice").first).to_be_visible()
    page.keyboard.press("Escape")


STEPS: Mapping[str, Callable[[Page], None]] = {
    "search": search,
    "who calls": who_calls,
    "ask": ask,
    "code lenses": lenses,
    "symbols of the workspace": symbols,
}


if __name__ == "__main__":
    raise SystemExit(main())
