"""Shorter vectors: the first components of each, or a fixed random projection. Made only when asked for."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Literal, cast

from codefathom.errors import ProviderError
from codefathom.providers.base import Embedder
from codefathom.types import Matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SEED = 42  # the same for every index, so that vectors of two machines can be compared


class ReducedEmbedder:
    """Another `Embedder` with fewer dimensions.

    "truncate" keeps the first ones, as models with nested (Matryoshka) vectors are made for. "project" multiplies with
    a fixed matrix of ±1 (Achlioptas 2003, doi:10.1016/S0022-0000(03)00025-4), which keeps angles about as they are.
    """

    def __init__(self, embedder: Embedder, dimensions: int, method: Literal["truncate", "project"]) -> None:
        self._embedder = embedder
        self._method = method
        self.dimensions = dimensions

    @property
    def name(self) -> str:
        """The whole model's name and how its vectors were shortened."""
        return f"{self._embedder.name}:{self.dimensions}:{self._method}"

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """See `Embedder`. Raises ProviderError when the model has no more dimensions than are asked for."""
        whole = self._embedder.dimensions
        if whole < self.dimensions:
            raise ProviderError(
                f"{self._embedder.name} has {whole} dimensions, but {self.dimensions} are requested",
                hint="lower embed.dimensions",
            )
        if not texts or whole == self.dimensions:
            return self._embedder.embed(texts, kind)
        rows = cast(list[list[float]], self._embedder.embed(texts, kind).tolist())
        shorter = self._projected(rows) if self._method == "project" else [row[: self.dimensions] for row in rows]
        data = b"".join(map(_unit, shorter))
        return cast(Matrix, memoryview(data).cast("f", (len(texts), self.dimensions)))

    def _projected(self, rows: list[list[float]]) -> list[list[float]]:
        import numpy as np  # noqa: PLC0415 - only who asks for a projection pays for it

        # Row by row: the sum of one text must not depend on its neighbours.
        return [cast(list[float], (self._signs @ np.array(row)).tolist()) for row in rows]

    @cached_property
    def _signs(self) -> NDArray[np.float64]:
        import numpy as np  # noqa: PLC0415 - only who asks for a projection pays for it

        shape = (self.dimensions, self._embedder.dimensions)
        n_bytes = -(-shape[0] * shape[1] // 8)
        # The bits of this generator are the same in every version of Python; those of numpy are not promised.
        bits = np.unpackbits(np.frombuffer(Random(SEED).randbytes(n_bytes), np.uint8), count=shape[0] * shape[1])
        return bits.reshape(shape).astype(np.float64) * 2 - 1


def shortened(whole: Embedder, dimensions: int, how: str) -> Embedder:
    """Return a model with at most so many dimensions, for 0 itself.

    With "ask" a model that can be asked has been: the vectors of one that gives more are projected.
    """
    if not dimensions or whole.dimensions <= dimensions:
        return whole
    return ReducedEmbedder(whole, dimensions, "truncate" if how == "truncate" else "project")


def _unit(row: list[float]) -> bytes:
    norm = math.hypot(*row)
    return array("f", [value / norm for value in row] if norm else row).tobytes()
