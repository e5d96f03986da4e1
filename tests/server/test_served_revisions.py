"""A branch, tag or commit as a project of the server: from a folder's object store, and fetched from an address."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import comes

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_git import commit, git
from .test_routes_jobs import messages

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

QUESTION = "retry with backoff"
RETRY = "api/handlers/retry.go"


@pytest.fixture
def repository(shop: Path) -> Path:
    """A repository with the tag v1; on main, `retry.go` is gone since."""
    (shop / "fathom.toml").unlink()
    git(shop, "init", "-b", "main")
    git(shop, "add", "-A")
    git(shop, "commit", "-m", "first")
    git(shop, "tag", "v1")
    (shop / RETRY).unlink()
    commit(shop, "later.py", "def later_price(): pass\n")
    return shop


def refused(server: httpx.Client, status: int, **body: Any) -> str:
    answer = server.post("/projects", json=body)
    assert answer.status_code == status, answer.text
    return str(answer.json()["detail"])


def add(server: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = server.post("/projects", json=body)
    assert answer.status_code == 201, answer.text
    project: dict[str, Any] = answer.json()
    return project


def index(server: httpx.Client, project: str) -> dict[str, Any]:
    told = messages(server.post(f"/projects/{project}/index").text)
    assert told[-1]["data"]["state"] == "done", told
    return dict(told[-2]["data"]["report"])


def paths(server: httpx.Client, project: str, question: str = QUESTION, **body: Any) -> list[str]:
    answer = server.post("/search", json={"query": question, "project_id": project, **body})
    assert answer.status_code == 200, answer.text
    return [hit["path"] for hit in answer.json()["hits"]]


def shown(server: httpx.Client, project: str) -> dict[str, Any]:
    return dict(server.get(f"/projects/{project}").json())


def test_a_folder_and_its_revisions_are_projects_side_by_side(server: httpx.Client, repository: Path) -> None:
    here = add(server, path=str(repository))
    old = add(server, path=str(repository / "api"), revision="v1", name="Old")
    feature = add(server, path=str(repository), revision="main")
    assert (here["revision"], old["revision"], feature["revision"]) == ("", "v1", "main")
    assert (old["id"], old["root"], feature["id"]) == ("old", here["root"], "shop-at-main")
    for project in (here, old, feature):
        index(server, project["id"])
        assert shown(server, project["id"])["status"] == "indexed"
    assert paths(server, "old")[0] == RETRY
    assert RETRY not in paths(server, here["id"]) + paths(server, "shop-at-main")
    assert server.get("/file", params={"project_id": "old", "path": RETRY}).status_code == 200
    assert (repository / ".fathom").exists()
    assert "later.py" in paths(server, here["id"], "later_price")
    assert "later.py" not in paths(server, "old", "later_price")
    several = server.post("/federated/search", json={"query": QUESTION, "project_ids": ["old", here["id"]]}).json()
    assert several["hits"][0]["project_id"] == "old"
    assert "is already the project 'old'" in refused(server, 409, path=str(repository), revision="v1")
    told = server.post("/projects/validate-path", json={"path": str(repository), "revision": "v1"}).json()
    assert (told["ok"], told["project_id"], told["has_index"]) == (True, "old", True)

    assert server.delete("/projects/old/index").status_code == 204
    assert shown(server, "old")["status"] == "not_indexed"
    assert shown(server, here["id"])["status"] == "indexed"
    assert server.delete("/projects/old").status_code == 204
    assert (repository / "later.py").exists()


@pytest.mark.parametrize("by", ["search", "job"])
def test_a_branch_that_moves_is_followed(by: str, server: httpx.Client, repository: Path) -> None:
    project = add(server, path=str(repository), revision="main")["id"]
    index(server, project)
    commit(repository, "zebra.py", "def feed_the_zebra(): pass\n")
    if by == "job":
        assert index(server, project)["n_added"] == 1
    # In one process the tree is looked at now and then only.
    assert comes(lambda: paths(server, project, "feed_the_zebra")[:1] == ["zebra.py"])


def test_a_bare_repository_is_read_at_its_head(server: httpx.Client, repository: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--bare", str(repository), str(bare))
    assert add(server, path=str(bare))["revision"] == "HEAD"
    done = server.post("/index", json={"codebase_path": str(bare), "revision": "v1"})
    assert done.status_code == 200, done.text
    assert paths(server, done.json()["project_id"])[0] == RETRY
    assert not (bare / ".fathom").exists()


@pytest.mark.parametrize(
    "name",
    [
        "--all",
        "-h",
        "--output=/tmp/x",
        "../../etc",
        "v1..main",
        "v1...main",
        "^main",
        "main~1",
        "main^{tree}",
        "v1:README.md",
        ":/first",
        "@{1}",
        "main@{yesterday}",
        "a b",
        "a\nb",
        "a\0b",
        "main\u202e",
        "a\\b",
        "[ab]",
        "x" * 201,
        "x" * 1_000,
        "main.lock",
        "main/",
    ],
)
def test_what_is_no_name_of_a_revision_is_refused(name: str, server: httpx.Client, repository: Path) -> None:
    for field in ("revision", "branch"):
        assert "is not the name of a branch, tag or commit" in refused(
            server, 400, path=str(repository), **{field: name}
        )
    told = server.post("/projects/validate-path", json={"path": str(repository), "revision": name}).json()
    assert not told["ok"]
    assert server.get("/projects").json()["projects"] == []


def test_what_is_not_there_is_refused(server: httpx.Client, repository: Path, tmp_path: Path) -> None:
    assert "there is no revision 'no-such'" in refused(server, 404, path=str(repository), revision="no-such")
    (tmp_path / "plain").mkdir()
    assert "is not inside a git repository" in refused(server, 404, path=str(tmp_path / "plain"), revision="main")
    assert "name the same thing" in refused(server, 400, path=str(repository), revision="v1", branch="main")
    assert server.post("/projects", json={"path": str(repository), "revision": "x" * 1_001}).status_code == 422


def test_a_repository_outside_the_allowed_roots_is_refused_and_tells_nothing(
    config: ServerConfig, serve: Serve, repository: Path, tmp_path: Path
) -> None:
    inside = tmp_path / "inside"
    (inside / "links").mkdir(parents=True)
    (inside / "links" / ".git").write_text(f"gitdir: {repository / '.git'}\n")
    (inside / "part").mkdir()
    with serve(replace(config, allowed_roots=(str(inside.resolve()),))) as server:
        said = {refused(server, 403, path=str(inside / "links"), revision=name) for name in ("main", "no-such")}
        assert len(said) == 1
        git(inside / "part", "init", "-b", "main")
        commit(inside / "part", "a.py", "def price_inside(): pass\n")
        project = add(server, path=str(inside / "part"), revision="main")["id"]
        index(server, project)
        shutil.rmtree(inside / "part" / ".git")
        (inside / "part" / ".git").write_text(f"gitdir: {repository / '.git'}\n")
        server.patch(f"/projects/{project}", json={"settings": {"search.limit": 3}}).raise_for_status()
        assert server.post("/search", json={"query": QUESTION, "project_id": project}).status_code == 403
        assert shown(server, project)["status"] == "failed"


def test_what_a_revision_cannot_do_is_said(server: httpx.Client, repository: Path) -> None:
    project = add(server, path=str(repository), revision="v1")["id"]
    index(server, project)
    watched = server.post(f"/projects/{project}/watch")
    updated = server.post(f"/projects/{project}/files", json={"paths": ["README.md"]})
    moved = server.post(f"/projects/{project}/store/move", json={"target": "faiss"})
    assert (watched.status_code, updated.status_code, moved.status_code) == (409, 400, 400)
    for answer in (watched, updated, moved):
        assert "the revision 'v1'" in answer.json()["detail"]
        assert answer.json()["hint"]
    assert not server.get(f"/projects/{project}/watch").json()["on"]
    assert paths(server, project, files=["api/handlers"])[0] == RETRY


def test_a_revision_that_is_gone_is_told(server: httpx.Client, repository: Path) -> None:
    git(repository, "branch", "feature")
    project = add(server, path=str(repository), revision="feature")["id"]
    git(repository, "branch", "-D", "feature")
    assert "there is no revision 'feature'" in shown(server, project)["problem"]
    told = messages(server.post(f"/projects/{project}/index").text)
    assert told[-1]["data"]["state"] == "failed"
    answer = server.post("/search", json={"query": QUESTION, "project_id": project})
    assert answer.status_code == 404
    assert not (repository / ".fathom").exists()
    assert server.delete(f"/projects/{project}").status_code == 204


@pytest.mark.parametrize("kind", ["tag", "branch", "commit"])
def test_an_address_at_a_revision(
    kind: str, config: ServerConfig, serve: Serve, repository: Path, tmp_path: Path
) -> None:
    git(repository, "branch", "old", "v1")
    whole = (repository / ".git" / "refs" / "tags" / "v1").read_text().strip()
    name = {"tag": "v1", "branch": "old", "commit": whole}[kind]
    with serve(replace(config, git_schemes=("file",))) as server:
        project = add(server, url=repository.as_uri(), revision=name)
        assert (project["revision"], project["branch"]) == (name, name)
        assert messages(server.get(f"/projects/{project['id']}/index").text)[-1]["data"]["state"] == "done"
        assert paths(server, project["id"])[0] == RETRY
        assert index(server, project["id"])["n_unchanged"] > 0
        gone = add(server, url=f"{repository.as_uri()}/.git", revision="0" * 40)["id"]
        told = messages(server.get(f"/projects/{gone}/index").text)
        assert told[-1]["data"]["state"] == "failed"
        assert "check the branch, tag or commit" in str(told)


def test_the_projects_of_an_older_version_are_kept(config: ServerConfig, serve: Serve, repository: Path) -> None:
    data = Path(config.data_dir)
    data.mkdir(mode=0o700)
    with sqlite3.connect(data / "projects.db") as database:
        database.execute(
            "CREATE TABLE projects (id TEXT PRIMARY KEY, name TEXT NOT NULL, root TEXT NOT NULL UNIQUE, "
            "added_at REAL NOT NULL, settings TEXT NOT NULL)"
        )
        rows = [
            ("later", "Later", "/srv/later", 2.0, "{}"),
            ("shop", "Shop", str(repository), 1.0, '{"search.limit": 3}'),
        ]
        database.executemany("INSERT INTO projects VALUES (?, ?, ?, ?, ?)", rows)
    database.close()
    for _ in range(2):
        with serve(config) as server:
            listed = server.get("/projects").json()["projects"]
            assert [(item["id"], item["revision"], item["settings"]) for item in listed[:2]] == [
                ("shop", "", {"search.limit": 3}),
                ("later", "", {}),
            ]
            name = f"v{len(listed)}"
            git(repository, "tag", "-f", name)
            assert add(server, path=str(repository), revision=name)["root"] == str(repository.resolve())
