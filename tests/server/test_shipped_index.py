"""A project that came with an index: over HTTP nothing of that index is told before it was checked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.packed_texts import replaced_text, with_text_functions
from tests.server.test_projects import add, index
from tests.waiting import comes

EVIL = "evil"
ROUTES = (
    "/files?project_id=shop",
    "/file?project_id=shop&path=shop/pricing.py",
    "/file-tree?project_id=shop",
    "/symbols?project_id=shop",
    "/related?project_id=shop&target=shop/pricing.py",
)


@pytest.fixture
def shipped(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with an index that another user has made and changed."""
    with pytest.MonkeyPatch.context() as author:
        author.setenv("FATHOM_STATE_DIR", str(tmp_path / "author"))
        index(shop)
    with closing(sqlite3.connect(shop / ".fathom" / "catalog.db")) as db:
        with_text_functions(db).executescript(
            f"{replaced_text('return', 'evil()')} UPDATE documents SET language = 'evil';"
            "UPDATE symbols SET name = 'evil', qualified_name = 'evil'; UPDATE meta SET value = '99999999' "
            "WHERE key = 'generation'; INSERT INTO failures VALUES ('evil', 'evil')"
        )
        db.commit()
    return shop


def indexed(server: httpx.Client) -> None:
    """Let a job of the server index the project."""
    assert server.post("/projects/shop/index").status_code in (200, 202)
    assert comes(lambda: server.get("/projects/shop").json()["status"] == "indexed")


def test_nothing_false_is_told_over_http(server: httpx.Client, shipped: Path) -> None:
    add(server, shipped)
    project = server.get("/projects/shop")
    assert project.json()["status"] == "not_indexed"
    assert EVIL not in project.text + server.get("/projects").text
    answers = [server.get(route) for route in ROUTES]
    answers += [server.post(route, json={"query": "price", "project_id": "shop"}) for route in ("/search", "/context")]
    answers.append(server.post("/ask", json={"query": "price", "project_id": "shop"}))
    for answer in answers:
        assert answer.status_code == 409, answer.text
        assert EVIL not in answer.text
    indexed(server)
    answers = [server.get("/projects/shop"), *(server.get(route) for route in ROUTES)]
    answers += [server.post(route, json={"query": "price", "project_id": "shop"}) for route in ("/search", "/context")]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        assert EVIL not in answer.text
    assert server.get("/projects/shop").json()["generation"] > 0
