"""A team plays a day at its server: `python -m evals.trials.team [--readers 30] [--pictures docs/screenshots]`.

An administrator, two maintainers and readers of two projects, behind Caddy below a path, sign in at a real provider of
OpenID Connect; some work in a browser, some by HTTP, some through agents. Each feature is used once, and what a person
may not see or do is tried, too. Exit status 1 with the first thing that is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.server.agents import agent, text_of
from tests.waiting import LONG_S
from tests.web.conftest import CHROMIUM_OPTIONS

from evals.trials.team_site import PROJECTS, QUESTION, Site, sign_in, team_site

ADMIN, MAINTAINERS = "ada", ("shop-mia", "depot-max")  # the provider tells their group by their name
ROLES = (
    "ada@example.org=admin",
    "shop-mia@example.org=maintainer:shop",
    "depot-max@example.org=maintainer:depot",
    "@shops=reader:shop",
    "@depots=reader:depot",
)
WAYS = ("browser", "http", "agent")  # in which a reader works
ASKED = {"shop": "where is the total of a cart priced", "depot": "how are pallets weighed"}
COMMENT = "Say who gets the discount."
_AT_ONCE = 4  # readers without a browser
_FAULTS = re.compile(r"Traceback|ERROR|CRITICAL|Exception ignored|died")


@dataclass(frozen=True)
class Reader:
    """Somebody who asks and reads in one project."""

    name: str
    project: str
    way: str

    @property
    def others(self) -> str:
        """Return the project that this reader may not see."""
        return PROJECTS[1 - PROJECTS.index(self.project)]


def readers(number: int) -> list[Reader]:
    """Return so many readers: each way in turn, the projects as evenly as they divide."""
    projects = [PROJECTS[place // len(WAYS) % 2] for place in range(number)]
    return [
        Reader(f"{project}-{place + 1:02}", project, WAYS[place % len(WAYS)]) for place, project in enumerate(projects)
    ]


@dataclass
class TeamPlay:
    """The acts, in their order; what one leaves is used by later ones."""

    site: Site
    browser: Browser
    people: Sequence[Reader]
    pictures: Path | None = None
    said: list[str] = field(default_factory=list)  # what was done, a line for each
    secrets: dict[str, str] = field(default_factory=dict)  # tokens of agents, by reader
    link: str = ""  # of the shared conversation

    def run(self) -> None:
        """Play all acts. Raises an error for the first thing that is wrong."""
        with self._page(ADMIN) as admin:
            self._add_projects(admin)
            self._maintain()
            self._make_tokens(admin)
            self._read()
            self._share()
            self._look_after(admin)
            self._revoke(admin)
            self._sign_out(admin)
        self._back_up()

    # ---- the acts

    def _add_projects(self, admin: Page) -> None:
        for name in PROJECTS:
            with self._step(f"{ADMIN} adds {name} on the page"):
                admin.goto(f"{self.site.address}/projects")
                admin.get_by_role("button", name="Add a project").first.click()
                dialog = admin.get_by_role("dialog", name="Add a project")
                dialog.get_by_label("Folder on the server").fill(str(self.site.project(name)))
                expect(dialog.get_by_text(f"Will be the project {name}")).to_be_visible()
                dialog.get_by_label("Folder on the server").press("Enter")
                expect(dialog).to_be_hidden()
        with self._step("both projects are indexed"):
            for name in PROJECTS:
                said = _card(admin, name).get_by_text(re.compile(r"^\d+ files and "))
                expect(said).to_be_visible(timeout=LONG_S * 1_000)  # a job gives way to all that the machine does

    def _maintain(self) -> None:
        for name, project in zip(MAINTAINERS, PROJECTS, strict=True):
            with self._page(name) as page, self._step(f"{name} watches {project}, and sees no other project"):
                page.goto(f"{self.site.address}/projects")
                expect(page.get_by_role("list", name="Projects").get_by_role("listitem")).to_have_count(1)
                expect(page.get_by_role("button", name="Add a project")).to_have_count(0)
                page.get_by_role("button", name=f"More about {project}").click()
                page.get_by_role("menuitem", name="History").click()
                switch = page.get_by_role("switch", name="Update the index when files change")
                switch.click()
                expect(switch).to_be_checked()
                (self.site.project(project) / "new.py").write_text(f"def since_{project}_is_watched():\n    pass\n")
                self._search_until(page, f"since_{project}_is_watched", "new.py")
        with (
            self._client() as maintainer,
            self._step(f"{MAINTAINERS[0]} indexes by HTTP, and changes no other project"),
        ):
            sign_in(self.site, maintainer, MAINTAINERS[0])
            accept = {"accept": "application/json"}
            job = maintainer.post("/api/projects/shop/index", headers=accept).raise_for_status().json()
            ends = maintainer.get(f"/api/jobs/{job['id']}/events").text
            _check('"state": "done"' in ends or '"type": "done"' in ends, ends[-500:])
            _refused(maintainer.post("/api/projects/depot/index", headers=accept), 404)
            _refused(maintainer.delete("/api/projects/shop"), 403)
            _refused(maintainer.get("/api/tokens"), 403)

    def _search_until(self, page: Page, text: str, path: str) -> None:
        """Search on the page until a file comes first: a search does not wait for the job that takes it in."""
        ends = time.monotonic() + LONG_S
        while True:
            page.goto(f"{self.site.address}/search?q={text}")
            expect(_hits(page).first).to_be_visible()
            first = _hits(page).first.inner_text()
            if path in "".join(first.split()):
                return
            _check(time.monotonic() < ends, f"first is {first!r}, not {path}")

    def _make_tokens(self, admin: Page) -> None:
        for reader in self._who("agent"):
            with self._step(f"{ADMIN} makes a token for the agent of {reader.name}"):
                admin.goto(f"{self.site.address}/people")
                admin.get_by_label("Name", exact=True).fill(reader.name)
                admin.get_by_label("Projects", exact=True).fill(reader.project)
                admin.get_by_role("button", name="Make a token").click()
                dialog = admin.get_by_role("dialog", name=f"The new token {reader.name}")
                self.secrets[reader.name] = dialog.locator("code").inner_text().strip()
                dialog.get_by_role("button", name="I have copied it").click()

    def _read(self) -> None:
        """Let all readers ask at one time: those without a browser in threads."""
        with ThreadPoolExecutor(_AT_ONCE) as others:
            work = [others.submit(self._read_by_http, reader) for reader in self._who("http")]
            work += [others.submit(self._read_by_agent, reader) for reader in self._who("agent")]
            for reader in self._who("browser"):
                self._read_on_the_page(reader)
            for one in work:
                one.result()

    def _read_on_the_page(self, reader: Reader) -> None:
        with self._page(reader.name) as page, self._step(f"{reader.name} signs in, searches and opens a file"):
            page.goto(f"{self.site.address}/search")
            expect(page.get_by_role("link", name="People")).to_have_count(0)
            page.get_by_role("textbox", name="Search the code of your projects").fill(ASKED[reader.project])
            _hits(page).first.get_by_role("link").first.click()
            expect(page.get_by_role("complementary", name="Code").locator(".code-line-marked").first).to_be_visible()
            page.goto(f"{self.site.address}/project/{reader.others}")
            expect(page.get_by_role("heading", name="There is no such project")).to_be_visible()

    def _read_by_http(self, reader: Reader) -> None:
        with self._client() as client, self._step(f"{reader.name} signs in, searches and asks by HTTP"):
            sign_in(self.site, client, reader.name)
            told = client.get("/api/session").json()
            _check((told["name"], told["roles"]) == (f"{reader.name}@example.org", {reader.project: "reader"}), told)
            listed = client.get("/api/projects").json()["projects"]
            _check([project["id"] for project in listed] == [reader.project], listed)
            hits = client.post("/api/search", json={"query": ASKED[reader.project]}).raise_for_status().json()["hits"]
            _check({hit["project_id"] for hit in hits} == {reader.project}, hits)
            answer = client.post("/api/ask", json={"query": QUESTION}).raise_for_status().json()
            _check(bool(answer["answer"]), answer)
            _refused(client.post("/api/search", json={"query": "x", "project_ids": [reader.others]}), 404)
            _refused(client.post(f"/api/projects/{reader.project}/index"), 403)
            _refused(client.get("/api/audit"), 403)
            client.post("/api/sign-out").raise_for_status()
            _refused(client.get("/api/projects"), 401)

    def _read_by_agent(self, reader: Reader) -> None:
        async def texts() -> list[str]:
            async with agent(self.site.address, "2026-07-28", self.secrets[reader.name]) as client:
                search = await client.call_tool("search", {"query": ASKED[reader.project]})
                overview = await client.call_tool("map", {})
                answer = await client.call_tool("ask", {"question": QUESTION})
                return [text_of(result) for result in (search, overview, answer)]

        with self._step(f"the agent of {reader.name} searches, asks and reads the map"):
            for text in asyncio.run(texts()):
                files = {path.name for path in self.site.project(reader.others).rglob("*.py")}
                mine = {path.name for path in self.site.project(reader.project).rglob("*.py")}
                _check(not any(name in text for name in files - mine), text)

    def _share(self) -> None:
        first, *_ = self._who("browser")
        with self._page(first.name) as page, self._step(f"{first.name} asks, exports and shares the conversation"):
            page.goto(f"{self.site.address}/chat")
            page.get_by_role("textbox", name="Your question").fill(QUESTION)
            page.keyboard.press("Enter")
            expect(page.get_by_role("article").last).to_contain_text("2 places verified")
            page.locator(".chat-head").get_by_role("button", name=re.compile("^More about")).click()
            with page.expect_download() as download:
                page.get_by_role("menuitem", name="Export as Markdown").click()
            exported = Path(download.value.path()).read_text(encoding="utf-8")
            _check("sum of all prices" in exported, exported)
            page.get_by_role("button", name="Share", exact=True).click()
            page.get_by_role("switch", name="Share this conversation").click()
            expect(page.get_by_text(re.compile("/code/chat/"))).to_be_visible()
            self.link = page.url
        with self._page(MAINTAINERS[0]) as page, self._step(f"{MAINTAINERS[0]} follows the link and rates the answer"):
            page.goto(self.link)
            answer = page.get_by_role("article").last
            expect(page.get_by_text(f"{first.name}@example.org shares this conversation.")).to_be_visible()
            expect(answer).to_contain_text("Cited lines unchanged")
            answer.get_by_role("button", name="Good answer").click()
            answer.get_by_role("textbox").fill(COMMENT)
            self._keep(page, "team-shared")
            answer.get_by_role("button", name="Send the comment").click()
            expect(answer.get_by_role("button", name="Good answer")).to_have_attribute("aria-pressed", "true")
        with self._client() as stranger, self._step(f"{MAINTAINERS[1]} cannot read it"):
            sign_in(self.site, stranger, MAINTAINERS[1])
            _refused(stranger.get(f"/api/conversations/{self.link.rpartition('/')[2]}"), 404)
            _check(stranger.get("/api/conversations?shared=true").json()["conversations"] == [], "it is listed")

    def _look_after(self, admin: Page) -> None:
        with self._step(f"{ADMIN} reads ratings, the list of who did what, and monitoring"):
            admin.goto(f"{self.site.address}/people")
            expect(admin.get_by_role("region", name="Ratings of answers")).to_contain_text(COMMENT)
            audit = admin.get_by_role("region", name="Who did what")
            for action in ("signed in", "watching started", "index started"):
                expect(audit).to_contain_text(action)
            self._keep(admin, "team-people")
            admin.goto(f"{self.site.address}/monitoring")
            expect(admin.get_by_role("heading", name="Services and models")).to_be_visible()
            expect(admin.get_by_text("Everything works")).to_be_visible()
            hours = admin.request.get(f"{self.site.address}/api/monitoring/history").json()["hours"]
            _check(hours[-1]["n_questions"] >= len(self.people) and hours[-1]["n_failed"] == 0, hours)

    def _revoke(self, admin: Page) -> None:
        for name, secret in list(self.secrets.items())[:1]:
            with self._step(f"{ADMIN} revokes the token of {name}, and its agent is refused"):
                bearer = {"authorization": f"Bearer {secret}"}
                admin.goto(f"{self.site.address}/people")
                admin.get_by_role("button", name=f"Revoke the token {name}").click()
                admin.get_by_role("dialog").get_by_role("button", name="Revoke", exact=True).click()
                expect(admin.get_by_role("row", name=re.compile(f"^{name}")).first).to_contain_text("revoked")
                _refused(httpx.get(f"{self.site.address}/api/session", headers=bearer, timeout=LONG_S), 401)
                _refused(httpx.post(f"{self.site.address}/mcp", json={}, headers=bearer, timeout=LONG_S), 401)

    def _sign_out(self, admin: Page) -> None:
        with self._step(f"{ADMIN} signs out"):
            admin.get_by_role("button", name="Sign out").click()
            expect(admin.get_by_role("dialog", name="Sign in to continue")).to_be_visible()
            _check(admin.request.get(f"{self.site.address}/api/projects").status == 401, "the session goes on")

    def _back_up(self) -> None:
        with self._step("the server is saved while it runs, and the copy has all"):
            path = self.site.folder / "server.backup"
            self.site.fathom("serve", "--backup", str(path))
            other = {**self.site.environment, "FATHOM_SERVER__DATA_DIR": str(self.site.folder / "restored")}
            copy = Site("", "", self.site.folder, self.site.log, other)
            copy.fathom("serve", "--restore", str(path))
            tokens = copy.fathom("tokens", "list")
            _check(all(name in tokens for name in self.secrets) and "revoked" in tokens, tokens)
            faults = [line for line in self.site.log.read_text().splitlines() if _FAULTS.search(line)]
            _check(not faults, faults)

    # ---- inside

    def _who(self, way: str) -> list[Reader]:
        return [reader for reader in self.people if reader.way == way]

    @contextmanager
    def _step(self, text: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        except BaseException as error:
            error.add_note(f"while {text}")
            raise
        self.said.append(text)
        print(f"{time.monotonic() - began:5.1f} s  {text}", flush=True)

    def _client(self) -> httpx.Client:
        # As a browser does: without it, nobody can change anything by a session.
        headers = {"origin": self.site.address.removesuffix("/code")}
        return httpx.Client(base_url=self.site.address, timeout=LONG_S, follow_redirects=True, headers=headers)

    @contextmanager
    def _page(self, name: str) -> Iterator[Page]:
        """Open the page in a window of its own, in which this person signs in at the provider."""
        window = self.browser.new_context(
            viewport={"width": 1440, "height": 900}, locale="en-GB", color_scheme="light", reduced_motion="reduce"
        )
        window.set_default_timeout(LONG_S * 1_000)
        page, failures = window.new_page(), []
        page.on("pageerror", lambda error: failures.append(str(error)))
        try:
            page.goto(f"{self.site.address}/projects")
            page.locator("input[name=login]").fill(name)
            page.locator("input[name=password]").fill("any")
            page.locator("[type=submit]").click()
            page.locator("[type=submit]").filter(has_text="Continue").click()
            expect(page.get_by_text(f"Signed in as {name}@example.org")).to_be_visible()
            yield page
            _check(not failures, failures)
        finally:
            window.close()

    def _keep(self, page: Page, name: str) -> None:
        """Write a picture of the page that has come to rest."""
        if self.pictures is None:
            return
        page.wait_for_load_state("networkidle")
        page.mouse.move(5, 5)
        page.wait_for_timeout(600)
        session = page.context.new_cdp_session(page)
        picture: dict[str, Any] = session.send("Page.captureScreenshot", {"format": "webp", "quality": 80})
        (self.pictures / f"{name}.webp").write_bytes(base64.b64decode(picture["data"]))


def _card(page: Page, name: str) -> Any:
    cards = page.get_by_role("list", name="Projects").get_by_role("listitem")
    return cards.filter(has=page.get_by_role("heading", name=name, exact=True))


def _hits(page: Page) -> Any:
    return page.get_by_role("list", name="Results").locator("> li")


def _check(is_right: bool, told: object) -> None:
    if not is_right:
        raise AssertionError(str(told))


def _refused(answer: httpx.Response, status: int) -> None:
    _check(
        answer.status_code == status, f"{answer.request.url}: {answer.status_code}, not {status}: {answer.text[:300]}"
    )


def main() -> int:
    """Play the whole day."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--pictures", type=Path, help="folder for the pictures")
    options = parser.parse_args()
    node, chromium = shutil.which("node"), shutil.which("chromium")
    with TemporaryDirectory(prefix="fathom-team-") as folder, sync_playwright() as playwright:
        if node is None:
            parser.error("node is not installed")
        expect.set_options(timeout=LONG_S * 1_000)
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_OPTIONS)
        with team_site(Path(folder).resolve(), node, ROLES) as site:
            play = TeamPlay(site, browser, readers(options.readers), options.pictures)
            play.run()
        browser.close()
    print(f"{len(play.said)} steps, {len(play.people) + 1 + len(MAINTAINERS)} people, nothing wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
