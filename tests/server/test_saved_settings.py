"""Settings that were saved: the project can be asked with all of them; those that would stop it are refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.server.conftest import Serve

from codefathom.server.server_config import ServerConfig

from .test_projects import add, index

QUESTION = "price of an order"
TEXTS = ("", "nonsense", "ollama:", "openai:x@http://[", "\0", "日本", "bundled", "http:x", "onnx:/nowhere", "(")
LISTS: tuple[list[str], ...] = ([], ["nonsense"], ["["], ["\\"], [""], ["\0"], ["openai:a=1/2"])
AWAY = "ollama:x@http://127.0.0.1:1"


@pytest.fixture
def ready(server: httpx.Client, shop: Path) -> httpx.Client:
    add(server, shop)
    index(shop)
    return server


def values(setting: dict[str, Any]) -> Iterator[object]:
    """Yield values that a person could try for a setting, good and bad ones."""
    if setting["kind"] == "switch":
        yield from (True, False)
    elif setting["kind"] == "list":
        yield from ([choice] for choice in setting["choices"])
        yield from LISTS
    elif setting["kind"] == "text":
        yield from setting["choices"] or TEXTS
    else:
        yield from (0, 1, 10**12, *(bound for bound in (setting["low"], setting["high"]) if bound is not None))


def can_be_asked(client: httpx.Client) -> bool:
    """Return True unless the settings keep the project from being asked."""
    answers = [
        client.post("/search", json={"query": QUESTION, "project_id": "shop"}),
        client.post("/ask", json={"question": QUESTION, "project_id": "shop"}),
    ]
    # A job may be making what the settings ask for; the questions do not wait for it.
    return client.get("/projects/shop").json()["status"] in {"indexed", "queued", "indexing"} and not any(
        answer.status_code == 409 or answer.status_code >= 500 for answer in answers
    )


@pytest.mark.parametrize("section", ["source", "parse", "index", "embed", "store", "search", "rerank", "llm", "answer"])
def test_what_is_taken_leaves_a_project_that_can_be_asked(ready: httpx.Client, section: str) -> None:
    listed = ready.get("/config", params={"project_id": "shop"}).json()["settings"]
    settings = [item for item in listed if item["key"].startswith(f"{section}.") and item["changeable"]]
    assert settings
    for setting in settings:
        for value in values(setting):
            answer = ready.patch("/projects/shop", json={"settings": {setting["key"]: value}})
            if answer.status_code == 200:
                assert can_be_asked(ready), (setting["key"], value)
            else:
                assert answer.status_code == 400, answer.text
                assert answer.json()["hint"], answer.text


@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        ({"store.vectors": "klingon"}, "store.vectors cannot be 'klingon'"),
        ({"embed.model": "nonsense"}, "embed.model = 'nonsense' does not name a provider and a model"),
        ({"llm.judge": "gpt-5"}, "llm.judge = 'gpt-5' does not name a provider and a model"),
        ({"rerank.model": "nonsense"}, "rerank.model = 'nonsense' is not a reranking model"),
        ({"parse.chain": ["llm", "text"]}, "parse.chain contains llm, but no language model is set"),
        ({"embed.model": "openai:e@http://["}, "is not a valid address"),
        ({"llm.window": 1}, "llm.window 1 leaves 0 tokens for sources"),
    ],
)
def test_what_cannot_be_used_is_refused_on_saving(
    ready: httpx.Client, shop: Path, settings: dict[str, object], detail: str
) -> None:
    answer = ready.patch("/projects/shop", json={"settings": settings})
    assert answer.status_code == 400
    assert detail in answer.json()["detail"]
    assert answer.json()["hint"]
    assert ready.get("/projects/shop").json()["settings"] == {}
    assert can_be_asked(ready)
    other = shop.parent / "other"
    other.mkdir()
    assert ready.post("/projects", json={"path": str(other), "settings": settings}).status_code == 400
    assert [project["id"] for project in ready.get("/projects").json()["projects"]] == ["shop"]


def test_a_model_without_its_key_is_refused_on_saving(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serve(replace(config, model_hosts=("api.openai.com",))) as server:
        add(server, shop)
        answer = server.patch("/projects/shop", json={"settings": {"llm.model": "openai:gpt-5-mini"}})
        assert answer.status_code == 400


def test_a_model_that_is_away_is_saved_and_the_search_goes_on(ready: httpx.Client) -> None:
    answer = ready.patch("/projects/shop", json={"settings": {"embed.model": AWAY, "llm.model": AWAY}})
    assert answer.status_code == 200, answer.text
    assert can_be_asked(ready)


def test_a_stored_value_that_is_no_choice_any_more_is_told_and_can_be_corrected(
    config: ServerConfig, serve: Serve, shop: Path
) -> None:
    with serve(config) as server:
        add(server, shop)
    index(shop)
    with closing(sqlite3.connect(Path(config.data_dir, "projects.db"))) as database:
        for values in ({"store.vectors": "klingon"}, {"embed.model": "nonsense"}):
            database.execute("UPDATE projects SET settings = ?", [json.dumps(values)])
            database.commit()
            with serve(config) as server:
                project = server.get("/projects/shop").json()
                assert project["status"] == "failed"
                assert next(iter(values.values())) in project["problem"]
                assert server.patch("/projects/shop", json={"settings": {}}).json()["status"] == "indexed"
                assert can_be_asked(server)


def test_a_fault_of_the_server_itself_does_not_forbid_other_changes(
    config: ServerConfig, serve: Serve, shop: Path
) -> None:
    with serve(replace(config, variables={"FATHOM_LLM__MODEL": "gpt-5"})) as server:
        assert add(server, shop)["status"] == "failed"
        assert server.patch("/projects/shop", json={"settings": {"search.limit": 3}}).status_code == 200
        assert server.patch("/projects/shop", json={"settings": {"embed.model": "nonsense"}}).status_code == 400
        assert server.patch("/projects/shop", json={"settings": {"llm.model": AWAY}}).json()["status"] != "failed"
