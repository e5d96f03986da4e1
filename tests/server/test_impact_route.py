"""POST /projects/{id}/impact: what a diff or revisions reach, as `fathom impact --json` tells it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import LONG_S, comes

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine
from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig
from codefathom.shapes import impact_shape, notes_shape

from .conftest import Serve, serving
from .test_git import commit, git
from .test_projects import add, index

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

ROUTE = "/projects/shop/impact"
OLD, NEW = "return sum(cents for _, cents in items)", "return sum(cents for _, cents in items) + 1"
DIFF = f"""\
--- a/shop/pricing.py
+++ b/shop/pricing.py
@@ -8,1 +8,1 @@
-    {OLD}
+    {NEW}
"""


@pytest.fixture
def repository(shop: Path) -> Path:
    """A project with the tag v1, and one change of a function since."""
    tests = "from shop.pricing import total_cents\n\n\ndef test_total():\n    assert total_cents([]) == 0\n"
    (shop / "tests").mkdir()
    (shop / "tests" / "test_pricing.py").write_text(tests)
    git(shop, "init", "-b", "main")
    git(shop, "add", "-A")
    git(shop, "commit", "-m", "first")
    git(shop, "tag", "v1")
    pricing = shop / "shop" / "pricing.py"
    commit(shop, "shop/pricing.py", pricing.read_text().replace(OLD, NEW))
    return shop


@pytest.fixture
def ready(server: httpx.Client, repository: Path) -> httpx.Client:
    add(server, repository)
    index(repository)
    return server


@pytest.fixture
def engine(repository: Path) -> Iterator[Engine]:
    with Engine.open(str(repository)) as engine:
        yield engine


def reached(server: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = server.post(ROUTE, json=body)
    assert answer.status_code == 200, answer.text
    shape: dict[str, Any] = answer.json()
    assert shape.pop("project_id") == "shop"
    return shape


@pytest.mark.parametrize(
    "body",
    [
        {"diff": DIFF},
        {"revisions": "v1..main"},
        {"revisions": "v1...HEAD"},
        {"revisions": "v1"},
        {"revisions": "v1..", "depth": 1},
        {"diff": DIFF, "limit": 1},
    ],
)
def test_it_is_what_the_command_line_tells(ready: httpx.Client, engine: Engine, body: dict[str, Any]) -> None:
    shape = reached(ready, **body)
    impact = engine.impact(**body)
    told = impact_shape(impact)
    assert shape.pop("completeness_parts") == notes_shape(impact.limitations)
    assert shape == {**told, **{name: list(told[name]) for name in ("changes", "reached", "tests", "unseen")}}
    assert [item["symbol"] for item in shape["changes"]] == ["total_cents"]
    assert "shop/orders.py" in {edge["path"] for edge in shape["reached"]}
    assert [test["path"] for test in shape["tests"]] == ["tests/test_pricing.py"]


def test_without_a_change_the_files_are_compared_with_head(ready: httpx.Client, repository: Path) -> None:
    assert reached(ready)["changes"] == []
    assert [item["symbol"] for item in reached(ready, revisions="v1")["changes"]] == ["total_cents"]


def test_a_revision_is_a_project_like_any_other(ready: httpx.Client, repository: Path) -> None:
    old = ready.post("/projects", json={"path": str(repository), "revision": "v1", "name": "old"}).json()["id"]
    ready.post(f"/projects/{old}/index")
    for body in ({"diff": DIFF}, {"revisions": "v1..main"}):
        answer = ready.post(f"/projects/{old}/impact", json=body)
        assert answer.status_code == 200, answer.text
        assert [item["symbol"] for item in answer.json()["changes"]] == ["total_cents"]


def test_the_answer_has_at_most_so_many_tokens(ready: httpx.Client) -> None:
    files = [f"--- /dev/null\n+++ b/n{n}.py\n@@ -0,0 +1,1 @@\n+def made_{n}(): total_cents([])\n" for n in range(40)]
    files += [f"diff --git a/{n}.bin b/{n}.bin\nBinary files a/{n}.bin and b/{n}.bin differ\n" for n in range(40)]
    diff = DIFF + "".join(files)
    whole = reached(ready, diff=diff)
    lists = ("changes", "reached", "tests", "unseen")
    for most in (400, 900, 2_000):
        answer = ready.post(ROUTE, json={"diff": diff, "maxTokens": most})
        assert estimate(answer.text) <= most
        part = answer.json()
        rest = {name: len(whole[name]) - len(part[name]) for name in lists}
        assert part["left_out_of"] == {name: n for name, n in rest.items() if n}
        assert part["n_left_out"] == sum(rest.values()) > 0
        assert all(part[name] == whole[name][: len(part[name])] for name in lists)
    refused = ready.post(ROUTE, json={"diff": diff, "max_tokens": 20})
    assert (refused.status_code, refused.json()["code"]) == (400, "usage")
    assert "give at least max_tokens" in refused.json()["hint"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"diff": DIFF, "revisions": "v1"}, 400, "cannot be used with revisions"),
        ({"diff": "+ more"}, 400, "not a unified diff"),
        ({"diff": DIFF.replace("b/shop", "b/../shop")}, 400, "not a path inside a project"),
        ({"diff": DIFF + "\ud800"}, 422, ""),
        ({"diff": DIFF.replace("b/shop", "b/\0shop")}, 400, "not a path inside a project"),
        ({"diff": 5}, 422, ""),
        ({"diff": "x" * 2_000_001}, 413, ""),
        ({"revisions": "nowhere"}, 404, "nowhere"),
        ({"revisions": "--output=/tmp/x"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "v1..--all"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "main~1..main"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "v1....main"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "v1..main..v1"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": ":/first"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "v1\0"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "v1\n"}, 400, "not the name of a branch, tag or commit"),
        ({"revisions": "x" * 501}, 422, ""),
        ({"depth": 6}, 422, ""),
        ({"limit": 0}, 422, ""),
        ({"max_tokens": 0}, 422, ""),
        ({"change": "HEAD"}, 422, ""),
    ],
)
def test_what_is_wrong_is_explained(ready: httpx.Client, body: dict[str, Any], status: int, said: str) -> None:
    answer = ready.post(ROUTE, content=json.dumps(body), headers={"content-type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    assert said in answer.json()["detail"]


def test_a_project_without_git_takes_a_diff_only(server: httpx.Client, shop: Path) -> None:
    add(server, shop)
    assert server.post(ROUTE, json={"diff": DIFF}).json()["code"] == "not_indexed"
    index(shop)
    assert server.post("/projects/none/impact", json={"diff": DIFF}).status_code == 404
    assert [item["symbol"] for item in reached(server, diff=DIFF)["changes"]] == ["total_cents"]
    assert server.post(ROUTE, json={"revisions": "HEAD"}).json()["code"] in ("source", "forbidden")


def test_a_token_of_some_projects_sees_no_history_and_no_other_project(
    config: ServerConfig, serve: Serve, repository: Path
) -> None:
    index(repository)
    tokens = (Token("one", hash_of("one"), frozenset({"shop"})), Token("all", hash_of("all")))
    with serve(replace(config, tokens=tokens)) as server:
        of_all, of_one = ({"authorization": f"Bearer {secret}"} for secret in ("all", "one"))
        server.post("/projects", json={"path": str(repository)}, headers=of_all).raise_for_status()
        assert server.post(ROUTE, json={"diff": DIFF}, headers=of_one).json()["changes"]
        assert server.post(ROUTE, json={"revisions": "v1"}, headers=of_all).json()["changes"]
        refused = server.post(ROUTE, json={"revisions": "v1"}, headers=of_one)
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        assert server.post("/projects/other/impact", json={"diff": DIFF}, headers=of_one).status_code == 404
        assert server.post(ROUTE, json={"diff": DIFF}).status_code == 401


def test_a_repository_outside_the_allowed_folders_is_not_read(
    config: ServerConfig, serve: Serve, repository: Path, tmp_path: Path
) -> None:
    """A file `.git` of a project may name any folder of the machine."""
    inside = tmp_path / "inside"
    inside.mkdir()
    work = inside / "shop"
    git(repository, "worktree", "add", str(work), "v1")
    (work / "fathom.toml").touch()
    index(work)
    with serve(replace(config, allowed_roots=(str(inside),))) as server:
        server.post("/projects", json={"path": str(work)}).raise_for_status()
        assert server.post(ROUTE, json={"diff": DIFF}).status_code == 200
        refused = server.post(ROUTE, json={"revisions": "main"})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_a_change_that_takes_too_long_is_given_up(config: ServerConfig, shop: Path) -> None:
    """Text of a stranger is parsed by a process that the system ends."""
    index(shop)
    body = "".join(f"+def made_{n}():\n+    return {n}\n" for n in range(20))
    large = "".join(f"--- /dev/null\n+++ b/n{n}.py\n@@ -0,0 +1,40 @@\n{body}" for n in range(1_500))
    app = create_app(replace(config, search_timeout_s=0.05))
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as server:
        add(server, shop)
        late = server.post(ROUTE, json={"diff": large})
        assert (late.status_code, late.json()["code"]) == (504, "too_slow")
        assert "a smaller diff" in late.json()["hint"]
        assert comes(lambda: not app.state.server.search_pool._all)


@pytest.mark.skipif(os.name == "nt", reason="named pipes as POSIX has them")
def test_git_that_waits_for_a_pipe_ends_with_its_question(config: ServerConfig, repository: Path) -> None:
    index(repository)
    number = (repository / ".git" / "refs" / "tags" / "v1").read_text().strip()
    commit_object = repository / ".git" / "objects" / number[:2] / number[2:]
    commit_object.unlink()
    os.mkfifo(commit_object)
    app = create_app(replace(config, search_timeout_s=5))
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as server:
        add(server, repository)
        late = server.post(ROUTE, json={"revisions": "v1"})
        assert (late.status_code, late.json()["code"]) == (504, "too_slow")
        assert comes(lambda: not _waits_in(repository))


def _waits_in(repository: Path) -> bool:
    """Return True if a process of git works in a repository."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True, timeout=LONG_S)
    return any("rev-parse" in line and f" {repository} " in line for line in listed.stdout.splitlines())
