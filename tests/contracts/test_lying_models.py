"""Every model's server × every lie: an answer is what was asked for, or an error with a remedy; soon, and bounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from tests.protocols.lies import LIES, LIMIT_BYTES, SLOW_S, Request, changed, lying, redirect, saying

from codefathom.errors import ProviderError
from codefathom.providers import embedding, http
from codefathom.providers.base import Ask, Message, Reply, whole
from codefathom.providers.embedding import Calls, OllamaEmbeddings, OpenAIEmbeddings, RemoteEmbedder
from codefathom.providers.http import Http, Server, Timeouts
from codefathom.providers.ollama import OllamaChat
from codefathom.providers.openai import OpenAIChat
from codefathom.providers.reranking import RemoteReranker

TEXTS = ["one", "two", "three", "four"]
ROWS = [[3.0, 4.0], [4.0, 3.0], [0.0, 1.0], [1.0, 0.0]]


class Model(NamedTuple):
    """A model: what its server answers, how it is asked, and what tells that an answer is sound."""

    honest: Callable[[Request], Any]
    ask: Callable[[Http], Any]
    is_sound: Callable[[Any], bool]


def _embedded(endpoint: Any) -> Callable[[Http], Any]:
    def ask(server: Http) -> Any:
        rows = RemoteEmbedder("m", endpoint, Calls(server, server)).embed(TEXTS, "document")
        return rows.tolist()

    return ask


def _are_rows(rows: Any) -> bool:
    lengths = {len(row) for row in rows}
    norms = [math.hypot(*row) for row in rows]
    return len(rows) == len(TEXTS) and len(lengths) == 1 and all(norm == 0 or abs(norm - 1) < 1e-3 for norm in norms)


def _are_grades(scores: Any) -> bool:
    return len(scores) == len(TEXTS) and all(type(score) is float and math.isfinite(score) for score in scores)


def _is_reply(reply: Any) -> bool:
    texts = [reply.text, reply.model, *(text for call in reply.tool_calls for text in call)]
    return isinstance(reply, Reply) and all(isinstance(text, str) for text in texts)


_CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"a": 1}'}}
_OPENAI = {
    "model": "m",
    "choices": [{"message": {"content": "yes", "tool_calls": [_CALL]}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
}
_OLLAMA = {
    "model": "m",
    "message": {"content": "yes", "thinking": "hm", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]},
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 3,
    "eval_count": 4,
}
_QUESTION = Ask((Message("user", "is it?"),), max_tokens=50_000)
MODELS: Mapping[str, Model] = {
    "embeddings of OpenAI": Model(
        lambda _: {"data": [{"index": place, "embedding": row} for place, row in enumerate(ROWS)]},
        _embedded(OpenAIEmbeddings("m")),
        _are_rows,
    ),
    "embeddings of Ollama": Model(lambda _: {"embeddings": ROWS}, _embedded(OllamaEmbeddings("m")), _are_rows),
    "reranking": Model(
        lambda _: {"results": [{"index": place, "relevance_score": place / 4} for place in range(4)]},
        lambda server: RemoteReranker("m", "m", server, 1_000).scores("which?", TEXTS),
        _are_grades,
    ),
    "chat of OpenAI": Model(lambda _: _OPENAI, lambda server: whole(OpenAIChat("m", server), _QUESTION), _is_reply),
    "chat of Ollama": Model(lambda _: _OLLAMA, lambda server: whole(OllamaChat("m", server), _QUESTION), _is_reply),
}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    for name in ("MAX_ANSWER_BYTES", "_MAX_LINE_BYTES", "_MAX_REFUSAL_BYTES"):
        monkeypatch.setattr(http, name, LIMIT_BYTES)
    monkeypatch.setattr(http, "_STREAM", http._STREAM._replace(most_bytes=LIMIT_BYTES))
    monkeypatch.setattr(http, "_LONGER", 1)
    monkeypatch.setattr(http, "_STREAMED_LONGER", 1)
    monkeypatch.setattr(embedding, "_most_bytes", lambda *_: LIMIT_BYTES)
    monkeypatch.setattr(Http.post, "__defaults__", (LIMIT_BYTES,))
    yield MODELS[request.param]


def _http(url: str) -> Http:
    return Http(Server(url, timeouts=Timeouts(5.0, SLOW_S), attempts=2), sleep=lambda _: None)


def test_an_honest_server_is_believed(model: Model) -> None:
    with lying(model.honest) as server:
        assert model.is_sound(model.ask(_http(server.url)))


def test_an_answer_that_is_none_is_an_error_with_a_remedy(model: Model) -> None:
    with lying(model.honest) as server:
        for name, lie in LIES.items():
            server.lie = lie
            with pytest.raises(ProviderError) as error:
                model.ask(_http(server.url))
            assert error.value.hint or "answered" in str(error.value), name
            assert len(str(error.value)) < 1_000, name


def test_every_part_of_an_answer_may_be_another(model: Model) -> None:
    n_refused = 0
    with lying(model.honest) as server:
        for name, answer in changed(model.honest(Request("POST", "/", {}))):
            server.lie = saying(answer)
            try:
                assert model.is_sound(model.ask(_http(server.url))), name
            except ProviderError:
                n_refused += 1
    assert n_refused > 20


def test_a_redirect_is_not_followed(model: Model) -> None:
    with lying(lambda _: {}) as elsewhere, lying(model.honest) as server:
        server.lie = redirect(elsewhere.url)
        with pytest.raises(ProviderError, match=r"moved|307"):
            model.ask(_http(server.url))
        assert elsewhere.requests == []
