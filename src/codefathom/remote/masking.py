"""A wrapper that masks secrets before a text is sent to a model on another machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, Literal, TypeVar

from codefathom.providers.base import Ask, ChatModel, Delta, Embedder, Reply, Reranker
from codefathom.source.secrets import mask, mask_chunk
from codefathom.types import Matrix

Model = TypeVar("Model", ChatModel, Embedder, Reranker)


class MaskingModel(Generic[Model]):
    """Any model on another machine: it never sees what looks like a secret. It offers what the wrapped model offers."""

    def __init__(self, model: Model) -> None:
        self._model: Model = model

    @property
    def name(self) -> str:
        """The name of the wrapped model."""
        return self._model.name

    @property
    def dimensions(self: MaskingModel[Embedder]) -> int:
        """The length of each vector."""
        return self._model.dimensions

    def stream(self: MaskingModel[ChatModel], ask: Ask) -> Iterator[Delta | Reply]:
        """Stream the reply of a chat model to the masked conversation."""
        messages = [message._replace(content=mask(message.content).text) for message in ask.messages]
        return self._model.stream(ask._replace(messages=messages))

    def embed(self: MaskingModel[Embedder], texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return the vectors of the masked texts."""
        return self._model.embed([mask_chunk(text).text for text in texts], kind)

    def scores(self: MaskingModel[Reranker], question: str, texts: Sequence[str]) -> list[float]:
        """Return a score for each masked text."""
        return self._model.scores(mask(question).text, [mask_chunk(text).text for text in texts])
