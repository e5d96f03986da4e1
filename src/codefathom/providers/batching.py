"""The texts of one call of an embedding model. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from codefathom.providers.base import BYTES_PER_TOKEN


class BatchLimits(NamedTuple):
    """Limits for the texts of one call."""

    max_texts: int = 256
    max_tokens: int = 32_000  # of all texts together, by estimate
    max_text_tokens: int = 8_000  # of one text; a longer text is cut


def batches(texts: Iterable[str], limits: BatchLimits) -> Iterator[list[str]]:
    """Yield runs of texts that one call takes; a text that is too long by itself goes alone."""
    batch: list[str] = []
    left = limits.max_tokens
    for text in texts:
        n_tokens = min(len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1, limits.max_text_tokens)
        if batch and (n_tokens > left or len(batch) == limits.max_texts):
            yield batch
            batch, left = [], limits.max_tokens
        batch.append(text)
        left -= n_tokens
    if batch:
        yield batch
