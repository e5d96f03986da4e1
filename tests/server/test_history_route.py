"""The history over HTTP: the commits of a line, and questions that commits answer, for those who may read it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import LONG_S

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine
from codefathom.facts.reasons import MOVED_TO_COMMITS, NO_COMMITS_INDEXED, Note
from codefathom.server.app import create_app
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig
from codefathom.shapes import history_shape

from .conftest import serving
from .test_git import commit, git
from .test_projects import add, index

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

FILE = "shop/pricing.py"
MOVED, NOT_INDEXED = MOVES = (str(Note(MOVED_TO_COMMITS)), str(Note(NO_COMMITS_INDEXED)))


@pytest.fixture
def repository(shop: Path) -> Path:
    """A project with two commits to one file."""
    git(shop, "init", "-b", "main")
    git(shop, "add", "-A")
    git(shop, "commit", "-m", "Open the shop")
    text = (shop / FILE).read_text().replace("for _, cents in items)", "for _, cents in items) + 1")
    commit(shop, FILE, text)
    git(shop, "commit", "--amend", "-m", "Charge the bag (#7)")
    return shop


@pytest.fixture
def ready(server: httpx.Client, repository: Path) -> httpx.Client:
    add(server, repository)
    index(repository)
    return server


@pytest.mark.parametrize(
    ("target", "wish"),
    [
        (FILE, {}),
        (f"{FILE}:9", {}),
        ("@@total_cents", {}),
        (FILE, {"limit": 1}),
        (FILE, {"limit": 1, "offset": 1}),
        (FILE, {"author": "nobody of this name"}),
        (FILE, {"since": "2100-01-01"}),
    ],
)
def test_it_is_what_the_command_line_tells(
    ready: httpx.Client, repository: Path, target: str, wish: dict[str, Any]
) -> None:
    answer = ready.get("/history", params={"project_id": "shop", "place": target, **wish})
    assert answer.status_code == 200, answer.text
    with Engine.open(str(repository)) as engine:
        told = history_shape(engine.history(target, **wish))
    shape = answer.json()
    assert shape.pop("project_id") == "shop"
    assert shape == told
    assert bool(shape["commits"]) == (not {"author", "since"} & set(wish))


def test_a_budget_keeps_the_latest_commits(ready: httpx.Client) -> None:
    whole = ready.get("/history", params={"place": FILE})
    most = estimate(whole.text) - 1
    cut = ready.get("/history", params={"place": FILE, "max_tokens": most})
    assert estimate(cut.text) <= most
    assert cut.json()["commits"] == whole.json()["commits"][:1]
    assert (cut.json()["n_left_out"], cut.json()["next_offset"]) == (1, 1)


def test_what_is_not_there_is_an_error(ready: httpx.Client) -> None:
    for wish in ({"place": "gone.py"}, {"place": "@@gone"}, {"place": FILE, "since": "soon"}):
        answer = ready.get("/history", params=wish)
        assert 400 <= answer.status_code < 500, answer.text
        assert answer.json()["detail"]


def test_each_line_has_the_commit_that_it_comes_from(ready: httpx.Client, repository: Path) -> None:
    answer = ready.get("/blame", params={"path": FILE, "start_line": 6, "end_line": 9})
    assert answer.status_code == 200, answer.text
    groups = answer.json()["lines"]
    assert [(group["start_line"], group["end_line"]) for group in groups] == [(6, 7), (8, 8), (9, 9)]
    subjects = [group["commit"]["subject"] for group in groups]
    assert subjects == ["Open the shop", "Charge the bag (#7)", "Open the shop"]
    assert groups[1]["commit"]["pull_request"] == "7"
    assert len(groups[1]["commit"]["commit"]) == 40
    for wish in ({"path": "gone.py"}, {"path": FILE, "end_line": 4_001}):
        assert 400 <= ready.get("/blame", params=wish).status_code < 500


def test_commits_are_the_sources_of_an_answer(ready: httpx.Client) -> None:
    wish = {"query": "when was the bag charged", "commits": True}
    assert ready.get("/projects/shop/status").json()["commits"] is None
    answer = ready.post("/ask", json={**wish, "project_ids": ["shop"]})
    assert answer.status_code == 200, answer.text
    shape = answer.json()
    assert {source["file"].partition("/")[0] for source in shape["sources"]} == {"commit"}
    assert "Charge the bag" in shape["answer"]
    streamed = ready.post("/ask/stream", json={**wish, "project_ids": ["shop"]})
    assert "commit/" in streamed.text
    known = ready.get("/projects/shop/status").json()["commits"]
    assert (known["n_known"], known["n_left_out"]) == (2, 0)


def test_who_may_not_read_all_revisions_reads_no_history(config: ServerConfig, repository: Path) -> None:
    tokens = tuple(
        Token(role.word, hash_of(role.word), frozenset({"shop"}), role) for role in (Role.READER, Role.ADMIN)
    )
    all_of_it = Token("all", hash_of("all"))
    app = create_app(replace(config, tokens=(*tokens, all_of_it)))
    index(repository)
    wish = {"query": "charge the bag", "commits": True, "project_ids": ["shop"]}
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:

        def statuses(name: str) -> list[int]:
            client.headers["authorization"] = f"Bearer {name}"
            return [
                client.get("/history", params={"project_id": "shop", "place": FILE}).status_code,
                client.get("/blame", params={"project_id": "shop", "path": FILE}).status_code,
                client.post("/search", json={**wish, "project_id": "shop"} | {"project_ids": []}).status_code,
                client.post("/ask", json=wish).status_code,
            ]

        client.post("/projects", json={"path": str(repository)}, headers={"authorization": "Bearer all"})
        assert statuses("admin") == [200, 200, 200, 200]
        assert statuses("reader") == [403, 403, 403, 403]


def test_words_about_the_history_lead_only_those_to_the_commits_who_may_read_them(
    config: ServerConfig, repository: Path
) -> None:
    tokens = tuple(
        Token(role.word, hash_of(role.word), frozenset({"shop"}), role) for role in (Role.READER, Role.MAINTAINER)
    )
    app = create_app(replace(config, tokens=(*tokens, Token("all", hash_of("all")))))
    index(repository)
    wish = {"query": "when was the price of the bag introduced"}
    with serving(app) as address, httpx.Client(base_url=address, timeout=LONG_S) as client:
        client.headers["authorization"] = "Bearer all"
        add(client, repository)

        def answers(name: str) -> tuple[bool, bool, list[str]]:
            """Return whether a search and an answer are of commits, and what each says about that."""
            client.headers["authorization"] = f"Bearer {name}"
            found = client.post("/search", json={**wish, "project_id": "shop"})
            asked = client.post("/ask", json={"query": wish["query"], "project_ids": ["shop"]})
            assert (found.status_code, asked.status_code) == (200, 200), found.text + asked.text
            shapes = (found.json(), asked.json())
            said = [note for shape in shapes for note in shape["degraded"] if note in MOVES]
            return "commit/" in found.text, "commit/" in str(asked.json()["sources"]), said

        assert answers("maintainer") == (False, False, [NOT_INDEXED] * 2)
        assert answers("reader") == (False, False, [])
        client.headers["authorization"] = "Bearer maintainer"
        client.post("/search", json={"query": "bag", "commits": True, "project_id": "shop"})
        assert answers("maintainer") == (True, True, [MOVED] * 2)
        assert answers("reader") == (False, False, [])
