"""No model on another machine sees a secret, whatever kind of model it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from codefathom.providers.base import Ask, Embedder, Message, Reply, Reranker, whole
from codefathom.remote.masking import MaskingModel
from codefathom.testing.stand_ins import FakeEmbedder, FakeReranker, ScriptedChat
from codefathom.types import Matrix

TOKEN = "ghp_" + "a1B2" * 9
TEXT = f'token = "{TOKEN}"\n'


class _Embedder(FakeEmbedder):
    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        assert not any(TOKEN in text for text in texts)
        return super().embed(texts, kind)


class _Reranker(FakeReranker):
    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        assert not any(TOKEN in text for text in (question, *texts))
        return super().scores(question, texts)


def test_chat_model() -> None:
    model = ScriptedChat([Reply("yes")])
    masking = MaskingModel(model)
    assert whole(masking, Ask([Message("user", TEXT)])).text == "yes"
    assert TOKEN not in model.asks[0].messages[0].content
    assert "token" in model.asks[0].messages[0].content
    assert masking.name == model.name


def test_embedder() -> None:
    model: Embedder = _Embedder(8)
    masking = MaskingModel(model)
    assert masking.embed([TEXT, "plain"], "document").shape == (2, 8)
    assert (masking.name, masking.dimensions) == (model.name, 8)


def test_reranker() -> None:
    model: Reranker = _Reranker()
    assert MaskingModel(model).scores(f"where is {TOKEN}?", [TEXT, "where"])[1] > 0
