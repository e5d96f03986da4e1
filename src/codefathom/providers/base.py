"""What a provider must offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from codefathom.types import Matrix


class Embedder(Protocol):
    """Turns texts into unit vectors. Deterministic for one `name`."""

    @property
    def name(self) -> str:
        """Model and revision; stored with the index."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows, shape (len(texts), dimensions), in the order of `texts`.

        A text without any known token gives a zero row.
        """
        ...
