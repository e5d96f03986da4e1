"""The embedding model inside the package: a trained vector per token, a damped sum, unit length.

The weights file is laid out for mapping into memory: magic, header length, header (JSON), vocabulary (one token a
line), one float32 scale a token, one int8 row a token. A query and few documents are embedded in plain
Python, so that a search needs no numpy, also where it first takes in a small change; more documents are embedded in
bulk with numpy.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, repeat
from math import sqrt
from operator import add, mul
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from codefathom.errors import ProviderError
from codefathom.text.word_runs import word_runs
from codefathom.types.choices import Matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAGIC = b"FATHOM01"
MODEL_FILE = os.path.join(os.path.dirname(__file__), "model", "static.bin")

_CJK = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = rf"[{_CJK}]+|[^\W{_CJK}]+"  # takes 2 ms to compile
# parseHTTPResponse2 → parse HTTP Response 2; letters of other scripts stay whole.
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_MAX_WORD = 64  # longer runs are keys and encoded data
_MIN_STEM = 3  # shorter beginnings of an unknown word say nothing about it
_MAX_PIECE = 12
_MAX_MEMO = 200_000
_BATCH = 32  # texts whose tokens are sorted at once
_TOKEN_BYTES = array("i").itemsize
# Different tokens in all texts of a call. Up to this many, plain Python takes less time than numpy takes to load.
_FEW_TOKENS = 1_000


class Model(NamedTuple):
    """The mapped weights."""

    name: str
    dimensions: int
    vocabulary: Mapping[str, int]
    scales: memoryview[float]  # float32, one for each token
    rows: memoryview[int]  # int8, one row after the other


class BundledEmbedder:
    """The `Embedder` that comes with the package: offline, on one core, the same bits on every run."""

    def __init__(self, path: str = MODEL_FILE) -> None:
        self._model = load(path)
        self._tokens = Tokens(self._model.vocabulary)
        self._table: NDArray[np.float32] | None = None  # made for the first documents

    @property
    def name(self) -> str:
        """Model and revision; stored with the index."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._model.dimensions

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows in the order of `texts`; a text without any known token gives a zero row."""
        self._tokens.forget_when_full()
        if not texts:  # a buffer cannot have the shape (0, n)
            return cast(Matrix, memoryview(b"").cast("f"))
        if kind == "query":
            data = b"".join(self._one(text) for text in texts)
        elif few := self._few(texts):
            data = b"".join(_row_like_bulk(self._model, counts) for counts in few)
        else:
            data = b"".join(self._bulk(texts[i : i + _BATCH]) for i in range(0, len(texts), _BATCH))
        return cast(Matrix, memoryview(data).cast("f", (len(texts), self.dimensions)))

    def _one(self, text: str) -> bytes:
        counts = sorted(Counter(memoryview(self._tokens.of(text)).cast("i")).items())
        weights = {token: self._model.scales[token] * sqrt(count) for token, count in counts}
        # Loading numpy takes longer than a whole search; where it is there already, it is ten times as fast.
        add_up = _sum_by_numpy if "numpy" in sys.modules else _sum
        total = add_up(self._model, weights)
        length = sqrt(sum(map(mul, total, total)))
        return array("f", [value / length for value in total] if length else total).tobytes()

    def _few(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return how often each text has each of its tokens; nothing where numpy is loaded or is worth loading."""
        if "numpy" in sys.modules or len(texts) > _BATCH:
            return []
        counts = [sorted(Counter(memoryview(self._tokens.of(text)).cast("i")).items()) for text in texts]
        return counts if sum(map(len, counts)) <= _FEW_TOKENS else []

    def _bulk(self, texts: Sequence[str]) -> bytes:
        import numpy as np  # noqa: PLC0415 - a search never gets here

        tokens = [self._tokens.of(text) for text in texts]
        table = self._matrix()
        total = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        sizes = [len(some) // _TOKEN_BYTES for some in tokens]
        keys = np.repeat(np.arange(len(texts)), sizes) * len(table) + np.frombuffer(b"".join(tokens), dtype=np.intc)
        keys.sort()
        _add_rows(total, table, keys)
        # In double precision: so the order of the sum, which depends on the processor, does not show.
        lengths = np.sqrt(np.einsum("ij,ij->i", total, total, dtype=np.float64)).astype(np.float32)
        total /= np.where(lengths > 0, lengths, 1)[:, None]
        return total.tobytes()

    def _matrix(self) -> NDArray[np.float32]:
        if self._table is None:
            import numpy as np  # noqa: PLC0415 - a search never gets here

            rows = np.asarray(self._model.rows).reshape(-1, self.dimensions)
            self._table = rows * np.asarray(self._model.scales)[:, None]
        return self._table


def _sum(model: Model, weights: Mapping[int, float]) -> list[float]:
    """Return the weighted sum of the rows of some tokens."""
    width = model.dimensions
    total = [0.0] * width
    for token, weight in weights.items():
        total = list(map(add, total, map(mul, repeat(weight), model.rows[token * width : (token + 1) * width])))
    return total


def _row_like_bulk(model: Model, counts: Sequence[tuple[int, int]]) -> bytes:
    """Return the row of a document as `_bulk` makes it: each step is rounded to single precision.

    Two such numbers are multiplied and added exactly enough in double precision, so that rounding once more gives what
    a processor gives in single precision.
    """
    width = model.dimensions
    total = array("f", bytes(4 * width))
    weights = array("f", (sqrt(count) for _, count in counts))
    for (token, _), weight in zip(counts, weights, strict=True):
        row = array("f", map(mul, repeat(model.scales[token]), model.rows[token * width : (token + 1) * width]))
        part = array("f", map(mul, repeat(weight), row))
        total = array("f", map(add, total, part))
    (length,) = array("f", [sqrt(sum(map(mul, total, total)))])
    return array("f", [value / length for value in total] if length else total).tobytes()


def _sum_by_numpy(model: Model, weights: Mapping[int, float]) -> list[float]:
    """Return the same, to the last bit: row is added to row in the same order and precision."""
    import numpy as np  # noqa: PLC0415 - only where it is loaded

    rows = np.asarray(model.rows).reshape(-1, model.dimensions)[list(weights)]
    return cast(list[float], (rows * np.array([*weights.values()])[:, None]).sum(axis=0).tolist())


def _add_rows(total: NDArray[np.float32], table: NDArray[np.float32], keys: NDArray[Any]) -> None:
    """Add to each text the rows of its tokens. `keys` are sorted: number of the text × tokens + token.

    A token that stands n times counts √n times. The sum of one text does not depend on its neighbours.
    """
    import numpy as np  # noqa: PLC0415 - a search never gets here

    first = np.flatnonzero(np.diff(keys, prepend=-1))
    repeats = np.diff(first, append=len(keys))
    owner, token = np.divmod(keys[first], len(table))
    weights = np.sqrt(repeats).astype(np.float32)
    ends = np.searchsorted(owner, np.arange(len(total) + 1)).tolist()
    for row, (start, end) in zip(total, pairwise(ends), strict=True):
        # No matrix product: it may use several processors, and then add up in another order.
        np.einsum("i,ij->j", weights[start:end], table.take(token[start:end], axis=0), out=row)


class Tokens:
    """Text → numbers of tokens, with a memory of the words seen."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._memo = _Memo(vocabulary)

    def of(self, text: str) -> bytes:
        """Return the tokens of a text in order, each as an int of C."""
        return b"".join(map(self._memo.__getitem__, word_runs(text)))

    def forget_when_full(self) -> None:
        """Keep the memory small in a long run."""
        if len(self._memo) > _MAX_MEMO:
            self._memo.clear()


class _Memo(dict[str, bytes]):
    """The tokens of each run of letters; a new one is split when first asked for."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        super().__init__()
        self.vocabulary = vocabulary

    def __missing__(self, run: str) -> bytes:
        if not run.isascii():
            pieces = [token for word in words_of(run) for token in tokens_of(word, self.vocabulary)]
        else:
            pieces = [run] if run in self.vocabulary else list(tokens_of(run, self.vocabulary))
        self[run] = tokens = array("i", map(self.vocabulary.__getitem__, pieces)).tobytes()
        return tokens


def words_of(text: str) -> list[str]:
    """Return the runs of a text that can have meaning: identifiers, words, numbers, Chinese."""
    return word_runs(text) if text.isascii() else re.findall(_WORD, text)


def parts_of(word: str) -> list[str]:
    """Return the lower-cased words inside an identifier, or the characters and pairs of a Chinese run."""
    if _is_chinese(word):
        return [*word, *(word[i : i + 2] for i in range(len(word) - 1))]
    return [part.lower() for part in _PART.findall(word)] if len(word) <= _MAX_WORD else []


def tokens_of(word: str, vocabulary: Mapping[str, int]) -> Iterator[str]:
    """Yield the known tokens of one word; an unknown part falls into its longest known pieces."""
    for part in parts_of(word):
        if part in vocabulary:
            yield part
        elif not (_is_chinese(part) or part.isdigit()):
            yield from pieces_of(part, vocabulary)


def pieces_of(part: str, vocabulary: Mapping[str, int]) -> Iterator[str]:
    """Yield the longest known beginning of an unknown word, then the longest known inner pieces, marked with ##."""
    position = 0
    while position < len(part):
        for size in range(min(_MAX_PIECE, len(part) - position), 0, -1):
            piece = part[position : position + size]
            if position == 0 and size >= _MIN_STEM and piece in vocabulary:
                yield piece
                break
            if "##" + piece in vocabulary:
                yield "##" + piece
                break
        else:
            size = 1
        position += size


def _is_chinese(word: str) -> bool:
    return "\u3400" <= word[0] <= "\u9fff" or "\uf900" <= word[0] <= "\ufaff"


def load(path: str) -> Model:
    """Map a weights file into memory; raises ProviderError when it is no such file."""
    try:
        status = os.stat(path)
        return _loaded(path, status.st_size, status.st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        hint = "install codefathom again"
        raise ProviderError(f"the embedding model {path} cannot be read: {error}", hint=hint) from error


@lru_cache(maxsize=2)  # one vocabulary for all projects of a process: 6 MB, and as long as half a search
def _loaded(path: str, _size: int, _mtime_ns: int) -> Model:
    with open(path, "rb") as file:
        return _parts_of_file(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def _parts_of_file(data: memoryview) -> Model:
    if data[:8] != MAGIC:
        raise ValueError("it is not a model file")
    start = 12 + struct.unpack("<I", data[8:12])[0]
    header = json.loads(bytes(data[12:start]))
    words = str(data[start : start + header["vocabulary_bytes"]], "utf-8").rstrip(" ").split("\n")
    scales = start + header["vocabulary_bytes"]
    rows = scales + 4 * len(words)
    if len(data) != rows + len(words) * header["dimensions"]:
        raise ValueError("it is cut off or too long")
    vocabulary = dict(zip(words, range(len(words)), strict=True))
    return Model(header["name"], header["dimensions"], vocabulary, data[scales:rows].cast("f"), data[rows:].cast("b"))
