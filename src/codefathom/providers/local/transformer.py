"""A transformer in ONNX: one text, or a question with a text, through the model.

Texts go one by one. On one thread a batch is slower than that, since short texts are filled up to the longest, and what
a quantised model gives for a text would depend on its neighbours (docs/decisions/one-text-at-a-time.md).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from glob import escape, glob
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

from codefathom.errors import ProviderError
from codefathom.providers.local.model_folder import TOKENIZER, ModelFolder, library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Under which names models are exported, the most exact first.
_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_optimized.onnx",
    "model_fp16.onnx",
    "onnx/model_fp16.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
)
_USUAL_TOKENS = 512
_NO_LIMIT = 1_000_000  # some tokenizers say 10^30 where they have none
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_DTYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}


class Run(NamedTuple):
    """The outputs of a model for one text."""

    outputs: Mapping[str, Floats]  # by name, each for the one text: its first dimension is 1
    n_tokens: int


class Transformer:
    """A model of a folder, loaded when it is first used. Safe to use from several threads. Raises ProviderError."""

    def __init__(self, path: str, max_tokens: int, threads: int = 1) -> None:
        folder, file = _folder_and_file(path)
        self.folder = ModelFolder(folder)
        self._file = file or _only_model(self.folder)
        self._threads = threads
        self._lock = Lock()
        self.max_tokens = min(max_tokens, _longest(self.folder))

    def fingerprint(self, more: object = "") -> str:
        """Return a short hash of everything that changes the outputs of the model."""
        weights = glob(escape(self._file) + "[._]data*")  # of a model that is too large for one file
        tokenizer = [path for path in [self.folder.file(TOKENIZER)] if path]
        return self.folder.fingerprint(self._file, *sorted(weights), *tokenizer, more=(self.max_tokens, more))

    @property
    def outputs(self) -> Sequence[str]:
        """Names of the outputs of the model."""
        return [output.name for output in self._session.get_outputs()]

    def run(self, text: str, pair: str | None = None, outputs: Sequence[str] | None = None) -> Run:
        """Put a text, or two, through the model; where they are too long together, the longer one is cut first."""
        import numpy as np  # noqa: PLC0415 - only who asks a model like this pays for it

        session, encoded = self._session, self._encoded(text, pair)
        values = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
            "position_ids": range(len(encoded.ids)),
        }
        feed = {name: np.array([values[name]], dtype=kind) for name, kind in self._inputs.items()}
        names = list(outputs or self.outputs)
        try:
            arrays = session.run(names, feed)
        except Exception as error:  # the library has an error of its own for each cause
            raise ProviderError(
                f"{self._file!r} failed: {_brief(error)}", hint="check that the file is complete"
            ) from error
        return Run({name: np.asarray(row, np.float32) for name, row in zip(names, arrays, strict=True)}, len(encoded))

    def _encoded(self, text: str, pair: str | None) -> Any:
        # Half a character, which file names can hold, is refused by the library.
        texts = [part.encode("utf-8", "replace").decode() for part in (text, pair) if part is not None]
        return self._tokenizer.encode(*texts)

    @cached_property
    def _tokenizer(self) -> Any:
        return self.folder.tokenizer(self.max_tokens)

    @cached_property
    def _inputs(self) -> Mapping[str, str]:
        inputs = {one.name: _DTYPES.get(one.type, "") for one in self._session.get_inputs()}
        unknown = sorted(name for name, kind in inputs.items() if name not in _INPUTS or not kind)
        if unknown:
            raise ProviderError(
                f"{self._file!r} needs {', '.join(unknown)}, which is not text",
                hint="export it for feature-extraction, or text-classification for a reranker, without a cache",
            )
        return inputs

    @property
    def _session(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        runtime: Any = library("onnxruntime")
        runtime.disable_telemetry_events()  # which builds for Windows have
        options = runtime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = self._threads, 1
        options.log_severity_level = 4  # what matters is raised; nothing below a face writes to stderr
        try:
            return runtime.InferenceSession(self._file, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library has an error of its own for each cause
            raise ProviderError(
                f"cannot load {self._file!r}: {_brief(error)}",
                hint="check that it is complete, with its .onnx_data beside it",
            ) from error


def _folder_and_file(path: str) -> tuple[str, str]:
    """Return the folder of a model, and its file when the path names one."""
    if not path.endswith(".onnx") or os.path.isdir(path):
        return path, ""
    if not os.path.isfile(path):
        raise ProviderError(f"no such file: {path!r}", hint="name a folder that holds model.onnx, or the file itself")
    folder = os.path.dirname(path)
    is_inner = os.path.basename(folder) == "onnx" and not os.path.isfile(os.path.join(folder, TOKENIZER))
    return os.path.dirname(folder) if is_inner else folder, path


def _only_model(folder: ModelFolder) -> str:
    """Return the model's file: the best of the usual names, else the only one there is."""
    usual = folder.file(*_FILES)
    if usual:
        return usual
    root = escape(folder.path)
    models = sorted(glob(os.path.join(root, "*.onnx")) + glob(os.path.join(root, "onnx", "*.onnx")))
    if len(models) == 1:
        return models[0]
    names = ", ".join(os.path.relpath(path, folder.path) for path in models)
    if models:
        raise ProviderError(
            f"{folder.path!r} holds several models: {names}", hint="name the file instead of the folder"
        )
    is_other = folder.file("model.safetensors", "pytorch_model.bin")
    hint = "export it with `optimum-cli export onnx`" if is_other else "download model.onnx or onnx/model.onnx too"
    raise ProviderError(f"there is no ONNX model in {folder.path!r}", hint=hint)


def _longest(folder: ModelFolder) -> int:
    """Return the largest number of tokens that a model takes, special ones included, as its folder says."""
    config = folder.json("config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in {"roberta", "xlm-roberta", "camembert", "mpnet"}:
        positions -= 2  # these count their positions from two
    values = (
        folder.json("sentence_bert_config.json").get("max_seq_length"),
        positions,
        folder.json("tokenizer_config.json").get("model_max_length"),
    )
    limits = [value for value in values if isinstance(value, int) and 0 < value < _NO_LIMIT]
    return min(limits, default=_USUAL_TOKENS)


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
