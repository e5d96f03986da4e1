"""Ratings of answers: who may give them, who reads them, and that they are deleted with their conversation."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from tests.server.conftest import Serve
from tests.server.test_projects import index

from codefathom.server.http.auth import Token, hash_of
from codefathom.server.http.user_roles import Role
from codefathom.server.server_config import ServerConfig

TOKENS = (
    Token("root", hash_of("root")),
    Token("ann", hash_of("ann"), frozenset({"shop"}), Role.READER),
    Token("ben", hash_of("ben"), frozenset({"shop"}), Role.READER),
    Token("eve", hash_of("eve"), frozenset({"other"}), Role.READER),
)


def said(client: httpx.Client, name: str, method: str, path: str, body: Any = None) -> httpx.Response:
    return client.request(method, path, json=body, headers={"authorization": f"Bearer {name}"})


def rated(client: httpx.Client, query: str = "") -> list[dict[str, Any]]:
    return list(said(client, "root", "GET", f"/ratings{query}").raise_for_status().json()["ratings"])


def test_readers_rate_and_administrators_read(config: ServerConfig, serve: Serve, shop: Path, tmp_path: Path) -> None:
    index(shop)
    with serve(replace(config, tokens=TOKENS)) as client:
        said(client, "root", "POST", "/projects", {"path": str(shop)}).raise_for_status()
        asked = said(client, "ann", "POST", "/ask", {"query": "where is a cart priced?", "keep": True}).json()
        address, answer_id = f"/conversations/{asked['conversation_id']}", asked["answer_id"]
        rating = f"{address}/ratings/{answer_id}"
        # Who may not read an answer may not rate it; an answer that is not there cannot be rated.
        for name, path in (("ben", rating), ("eve", rating), ("ann", f"{address}/ratings/none")):
            assert said(client, name, "PUT", path, {"verdict": "good"}).status_code == 404
        assert said(client, "ann", "PUT", rating, {"verdict": "fine"}).status_code == 422
        assert said(client, "ann", "PUT", rating, {"verdict": "good", "comment": "x" * 2_001}).status_code == 422
        assert said(client, "ann", "PUT", rating, {"verdict": "bad"}).status_code == 204
        comment = {"verdict": "good", "comment": " It names the right function. "}
        said(client, "ann", "PUT", rating, comment).raise_for_status()
        said(client, "ann", "PATCH", address, {"shared": True}).raise_for_status()
        said(client, "ben", "PUT", rating, {"verdict": "bad", "comment": "Too long."}).raise_for_status()
        own = said(client, "ann", "GET", address).json()["turns"][0]
        assert own["rating"] == {"verdict": "good", "comment": "It names the right function."}
        assert said(client, "ben", "GET", address).json()["turns"][0]["rating"]["comment"] == "Too long."
        assert said(client, "root", "GET", address).json()["turns"][0]["rating"] is None
        latest, first = rated(client)
        assert (latest["by"], latest["verdict"], first["by"], first["verdict"]) == ("ben", "bad", "ann", "good")
        for key in ("question", "answer", "citations", "confidence", "label", "model", "projects"):
            assert first[key] == (asked[key] if key != "citations" else [places(one) for one in asked[key]]), key
        assert [item["by"] for item in rated(client, "?verdict=good")] == ["ann"]
        assert [item["by"] for item in rated(client, "?limit=1&offset=1")] == ["ann"]
        assert said(client, "ann", "GET", "/ratings").status_code == 403
        assert said(client, "ben", "DELETE", rating).status_code == 204
        assert said(client, "ben", "GET", address).json()["turns"][0]["rating"] is None
        assert [item["by"] for item in rated(client)] == ["ann"]
        said(client, "ann", "DELETE", address).raise_for_status()
        assert rated(client) == []
    with closing(sqlite3.connect(Path(config.data_dir) / "conversations.db")) as database:
        assert database.execute("SELECT count(*) FROM ratings").fetchall() == [(0,)]


def places(citation: dict[str, Any]) -> dict[str, Any]:
    return {name: citation[name] for name in ("path", "start_line", "end_line")}
