"""Which pairs learn together."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[3]))

from training.batches import ALIKE, GROUP, Neighbours, batches, leaves


def sources() -> list[Neighbours]:
    vectors = np.random.default_rng(1).normal(size=(1_100, 4)).astype(np.float32)
    return [Neighbours(np.arange(700), vectors[:700]), Neighbours(np.arange(700, 1_100), vectors[700:])]


def test_every_row_is_in_one_leaf_and_none_is_too_large() -> None:
    found = list(leaves(sources()[0].vectors, np.random.default_rng(2)))
    assert sorted(np.concatenate(found).tolist()) == list(range(700))
    assert max(map(len, found)) <= ALIKE


def test_rows_that_are_alike_share_a_leaf() -> None:
    corners = np.repeat(np.eye(4, dtype=np.float32), ALIKE, axis=0)
    found = [set((leaf // ALIKE).tolist()) for leaf in leaves(corners, np.random.default_rng(3))]
    assert sum(len(corner) == 1 for corner in found) >= len(found) // 2


def test_rows_without_a_difference_end_too() -> None:
    assert sum(len(leaf) for leaf in leaves(np.ones((100, 3), np.float32), np.random.default_rng(4))) == 100


def test_batches_hold_each_pair_once_and_leave_out_the_rest() -> None:
    found = list(batches(sources(), 256, 5))
    assert [len(batch) for batch in found] == [256] * 4
    assert len(set(np.concatenate(found).tolist())) == 1_024


def test_a_batch_is_made_of_groups_of_one_source() -> None:
    (batch,) = batches(sources(), 1_100, 6)
    changes = np.count_nonzero(np.diff((batch >= 700).astype(int)))
    assert changes <= 1_100 // GROUP + 2


def test_the_same_seed_gives_the_same_batches() -> None:
    first, again, other = (np.concatenate(list(batches(sources(), 256, seed))) for seed in (7, 7, 8))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
