"""Every embedder keeps the contract; the remote ones against a real server, faults included."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from tests.protocols.server import ServedSettings, Turn, serving
from tests.waiting import LONG_S

from codefathom.errors import ProviderError, TextRefusedError
from codefathom.providers.base import Embedder
from codefathom.providers.batching import BatchLimits
from codefathom.providers.embedding import (
    Calls,
    OllamaEmbeddings,
    OpenAIEmbeddings,
    Options,
    RemoteEmbedder,
)
from codefathom.providers.http import Http, Server, Timeouts
from codefathom.providers.local.bundled import BundledEmbedder
from codefathom.providers.local.reduce import ReducedEmbedder
from codefathom.providers.prefixes import Prefixes, known_prefixes
from codefathom.testing import EmbedderContract, FakeEmbedder, rows_of

FAKE = FakeEmbedder(64)  # what the servers here think with


def rows(texts: Sequence[str]) -> list[list[float]]:
    return [[7.0 * value for value in row] for row in rows_of(FAKE.embed(list(texts), "document"))]  # no unit length


class OpenAI:
    """How OpenAI's protocol says things."""

    endpoint, path = OpenAIEmbeddings, "/v1/embeddings"

    @staticmethod
    def said(found: Sequence[object]) -> bytes:
        # Backwards: the index says what belongs where.
        data = [{"index": place, "embedding": row} for place, row in enumerate(found)][::-1]
        return json.dumps({"object": "list", "data": data, "model": "m-1"}).encode()

    @staticmethod
    def address(served: ServedSettings) -> str:
        return f"{served.base_url}/v1"


class Ollama:
    """How Ollama's protocol says things."""

    endpoint, path = OllamaEmbeddings, "/api/embed"

    @staticmethod
    def said(found: Sequence[object]) -> bytes:
        return json.dumps({"model": "m-1", "embeddings": list(found)}).encode()

    @staticmethod
    def address(served: ServedSettings) -> str:
        return served.base_url


Protocol = type[OpenAI] | type[Ollama]
BOTH: list[Protocol] = [OpenAI, Ollama]


def good(protocol: Protocol, made: Callable[[Sequence[str]], Sequence[object]] = rows) -> Turn:
    return Turn(reply=lambda body: protocol.said(made(body["input"])))


def embedder(protocol: Protocol, served: ServedSettings, options: Options = Options(), **server: Any) -> RemoteEmbedder:  # noqa: B008
    server.setdefault("timeouts", Timeouts(LONG_S, LONG_S))
    http = Http(Server(protocol.address(served), **server), sleep=lambda _: None)
    return RemoteEmbedder("remote:m", protocol.endpoint("m"), Calls(http, http), options)


@pytest.fixture(params=BOTH, ids=["openai", "ollama"])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    chosen: Protocol = request.param
    return chosen


class TestBundled(EmbedderContract):
    def make(self) -> Embedder:
        return BundledEmbedder()


class TestFake(EmbedderContract):
    def make(self) -> Embedder:
        return FakeEmbedder()


class TestFakeOfAnotherSize(EmbedderContract):
    def make(self) -> Embedder:
        return FakeEmbedder(dimensions=64)


class TestTruncated(EmbedderContract):
    def make(self) -> Embedder:
        return ReducedEmbedder(BundledEmbedder(), 64, "truncate")


class TestProjected(EmbedderContract):
    def make(self) -> Embedder:
        return ReducedEmbedder(BundledEmbedder(), 64, "project")


class OfAServer(EmbedderContract):
    protocol: Protocol

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        with serving(good(self.protocol)) as self.served:
            yield

    def make(self) -> Embedder:
        return embedder(self.protocol, self.served, Options(batching=BatchLimits(max_texts=7)))


class TestOpenAI(OfAServer):
    protocol = OpenAI


class TestOllama(OfAServer):
    protocol = Ollama


class TestOldOllama(OfAServer):
    """A server from before /api/embed."""

    protocol = Ollama

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        old = Turn(
            reply=lambda body: json.dumps({"embedding": rows([body["prompt"]])[0]}).encode(),
            when=lambda body: "prompt" in body,
        )
        with serving(old) as self.served:
            self.served.refused_with = 404
            self.served.refusal = b"404 page not found"
            yield


