"""Rows that wait to be written count as in a dictionary, and take no more memory than their bytes."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.base import Row
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.stores.vectors.new_rows import NewRows

_CHANGES = st.lists(st.tuples(st.integers(0, 6), st.none() | st.binary(min_size=2, max_size=2)), max_size=12)


@given(changes=_CHANGES)
def test_what_comes_later_counts(changes: list[tuple[int, bytes | None]]) -> None:
    new = NewRows(2)
    for key, vector in changes:
        if vector is None:
            new.remove([key])
        else:
            new.put([Row(key, vector)])
    assert new.by_key() == dict(changes)
    assert bool(new) == bool(changes)
    assert list(new.table.keys) == sorted(new.table.keys)


def test_rows_of_a_new_index_take_little_more_memory_than_their_bytes(tmp_path: Path) -> None:
    n_rows, dimensions = 40_000, 64
    store = FlatVectorStore(str(tmp_path / "vectors"), dimensions)
    tracemalloc.start()
    try:
        for start in range(0, n_rows, 1_000):
            store.upsert([Row(key, key.to_bytes(dimensions, "big")) for key in range(start, start + 1_000)])
        waiting, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        store.commit(1)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert waiting < 1.4 * n_rows * dimensions  # as a dictionary 3 times
    assert most < waiting + 1_500_000
    assert len(store) == n_rows
