"""Rows that wait to be written count as in a dictionary, and take no more memory than their bytes."""

from __future__ import annotations

import errno
import tempfile
import tracemalloc
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.base import Row
from codefathom.stores.folder import UnsafeError
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
from codefathom.stores.vectors.new_rows import NewRows

_CHANGES = st.lists(st.tuples(st.integers(0, 6), st.none() | st.binary(min_size=2, max_size=2)), max_size=12)


@given(changes=_CHANGES, most_in_memory=st.integers(0, 9))
def test_what_comes_later_counts(changes: list[tuple[int, bytes | None]], most_in_memory: int) -> None:
    new = NewRows(2, _file, most_in_memory)
    for key, vector in changes:
        if vector is None:
            new.remove([key])
        else:
            new.put([Row(key, vector)])
    assert new.by_key() == dict(changes)
    assert bool(new) == bool(changes)
    assert list(new.table.keys) == sorted(new.table.keys)
    new.close()


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


def test_many_new_rows_wait_in_a_file_without_a_name(tmp_path: Path) -> None:
    n_rows, dimensions = 40_000, 64
    vectors = [key.to_bytes(dimensions, "big") for key in range(n_rows)]
    store = FlatVectorStore(str(tmp_path / "vectors"), dimensions)
    store.most_in_memory = 100_000
    store.clear()
    tracemalloc.start()
    try:
        for start in range(0, n_rows, 1_000):
            store.upsert([Row(key, vectors[key]) for key in range(start, start + 1_000)])
        waiting, _ = tracemalloc.get_traced_memory()
        assert list((tmp_path / "vectors").iterdir()) == []
        store.delete([7])
        store.upsert([Row(8, vectors[9])])
        store.commit(1)
    finally:
        tracemalloc.stop()
    assert waiting < 0.3 * n_rows * dimensions  # keys of eight bytes, and what is not in the file
    assert len(store) == n_rows - 1
    assert store.damage() == ""
    written = (tmp_path / "vectors" / "vectors.bin").read_bytes()
    assert written.endswith(b"".join([*vectors[:7], vectors[9], *vectors[9:]]))


@pytest.mark.parametrize("n_writes", [0, 1, 2])
def test_rows_stay_in_memory_where_the_file_cannot_take_them(tmp_path: Path, n_writes: int) -> None:
    with (tmp_path / "rows").open("w+b", buffering=0) as file:
        new = NewRows(2, lambda: cast(BinaryIO, _Full(file, n_writes)), most_in_memory=3)
        for key in range(6):
            new.put([Row(key, bytes([key, key]))])
        assert new.by_key() == {key: bytes([key, key]) for key in range(6)}


def test_rows_stay_in_memory_where_no_file_can_be_made() -> None:
    new = NewRows(2, _refused, most_in_memory=1)
    new.put([Row(1, b"ab")])
    new.put([Row(2, b"cd")])
    assert new.by_key() == {1: b"ab", 2: b"cd"}


class _Full:
    """A file on a disk that is full after some writes, and takes a part of the one after them."""

    def __init__(self, file: BinaryIO, n_writes: int) -> None:
        self._file, self._left = file, n_writes

    def write(self, content: bytes) -> int:
        self._left -= 1
        if self._left < -1:
            raise OSError(errno.ENOSPC, "no room")
        return self._file.write(content[:1] if self._left < 0 else content)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)


def _file() -> BinaryIO:
    return cast(BinaryIO, tempfile.TemporaryFile(buffering=0))


def _refused() -> BinaryIO:
    raise UnsafeError(errno.ENOTSUP, "no such files here")