# ---- what is sent


def test_texts_go_out_in_batches_of_texts_and_of_tokens(protocol: Protocol) -> None:
    texts = [f"word{n}" for n in range(5)] + ["long " * 12, "last"]
    with serving(good(protocol)) as served:
        few = embedder(protocol, served, Options(batching=BatchLimits(max_texts=3, max_tokens=15)))
        assert rows_of(few.embed(texts, "document")) == rows_of(embedder(protocol, served).embed(texts, "document"))
    assert [len(asked.body["input"]) for asked in served.asked] == [3, 2, 1, 1, 7]
    assert {asked.path for asked in served.asked} == {protocol.path}
    assert {asked.body["model"] for asked in served.asked} == {"m"}


def test_each_text_is_sent_once_and_one_without_words_not_at_all(protocol: Protocol) -> None:
    with serving(good(protocol)) as served:
        found = rows_of(embedder(protocol, served).embed(["read", "{}", "read", "write", ""], "document"))
    assert served.asked[0].body["input"] == ["read", "write"]
    assert [any(row) for row in found] == [True, False, True, True, False]
    assert found[0] == found[2]


def test_prefixes_stand_before_the_texts(protocol: Protocol) -> None:
    with serving(good(protocol)) as served:
        made = embedder(protocol, served, Options(prefixes=Prefixes("query: ", "passage: ")))
        made.embed(["read"], "query")
        made.embed(["read"], "document")
    assert [asked.body["input"] for asked in served.asked] == [["query: read"], ["passage: read"]]


def test_a_text_is_cut_to_what_the_model_takes(protocol: Protocol) -> None:
    with serving(good(protocol)) as served:
        made = embedder(protocol, served, Options(batching=BatchLimits(max_text_tokens=2)))
        made.embed(["abcdefgh", "世界你好"], "document")
    assert served.asked[0].body["input"] == ["abcdef", "世界"]


LONGEST = 1_000  # bytes that a server of these tests takes


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (400, "This model's maximum context length is 512 tokens"),
        (400, "the input length exceeds the context length"),
        (422, "batch size is too large"),
        (413, "no"),
    ],
)
def test_a_text_that_is_refused_for_its_length_is_shortened(protocol: Protocol, status: int, words: str) -> None:
    texts = ["read", "long " * 900, "write", "close"]
    short = Turn(good(protocol).pieces, when=lambda body: max(map(len, body["input"])) < LONGEST)
    short.reply = good(protocol).reply
    with serving(short) as served:
        served.refused_with, served.refusal = status, json.dumps({"error": words}).encode()
        vectors = rows_of(embedder(protocol, served).embed(texts, "document"))
        rest = rows_of(embedder(protocol, served).embed(["read", "write", "close"], "document"))
    assert [vectors[0], *vectors[2:]] == rest
    assert any(vectors[1])
    sent = {text for asked in served.asked for text in asked.body["input"]}
    assert max(map(len, sent)) == len(texts[1])  # whole at first
    assert any(LONGEST / 2 < len(text) < LONGEST for text in sent)  # and then as long as the server takes


def test_a_text_that_is_refused_for_another_reason_is_sent_once(protocol: Protocol) -> None:
    with serving(Turn([b'{"error": "the model cannot embed"}'], 400)) as served, pytest.raises(TextRefusedError):
        embedder(protocol, served).embed(["read " * 500, "write"], "document")
    assert len(served.asked) == 1


def test_a_text_that_is_refused_at_any_length_ends_after_few_calls(protocol: Protocol) -> None:
    with serving(Turn([b'{"error": "too long"}'], 400)) as served, pytest.raises(TextRefusedError, match="too long"):
        embedder(protocol, served).embed([f"read {n} " * 500 for n in range(64)], "document")
    assert len(served.asked) < 20


