"""Named files over HTTP: taken in by a process of their own, and searched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import httpx
import pytest
from tests.server.conftest import Serve
from tests.server.test_projects import add, index
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.clones.git_origin import GitOrigin
from codefathom.errors import IndexingError
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.problem_json import SlowUpdateError
from codefathom.server.jobs.job_messages import Message, Order, Trouble
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.jobs.path_updates import PathUpdates
from codefathom.server.server_config import ServerConfig
from codefathom.stores.lock import writer_lock


@pytest.fixture
def ready(server: httpx.Client, shop: Path) -> httpx.Client:
    """A server with one indexed project that never looks at its files by itself."""
    (shop / "fathom.toml").write_text("[search]\nrefresh_max_files = 20\n")
    index(shop)
    add(server, shop, settings={"search.refresh": "never"})
    return server


def update(server: httpx.Client, *paths: str) -> httpx.Response:
    return server.post("/projects/shop/files", json={"paths": paths})


def test_each_file_is_told_with_what_became_of_it(ready: httpx.Client, shop: Path) -> None:
    (shop / "new.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    (shop / "logo.py").write_bytes(b"\0\1\2")
    answer = update(ready, "new.py", "logo.py", "nowhere.py", "README.md")
    assert answer.status_code == 200, answer.text
    report = answer.json()
    assert (report["project_id"], report["added"], report["unchanged"]) == ("shop", ["new.py"], ["README.md"])
    assert {item["path"] for item in report["refused"]} == {"logo.py", "nowhere.py"}
    (shop / "new.py").write_text("def hover_above_the_river():\n    return 1\n")
    assert update(ready, "new.py").json()["changed"] == ["new.py"]
    (shop / "new.py").unlink()
    assert update(ready, ".").json()["removed"] == ["new.py"]
    assert ready.get("/jobs").json()["jobs"] == []


def test_a_search_takes_in_the_files_that_it_names(ready: httpx.Client, shop: Path) -> None:
    (shop / "new.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    (shop / "other.py").write_text("def hover_above_the_gravel():\n    return 1\n")
    body = {"query": "hover above the motorway", "project_id": "shop"}
    assert "motorway" not in ready.post("/search", json=body).text.replace(body["query"], "")
    for _ in range(2):
        answer = ready.post("/search", json={**body, "files": ["new.py", "nowhere.py"]}).json()
        assert {hit["path"] for hit in answer["hits"]} == {"new.py"}
        assert any(text.startswith("nowhere.py: ") for text in answer["degraded"])
    (shop / "new.py").write_text("def hover_above_the_canal():\n    return 1\n")
    (hit,) = ready.post("/search", json={**body, "files": "new.py"}).json()["hits"]
    assert "canal" in hit["content"]


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "shop/../../x"])
def test_paths_outside_are_refused(ready: httpx.Client, path: str) -> None:
    answers = [update(ready, path), ready.post("/search", json={"query": "x", "project_id": "shop", "files": [path]})]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(400, "usage")] * 2


def test_a_link_that_leads_out_is_refused(ready: httpx.Client, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def secret(): ...\n")
    os.symlink(tmp_path / "outside.py", shop / "link.py")
    assert update(ready, "link.py").json()["code"] == "usage"


@pytest.mark.parametrize("body", [{}, {"paths": []}, {"paths": [""]}, {"paths": [1]}, {"paths": ["a"] * 101}])
def test_bodies_have_limits(ready: httpx.Client, body: object) -> None:
    assert ready.post("/projects/shop/files", json=body).status_code == 422


def test_files_belong_to_one_project(ready: httpx.Client, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.py").write_text("def more(): ...\n")
    add(ready, tmp_path / "more")
    assert update(ready, "nowhere.py").status_code == 200
    assert ready.post("/projects/more/files", json={"paths": ["a.py"]}).json()["code"] == "not_indexed"
    assert ready.post("/projects/less/files", json={"paths": ["a.py"]}).json()["code"] == "not_found"
    assert ready.post("/search", json={"query": "x", "files": ["a.py"]}).json()["code"] == "usage"


def test_files_of_several_projects_are_taken_in_where_they_belong(
    ready: httpx.Client, shop: Path, tmp_path: Path
) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "a.py").write_text("def more(): ...\n")
    index(more)
    add(ready, more, settings={"search.refresh": "never"})
    for folder in (shop, more):
        (folder / "new.py").write_text(f"def hover_above_the_motorway_of_{folder.name}():\n    return 1\n")

    def hits(*files: str, route: str = "/federated/search", **body: object) -> set[tuple[str, str]]:
        answer = ready.post(route, json={"query": "hover above the motorway", "files": files, **body})
        assert answer.status_code == 200, answer.text
        told = answer.json()
        assert {item["project_id"] for item in told["projects"]} == {hit["project_id"] for hit in told["hits"]}
        return {(hit["project_id"], hit["path"]) for hit in told["hits"]}

    assert hits("more/new.py") == {("more", "new.py")}
    assert hits("more/new.py", "shop/new.py", route="/search") == {("more", "new.py"), ("shop", "new.py")}
    assert hits(str(shop / "new.py"), "more/new.py", project_ids=["more", "shop"]) == {
        ("more", "new.py"),
        ("shop", "new.py"),
    }
    assert hits("more") == {("more", "new.py"), ("more", "a.py")}


@pytest.mark.parametrize(
    "path", ["new.py", "less/new.py", "/etc/passwd", "/etc/nowhere", "more/../shop/README.md", ".."]
)
def test_files_of_several_projects_lie_in_one_of_them(
    ready: httpx.Client, shop: Path, tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "new.py").write_text("def more(): ...\n")
    index(tmp_path / "more")
    add(ready, tmp_path / "more")
    monkeypatch.chdir(tmp_path / "more")  # where the server runs says nothing about what a client means
    answer = ready.post("/federated/search", json={"query": "more", "files": [path, "more/new.py"]})
    assert (answer.status_code, answer.json()["code"]) == (400, "usage")


def test_a_token_for_other_projects_may_not(config: ServerConfig, serve: Serve, shop: Path) -> None:
    index(shop)
    tokens = (Token("all", hash_of("open")), Token("few", hash_of("limited"), frozenset({"other"})))
    with serve(replace(config, tokens=tokens)) as server:
        server.headers["authorization"] = "Bearer open"
        add(server, shop)
        server.headers["authorization"] = "Bearer limited"
        assert update(server, "README.md").status_code == 404
        server.headers["authorization"] = "Bearer open"
        assert update(server, "README.md").json()["unchanged"] == ["README.md"]


def test_texts_that_are_on_no_disk_are_kept_searched_shown_and_removed(ready: httpx.Client, shop: Path) -> None:
    (shop / "new.py").write_text("def hover_above_the_motorway():\n    return 1\n")
    texts = {"notes/meeting.md": "# Meeting\n\nThe walrus is fed by Ada.\n", "walrus.pdf": "text", "none.md": None}
    report = ready.post("/projects/shop/files", json={"paths": ["new.py"], "texts": texts}).json()
    assert report["added"] == ["new.py", "texts://notes/meeting.md"]
    assert [item["path"] for item in report["refused"]] == ["texts://walrus.pdf", "texts://none.md"]
    body = {"query": "who feeds the walrus", "project_id": "shop", "files": ["texts://notes"]}
    (hit,) = ready.post("/search", json=body).json()["hits"]
    assert (hit["path"], hit["stale"]) == ("texts://notes/meeting.md", False)
    shown = ready.get("/file", params={"project_id": "shop", "path": "texts://notes/meeting.md"}).json()
    assert shown["content"] == texts["notes/meeting.md"]
    tree = ready.get("/file-tree", params={"project_id": "shop"}).json()["entries"]
    (folder,) = [entry for entry in tree if entry["name"] == "texts://"]
    inside = ready.get("/file-tree", params={"project_id": "shop", "folder": folder["path"]}).json()["entries"]
    assert [(entry["path"], entry["is_folder"]) for entry in inside] == [("texts://notes", True)]
    large = {"large.txt": ("walrus " * 20 + "\n") * 10_000}
    assert ready.post("/projects/shop/files", json={"texts": large}).json()["added"] == ["texts://large.txt"]
    gone = ready.post("/projects/shop/files", json={"texts": dict.fromkeys(["notes/meeting.md", "large.txt"])}).json()
    assert gone["removed"] == ["texts://large.txt", "texts://notes/meeting.md"]
    assert ready.post("/search", json=body).json()["hits"] == []


@pytest.mark.parametrize(
    ("texts", "status", "code"),
    [
        ({"../x.md": "a"}, 400, "usage"),
        ({"a\u001b[31m": "a"}, 400, "usage"),
        ({"x" * 600: "a"}, 400, "usage"),
        ({"x" * 2_000: "a"}, 422, "invalid"),
        ({"a.md": 1}, 422, "invalid"),
        ({"a.md": ["a"]}, 422, "invalid"),
        ({f"{number}.md": "a" for number in range(101)}, 422, "invalid"),
        ({"a.md": "a" * 2_100_000}, 413, "too_large"),
    ],
)
def test_hostile_texts_are_refused(ready: httpx.Client, texts: object, status: int, code: str) -> None:
    answer = ready.post("/projects/shop/files", json={"texts": texts})
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert "texts://" not in ready.get("/files", params={"project_id": "shop"}).text


class Silent:
    """A process that says nothing until it is ended, and then what a killed one leaves."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._ended = Event()

    def messages(self) -> Iterator[Message]:
        assert self._ended.wait(LONG_S)
        yield Trouble("crashed", "the process of the job ended with signal 9")

    def end(self) -> None:
        self._ended.set()


