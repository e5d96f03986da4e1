"""Every vector store keeps the contract; the flat one also survives what happens to files."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.waiting import Started

from codefathom.errors import IndexingError
from codefathom.stores.base import Row, VectorStore
from codefathom.stores.vectors.flat_vectors import FlatVectorStore, quantise, quantise_query
from codefathom.testing import VectorStoreContract


class TestFlat(VectorStoreContract):
    def open(self, folder: Path) -> VectorStore:
        return FlatVectorStore(str(folder / "vectors"), self.dimensions)


class TestFlatOfTheBundledSize(VectorStoreContract):
    dimensions = 256
    n_rounds = 5

    def open(self, folder: Path) -> VectorStore:
        return FlatVectorStore(str(folder / "vectors"), self.dimensions)


class WithChanges(FlatVectorStore):
    """Writes what changes into a file of its own, however little there is."""

    large_bytes, most_changed = 1, 1.0


class TestFlatWithChanges(VectorStoreContract):
    def open(self, folder: Path) -> VectorStore:
        return WithChanges(str(folder / "vectors"), self.dimensions)


@pytest.mark.parametrize("seed", range(6))
def test_changes_beside_a_large_file_give_the_same_to_the_last_bit(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole, parted = FlatVectorStore(str(tmp_path / "whole"), 4), WithChanges(str(tmp_path / "parted"), 4)
    for generation in range(1, 16):
        rows = [Row(chance.randrange(300), bytes(chance.choice((1, 3, 200)) for _ in range(4))) for _ in range(40)]
        gone = [chance.randrange(300) for _ in range(chance.choice((0, 12)))]
        for store in (whole, parted):
            store.upsert(rows)
            store.delete(gone)
            store.commit(generation)
        reader = WithChanges(str(tmp_path / "parted"), 4)
        assert (len(reader), reader.generation, reader.damage()) == (len(whole), generation, "")
        for k, allowed in ((1, None), (10, None), (400, None), (10, set(range(0, 300, 2))), (3, {5, 40, 88})):
            nearest = whole.nearest(b"\1\2\3\4", k, allowed)
            assert parted.nearest(b"\1\2\3\4", k, allowed) == nearest
            assert reader.nearest(b"\1\2\3\4", k, allowed) == nearest


def test_a_commit_of_one_row_writes_one_row(tmp_path: Path) -> None:
    file = build(tmp_path, 40)
    before = file.stat()
    store = WithChanges(str(tmp_path), 4)
    store.upsert([Row(7, b"\7\7\7\7")])
    store.commit(4)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (tmp_path / "changes.bin").stat().st_size < 100
    store.upsert(Row(key, b"\1\1\1\2") for key in range(100, 145))  # too many: all rows are written again
    store.commit(5)
    assert not (tmp_path / "changes.bin").exists()
    assert (len(FlatVectorStore(str(tmp_path), 4)), store.generation) == (85, 5)


def test_changes_of_another_file_or_damaged_ones_are_not_read(tmp_path: Path) -> None:
    build(tmp_path, 40)
    store = WithChanges(str(tmp_path), 4)
    store.upsert([Row(99, b"\7\7\7\7")])
    store.commit(4)
    changes = tmp_path / "changes.bin"
    whole = changes.read_bytes()
    for place in range(len(whole)):
        changes.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        assert FlatVectorStore(str(tmp_path), 4).generation == 3
        changes.write_bytes(whole[:place])
        assert FlatVectorStore(str(tmp_path), 4).generation == 3
    changes.write_bytes(whole)
    assert FlatVectorStore(str(tmp_path), 4).generation == 4
    build(tmp_path, 41, generation=9)
    changes.write_bytes(whole)
    assert FlatVectorStore(str(tmp_path), 4).generation == 9


def build(folder: Path, n_rows: int = 40, generation: int = 3) -> Path:
    store = FlatVectorStore(str(folder), 4)
    store.upsert(Row(key, bytes([key + 1, 2, 3, 4])) for key in range(n_rows))
    store.commit(generation)
    return folder / "vectors.bin"


def test_a_damaged_file_is_no_view(tmp_path: Path) -> None:
    file = build(tmp_path)
    whole = file.read_bytes()
    first_row = len(whole) - 40 * 4
    bad = [whole[:size] for size in range(0, len(whole), 7)] + [whole + b"\0"]
    bad += [whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :] for place in range(0, first_row, 5)]
    for content in bad:
        file.write_bytes(content)
        store = FlatVectorStore(str(tmp_path), 4)
        assert (store.generation, len(store), store.nearest(b"\1\1\1\1", 3)) == (-1, 0, [])
    store.upsert([Row(5, b"\1\2\3\4")])
    store.commit(9)
    assert [key for key, _ in FlatVectorStore(str(tmp_path), 4).nearest(b"\1\2\3\4", 3)] == [5]


@pytest.mark.parametrize("other", [FlatVectorStore, lambda folder, _: FlatVectorStore(folder, 4, "another catalogue")])
def test_the_file_of_another_model_or_catalogue_is_no_view(tmp_path: Path, other: type[FlatVectorStore]) -> None:
    build(tmp_path)
    assert other(str(tmp_path), 5).generation == -1
    assert FlatVectorStore(str(tmp_path), 4).generation == 3


@pytest.mark.parametrize("allowed", [None, set(range(0, 900, 2)), {5, 400, 880}])
def test_the_nearest_are_the_same_where_numpy_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: set[int] | None
) -> None:
    import numpy  # noqa: F401 -- so that it is there

    chance = random.Random(5)
    store = FlatVectorStore(str(tmp_path), 4)
    store.upsert(
        Row(key, bytes(chance.choice((1, 3, 200)) for _ in range(4))) for key in range(900)
    )  # with many equals
    store.commit(1)
    for k in (1, 10, 100, 899, 2_000):
        with_numpy = store.nearest(b"\1\2\3\4", k, allowed)
        with monkeypatch.context() as without:
            without.delitem(sys.modules, "numpy")
            assert store.nearest(b"\1\2\3\4", k, allowed) == with_numpy


def test_a_reader_sees_a_commit_after_reload(tmp_path: Path) -> None:
    build(tmp_path)
    reader, writer = FlatVectorStore(str(tmp_path), 4), FlatVectorStore(str(tmp_path), 4)
    before = reader.nearest(b"\1\2\3\4", 40)
    writer.clear()
    writer.commit(4)
    assert (reader.generation, reader.nearest(b"\1\2\3\4", 40)) == (3, before)
    reader.reload()
    assert (reader.generation, reader.nearest(b"\1\2\3\4", 40)) == (4, [])


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = FlatVectorStore(str(tmp_path / "file"), 4)
    with pytest.raises(IndexingError, match="file"):
        store.commit(1)


KILLED = """
import sys
from codefathom.stores.base import Row
from codefathom.stores.vectors.flat_vectors import FlatVectorStore
generation = FlatVectorStore(sys.argv[1], 64).generation
print("go", flush=True)
while True:
    generation = generation % 100 + 1
    store = FlatVectorStore(sys.argv[1], 64)
    store.clear()
    store.upsert(Row(key, bytes([generation]) * 64) for key in range(generation * 20))
    store.commit(generation)
