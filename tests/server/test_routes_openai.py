"""The routes that behave like OpenAI's; our own adapter for OpenAI reads them too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from codefathom.answer.tokens import estimate
from codefathom.providers.base import Ask, Delta, Message, Reply
from codefathom.providers.http import Http, Server
from codefathom.providers.openai import OpenAIChat
from codefathom.server.http.auth import Token, hash_of
from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_routes_ask import CITED, QUESTION, asked_of, spoken
from .test_routes_jobs import messages

ASKED = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def plain(server: httpx.Client, shop: Path) -> httpx.Client:
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    return server


def test_projects_are_listed_as_models(plain: httpx.Client) -> None:
    listed = plain.get("/v1/models").json()
    assert listed["object"] == "list"
    assert [model["id"] for model in listed["data"]] == ["shop", "shop:agent"]
    assert all(model["object"] == "model" for model in listed["data"])


def test_an_answer_has_its_sources_beside_the_text(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        body = {
            "model": "shop",
            "messages": [
                {"role": "system", "content": "talk like a pirate"},
                {"role": "user", "content": "hello"},
                {"role": "assistant", "content": "good day"},
                {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
            ],
            "temperature": 0.3,
            "tools": [],
        }
        answer = client.post("/v1/chat/completions", json=body).json()
        said = str(model.asked[-1].body["messages"])
    assert answer["object"] == "chat.completion"
    assert answer["choices"][0]["message"]["role"] == "assistant"
    assert "adds up its lines" in answer["choices"][0]["message"]["content"]
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert (
        answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"] > 0
    )
    assert answer["sources"][0]["path"]
    assert "Sources" not in answer["choices"][0]["message"]["content"]
    assert any("system message" in text for text in answer["degraded"])
    assert "good day" in said
    assert "pirate" not in said


def test_a_stream_ends_like_that_of_openai(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED, "And more.")) as (client, _):
        body = {"model": "shop", "messages": ASKED, "stream": True, "stream_options": {"include_usage": True}}
        response = client.post("/v1/chat/completions", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("data: [DONE]\n\n")
    chunks = messages(response.text.removesuffix("data: [DONE]\n\n"))
    assert {item["object"] for item in chunks} == {"chat.completion.chunk"}
    assert len({item["id"] for item in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(item["choices"][0]["delta"].get("content", "") for item in chunks[:-1])
    assert "adds up its lines" in text
    assert "And more." in text
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 940
    assert [item["sources"][0]["project_id"] for item in chunks if "sources" in item] == ["shop"]


def test_a_client_of_openai_understands_it(plain: httpx.Client) -> None:
    http = Http(Server(f"{str(plain.base_url).rstrip('/')}/v1"))
    ask = Ask([Message("system", "be brief"), Message("user", QUESTION)])
    *pieces, reply = OpenAIChat("shop", http, "openai:shop").stream(ask)
    http.close()
    assert isinstance(reply, Reply)
    assert reply.finish == "stop"
    assert "".join(piece.text for piece in pieces if isinstance(piece, Delta)) == reply.text
    assert "cart" in reply.text


def test_an_agent_that_cannot_work_says_so_in_the_stream(plain: httpx.Client) -> None:
    body = {"model": "shop:agent", "messages": ASKED, "stream": True}
    text = plain.post("/v1/chat/completions", json=body).text
    (error,) = [item for item in messages(text.removesuffix("data: [DONE]\n\n")) if "error" in item]
    assert error["error"]["code"] == "settings"
    assert plain.post("/v1/chat/completions", json={**body, "stream": False}).status_code == 409


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "none", "messages": ASKED}, 404),
        ({"model": "shop", "messages": []}, 422),
        ({"model": "shop", "messages": [{"role": "assistant", "content": "x"}]}, 400),
        ({"model": "shop", "messages": [{"role": "user", "content": None}]}, 400),
        ({"model": "shop", "messages": ASKED, "n": 2}, 422),
        ({"messages": ASKED}, 422),
    ],
)
def test_what_cannot_be_answered_is_an_error_in_openais_envelope(
    plain: httpx.Client, body: dict[str, Any], status: int
) -> None:
    for path in ("/v1/chat/completions", "/api/v1/chat/completions"):
        response = plain.post(path, json=body)
        assert response.status_code == status
        assert response.headers["content-type"] == "application/json"
        assert set(response.json()) == {"error"}
        error = response.json()["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert error["type"] == "invalid_request_error"
        assert "(" in error["message"]  # the hint


def test_who_is_refused_before_a_route_gets_the_envelope_too(config: ServerConfig, serve: Serve) -> None:
    with serve(replace(config, tokens=(Token("me", hash_of("one")),), max_body_bytes=2_000)) as client:
        answers = {
            "authentication_error": client.get("/v1/models"),
            "invalid_request_error": client.get("/v1/nothing", headers={"authorization": "Bearer one"}),
            "permission_error": client.get("/v1/models", headers={"host": "evil.example"}),
        }
        long = client.post("/v1/chat/completions", headers={"authorization": "Bearer one"}, content="x" * 3_000)
        assert client.get("/projects").headers["content-type"] == "application/problem+json"
    for kind, answer in answers.items():
        assert answer.json()["error"]["type"] == kind, answer.text
    assert (long.status_code, long.json()["error"]["code"]) == (413, "too_large")


def test_only_projects_that_can_be_asked_are_models(plain: httpx.Client, shop: Path) -> None:
    bare = shop.parent / "bare"
    bare.mkdir()
    (bare / "fathom.toml").touch()
    plain.post("/projects", json={"path": str(bare)}).raise_for_status()
    assert [model["id"] for model in plain.get("/v1/models").json()["data"]] == ["shop", "shop:agent"]
    (shop / "fathom.toml").write_text("[search\n")
    assert plain.get("/v1/models").json()["data"] == []


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_max_tokens_reaches_the_model_and_the_reason_for_the_end_is_told(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        body = {"model": "shop", "messages": ASKED}

        def asked_for(**more: object) -> tuple[object, str]:
            answer = client.post("/v1/chat/completions", json={**body, **more}).json()
            sent = model.asked[-1].body
            most = sent.get("max_tokens") or sent.get("max_completion_tokens")
            return most, answer["choices"][0]["finish_reason"]

        usual, _ = asked_for()
        assert asked_for(**{limit: 17}) == (17, "length")  # the scripted model says that it wrote more
        assert asked_for(**{limit: 10**9}) == (usual, "stop")
        stream = client.post("/v1/chat/completions", json={**body, "stream": True, limit: 17}).text
        assert '"finish_reason": "length"' in stream
        assert client.post("/v1/chat/completions", json={**body, limit: 0}).status_code == 422


def test_excerpts_obey_max_tokens_too(plain: httpx.Client) -> None:
    def asked_for(**more: object) -> tuple[str, str]:
        answer = plain.post("/v1/chat/completions", json={"model": "shop", "messages": ASKED, **more}).json()
        (choice,) = answer["choices"]
        return choice["message"]["content"], choice["finish_reason"]

    whole, finish = asked_for()
    assert finish == "stop"
    short, _ = asked_for(max_tokens=60)
    assert estimate(short) <= 60 < estimate(whole)
    assert asked_for(max_tokens=1)[1] == "length"
