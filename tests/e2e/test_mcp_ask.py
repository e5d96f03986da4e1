"""The tool `ask` of `fathom mcp`: offered where a model is set, checked as `fathom ask` is, ended with its call."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.mcp_session import McpSession
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import comes

from codefathom import Engine
from codefathom.answer.tokens import estimate

CLAIM = "Prices are summed [shop/pricing.py:6-8]. And taxed [shop/tax.py:1-3]. "
QUESTION = "how is the price of an order computed"


def sse(text: str) -> bytes:
    events = [{"choices": [{"delta": {"content": word + " "}}]} for word in text.split(" ")]
    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    return "".join(f"data: {json.dumps(event)}\n\n" for event in [*events, end]).encode() + b"data: [DONE]\n\n"


def surroundings(shop: Path, served: ServedSettings) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "OLLAMA_"))}
    own = {"FATHOM_CONFIG": str(shop.parent / "none.toml"), "FATHOM_SELECT__FILTER_LEVEL": "0"}
    return {**kept, **own, "FATHOM_LLM__MODEL": "openai:m", "OPENAI_BASE_URL": f"{served.base_url}/v1"}


@pytest.fixture
def indexed(shop: Path) -> Path:
    with Engine.open(str(shop)) as engine:
        engine.index()
    return shop


def names_of(session: McpSession) -> list[str]:
    return [tool["name"] for tool in session.ask("tools/list")["result"]["tools"]]


def test_an_answer_has_checked_places_and_keeps_its_budget(indexed: Path) -> None:
    with (
        serving(Turn([sse(CLAIM)]), Turn([sse(CLAIM * 200)])) as served,
        McpSession(indexed, environment=surroundings(indexed, served)) as session,
    ):
        assert names_of(session) == ["search", "read", "related", "map", "ask"]
        key = session.begin("ask", {"question": QUESTION}, progressToken=7)
        result = session.response(key)["result"]
        content = result["structuredContent"]
        assert content["places"] == [{"path": "shop/pricing.py", "start_line": 6, "end_line": 8}]
        assert "shop/tax.py" not in content["answer"]  # no such file: a citation that does not hold is not shown
        assert content["answer"].split()[0] in result["content"][0]["text"]
        told = [one["params"]["progress"] for one in session.sent if "method" in one]
        assert told
        assert told == sorted(set(told))
        long = session.call("ask", query=QUESTION, max_tokens=300)
        assert estimate(long["content"][0]["text"]) <= 300
        assert estimate(json.dumps(long["structuredContent"], ensure_ascii=False)) <= 300
        assert session.content("ask", question=QUESTION, projects=[str(indexed)])["places"][0]["path"].startswith(
            "shop/"
        )
        assert "question is missing" in session.refusal("ask")


def test_without_a_model_there_is_no_such_tool(indexed: Path, tmp_path: Path) -> None:
    with McpSession(indexed) as session:
        assert "ask" not in names_of(session)
        key = session.begin("ask", {"question": QUESTION})
        assert session.response(key)["error"]["code"] == -32602


def test_a_model_of_the_settings_file_or_of_the_command_line_offers_it(indexed: Path, tmp_path: Path) -> None:
    settings = tmp_path / "own.toml"
    settings.write_text('[llm]\nmodel = "openai:m"\n')
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_LLM")}
    with McpSession(indexed, environment={**kept, "FATHOM_CONFIG": str(settings)}) as session:
        assert "ask" in names_of(session)
    with McpSession(indexed, "--set", "llm.model=openai:m") as session:
        assert "ask" in names_of(session)
    settings.write_text("# llm: none\n")
    with McpSession(indexed, environment={**kept, "FATHOM_CONFIG": str(settings)}) as session:
        assert "ask" not in names_of(session)


def test_a_cancelled_answer_ends_the_call_of_the_model(indexed: Path) -> None:
    endless = Turn([sse("word").split(b"data: [DONE]")[0].split(b"data: ", 2)[1].join([b"data: ", b""])], repeat=10**6)
    endless.pause_s = 0.01
    with serving(endless) as served, McpSession(indexed, environment=surroundings(indexed, served)) as session:
        key = session.begin("ask", {"question": QUESTION})
        assert comes(lambda: served.asked)
        session.cancel(key)
        assert served.asked[0].is_closed.wait(300)
        assert session.ask("ping")["result"] == {}
        assert session.content("search", query="price")["hits"]  # its thread is free again
    assert key not in {message.get("id") for message in session.sent}


def test_a_model_that_fails_is_told(indexed: Path) -> None:
    with (
        serving(Turn([b'{"error": "no"}'], status=401)) as served,
        McpSession(indexed, environment=surroundings(indexed, served)) as session,
    ):
        said = session.refusal("ask", question=QUESTION)
        assert "401" in said
        assert "Use search instead" in said
