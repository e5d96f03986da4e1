"""Questions over real sockets, with a real server that plays the model."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.protocols.server import ServedSettings, Turn
from tests.protocols.server import serving as model_server
from tests.waiting import LONG_S, comes

from codefathom.server.answers.answer_runs import MOST_AT_ONCE
from codefathom.server.server_config import ServerConfig

from .conftest import Serve
from .test_routes_jobs import ids, messages

QUESTION = "where is the total of a cart priced"
CITED = "The cart adds up its lines [shop/pricing.py:1-5].\n\n"


def spoken(*pieces: str, **rest: Any) -> Turn:
    """A streamed reply in the form of OpenAI."""
    deltas = [{"choices": [{"delta": {"content": piece}}]} for piece in pieces]
    end = {
        "choices": [{"delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 40},
    }
    lines = [f"data: {json.dumps(item)}\n\n".encode() for item in (*deltas, end)]
    return Turn([*lines, b"data: [DONE]\n\n"], **rest)


@contextmanager
def asked_of(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch, *turns: Turn
) -> Iterator[tuple[httpx.Client, ServedSettings]]:
    """A server with the indexed shop, whose answering model follows a script."""
    with model_server(*turns) as model:
        for name, value in {
            "FATHOM_LLM__MODEL": f"openai:scripted@{model.base_url}/v1",
            "FATHOM_SELECT__FILTER_LEVEL": "0",
            "FATHOM_ANSWER__LEAST_CONFIDENCE": "0",
            "FATHOM_LIMITS__ATTEMPTS": "1",
        }.items():
            monkeypatch.setenv(name, value)
        with serve(ServerConfig(config.data_dir, config.allowed_roots, variables=dict(_environ()))) as client:
            client.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
            yield client, model


def _environ() -> dict[str, str]:
    import os

    return dict(os.environ)


@pytest.fixture
def plain(server: httpx.Client, shop: Path) -> httpx.Client:
    """A server with the indexed shop and without any model."""
    server.post("/index", json={"codebase_path": str(shop)}).raise_for_status()
    return server


def types(told: list[dict[str, Any]]) -> list[str]:
    return [message["type"] for message in told]


def text_of(told: list[dict[str, Any]]) -> str:
    return "".join(message["data"] for message in told if message["type"] == "content")


def test_without_a_model_the_answer_consists_of_excerpts(plain: httpx.Client) -> None:
    answer = plain.post("/ask", json={"question": QUESTION, "project_id": "shop", "top_k": 50}).json()
    assert answer["model"] == ""
    assert answer["answer"]
    assert {source["path"] for source in answer["sources"]} & {"shop/pricing.py", "web/src/cart.ts"}
    assert answer["sources"][0]["project_id"] == "shop"
    assert any("no language model" in text for text in answer["degraded"])


def test_a_stream_has_sources_then_content_and_done_last(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED, "And more.")) as (client, model):
        raw = client.post("/ask/stream", json={"question": QUESTION, "project_id": "shop", "top_k": 50}).text
    told = messages(raw)
    assert types(told)[0] == "status"
    assert types(told)[-1] == "done"
    assert raw.endswith('data: {"type": "done"}\n\n')
    order = [kind for kind in types(told) if kind in {"sources", "content", "usage", "done"}]
    assert order == ["sources", *["content"] * order.count("content"), "usage", "done"]
    sources = next(message["data"] for message in told if message["type"] == "sources")
    assert {"path", "module", "score", "start_line", "end_line"} <= sources[0].keys()
    assert "adds up its lines" in text_of(told)
    assert "And more." in text_of(told)
    usage = next(message["data"] for message in told if message["type"] == "usage")
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (900, 40)
    assert len(model.asked) == 1


def test_thorough_tells_its_cost_and_its_stages(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded = "".join(f"{number}: yes/9\n" for number in range(1, 9))
    with asked_of(config, serve, shop, monkeypatch, spoken('{"file_list": []}', graded, CITED)) as (client, model):
        body = {"question": QUESTION, "project_id": "shop", "thorough": True}
        told = messages(client.post("/ask/stream", json=body).text)
        n_thorough = len(model.asked)
        client.post("/ask", json={"question": QUESTION, "project_id": "shop"}).raise_for_status()
        assert (n_thorough > 2, len(model.asked)) == (True, n_thorough + 1)
    steps = {message["data"]["phase"]: message["data"].get("detail") for message in told if message["type"] == "status"}
    assert steps["plan"].startswith("this answer takes about ")
    assert steps["judge"].startswith("grading ")


def test_a_dry_run_asks_no_model_and_is_said_in_no_conversation(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        kept = {"question": QUESTION, "project_id": "shop", "keep": True}
        conversation = client.post("/ask", json=kept).raise_for_status().json()["conversation_id"]
        n_asked = len(model.asked)
        expected = []
        for more in ({}, {"thorough": True}, {"thorough": True, "conversation_id": conversation}):
            answer = client.post("/ask", json={**kept, "dry_run": True, **more}).raise_for_status().json()
            assert (answer["conversation_id"], answer["sources"], answer["usage"]["prompt_tokens"]) == ("", [], 0)
            assert answer["answer"].startswith("this answer takes about ")
            expected.append(answer["expected"]["n_calls"])
        assert len(model.asked) == n_asked
        assert expected[0] == 1 < expected[1]
        assert expected[2] == expected[1] + 1  # what a follow-up means is asked first
        assert len(client.get("/conversations").json()["conversations"]) == 1
        assert len(client.get(f"/conversations/{conversation}").json()["turns"]) == 1
        agent = client.post("/ask/agent", json={**kept, "dry_run": True})
        assert (agent.status_code, agent.json()["detail"]) == (
            400,
            "nobody knows how often an agent will ask its model",
        )


def test_a_whole_answer_is_what_the_stream_says(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED, "And more.")) as (client, _):
        body = {"question": QUESTION, "projectId": "shop"}
        told = messages(client.post("/api/ask/stream", json=body).text)
        answer = client.post("/ask", json=body).json()
    assert answer["answer"] == text_of(told)
    *_, answered = (message["data"] for message in told if message["type"] == "status")
    for name in ("citations", "dropped_citations", "verified_share", "confidence", "sources", "degraded", "error"):
        assert answer[name] == answered[name]


def test_a_model_that_fails_is_told_and_excerpts_stand_in(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, Turn([b"overloaded"], 500)) as (client, _):
        told = messages(client.post("/ask/stream", json={"question": QUESTION, "project_id": "shop"}).text)
    assert types(told)[-2:] == ["error", "done"]
    assert "500" in told[-2]["data"]["detail"]
    assert text_of(told)


@pytest.mark.parametrize("route", ["/ask", "/ask/stream", "/ask/agent"])
def test_a_client_that_leaves_ends_the_call_of_the_model(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch, route: str
) -> None:
    endless = spoken("I think on. ")
    endless.pieces, endless.repeat, endless.pause_s = endless.pieces[:1], 100_000, 0.005
    with asked_of(config, serve, shop, monkeypatch, endless) as (client, model):
        address = urlsplit(str(client.base_url))
        body = json.dumps({"question": QUESTION, "project_id": "shop"}).encode()
        connection = socket.create_connection((address.hostname, address.port), timeout=LONG_S)
        head = f"POST {route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert comes(lambda: model.asked)
        assert not model.asked[0].is_closed.is_set()
        connection.close()
        assert model.asked[0].is_closed.wait(LONG_S)


def test_a_silent_model_keeps_nobody_waiting(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED, silent_s=600)) as (client, model):
        body = {"question": QUESTION, "project_id": "shop"}
        told: list[dict[str, Any]] = []
        with client.stream("POST", "/ask/stream", json=body) as stream:
            for line in stream.iter_lines():
                told += messages(line)
                if types(told)[-1:] == ["sources"] and line:
                    assert comes(lambda: model.asked)
                    client.post(f"/answers/{told[0]['data']['answer_id']}/stop").raise_for_status()
        assert types(told)[-2:] == ["status", "done"]
        assert told[-2]["data"] == {"phase": "stopped"}


def test_an_answer_can_be_stopped_and_read_from_elsewhere(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = spoken("I think on.\n\n")
    endless.pieces, endless.repeat, endless.pause_s = endless.pieces[:1], 100_000, 0.005
    with asked_of(config, serve, shop, monkeypatch, endless) as (client, model):
        body = {"question": QUESTION, "project_id": "shop", "keep": True}
        told: list[dict[str, Any]] = []
        with client.stream("POST", "/ask/stream", json=body) as stream:
            is_stopped = False
            for line in stream.iter_lines():
                told += messages(line)
                answer_id = told[0]["data"]["answer_id"] if told else ""
                if "content" in types(told) and not is_stopped:
                    is_stopped = True
                    assert client.post(f"/answers/{answer_id}/stop").status_code == 204
        assert told[-2:] == [{"type": "status", "data": {"phase": "stopped"}}, {"type": "done"}]
        assert model.asked[0].is_closed.wait(LONG_S)
        again = client.get(f"/answers/{answer_id}/events").text
        assert [item for item in messages(again) if item["type"] == "content"] == [
            item for item in told if item["type"] == "content"
        ]
        kept = client.get(f"/conversations/{told[0]['data']['conversation_id']}").json()
        assert kept["turns"][0]["state"] == "stopped"
        assert kept["turns"][0]["answer"] == text_of(told)


def test_a_conversation_says_what_is_being_written_in_it(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = spoken("I think on.\n\n")
    endless.pieces, endless.repeat, endless.pause_s = endless.pieces[:1], 100_000, 0.005
    with asked_of(config, serve, shop, monkeypatch, endless) as (client, model):
        told: list[dict[str, Any]] = []
        body = {"question": QUESTION, "project_id": "shop", "keep": True}
        with client.stream("POST", "/ask/stream", json=body) as stream:
            for line in stream.iter_lines():
                told += messages(line)
                if "content" in types(told):
                    break
        begun = told[0]["data"]
        listed = client.get("/conversations").json()["conversations"][0]
        shown = client.get(f"/conversations/{begun['conversation_id']}").json()
        # The reader has left; another one finds the answer where it is.
        with client.stream("GET", f"/answers/{begun['answer_id']}/events") as stream:
            lines = stream.iter_lines()
            again = messages("\n".join((next(lines), next(lines))))
            assert not model.asked[0].is_closed.is_set()
        client.post(f"/answers/{begun['answer_id']}/stop")
        assert model.asked[0].is_closed.wait(LONG_S)
    assert listed["title"] == QUESTION
    for conversation in (listed, shown):
        assert [(item["answer_id"], item["question"]) for item in conversation["answering"]] == [
            (begun["answer_id"], QUESTION)
        ]
    assert again[0]["data"] == begun


def test_a_question_too_many_is_refused_and_begins_no_conversation(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        asked_of(config, serve, shop, monkeypatch, spoken(CITED, silent_s=600)) as (client, _),
        contextlib.ExitStack() as stack,
    ):
        body = {"question": QUESTION, "project_id": "shop", "keep": True}
        for _ in range(MOST_AT_ONCE):
            stack.enter_context(client.stream("POST", "/ask/stream", json=body))
        refused = client.post("/ask/stream", json=body)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert len(client.get("/conversations").json()["conversations"]) == MOST_AT_ONCE


def test_a_stream_goes_on_after_its_last_event(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        body = {"question": QUESTION, "project_id": "shop"}
        whole = client.post("/ask/stream", json=body).text
        for place in (0, 2, len(ids(whole)) - 1):
            rest = client.post("/ask/stream", json=body, headers={"Last-Event-ID": ids(whole)[place]}).text
            assert ids(rest) == ids(whole)[place + 1 :]
        assert len(model.asked) == 1
        gone = client.post("/ask/stream", json=body, headers={"Last-Event-ID": "nobody.1"})
        assert gone.status_code == 404


def test_the_turns_before_reach_the_model(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        first = client.post("/ask", json={"question": QUESTION, "project_id": "shop", "keep": True}).json()
        conversation = first["conversation_id"]
        client.post(
            "/ask", json={"question": "and with a discount?", "conversation_id": conversation}
        ).raise_for_status()
        said = json.dumps(model.asked[-1].body["messages"])
        kept = client.get(f"/conversations/{conversation}").json()
    assert QUESTION in said
    assert "adds up its lines" in said
    assert [turn["question"] for turn in kept["turns"]] == [QUESTION, "and with a discount?"]
    assert [turn["state"] for turn in kept["turns"]] == ["done", "done"]


def test_an_agent_tells_its_steps_and_answers(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = json.dumps({"tool": "read_file", "arguments": {"file_path": "shop/pricing.py"}})
    final = json.dumps({"answer": CITED, "confidence": "high", "sources": []})
    turns = [spoken(f"I look first.\n{call}"), spoken("I know enough."), spoken(final)]
    with asked_of(config, serve, shop, monkeypatch, *turns) as (client, _):
        told = messages(client.post("/ask/agent", json={"question": QUESTION, "project_id": "shop"}).text)
    steps = [message["data"]["type"] for message in told if message["type"] == "step"]
    assert [*steps[:3], steps[-1]] == ["thinking", "tool_call", "tool_result", "final_answer"]
    assert types(told)[-1] == "done"
    assert "adds up its lines" in text_of(told)
    assert types(told).count("sources") == 1  # known when the answer is whole, of which words came before


def test_a_query_gives_the_final_answer_of_an_agent(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = json.dumps({"tool": "read_file", "arguments": {"file_path": "shop/pricing.py"}})
    final = json.dumps({"answer": CITED, "confidence": "high", "sources": []})
    turns = [spoken(call), spoken("I know enough."), spoken(final)]
    with asked_of(config, serve, shop, monkeypatch, *turns) as (client, model):
        answer = client.post("/api/query", json={"question": QUESTION, "max_iterations": 6}).json()
        other = client.post("/query", json={"question": QUESTION, "model": "openai:spy@http://elsewhere.example"})
        n_asked = len(model.asked)
    assert answer["confidence"] in {"high", "medium", "low"}
    assert "adds up its lines" in answer["answer"]
    assert answer.keys() == {"answer", "confidence", "sources", "reasoning"}
    assert (other.status_code, other.json()["code"]) == (409, "settings")
    assert n_asked == 3


@pytest.mark.parametrize(
    ("route", "body", "status", "code"),
    [
        ("/ask", {"question": QUESTION, "project_id": "none"}, 404, "not_found"),
        ("/ask/stream", {"question": QUESTION, "project_id": "none"}, 404, "not_found"),
        ("/ask", {"question": "  "}, 400, "usage"),
        ("/ask", {}, 422, "invalid"),
        ("/ask", {"question": QUESTION, "unknown": 1}, 422, "invalid"),
        ("/ask", {"question": QUESTION, "pinned": ["none.py"]}, 404, "source"),
        ("/ask", {"question": QUESTION, "conversation_id": "none"}, 404, "not_found"),
        ("/ask", {"question": QUESTION, "filter": "lines >"}, 400, "usage"),
        ("/query", {"question": QUESTION}, 409, "settings"),
    ],
)
def test_what_cannot_be_answered_is_a_problem(
    plain: httpx.Client, route: str, body: dict[str, Any], status: int, code: str
) -> None:
    response = plain.post(route, json=body)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["content-type"].startswith("application/problem+json")


@pytest.mark.parametrize(
    ("method", "route", "content", "detail", "hint"),
    [
        ("GET", "/monitoring/none", b"", "no such route: GET /monitoring/none", "GET /openapi.json lists the routes"),
        ("GET", "/ask", b"", "/ask does not take GET", "use POST"),
        ("POST", "/ask", b"{question", "the body is not valid JSON", "/openapi.json"),
        ("POST", "/ask", b"[1]", "the body must be a JSON object", "/openapi.json"),
        ("POST", "/ask", b"{}", "body.query is missing", "/openapi.json"),
        (
            "POST",
            "/ask",
            b'{"question": "a", "config": 1}',
            "body.config is not a field of this request",
            "this request takes ",
        ),
    ],
)
def test_a_wrong_request_is_answered_in_plain_words(
    plain: httpx.Client, method: str, route: str, content: bytes, detail: str, hint: str
) -> None:
    told = plain.request(method, route, content=content, headers={"content-type": "application/json"}).json()
    assert told["detail"].startswith(detail)
    assert told["hint"].startswith(hint)


def test_what_goes_wrong_in_a_stream_is_an_event(plain: httpx.Client) -> None:
    told = messages(plain.post("/ask/agent", json={"question": QUESTION}).text)
    assert types(told) == ["status", "error", "done"]
    assert told[1]["data"]["code"] == "settings"
    assert "FATHOM_LLM__MODEL" in told[1]["data"]["hint"]


def test_a_project_that_is_not_indexed_says_so(server: httpx.Client, shop: Path) -> None:
    server.post("/projects", json={"path": str(shop)})
    response = server.post("/ask", json={"question": QUESTION})
    assert (response.status_code, response.json()["code"]) == (409, "not_indexed")


def test_a_project_that_cannot_be_asked_is_named_beside_the_answer(plain: httpx.Client, shop: Path) -> None:
    bare = shop.parent / "bare"
    bare.mkdir()
    (bare / "fathom.toml").touch()
    plain.post("/projects", json={"path": str(bare)}).raise_for_status()
    notes = plain.post("/ask", json={"question": QUESTION}).json()["degraded"]
    assert notes[0].startswith("bare was not asked: the project 'bare' has no index yet")
    told = messages(plain.post("/ask/stream", json={"question": QUESTION}).text)
    assert any(str(message["data"]).count("bare was not asked") for message in told if message["type"] == "status")
    assert plain.post("/ask", json={"question": QUESTION, "project_id": "shop"}).json()["degraded"] == notes[1:]


def test_several_projects_answer_together(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shop.parent / "zoo"
    (other / ".git").mkdir(parents=True)
    (other / "prices.py").write_text("def price_of_ticket(visitor):\n    return 5 if visitor.is_child else 10\n")
    (shop.parent / "empty" / ".git").mkdir(parents=True)
    said = spoken(
        "Carts [shop/shop/pricing.py:1-5], tickets [zoo/prices.py:1-2], nothing [zoo/shop/pricing.py:1-2].\n\n"
    )
    with asked_of(config, serve, shop, monkeypatch, said) as (client, model):
        client.post("/index", json={"codebase_path": str(other)}).raise_for_status()
        client.post("/projects", json={"path": str(shop.parent / "empty")}).raise_for_status()
        body = {"question": "price_of_ticket and the price of an order", "project_ids": ["shop", "zoo"]}
        answer = client.post("/ask", json=body).json()
        pinned = client.post("/ask", json={**body, "pinned": ["zoo/prices.py"]}).json()
        everywhere = client.post("/ask", json={"question": "price_of_ticket"}).json()
        wrong = client.post("/ask", json={**body, "pinned": ["prices.py"]})
        agent = client.post("/ask/agent", json=body)
    assert answer["projects"] == ["shop", "zoo"]
    assert {source["project_id"] for source in answer["sources"]} == {"shop", "zoo"}
    assert {"project_id": "zoo", "file": "prices.py", "path": "zoo/prices.py"}.items() <= next(
        source.items() for source in answer["sources"] if source["project_id"] == "zoo"
    )
    assert [place["path"] for place in answer["citations"]] == ["shop/shop/pricing.py", "zoo/prices.py"]
    assert answer["citations"][1]["symbol"] == "price_of_ticket"
    assert len(answer["dropped_citations"]) == 1
    assert "shop/shop/pricing.py" in str(model.asked[0].body["messages"])
    assert pinned["sources"][0]["path"] == "zoo/prices.py"
    assert everywhere["projects"] == ["shop", "zoo"]
    assert (wrong.status_code, wrong.json()["code"]) == (404, "source")
    assert agent.status_code == 200
    assert "several projects: shop, zoo" in str(model.asked[-1].body["messages"])


def test_only_what_an_answer_would_rest_on(
    config: ServerConfig, serve: Serve, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped = json.dumps({"query": QUESTION, "only_contexts": True})
    with asked_of(config, serve, shop, monkeypatch, spoken(CITED)) as (client, model):
        answer = client.post("/ask", json={"question": wrapped, "project_id": "shop"}).json()
        plain = client.post("/ask", json={"question": json.dumps({"query": QUESTION}), "project_id": "shop"}).json()
        agent = client.post("/ask/agent", json={"question": wrapped, "project_id": "shop"})
    contexts = json.loads(answer["answer"])
    assert [item["path"] for item in contexts] == [source["path"] for source in answer["sources"]]
    assert contexts[0]["source_code"]
    assert answer["question"] == plain["question"] == QUESTION
    assert "adds up its lines" in plain["answer"]
    assert len(model.asked) == 1
    assert agent.status_code == 400
