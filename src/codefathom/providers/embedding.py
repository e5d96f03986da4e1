"""Embeddings by the protocols of OpenAI and of Ollama: batches, checked replies, unit rows.

A text without a letter or digit is not sent and gives a zero row; a text that is too long for a model is cut. Where a
server still refuses texts for their length, it gets smaller batches, and of a single text its beginning.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, cast

from codefathom.errors import ProviderError, TextRefusedError
from codefathom.providers.base import BYTES_PER_TOKEN
from codefathom.providers.batching import BatchLimits, batches
from codefathom.providers.http import Http, StatusError
from codefathom.providers.prefixes import Prefixes
from codefathom.types import Matrix

_WORD = re.compile(r"[^\W_]")
_PROBE = "how long is a vector?"
_TOO_LARGE = 413
_REFUSED = (400, _TOO_LARGE, 422)
_LENGTH = re.compile("too (long|large|big|many)|length|longer|larger|tokens|context|maximum|exceed|limit|size", re.I)
_BYTES_OF_VECTOR, _BYTES_OF_ANSWER = 1 << 18, 1 << 20  # at most, of one vector (8,192 numbers) and around all
_SHORT_BYTES = 256  # a text of this length is not refused for its length


class Calls(NamedTuple):
    """The connections for questions, which somebody waits for, for documents, and for the first call of all."""

    query: Http
    document: Http
    first: Http | None = None  # the same as for questions


class Options(NamedTuple):
    """Options for the calls of an embedding model."""

    prefixes: Prefixes = Prefixes()
    batching: BatchLimits = BatchLimits()
    dimensions: int = 0  # length to ask for; 0: the model's own
    known_dimensions: int = 0  # length in an earlier run, so that nothing is sent before the first text


class Endpoint(Protocol):
    """One provider's way to embed a batch."""

    def vectors(self, http: Http, texts: Sequence[str], dimensions: int) -> list[list[float]]:
        """Return one vector for each text, in their order. Raises ProviderError."""
        ...


_USUAL = Options()


class RemoteEmbedder:
    """An `Embedder` behind HTTP. Safe to use from several threads."""

    def __init__(self, name: str, endpoint: Endpoint, calls: Calls, options: Options = _USUAL) -> None:
        self._name = name
        self._endpoint = endpoint
        self._calls = calls
        self._prefixes, self._batching, self._requested_dimensions, self._dimensions = options

    @property
    def name(self) -> str:
        """Provider and model, with everything else that changes the vectors."""
        return self._name

    @property
    def dimensions(self) -> int:
        """Length of each vector; found by a call of the model if it is not known yet. Raises ProviderError."""
        if not self._dimensions:
            probe = self._endpoint.vectors(
                self._calls.first or self._calls.query, [_PROBE], self._requested_dimensions
            )[0]
            self._dimensions = self._length_of(probe)
        return self._dimensions

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows in the order of `texts`. Raises ProviderError."""
        if not texts:  # a buffer cannot have the shape (0, n)
            return cast(Matrix, memoryview(b"").cast("f"))
        http, prefix = getattr(self._calls, kind), getattr(self._prefixes, kind)
        # Equal texts are sent once; a text without any word is near to nothing and is not sent.
        places = {text: place for place, text in enumerate(dict.fromkeys(filter(_WORD.search, texts)))}
        rows: list[bytes] = []
        for batch in batches([self._cut(prefix + text) for text in places], self._batching):
            rows += map(self._row, self._vectors(http, batch))
        nothing = bytes(4 * self.dimensions)
        data = b"".join(rows[places[text]] if text in places else nothing for text in texts)
        return cast(Matrix, memoryview(data).cast("f", (len(texts), self.dimensions)))

    def _vectors(self, http: Http, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text. Raises TextRefusedError for a text that is refused at any length."""
        try:
            return self._endpoint.vectors(http, texts, self._requested_dimensions)
        except StatusError as error:
            parts = _smaller(texts) if _is_about_length(error) else []
            if not parts and error.status in _REFUSED:
                raise TextRefusedError(str(error), hint=error.hint) from error
            if not parts:
                raise
        return [vector for part in parts for vector in self._vectors(http, part)]

    def _cut(self, text: str) -> str:
        most = self._batching.max_text_tokens * BYTES_PER_TOKEN
        data = text.encode("utf-8", "replace")
        return data[:most].decode("utf-8", "ignore") if len(data) > most else text

    def _row(self, vector: Sequence[float]) -> bytes:
        length = self._length_of(vector)
        if self._dimensions not in (0, length):
            raise ProviderError(
                f"{self._name} gave a vector of {length} numbers after one of {self._dimensions}",
                hint="another model has this name now: run `fathom index --full`",
            )
        self._dimensions = length
        try:
            norm = math.hypot(*vector)
        except OverflowError:  # a whole number that is none of a vector
            norm = math.inf
        if not math.isfinite(norm):
            raise ProviderError(
                f"{self._name} gave a vector with a value that is not a finite number", hint="ask again"
            )
        return array("f", [value / norm for value in vector] if norm else vector).tobytes()

    def _length_of(self, vector: Sequence[float]) -> int:
        if self._requested_dimensions and len(vector) != self._requested_dimensions:
            raise ProviderError(
                f"{self._name} gives {len(vector)} dimensions instead of the requested {self._requested_dimensions}",
                hint="set embed.dimensions to 0, or embed.reduce to truncate or project",
            )
        return len(vector)


