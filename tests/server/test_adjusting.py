"""Settings of a project over HTTP: seen, tried and changed; keys are neither taken nor shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.protocols.server import serving as model_server

from codefathom.server.http.problem_json import RequestError
from codefathom.server.projects.project_settings import check_changes, shown

from .test_projects import add
from .test_routes_ask import spoken

SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"


@pytest.fixture
def ready(server: httpx.Client, shop: Path) -> httpx.Client:
    add(server, shop)
    return server


def of(checks: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(check for check in checks if check["name"].startswith(name))


def tried(client: httpx.Client, **settings: object) -> list[dict[str, Any]]:
    answer = client.post("/projects/shop/test", json={"settings": settings})
    assert answer.status_code == 200, answer.text
    assert answer.json()["ok"] == all(check["ok"] for check in answer.json()["services"])
    return answer.json()["services"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("llm.model", "openai:m@http://user:word@host.example/v1"),
        ("llm.base_url", "https://user:word@host.example"),
        ("embed.base_url", "https://word@host.example"),
        ("llm.model", f"openai:{SECRET}"),
        ("llm.base_url", f"https://host.example/v1?key={SECRET}"),
        ("source.ignore", ["*.md", SECRET]),
        ("llm.prices", ["openai:m@http://user:word@host.example/v1=1/2", "x=1/2"]),
    ],
)
def test_keys_and_logins_are_refused_and_not_repeated(key: str, value: object) -> None:
    with pytest.raises(RequestError, match=f"{key} contains a login or a key") as caught:
        check_changes({key: value})
    assert not {"word", SECRET} & set(str(caught.value).split())
    assert "environment" in caught.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {"llm.model": "openai:gpt-5-mini@http://localhost:8000/v1/"},
        {"llm.base_url": "https://host.example/v1/"},
        {"embed.model": "ollama:nomic-embed-text", "search.limit": 20, "index.purposes": True},
        {"llm.prices": ["openai:gpt-5-mini=0.25/2"]},
    ],
)
def test_what_holds_no_key_is_taken_and_shown_as_it_is(settings: dict[str, Any]) -> None:
    check_changes(settings)
    texts = {key: "".join(value) if isinstance(value, list) else value for key, value in settings.items()}
    said = {key: "".join(value) if isinstance(value, tuple) else value for key, value in shown(settings).items()}
    assert {key: str(value).rstrip("/") for key, value in said.items()} == {
        key: str(value).rstrip("/") for key, value in texts.items()
    }


@pytest.mark.parametrize("key", ["server.port", "index.dir", "context.tokenizer_path", "source.dir", "team.keys"])
def test_paths_and_the_server_itself_are_not_changed(ready: httpx.Client, key: str) -> None:
    for send in (
        lambda body: ready.patch("/projects/shop", json=body),
        lambda b: ready.post("/projects/shop/test", json=b),
    ):
        answer = send({"settings": {key: "1"}})
        assert (answer.status_code, answer.json()["detail"]) == (400, f"{key} cannot be set for a project")


def test_each_setting_says_what_it_takes(ready: httpx.Client) -> None:
    listed = {item["key"]: item for item in ready.get("/config", params={"project_id": "shop"}).json()["settings"]}
    kinds = {"llm.model": "text", "search.limit": "number", "index.purposes": "switch", "source.ignore": "list"}
    assert {key: listed[key]["kind"] for key in kinds} == kinds
    assert (listed["search.limit"]["low"], listed["search.limit"]["high"]) == (1, 1000)
    assert listed["search.min_similarity"]["kind"] == "fraction"
    assert [listed[key]["changeable"] for key in ("llm.model", "index.dir", "server.port")] == [True, False, False]


def test_a_change_is_in_force_at_once_and_told_with_its_origin(ready: httpx.Client) -> None:
    changed = ready.patch("/projects/shop", json={"settings": {"search.limit": 3}}).json()
    assert changed["settings"] == {"search.limit": 3}
    listed = ready.get("/config", params={"project_id": "shop"}).json()["settings"]
    (limit,) = [item for item in listed if item["key"] == "search.limit"]
    assert (limit["value"], limit["origin"]) == (3, "argument")
    assert ready.patch("/projects/shop", json={"settings": {}}).json()["settings"] == {}


def test_settings_are_tried_without_being_kept(ready: httpx.Client) -> None:
    with model_server(spoken("OK")) as model:
        name = f"openai:scripted@{model.base_url}/v1"
        checks = tried(ready, **{"llm.model": name})
        assert of(checks, "embedding model")["ok"]
        assert of(checks, "model for")["ok"]
        assert name in of(checks, "model for")["detail"]
        assert len(model.asked) == 1
    assert ready.get("/projects/shop").json()["settings"] == {}


def test_what_does_not_answer_is_said_with_what_to_do(ready: httpx.Client) -> None:
    checks = tried(
        ready, **{"llm.model": "ollama:none@http://127.0.0.1:1", "embed.model": "ollama:e@http://127.0.0.1:1"}
    )
    for name in ("embedding model", "model for"):
        assert not of(checks, name)["ok"]
        assert of(checks, name)["hint"]


def test_a_wrong_value_is_refused(ready: httpx.Client) -> None:
    for settings in ({"search.limit": 0}, {"nothing": 1}, {"store.vectors": "elsewhere"}):
        answer = ready.post("/projects/shop/test", json={"settings": settings})
        assert answer.status_code == 400
        assert answer.json()["hint"]
    assert ready.post("/projects/none/test", json={}).status_code == 404


def test_no_answer_of_the_server_holds_a_key(ready: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    tried(ready, **{"llm.model": "openai:m@http://127.0.0.1:1/v1"})
    ready.patch("/projects/shop", json={"settings": {"llm.model": "openai:m@http://127.0.0.1:1/v1"}})
    for path in ("/config?project_id=shop", "/projects", "/projects/shop", "/monitoring/services?project_id=shop"):
        assert SECRET not in json.dumps(ready.get(path).json())
