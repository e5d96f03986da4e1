"""The plan of a project before it is added: what a run would read, what it leaves out and why, how long it takes."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_git import commit, git, repository
from .test_projects import add, index

__all__ = ["repository"]
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def plan(server: httpx.Client, **asked: Any) -> dict[str, Any]:
    if "path" in asked:
        asked["path"] = str(asked["path"])
    answer = server.post("/projects/plan", json=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@needs_git
def test_it_says_what_the_first_run_then_does_and_writes_nothing(server: httpx.Client, shop: Path) -> None:
    git(shop, "init", "--initial-branch=trunk")
    (shop / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (shop / "node_modules").mkdir()
    (shop / "node_modules" / "left.js").touch()
    before = sorted(path for path in os.listdir(shop))
    found = plan(server, path=shop / "shop")
    assert sorted(os.listdir(shop)) == before
    assert (found["branch"], found["is_known"]) == ("trunk", True)
    assert found["n_files"] == sum(found["languages"].values())
    assert next(iter(found["languages"])) == "python"
    assert 0 < found["seconds"] < 10
    assert found["index_bytes"] > found["n_bytes"] > 0
    left_out = {path: item["reason"] for item in found["left_out"] for path in item["examples"]}
    assert "node_modules/" in left_out
    assert all(item["reason_parts"] and item["n"] >= len(item["examples"]) for item in found["left_out"])
    add(server, shop)
    index(shop)
    told = server.get("/projects/shop").json()
    assert found["n_files"] == told["n_documents"] + 1, "only its content tells that the photo is no text"
    assert plan(server, path=shop)["n_files"] == found["n_files"], "also of what has an index"


def test_it_follows_the_rules_that_are_typed_beside_it(server: httpx.Client, shop: Path) -> None:
    rules = {"source.required_exts": [".py"], "source.ignore": ["store/"]}
    found = plan(server, path=shop, settings=rules)
    assert (found["n_files"], found["languages"], found["branch"]) == (4, {"python": 4}, "")


@needs_git
def test_a_revision_is_planned_from_its_commit(server: httpx.Client, shop: Path) -> None:
    git(shop, "init")
    commit(shop, "new.py", "new = 1\n")
    git(shop, "tag", "v1")
    n_files = plan(server, path=shop, revision="v1")["n_files"]
    commit(shop, "newer.py", "newer = 1\n")
    assert plan(server, path=shop, revision="v1")["n_files"] == n_files
    assert plan(server, path=shop)["n_files"] == n_files + 1


@needs_git
def test_of_an_address_the_branch_is_known_before_a_copy(serve: Serve, config: ServerConfig, repository: Path) -> None:
    with serve(replace(config, git_schemes=("file",))) as server:
        git(repository, "checkout", "-b", "next/version")
        found = plan(server, url=repository.as_uri())
        assert (found["branch"], found["is_known"], found["n_files"]) == ("next/version", False, 0)
        git(repository, "checkout", "--detach")
        assert plan(server, url=repository.as_uri())["branch"] == ""
        gone = server.post("/projects/plan", json={"url": (repository / "gone").as_uri()})
        assert gone.json()["detail"].startswith("git cannot"), gone.text
        assert server.get("/projects").json() == {"projects": []}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"path": "/", "url": "https://example.org/x.git"},
        {"path": "/"},
        {"url": "ext::sh -c date"},
        {"url": "file:///etc"},
        {"path": "HERE", "settings": {"index.dir": "/tmp"}},
    ],
)
def test_what_cannot_be_added_is_not_planned(server: httpx.Client, shop: Path, body: dict[str, Any]) -> None:
    answer = server.post("/projects/plan", json={**body, **({"path": str(shop)} if body.get("path") == "HERE" else {})})
    assert answer.status_code in (400, 403), answer.text
    assert answer.json()["hint"]
