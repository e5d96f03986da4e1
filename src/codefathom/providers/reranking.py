"""Grades from a server with POST /rerank: Jina, Cohere, Voyage, vLLM, llama.cpp and Hugging Face's TEI.

All send a question with texts and get back a number for each; TEI calls the texts `texts`, the others `documents`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from codefathom.errors import ProviderError
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.providers.http import Http, StatusError

_PATH = "/rerank"
_SCORES = ("relevance_score", "score")


class RemoteReranker:
    """A `Reranker` behind HTTP. Safe to use from several threads."""

    def __init__(self, name: str, model: str, http: Http, max_tokens: int) -> None:
        self.name = name
        self._model = model  # "" where the server knows but one
        self._http = http
        self._max_bytes = max_tokens * BYTES_PER_TOKEN
        self._says_texts = False  # what TEI wants was found out

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, as the model gives it. Raises ProviderError."""
        if not texts:
            return []
        room = max(self._max_bytes - len(question.encode("utf-8", "replace")), self._max_bytes // 2)
        sent = [_cut(text, room) for text in texts]
        return self._read(self._answer(_cut(question, self._max_bytes // 2), sent), len(texts))

    def _answer(self, question: str, texts: Sequence[str]) -> Any:
        model = {"model": self._model} if self._model else {}
        if not self._says_texts:
            try:
                return self._http.post(_PATH, {**model, "query": question, "documents": texts, "top_n": len(texts)})
            except StatusError as error:
                if error.status not in {400, 422} or "texts" not in error.said:
                    raise
                self._says_texts = True
        return self._http.post(_PATH, {**model, "query": question, "texts": texts, "truncate": True})

    def _read(self, answer: Any, n_texts: int) -> list[float]:
        """Return the scores of a reply in the order of the texts. Raises ProviderError when one is missing."""
        rows = answer
        if isinstance(answer, Mapping):
            rows = answer.get("results", answer.get("data"))
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise self._unreadable(answer)
        scores: dict[int, float] = {}
        for row in rows:
            index, score = row.get("index"), next((row[name] for name in _SCORES if name in row), None)
            if type(index) is not int or type(score) not in (int, float):
                raise self._unreadable(row)
            scores[index] = _number(score)
        if len(rows) != n_texts or sorted(scores) != list(range(n_texts)):
            raise ProviderError(f"{self.name} graded {len(rows)} of {n_texts} texts, or one twice", hint="ask again")
        if not all(map(math.isfinite, scores.values())):
            raise ProviderError(f"{self.name} gave a grade that is not a number", hint="ask again")
        return [scores[index] for index in range(n_texts)]

    def _unreadable(self, answer: object) -> ProviderError:
        words = self._http.sayable(json.dumps(answer, ensure_ascii=False))
        return ProviderError(
            f"{self.name} did not answer with grades: {words}", hint="check that it is a reranking model"
        )


def _number(score: Any) -> float:
    try:
        return float(score)
    except OverflowError:  # a whole number that is none of a grade
        return math.inf


def _cut(text: str, most: int) -> str:
    data = text.encode("utf-8", "replace")
    return data[:most].decode("utf-8", "ignore") if len(data) > most else text