def test_a_length_is_asked_for(protocol: Protocol) -> None:
    with serving(good(protocol)) as served:
        embedder(protocol, served, Options(dimensions=64)).embed(["read"], "query")
        embedder(protocol, served).embed(["read"], "query")
    assert [asked.body.get("dimensions") for asked in served.asked] == [64, None]


def test_the_length_is_found_by_one_call_unless_it_is_known(protocol: Protocol) -> None:
    with serving(good(protocol)) as served:
        made = embedder(protocol, served)
        assert (made.dimensions, made.dimensions, len(served.asked)) == (64, 64, 1)
        assert embedder(protocol, served, Options(known_dimensions=64)).dimensions == 64
        assert len(served.asked) == 1


# ---- faults


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (lambda texts: rows(texts)[:-1], "gave 1 vectors for 2 texts"),
        (lambda texts: [*rows(texts), [1.0] * 64], "gave 3 vectors for 2 texts"),
        (lambda texts: [[1.0, "x"] for _ in texts], "did not answer with embeddings"),
        (lambda texts: [[] for _ in texts], "did not answer with embeddings"),
        (lambda texts: [{"a": 1} for _ in texts], "did not answer with embeddings"),
        (lambda texts: [[math.nan] * 64 for _ in texts], "not a finite number"),
        (lambda texts: [[10**400] * 64 for _ in texts], "not a finite number"),
        (lambda texts: [None, rows(texts)[1]], "2 vectors for 2 texts, or not in order"),
        (lambda texts: [[True] * 64 for _ in texts], "did not answer with embeddings"),
        (lambda texts: [[1.0] * (64 + place) for place, _ in enumerate(texts)], "a vector of 65 numbers"),
    ],
)
def test_a_wrong_reply_is_an_error(
    protocol: Protocol, made: Callable[[Sequence[str]], Sequence[object]], problem: str
) -> None:
    with serving(good(protocol, made)) as served, pytest.raises(ProviderError, match=problem):
        embedder(protocol, served).embed(["read", "write"], "document")


@pytest.mark.parametrize("body", [b"{broken", b"[1, 2]", b'{"data": 3, "embeddings": 3}', b'{"error": "no"}', b"null"])
def test_what_is_no_reply_is_an_error(protocol: Protocol, body: bytes) -> None:
    with serving(Turn([body])) as served, pytest.raises(ProviderError):
        embedder(protocol, served).embed(["read"], "document")


@pytest.mark.parametrize(
    "said",
    [
        {"note": "bad key sk-secret\x9b2J"},
        {"data": [{"embedding": ["bad key sk-secret"]}], "embeddings": [["bad key sk-secret"]]},
    ],
)
def test_a_key_in_a_reply_is_not_said(protocol: Protocol, said: object) -> None:
    headers = {"Authorization": "Bearer sk-secret"}
    with serving(Turn([json.dumps(said).encode()])) as served, pytest.raises(ProviderError) as caught:
        embedder(protocol, served, headers=headers).embed(["read"], "document")
    assert "did not answer with embeddings: " in str(caught.value)
    assert "bad key ***" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("depth", [900, 100_000])
def test_what_is_nested_deeply_is_an_error(protocol: Protocol, depth: int) -> None:
    with serving(Turn([b"[" * depth + b"]" * depth])) as served, pytest.raises(ProviderError, match="did not answer"):
        embedder(protocol, served).embed(["read"], "document")


def of_openai(*indexes: object) -> Turn:
    data = [{"index": index, "embedding": [1.0, float(place)]} for place, index in enumerate(indexes)]
    return Turn([json.dumps({"data": data}).encode()])


@pytest.mark.parametrize("indexes", [(0, 0), (0, 2), (1, None), (0, "1"), ([0], [1]), (0.0, 1.0), (0,), (0, 1, 2)])
def test_a_vector_for_no_text_is_an_error(indexes: tuple[object, ...]) -> None:
    with serving(of_openai(*indexes)) as served, pytest.raises(ProviderError, match="not in order"):
        embedder(OpenAI, served).embed(["read", "write"], "document")


