"""Which pairs stand together in a batch, and so are wrong answers to one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GROUP = 256  # pairs of one source that stand together in a batch
ALIKE = 32  # of them that are alike: hard negatives for one another


class Neighbours(NamedTuple):
    """The pairs of one source and where they stand now."""

    numbers: NDArray[np.int64]
    vectors: NDArray[np.float32]


def batches(sources: Sequence[Neighbours], size: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of the pairs of each batch: groups of one source, shuffled together."""
    order = np.random.default_rng(seed)
    parts: list[NDArray[np.int64]] = []
    for numbers, vectors in sources:
        alike = [numbers[leaf] for leaf in leaves(vectors, order)]
        order.shuffle(alike)
        mixed = np.concatenate(alike)
        parts += [mixed[i : i + GROUP] for i in range(0, len(mixed), GROUP)]
    order.shuffle(parts)
    flat = np.concatenate(parts)
    for start in range(0, len(flat) - size + 1, size):
        yield flat[start : start + size]


def leaves(vectors: NDArray[np.float32], order: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield the rows in sets of ALIKE at most: halved again and again between two rows taken by chance."""
    waiting = [np.arange(len(vectors))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= ALIKE:
            yield rows
            continue
        one, other = vectors[order.choice(rows)], vectors[order.choice(rows)]
        rows = rows[np.argsort(vectors[rows] @ (one - other), kind="stable")]
        waiting += [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
