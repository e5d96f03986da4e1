"""Every reranker keeps the contract; the remote ones against a real server, faults included."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.protocols import tiny
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S

from codefathom.errors import ProviderError
from codefathom.providers.base import Reranker
from codefathom.providers.http import Http, Server, Timeouts
from codefathom.providers.local.onnx import OnnxReranker
from codefathom.providers.local.transformer import Transformer
from codefathom.providers.reranking import RemoteReranker
from codefathom.testing import FakeReranker, RerankerContract

QUESTION = "parse json text"
FAKE = FakeReranker()  # what the servers here think with


def jina(body: dict[str, Any]) -> bytes:
    """Answer as Jina, Cohere, vLLM and llama.cpp do: the best first, each with its place."""
    scores = FAKE.scores(body["query"], body["documents"])
    rows = [{"index": place, "relevance_score": score, "document": {}} for place, score in enumerate(scores)]
    rows.sort(key=lambda row: -float(str(row["relevance_score"])))
    return json.dumps({"id": "r-1", "results": rows, "usage": {"total_tokens": 3}}).encode()


def voyage(body: dict[str, Any]) -> bytes:
    scores = FAKE.scores(body["query"], body["documents"])
    rows = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
    return json.dumps({"object": "list", "data": rows}).encode()


def tei(body: dict[str, Any]) -> bytes:
    """Answer as text-embeddings-inference does: a bare list."""
    scores = FAKE.scores(body["query"], body["texts"])
    return json.dumps([{"index": place, "score": score} for place, score in enumerate(scores)][::-1]).encode()


def reranker(served: ServedSettings, model: str = "m", max_tokens: int = 512, **server: Any) -> RemoteReranker:
    server.setdefault("timeouts", Timeouts(LONG_S, LONG_S))
    http = Http(Server(f"{served.base_url}/v1", **server), sleep=lambda _: None)
    return RemoteReranker("http:m", model, http, max_tokens)


class TestFake(RerankerContract):
    def make(self) -> Reranker:
        return FakeReranker()


class TestCrossEncoder(RerankerContract):
    n_logits = 1

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tiny.reranker(tmp_path / "tiny", n_logits=self.n_logits)

    def make(self) -> Reranker:
        return OnnxReranker(Transformer(str(self.path), 512))


class TestCrossEncoderOfTwoClasses(TestCrossEncoder):
    n_logits = 2


class OfAServer(RerankerContract):
    turn: Turn

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        with serving(self.turn) as self.served:
            self.served.refused_with = 422
            self.served.refusal = b'{"error": "missing field `texts`", "error_type": "Validation"}'
            yield

    def make(self) -> Reranker:
        return reranker(self.served)


class TestJina(OfAServer):
    turn = Turn(reply=jina)


class TestVoyage(OfAServer):
    turn = Turn(reply=voyage)


class TestTei(OfAServer):
    turn = Turn(reply=tei, when=lambda body: "texts" in body)


# ---- what is sent


def test_all_texts_go_in_one_call() -> None:
    with serving(Turn(reply=jina)) as served:
        reranker(served).scores(QUESTION, ["read", "write"])
    (asked,) = served.asked
    assert asked.path == "/v1/rerank"
    assert asked.body == {"model": "m", "query": QUESTION, "documents": ["read", "write"], "top_n": 2}


def test_a_server_that_knows_one_model_is_told_no_name() -> None:
    with serving(Turn(reply=jina)) as served:
        reranker(served, model="").scores(QUESTION, ["read"])
    assert "model" not in served.asked[0].body


def test_a_text_is_cut_to_what_the_question_leaves() -> None:
    with serving(Turn(reply=jina)) as served:
        reranker(served, max_tokens=10).scores("12345", ["世" * 20, "short"])
        reranker(served, max_tokens=10).scores("long " * 20, ["x" * 100])
    assert served.asked[0].body["documents"] == ["世" * 8, "short"]  # 30 bytes, less 5 of the question
    assert (len(served.asked[1].body["query"]), len(served.asked[1].body["documents"][0])) == (15, 15)


def test_a_server_that_wants_other_words_is_asked_in_them_from_then_on() -> None:
    with serving(Turn(reply=tei, when=lambda body: "texts" in body)) as served:
        served.refused_with, served.refusal = 422, b"missing field `texts`"
        model = reranker(served)
        assert model.scores(QUESTION, ["json text"]) == model.scores(QUESTION, ["json text"]) == [pytest.approx(2 / 3)]
    assert ["texts" in asked.body for asked in served.asked] == [False, True, True]
    assert served.asked[-1].body == {"model": "m", "query": QUESTION, "texts": ["json text"], "truncate": True}


def test_another_refusal_is_not_taken_for_that() -> None:
    with serving(Turn([b'{"error": "no such model"}'], 400)) as served, pytest.raises(ProviderError, match="no such"):
        reranker(served).scores(QUESTION, ["read"])
    assert len(served.asked) == 1


# ---- faults


def of(*rows: object) -> bytes:
    return json.dumps({"results": rows}).encode()


def row(index: object, score: object) -> dict[str, object]:
    return {"index": index, "relevance_score": score}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (of(row(0, 0.5)), "graded 1 of 2 texts"),
        (of(row(0, 0.5), row(0, 0.6)), "or one twice"),
        (of(row(0, 0.5), row(2, 0.6)), "graded 2 of 2 texts, or one twice"),
        (of(row(0, 0.5), row(-1, 0.6)), "or one twice"),
        (of(row(0, 0.5), row(1, 0.6), row(1, 0.7)), "graded 3 of 2 texts"),
        (of(row(0, 0.5), row(1, float("nan"))), "not a number"),
        (of(row(0, 0.5), row(1, 10**400)), "not a number"),
        (of(row(0, 0.5), row(1, "0.6")), "did not answer with grades"),
        (of(row(0, 0.5), row("1", 0.6)), "did not answer with grades"),
        (of(row(0, 0.5), row(1, True)), "did not answer with grades"),
        (of(row(0, 0.5), {"index": 1}), "did not answer with grades"),
        (of(0.5, 0.6), "did not answer with grades"),
        (b'{"results": 3}', "did not answer with grades"),
        (b'{"object": "list"}', "did not answer with grades"),
        (b"null", "did not answer with grades"),
        (b"{broken", "did not answer with JSON"),
        (b"<html>", "web page"),
        (b"[" * 900 + b"]" * 900, "did not answer"),
    ],
)
def test_a_wrong_reply_is_an_error(body: bytes, problem: str) -> None:
    with serving(Turn([body])) as served, pytest.raises(ProviderError, match=problem):
        reranker(served).scores(QUESTION, ["read", "write"])


@pytest.mark.parametrize(
    "fault",
    [Turn(status=429, headers={"retry-after": "1"}), Turn(status=503), Turn(reset="first")],
    ids=["429", "503", "reset"],
)
def test_what_passes_is_tried_again(fault: Turn) -> None:
    with serving(fault, Turn(reply=jina)) as served:
        assert reranker(served).scores(QUESTION, ["json"]) == [pytest.approx(1 / 3)]
        assert len(served.asked) == 2


def test_silence_ends_with_an_error() -> None:
    with serving(Turn(silent_s=LONG_S)) as served, pytest.raises(ProviderError, match="did not answer for"):
        reranker(served, timeouts=Timeouts(LONG_S, 0.2), attempts=1).scores(QUESTION, ["read"])


def test_a_key_in_a_reply_is_not_said() -> None:
    with serving(Turn([b'{"note": "bad key sk-secret"}'])) as served, pytest.raises(ProviderError) as caught:
        reranker(served, headers={"Authorization": "Bearer sk-secret"}).scores(QUESTION, ["read"])
    assert "bad key ***" in str(caught.value)


# ---- a cross-encoder that is none


@pytest.mark.parametrize(
    ("write", "problem"),
    [
        (tiny.embedder, "gives last_hidden_state, but no score of a pair"),
        (lambda folder: tiny.reranker(folder, n_logits=3), "but no score of a pair"),
    ],
)
def test_another_model_is_no_reranker(write: Callable[[Path], Path], problem: str, tmp_path: Path) -> None:
    model = OnnxReranker(Transformer(str(write(tmp_path / "tiny")), 512))
    with pytest.raises(ProviderError, match=problem):
        model.scores(QUESTION, ["read"])


def test_a_cross_encoder_grades_from_0_to_1(tmp_path: Path) -> None:
    texts: Sequence[str] = ["parse json text", "socket", "json " * 400]
    scores = OnnxReranker(Transformer(str(tiny.reranker(tmp_path / "tiny")), 64)).scores(QUESTION, texts)
    assert scores[0] == pytest.approx(0.8176, abs=1e-3)  # three words less one and a half, logistic
    assert scores[1] < 0.2
    assert 0.99 < scores[2] <= 1.0