"""


@pytest.mark.parametrize("rounds", [4, pytest.param(60, marks=pytest.mark.long)])
def test_a_kill_leaves_the_old_or_the_new_file(tmp_path: Path, rounds: int) -> None:
    chance = random.Random(5)
    FlatVectorStore(str(tmp_path), 64).commit(1)
    for _ in range(rounds):
        with Started([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            child.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(chance.random() / 10)
            child.kill()
        store = FlatVectorStore(str(tmp_path), 64)
        found = store.nearest(b"\1" * 64, 10_000)
        assert store.generation > 0
        assert len(found) in (store.generation * 20, 0)


component = st.floats(-1, 1, width=32).map(lambda value: value if abs(value) > 1e-6 else 0.0)


@settings(max_examples=60)
@given(st.integers(1, 9).flatmap(lambda size: st.lists(st.lists(component, min_size=size, max_size=size), min_size=1)))
def test_rows_and_queries_are_quantised_alike(rows: list[list[float]]) -> None:
    flat = array("f", [value for row in rows for value in row])
    matrix = memoryview(flat).cast("B").cast("f", (len(rows), len(rows[0])))
    for number, (row, packed) in enumerate(zip(rows, quantise(matrix), strict=True)):
        values = memoryview(packed).cast("b").tolist()
        largest = max(map(abs, row))
        assert max(map(abs, values)) == (127 if largest else 0)
        assert all(
            abs(value * largest / 127 - exact) <= largest / 250 for value, exact in zip(values, row, strict=True)
        )
        one = memoryview(flat[number * len(row) : (number + 1) * len(row)]).cast("B").cast("f", (1, len(row)))
        asked = memoryview(quantise_query(one)).cast("b").tolist()
        assert all(abs(value - same) <= 1 for value, same in zip(values, asked, strict=True))  # float32 and float64


@settings(max_examples=60)
@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=9))
def test_a_query_is_quantised_alike_with_and_without_numpy(row: list[float]) -> None:
    matrix = memoryview(array("f", row)).cast("B").cast("f", (1, len(row)))
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "numpy")
        without = quantise_query(matrix)
    assert sys.modules["numpy"] is numpy
    assert quantise_query(matrix) == without


def test_zeros_stay_zeros() -> None:
    matrix = memoryview(array("f", [0.0] * 6)).cast("B").cast("f", (2, 3))
    assert quantise(matrix) == [bytes(3), bytes(3)]
    assert quantise_query(memoryview(array("f", [0.0] * 3)).cast("B").cast("f", (1, 3))) == bytes(3)
    assert quantise(memoryview(array("f")).cast("B").cast("f")) == []
