"""Conversations over real sockets: each sees its own, and only while it may see their projects."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from codefathom.server.answers.conversations import Conversations
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

from .conftest import Serve


@pytest.fixture
def plain(server: httpx.Client, shop: Path) -> httpx.Client:
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    return server


def test_a_conversation_is_begun_used_renamed_exported_and_deleted(plain: httpx.Client) -> None:
    begun = plain.post("/conversations", json={"project_ids": ["shop"]})
    assert begun.status_code == 201
    address = f"/conversations/{begun.json()['id']}"
    plain.post(
        "/ask", json={"question": "where is a cart priced?", "conversation_id": begun.json()["id"]}
    ).raise_for_status()
    shown = plain.get(address).json()
    assert shown["title"] == "where is a cart priced?"
    assert shown["turns"][0]["answer"]
    assert shown["turns"][0]["details"]["sources"]
    assert plain.patch(address, json={"title": "Prices"}).json()["title"] == "Prices"
    assert plain.patch(address, json={"title": "  "}).status_code == 400
    exported = plain.get(f"{address}/export")
    assert exported.headers["content-type"].startswith("text/markdown")
    assert exported.text.startswith("# Prices\n\nProjects: shop\n\n## where is a cart priced?\n\n")
    assert "Sources:\n\n1. `" in exported.text
    listed = plain.get("/conversations", params={"project_id": "shop"}).json()["conversations"]
    assert [(item["title"], item["turns"]) for item in listed] == [("Prices", [])]
    assert plain.get("/conversations", params={"project_id": "other"}).json()["conversations"] == []
    assert plain.delete(address).status_code == 204
    for method in ("GET", "DELETE"):
        assert plain.request(method, address).status_code == 404
    assert plain.post("/conversations", json={"project_ids": ["none"]}).status_code == 404


def test_nobody_sees_the_conversations_of_others(config: ServerConfig, serve: Serve, shop: Path) -> None:
    tokens = (
        Token("ann", hash_of("secret-of-ann")),
        Token("ben", hash_of("secret-of-ben")),
        Token("eve", hash_of("secret-of-eve"), frozenset({"other"})),
    )
    with serve(replace(config, tokens=tokens)) as client:

        def by(name: str) -> dict[str, str]:
            return {"authorization": f"Bearer secret-of-{name}"}

        client.post("/index", json={"codebase_path": str(shop)}, headers=by("ann")).raise_for_status()
        made = client.post("/conversations", json={}, headers=by("ann")).json()
        address = f"/conversations/{made['id']}"
        assert client.get(address, headers=by("ann")).status_code == 200
        assert client.get(address, headers=by("ben")).status_code == 404
        assert client.get("/conversations", headers=by("ben")).json()["conversations"] == []
        assert client.get(address).status_code == 401
        for route in ("/projects/shop/index", "/jobs"):
            assert client.get(route, headers={**by("ann"), "accept": "application/json"}).status_code in {200, 202}
        assert client.get("/projects/shop/index", headers=by("eve")).status_code == 404
        assert client.get("/jobs", headers=by("eve")).json()["jobs"] == []
        job = client.get("/jobs", headers=by("ben")).json()["jobs"][0]
        assert client.get(f"/jobs/{job['id']}", headers=by("eve")).status_code == 404
        assert client.post("/ask", json={"question": "x", "project_id": "shop"}, headers=by("eve")).status_code == 404
        assert client.post("/index", json={"codebase_path": str(shop)}, headers=by("eve")).status_code == 403


def test_a_server_forgets_old_conversations_when_it_starts(config: ServerConfig, serve: Serve, shop: Path) -> None:
    """Also those of people who do not come back: nobody asks for a conversation here."""
    path = Path(config.data_dir) / "conversations.db"
    with closing(Conversations(str(path), lambda: time.time() - 40 * 86_400)) as kept:
        kept.begin(["shop"], owner="person:ann", title="zanzibar")
    with closing(Conversations(str(path), lambda: time.time() - 20 * 86_400)) as kept:
        kept.begin(["shop"], owner="person:ben", title="serengeti")
    with serve(replace(config, conversation_days=30)) as client:
        client.get("/health").raise_for_status()
    with closing(Conversations(str(path))) as kept:
        assert (kept.listed("person:ann"), len(kept.listed("person:ben"))) == ((), 1)
    with serve(config) as client:
        client.get("/health").raise_for_status()
    with closing(Conversations(str(path))) as kept:
        assert len(kept.listed("person:ben")) == 1
