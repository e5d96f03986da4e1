"""Stores of vectors over HTTP: what the buttons of the page do, and what a request cannot choose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.contracts.qdrant_server import KEY, QdrantServer, served

from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_projects import add, index

QUESTION = "price of an order"


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    with served(KEY) as server:
        yield server


@pytest.fixture
def ready(
    qdrant: QdrantServer, config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """A server whose owner has set the address and the key of his Qdrant."""
    (shop.parent / "user.toml").write_text(f'[store]\nurl = "{qdrant.url}"\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(shop.parent / "user.toml"))
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    own = replace(config, user_file=str(shop.parent / "user.toml"))
    with serve(own) as client:
        add(client, shop)
        index(shop)
        yield client


def paths(client: httpx.Client) -> list[str]:
    answer = client.post("/search", json={"query": QUESTION, "project_id": "shop", "mode": "vector"}).json()
    return [hit["path"] for hit in answer["hits"]]


def moved_to(client: httpx.Client, target: str) -> dict[str, Any]:
    """Move the vectors of the shop, and return the job at its end."""
    answer = client.post("/projects/shop/store/move", json={"target": target})
    assert answer.status_code == 202, answer.text
    job = answer.json()
    assert (job["move_to"], job["report"]) == (target, None)
    events = client.get(f"/jobs/{job['id']}/events").text
    assert '"type": "done"' in events
    return client.get(f"/jobs/{job['id']}").json()


def test_from_a_test_of_the_connection_to_a_move_and_back(ready: httpx.Client, qdrant: QdrantServer) -> None:
    before = paths(ready)
    store = ready.get("/projects/shop/store").json()
    assert (store["store"], store["is_used"]) == ("flat", True)
    assert "qdrant" in store["choices"]
    tested = ready.get("/projects/shop/store", params={"target": "qdrant"}).json()
    assert tested["state"]["collection"] == "codefathom (not made yet)"
    assert not tested["is_used"]
    made = ready.post("/projects/shop/store/init", json={"target": "qdrant"}).json()
    assert made["state"]["collection"] == "codefathom"
    job = moved_to(ready, "qdrant")
    assert (job["state"], job["error"]) == ("done", None)
    moved = job["moved"]
    assert (moved["same"], moved["problem"]) == (1.0, "")
    assert paths(ready) == before
    used = ready.get("/projects/shop/store").json()
    assert used["is_used"]
    assert used["store"] == f"qdrant at {qdrant.url}"
    assert used["projects"] == {used["project"]: moved["n_rows"]}
    refused = ready.post("/projects/shop/store/remove", json={"target": "qdrant"})
    assert (refused.status_code, "searches look" in refused.json()["detail"]) == (400, True)
    assert ready.post("/projects/shop/store/verify", json={}).json()["problem"] == ""
    assert moved_to(ready, "flat")["moved"]["problem"] == ""
    removed = ready.post("/projects/shop/store/remove", json={"target": "qdrant"}).json()
    assert removed["projects"] == {}
    assert paths(ready) == before


def test_a_store_that_is_away_is_said(ready: httpx.Client, qdrant: QdrantServer) -> None:
    qdrant.stop()
    answer = ready.get("/projects/shop/store", params={"target": "qdrant"})
    assert (answer.status_code, answer.json()["code"]) == (503, "store_away")
    assert "cannot be reached" in answer.json()["detail"]


def test_a_move_tells_how_far_it_is(ready: httpx.Client) -> None:
    job = ready.post("/projects/shop/store/move", json={"target": "qdrant"}).json()
    response = ready.get(f"/jobs/{job['id']}/events")
    told = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")]
    steps = [event["data"] for event in told if event["type"] == "move"]
    n_rows = next(event["data"]["n_rows"] for event in told if event["type"] == "moved")
    assert n_rows > 0
    assert [(step["current"], step["total"]) for step in (steps[0], steps[-1])] == [(0, n_rows), (n_rows, n_rows)]
    (listed,) = ready.get("/jobs", params={"project_id": "shop"}).json()["jobs"]
    assert (listed["id"], listed["move_to"], listed["state"]) == (job["id"], "qdrant", "done")


def test_a_move_that_cannot_be_is_refused_at_once(ready: httpx.Client) -> None:
    answer = ready.post("/projects/shop/store/move", json={"target": "flat"})
    assert (answer.status_code, answer.json()["code"]) == (400, "usage")
    ready.patch("/projects/shop", json={"settings": {"store.vectors": "flat"}})
    answer = ready.post("/projects/shop/store/move", json={"target": "faiss"})
    assert (answer.status_code, answer.json()["code"]) == (409, "settings")
    assert ready.get("/jobs").json()["jobs"] == []


def test_a_move_that_fails_leaves_all_as_it_was(ready: httpx.Client, qdrant: QdrantServer) -> None:
    before = paths(ready)
    qdrant.stop()
    job = moved_to(ready, "qdrant")
    assert (job["state"], job["moved"]) == ("failed", None)
    assert "cannot be reached" in job["error"]["detail"]
    assert paths(ready) == before
    shown = ready.get("/projects/shop").json()
    assert (shown["status"], shown["problem"], shown["job_id"]) == ("indexed", "", "")
    assert ready.get("/projects/shop/store").json()["store"] == "flat"
    # An index run is no move: what is asked for next is a job of its own.
    indexed = ready.post("/projects/shop/index", headers={"accept": "application/json"}).json()
    assert (indexed["move_to"], indexed["id"] != job["id"]) == ("", True)


def test_a_project_names_its_store_that_is_away(ready: httpx.Client, qdrant: QdrantServer) -> None:
    assert ready.get("/projects/shop").json()["store_problem"] == ""
    assert moved_to(ready, "qdrant")["state"] == "done"
    assert ready.get("/projects/shop").json()["store_problem"] == ""
    qdrant.stop()
    shown = ready.get("/projects/shop").json()
    assert "cannot be reached" in shown["store_problem"]
    assert shown["status"] == "indexed"  # the vectors of the index answer meanwhile
    (of_all,) = ready.get("/monitoring/store").json()["stores"]
    for told in (of_all, ready.get("/projects/shop/status").json()):
        assert "cannot be reached" in told["store_problem"]


def test_the_service_names_a_store_that_cannot_be_used(ready: httpx.Client, qdrant: QdrantServer) -> None:
    """Whoever has no token reads that there is such a store, and no word of it."""
    assert moved_to(ready, "qdrant")["state"] == "done"
    (part,) = _stores_of(ready)
    assert part["ok"], part
    assert ready.get("/health").json()["degraded"] == []
    qdrant.stop()
    (part,) = _stores_of(ready)
    assert not part["ok"]
    assert part["name"] == "shop: vector store"
    assert "cannot be reached" in part["detail"]
    health = ready.get("/health").json()
    assert health["status"] == "degraded"
    assert health["degraded"] == ["a vector store cannot be used, and the index answers: see /monitoring/services"]


def _stores_of(ready: httpx.Client) -> list[dict[str, Any]]:
    parts = ready.get("/monitoring/services", params={"ask_models": True}).json()["services"]
    return [part for part in parts if "vector store" in part["name"]]


@pytest.mark.parametrize("target", ["qdrant://thief.example:6333", "qdrant:///etc", "klingon"])
def test_a_request_names_no_place(ready: httpx.Client, target: str) -> None:
    for action in ("init", "verify", "move", "remove"):
        answer = ready.post(f"/projects/shop/store/{action}", json={"target": target})
        assert (answer.status_code, answer.json()["code"]) == (400, "closed")
    assert ready.get("/projects/shop/store", params={"target": target}).json()["code"] == "closed"


@pytest.mark.parametrize("key", ["store.url", "store.collection", "store.project"])
def test_settings_of_a_project_name_no_place(ready: httpx.Client, key: str) -> None:
    answer = ready.patch("/projects/shop", json={"settings": {key: "http://thief.example:6333"}})
    assert (answer.status_code, answer.json()["code"]) == (400, "closed")
