"""Embeddings and grades of transformers in ONNX on this disk."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from codefathom.errors import ProviderError
from codefathom.providers.local.model_folder import ModelFolder
from codefathom.providers.local.transformer import Run, Transformer
from codefathom.providers.prefixes import Prefixes, known_prefixes
from codefathom.types import Matrix

if TYPE_CHECKING:
    from codefathom.providers.local.transformer import Floats

_WORD = re.compile(r"[^\W_]")
_POOLED = "sentence_embedding"  # an export that pools by itself
_TOKENS = ("last_hidden_state", "token_embeddings")
_LOGITS = "logits"
_POOLING: Mapping[str, Callable[[Floats], Floats]] = {
    "mean_tokens": lambda rows: cast("Floats", rows.mean(axis=0)),
    "cls_token": lambda rows: rows[0],
    "lasttoken": lambda rows: rows[-1],
    "max_tokens": lambda rows: cast("Floats", rows.max(axis=0)),
}


class OnnxEmbedder:
    """An `Embedder` from a folder. Raises ProviderError when the folder holds none."""

    def __init__(self, model: Transformer, prefixes: Prefixes) -> None:
        self._model = model
        self._prefixes = prefixes
        self._pool = _pooling(model.folder)
        self._dimensions = _dimensions(model.folder)
        self.name = f"onnx:{model.folder.name}#{model.fingerprint((_how(model.folder), prefixes.document))}"

    @property
    def dimensions(self) -> int:
        """Length of each vector. Raises ProviderError if only a run of the model can tell it, and the run fails."""
        if not self._dimensions:
            self._dimensions = len(self._row("length"))
        return self._dimensions

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows in the order of `texts`. Raises ProviderError."""
        if not texts:  # a buffer cannot have the shape (0, n)
            return cast(Matrix, memoryview(b"").cast("f"))
        prefix = self._prefixes.query if kind == "query" else self._prefixes.document
        rows: dict[str, bytes] = {}
        for text in filter(_WORD.search, dict.fromkeys(texts)):  # a text without any word is near to nothing
            rows[text] = self._unit(self._row(prefix + text))
        nothing = bytes(4 * self.dimensions)
        data = b"".join(rows.get(text, nothing) for text in texts)
        return cast(Matrix, memoryview(data).cast("f", (len(texts), self.dimensions)))

    def _row(self, text: str) -> list[float]:
        names = self._model.outputs
        output = next((name for name in (_POOLED, *_TOKENS) if name in names), "")
        if not output:
            raise ProviderError(
                f"{self.name} has the outputs {', '.join(names)}, but no vectors of tokens",
                hint="export it for feature-extraction" + (_IS_RERANKER if _LOGITS in names else ""),
            )
        rows = self._model.run(text, outputs=[output]).outputs[output][0]
        return cast(list[float], (rows if output == _POOLED else self._pool(rows)).tolist())

    def _unit(self, row: Sequence[float]) -> bytes:
        if len(row) != self.dimensions:
            raise ProviderError(
                f"{self.name} gave a vector of {len(row)} numbers, but its folder says {self.dimensions}",
                hint="1_Pooling/config.json and config.json must be those of the model",
            )
        norm = math.hypot(*row)
        if not math.isfinite(norm):
            raise ProviderError(
                f"{self.name} gave a vector with a value that is not a finite number", hint="try another export of it"
            )
        return array("f", [value / norm for value in row] if norm else row).tobytes()


_IS_RERANKER = "; or is it a reranker? then set rerank.model"


class OnnxReranker:
    """A `Reranker` from a folder: a cross-encoder, which reads question and text together."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self.name = f"onnx:{model.folder.name}"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score from 0 to 1 for each text. Raises ProviderError."""
        return [self._score(self._model.run(question, text)) for text in texts]

    def _score(self, run: Run) -> float:
        row = run.outputs.get(_LOGITS)
        if row is None or row.ndim != 2 or row.shape[1] not in (1, 2):
            shape = f"{_LOGITS} {row.shape[1:]}" if row is not None else ", ".join(run.outputs)
            raise ProviderError(
                f"{self.name} gives {shape}, but no score of a pair of texts",
                hint="name a cross-encoder, exported for text-classification",
            )
        # One number for "fits", or two for "does not" and "does".
        total = float(row[0, -1] - row[0, 0]) if row.shape[1] == 2 else float(row[0, 0])
        if not math.isfinite(total):
            raise ProviderError(f"{self.name} gave a score that is not a number", hint="try another export of it")
        return 1 / (1 + math.exp(-max(min(total, 60.0), -60.0)))


def prompts(folder: ModelFolder) -> Prefixes:
    """Return the prefixes that the folder names, else those of the known model with its name."""
    texts: Any = folder.json("config_sentence_transformers.json").get("prompts")
    if isinstance(texts, Mapping) and any(texts.values()):
        document = next((str(texts[key]) for key in ("document", "passage", "text") if texts.get(key)), "")
        return Prefixes(str(texts.get("query") or ""), document)
    names = (folder.name, str(folder.json("config.json").get("_name_or_path", "")))
    return next((prefixes for prefixes in map(known_prefixes, names) if any(prefixes)), Prefixes())


def _how(folder: ModelFolder) -> str:
    """Return the name of the way in which the vectors of the tokens become one."""
    config = folder.json("1_Pooling/config.json")
    chosen = [name.removeprefix("pooling_mode_") for name, value in config.items() if value is True]
    ways = [name for name in chosen if name in _POOLING or name.endswith(("_tokens", "_token"))]
    if isinstance(mode := config.get("pooling_mode"), str):  # as newer folders say it
        ways = [next((name for name in _POOLING if name.startswith(mode)), mode)]
    if len(ways) > 1 or any(name not in _POOLING for name in ways):
        raise ProviderError(
            f"{folder.path!r} pools tokens by {' and '.join(ways)}",
            hint=f"one of these can be used: {', '.join(_POOLING)}",
        )
    return ways[0] if ways else "mean_tokens"


def _pooling(folder: ModelFolder) -> Callable[[Floats], Floats]:
    modules = folder.json("modules.json").get("", [])
    if any("Dense" in str(module.get("type", "")) for module in modules if isinstance(module, Mapping)):
        raise ProviderError(
            f"{folder.path!r} has a dense layer after the transformer, which its ONNX file does not contain",
            hint="choose a model without one",
        )
    return _POOLING[_how(folder)]


def _dimensions(folder: ModelFolder) -> int:
    """Return the length of the vectors, 0 where the folder does not say."""
    sizes = (
        folder.json("1_Pooling/config.json").get("word_embedding_dimension"),
        folder.json("config.json").get("hidden_size"),
    )
    return next((value for value in sizes if isinstance(value, int) and value > 0), 0)