def _is_about_length(error: StatusError) -> bool:
    return error.status == _TOO_LARGE or (error.status in _REFUSED and bool(_LENGTH.search(error.said)))


def _smaller(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return the halves of a batch, or the first half of a single text; nothing where a text is short already."""
    middle = len(texts) // 2
    if middle:
        return [texts[:middle], texts[middle:]]
    data = texts[0].encode("utf-8", "replace")
    return [[data[: len(data) // 2].decode("utf-8", "ignore")]] if len(data) > _SHORT_BYTES else []


class OpenAIEmbeddings:
    """/embeddings of OpenAI and of servers with its protocol."""

    def __init__(self, model: str) -> None:
        self._model = model

    def vectors(self, http: Http, texts: Sequence[str], dimensions: int) -> list[list[float]]:
        """See `Endpoint`."""
        body: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if dimensions:
            body["dimensions"] = dimensions
        answer = http.post("/embeddings", body, _most_bytes(texts))
        rows = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise _unreadable(http, self._model, answer)
        # The order is not promised: the index says to which text a vector belongs.
        places = [row.get("index") for row in rows]
        if sorted(place for place in places if type(place) is int) == list(range(len(rows))):
            rows = sorted(rows, key=lambda row: cast(int, row["index"]))
        elif any(place is not None for place in places):
            raise _not_for_each(self._model, len(rows), len(texts))
        return _checked([row.get("embedding") for row in rows], len(texts), http, self._model)


class OllamaEmbeddings:
    """/api/embed of Ollama; older servers get each text in a call of its own, at /api/embeddings."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._is_old = False

    def vectors(self, http: Http, texts: Sequence[str], dimensions: int) -> list[list[float]]:
        """See `Endpoint`."""
        if not self._is_old:
            body: dict[str, Any] = {"model": self._model, "input": list(texts), "truncate": True}
            if dimensions:
                body["dimensions"] = dimensions
            try:
                answer = http.post("/api/embed", body, _most_bytes(texts))
            except StatusError as error:
                # A model that is missing is a 404 too, and says so.
                if error.status not in {404, 405} or "model" in error.said:
                    raise
                self._is_old = True
            else:
                rows = answer.get("embeddings") if isinstance(answer, Mapping) else None
                if not isinstance(rows, list):
                    raise _unreadable(http, self._model, answer)
                return _checked(rows, len(texts), http, self._model)
        answers = [http.post("/api/embeddings", {"model": self._model, "prompt": text}) for text in texts]
        rows = [answer.get("embedding") if isinstance(answer, Mapping) else None for answer in answers]
        return _checked(rows, len(texts), http, self._model)


def _most_bytes(texts: Sequence[str]) -> int:
    return _BYTES_OF_ANSWER + _BYTES_OF_VECTOR * len(texts)


def _checked(rows: Sequence[Any], n_texts: int, http: Http, model: str) -> list[list[float]]:
    """Return the vectors of a reply. Raises ProviderError if one is missing, or not a list of numbers."""
    if len(rows) != n_texts or any(row is None for row in rows):
        raise _not_for_each(model, len(rows), n_texts)
    for row in rows:
        is_vector = isinstance(row, list) and row and all(type(value) in (float, int) for value in row)
        if not is_vector:
            raise _unreadable(http, model, row)
    return list(rows)


def _not_for_each(model: str, n_given: int, n_texts: int) -> ProviderError:
    return ProviderError(f"{model} gave {n_given} vectors for {n_texts} texts, or not in order", hint="ask again")


def _unreadable(http: Http, model: str, answer: object) -> ProviderError:
    words = http.sayable(json.dumps(answer, ensure_ascii=False))
    return ProviderError(f"{model} did not answer with embeddings: {words}", hint="check that it is an embedding model")