JOB = IndexJob("", "shop", "/srv/shop", full=False, state="queued", created_at=0.0)


def order_of(job: IndexJob) -> Order:
    return Order(job.root, settings=job.settings, origin=GitOrigin("https://example.org/shop"))


def test_an_update_that_takes_too_long_is_ended_and_says_so() -> None:
    started: list[Silent] = []
    told: list[str] = []

    def start(order: Order) -> Silent:
        started.append(Silent(order))
        return started[-1]

    with pytest.raises(SlowUpdateError, match=r"not in the index after 0\.01 s"):
        PathUpdates(start, order_of, told.append).take_in(JOB, ["a.py"], 0.01)
    assert [(job.order.paths, job.order.origin) for job in started] == [(("a.py",), None)]
    assert told == ["shop"]


def test_nothing_begins_after_the_end() -> None:
    updates = PathUpdates(Silent, order_of, lambda _: None)
    updates.close()
    with pytest.raises(IndexingError, match="shutting down"):
        updates.take_in(JOB, ["a.py"], LONG_S)


def test_a_writer_that_does_not_end_is_told_as_locked(ready: httpx.Client, shop: Path) -> None:
    with Engine.open(str(shop)) as engine, writer_lock(engine.place.index_folder):
        answer = update(ready, "README.md")
    assert (answer.status_code, answer.json()["code"]) == (409, "locked")
