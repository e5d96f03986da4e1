"""Static models as model2vec writes them: a vector a token, their mean, unit length."""

from __future__ import annotations

import json
import mmap
import re
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from codefathom.errors import ProviderError
from codefathom.providers.local.model_folder import TOKENIZER, ModelFolder
from codefathom.text.foreign_json import read_json
from codefathom.types import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORD = re.compile(r"[^\W_]")
_WEIGHTS = ("model.safetensors", "0_StaticEmbedding/model.safetensors")
_EMBEDDINGS = ("embeddings", "embedding.weight")  # model2vec, sentence-transformers
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "<i1", "I64": "<i8", "I32": "<i4"}
_USUAL_TOKENS = 512  # what the library takes where a folder does not say


class _Tensor(NamedTuple):
    """A table of numbers in a file."""

    dtype: str
    shape: tuple[int, ...]
    start: int  # in the file
    end: int


class StaticEmbedder:
    """An `Embedder` from a folder of model2vec. Raises ProviderError when the folder holds none."""

    def __init__(self, path: str) -> None:
        self._folder = ModelFolder(path)
        self._file = self._folder.file(*_WEIGHTS)
        if not self._file:
            raise ProviderError(f"there is no model.safetensors in {path!r}", hint="download it from the same place")
        self._tensors = _tensors(self._file)
        table = next((self._tensors[name] for name in _EMBEDDINGS if name in self._tensors), None)
        if table is None or len(table.shape) != 2:
            names = ", ".join(sorted(self._tensors)[:5])
            raise ProviderError(
                f"{self._file!r} holds {names}, but no static embeddings",
                hint="a transformer is read from ONNX: embed.model = onnx:FOLDER",
            )
        self._embeddings = table
        self.dimensions = table.shape[1]
        max_length = self._folder.json("config.json").get("max_length", _USUAL_TOKENS)
        self._max_tokens = max_length if isinstance(max_length, int) and max_length > 0 else _USUAL_TOKENS
        tokenizer = self._folder.file(*self._tokenizer_files)
        files = [self._file, *([tokenizer] if tokenizer else [])]
        self.name = f"model2vec:{self._folder.name}#{self._folder.fingerprint(*files, more=self._max_tokens)}"

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows; a text without any known token gives a zero row. Raises ProviderError."""
        if not texts:  # a buffer cannot have the shape (0, n)
            return cast(Matrix, memoryview(b"").cast("f"))
        # Half a character, which file names can hold, is refused by the library.
        sent = [text.encode("utf-8", "replace").decode() if _WORD.search(text) else "" for text in texts]
        encodings = self._tokenizer.encode_batch_fast(sent, add_special_tokens=False)
        data = b"".join(self._row([token for token in one.ids if token != self._unknown]) for one in encodings)
        return cast(Matrix, memoryview(data).cast("f", (len(texts), self.dimensions)))

    def _row(self, tokens: Sequence[int]) -> bytes:
        import numpy as np  # noqa: PLC0415 - only who chooses a model like this pays for it

        if not tokens:
            return bytes(4 * self.dimensions)
        table, weights, places = self._numbers
        if max(tokens) >= len(places if places is not None else table):
            raise ProviderError(
                f"{self._file!r} has no vector for token {max(tokens)}",
                hint=f"check that {TOKENIZER} belongs to the model",
            )
        rows = table[places[tokens] if places is not None else tokens].astype(np.float64)
        total = rows.sum(axis=0) if weights is None else weights[tokens].astype(np.float64) @ rows
        length = float(np.sqrt(total @ total))
        if not np.isfinite(length):
            raise ProviderError(
                f"{self.name} gave a vector with a value that is not a finite number", hint="download the model again"
            )
        return cast(bytes, (total / (length or 1.0)).astype(np.float32).tobytes())

    @cached_property
    def _numbers(self) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
        """The vectors, the weight of each token, and where the vector of each token lies; None: as the tokens come."""
        weights, mapping = self._tensors.get("weights"), self._tensors.get("mapping")
        return (
            self._mapped(self._embeddings),
            None if weights is None else self._mapped(weights).reshape(-1),
            None if mapping is None else self._mapped(mapping).reshape(-1),
        )

    def _mapped(self, tensor: _Tensor) -> NDArray[Any]:
        import numpy as np  # noqa: PLC0415 - only who chooses a model like this pays for it

        return np.memmap(self._file, np.dtype(tensor.dtype), "r", tensor.start, tensor.shape)

    @cached_property
    def _tokenizer(self) -> Any:
        return self._folder.tokenizer(self._max_tokens, *self._tokenizer_files)

    @property
    def _tokenizer_files(self) -> tuple[str, ...]:
        inner = f"0_StaticEmbedding/{TOKENIZER}"
        return (inner, TOKENIZER) if self._file.endswith("0_StaticEmbedding/model.safetensors") else (TOKENIZER,)

    @cached_property
    def _unknown(self) -> int | None:
        model = json.loads(self._tokenizer.to_str()).get("model", {})
        if isinstance(model.get("unk_id"), int):
            return int(model["unk_id"])
        token = model.get("unk_token")
        number = self._tokenizer.token_to_id(token) if isinstance(token, str) else None
        return number if isinstance(number, int) else None


def _tensors(path: str) -> Mapping[str, _Tensor]:
    """Read the head of a safetensors file: its length in 8 bytes, names and places as JSON. Raises ProviderError."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            first = 8 + struct.unpack_from("<Q", data)[0]
            head = read_json(data[8:first])
            tensors = {
                name: _Tensor(
                    _DTYPES.get(entry["dtype"], ""),
                    tuple(entry["shape"]),
                    *(first + int(place) for place in entry["data_offsets"]),
                )
                for name, entry in head.items()
                if name != "__metadata__"
            }
            if any(tensor.end > len(data) for tensor in tensors.values()):
                raise ValueError("it is cut off")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise ProviderError(f"cannot read {path!r}: {error}", hint="download the model again") from error
    unread = sorted(name for name, tensor in tensors.items() if not tensor.dtype and name in {*_EMBEDDINGS, "weights"})
    if unread:
        raise ProviderError(f"{path!r} holds {unread[0]} in an unknown number format", hint="save it as float16")
    return tensors