@pytest.mark.parametrize(("indexes", "first"), [((0, 1), [1.0, 0.0]), ((None, None), [1.0, 0.0]), ((1, 0), None)])
def test_the_index_says_to_which_text_a_vector_belongs(indexes: tuple[object, ...], first: list[float] | None) -> None:
    with serving(of_openai(*indexes)) as served:
        found = rows_of(embedder(OpenAI, served).embed(["read", "write"], "document"))
    assert found[0 if first else 1] == [1.0, 0.0]


def test_another_length_than_asked_for_names_the_remedy(protocol: Protocol) -> None:
    with serving(good(protocol)) as served, pytest.raises(ProviderError, match="64 dimensions instead") as caught:
        embedder(protocol, served, Options(dimensions=32)).embed(["read"], "document")
    assert "embed.reduce" in caught.value.hint


@pytest.mark.parametrize(
    "fault",
    [Turn(status=429, headers={"retry-after": "1"}), Turn(status=500), Turn(reset="first")],
    ids=["429", "500", "reset"],
)
def test_what_passes_is_tried_again(protocol: Protocol, fault: Turn) -> None:
    with serving(fault, good(protocol)) as served:
        assert any(rows_of(embedder(protocol, served).embed(["read"], "document"))[0])
        assert len(served.asked) == 2


def test_silence_ends_with_an_error(protocol: Protocol) -> None:
    with serving(Turn(silent_s=LONG_S)) as served, pytest.raises(ProviderError, match="did not answer for"):
        embedder(protocol, served, timeouts=Timeouts(LONG_S, 0.2), attempts=1).embed(["read"], "document")


def test_a_missing_model_is_no_old_server() -> None:
    missing = Turn([b'{"error": "model \\"m\\" not found, try pulling it first"}'], 404)
    with serving(missing) as served, pytest.raises(ProviderError, match="not found"):
        embedder(Ollama, served).embed(["read"], "document")
    assert [asked.path for asked in served.asked] == ["/api/embed"]


# ---- fewer dimensions, prefixes


def test_a_projection_keeps_angles_about_as_they_are() -> None:
    texts = ["parse json text", "read json from a file", "open a socket", "listen on a socket"]
    whole, short = (rows_of(made.embed(texts, "document")) for made in (FAKE, ReducedEmbedder(FAKE, 48, "project")))

    def cosine(some: list[list[float]], one: int, other: int) -> float:
        return sum(x * y for x, y in zip(some[one], some[other], strict=True))

    for one, other in [(0, 1), (0, 2), (2, 3)]:
        assert cosine(short, one, other) == pytest.approx(cosine(whole, one, other), abs=0.35)
    assert ReducedEmbedder(FAKE, 48, "project").name != ReducedEmbedder(FAKE, 48, "truncate").name


def test_the_projection_is_the_same_everywhere() -> None:
    """Pinned: vectors of an index from another machine must fit to a question embedded here."""
    row = rows_of(ReducedEmbedder(FakeEmbedder(4), 3, "project").embed(["read"], "document"))[0]
    assert row == pytest.approx([3**-0.5, 3**-0.5, -(3**-0.5)])


def test_nothing_is_made_longer() -> None:
    with pytest.raises(ProviderError, match="16 dimensions, but 32 are requested"):
        ReducedEmbedder(FakeEmbedder(16), 32, "project").embed(["read"], "query")
    assert ReducedEmbedder(FakeEmbedder(16), 16, "project").embed(["read"], "query") == FakeEmbedder(16).embed(
        ["read"], "query"
    )


@pytest.mark.parametrize(
    ("model", "document"),
    [
        ("nomic-embed-text:latest", "search_document: "),
        ("nomic-ai/nomic-embed-text-v1.5", "search_document: "),
        ("intfloat/multilingual-e5-small", "passage: "),
        ("e5-mistral", "passage: "),
        ("text-embedding-3-small", ""),
        ("base5", ""),
        ("qwen3-embedding:0.6b", ""),
    ],
)
def test_known_prefixes(model: str, document: str) -> None:
    found = known_prefixes(model)
    assert found.document == document
    assert bool(found.query) == (bool(document) or "qwen3" in model)
