"""Signs of rows say which of very many rows are to be compared; what is said of these is exact."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from array import array
from pathlib import Path

import numpy as np
import pytest
from tests.waiting import LONG_S

from codefathom.stores.base import Row
from codefathom.stores.vectors import row_signs
from codefathom.stores.vectors.flat_vectors import FlatVectorStore, quantise
from codefathom.stores.vectors.nearest import Table, nearest_rows

N_ROWS = row_signs.LEAST_ROWS + 4_000
WIDTH = 128


def clustered(n: int, width: int, seed: int = 5) -> list[bytes]:
    """Return rows that lie between some hundred directions, as texts lie between subjects."""
    chance = np.random.default_rng(seed)
    subjects = np.random.default_rng(1).normal(size=(300, width))
    rows = 0.5 * chance.normal(size=(n, width))
    for _ in range(2):
        rows += subjects[chance.integers(300, size=n)] * chance.random(size=(n, 1))
    return quantise(memoryview(rows.astype(np.float32)))


@pytest.fixture(scope="module")
def rows() -> list[bytes]:
    return clustered(N_ROWS, WIDTH)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes]) -> Path:
    folder = tmp_path_factory.mktemp("written")
    store = FlatVectorStore(str(folder), WIDTH)
    store.upsert(map(Row, range(10, 10 + N_ROWS), rows))
    store.commit(1)
    return folder


@pytest.fixture
def store(tmp_path: Path, written: Path) -> FlatVectorStore:
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return FlatVectorStore(str(tmp_path), WIDTH)


@pytest.mark.parametrize("width", [5, 64, 256, 384, 1536])
def test_rows_with_the_fewest_other_signs_are_chosen(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For lengths whose differences fit into a byte, and for others; also where the rest of a byte is no sign."""
    data = clustered(3_000, width)
    table = Table(array("q", range(7, 3_007)), memoryview(b"".join(data)).cast("b"), width)
    signs = memoryview(b"".join(row_signs.signs_of(data, width)))
    asked = clustered(1, width, seed=9)[0]
    chosen = row_signs.with_most_alike_signs(table, signs, asked, 500)
    differing = [
        sum((0 < one < 128) != (0 < other < 128) for one, other in zip(row, asked, strict=True)) for row in data
    ]
    keys = list(chosen.keys)
    limit = max(differing[key - 7] for key in keys)
    assert keys == [key for key in table.keys if differing[key - 7] <= limit]
    assert 500 <= len(keys) < 2_000 or width == 5
    assert bytes(chosen.rows) == b"".join(data[key - 7] for key in keys)
    with monkeypatch.context() as without:
        without.delitem(sys.modules, "numpy")
        plain = row_signs.with_most_alike_signs(table, signs, asked, 500)
    assert (list(plain.keys), bytes(plain.rows)) == (keys, bytes(chosen.rows))


def test_signs_are_the_same_in_whatever_pieces_rows_come(monkeypatch: pytest.MonkeyPatch) -> None:
    data = clustered(500, 12)
    whole = b"".join(row_signs.signs_of([b"".join(data)], 12))
    assert whole == b"".join(np.packbits(np.frombuffer(row, dtype=np.int8) > 0).tobytes() for row in data)
    monkeypatch.setattr(row_signs, "_PACKED_AT_ONCE", 100)
    for pieces in (data, [b"".join(data)], [b"".join(data[:7]), *data[7:300], memoryview(b"".join(data[300:]))]):
        assert b"".join(row_signs.signs_of(pieces, 12)) == whole


def test_of_very_many_rows_nearly_all_of_the_nearest_are_found(store: FlatVectorStore, rows: list[bytes]) -> None:
    table = Table(range(10, 10 + N_ROWS), memoryview(b"".join(rows)).cast("b"), WIDTH)
    n_found = 0
    for asked in clustered(40, WIDTH, seed=6):
        exact = nearest_rows(table, asked, 100)
        near = store.nearest(asked, 100)
        similar = dict(exact)
        assert len(near) == 100
        assert near == sorted(near, key=lambda item: (-item[1], item[0]))
        assert all(similar[key] == similarity for key, similarity in near if key in similar)
        n_found += sum(key in similar for key, _ in near)
    assert n_found >= 0.99 * 40 * 100


def test_few_rows_a_filter_and_many_wanted_rows_are_compared_exactly(
    store: FlatVectorStore, rows: list[bytes], tmp_path: Path
) -> None:
    table = Table(range(10, 10 + N_ROWS), memoryview(b"".join(rows)).cast("b"), WIDTH)
    asked = clustered(1, WIDTH, seed=8)[0]
    inside = set(range(10, 10 + N_ROWS, 3))
    assert store.nearest(asked, 100, inside) == nearest_rows(table, asked, 100, inside)
    assert store.nearest(asked, 2_000) == nearest_rows(table, asked, 2_000)
    few = FlatVectorStore(str(tmp_path / "few"), WIDTH)
    few.upsert(map(Row, range(10, 10 + 50_000), rows))
    few.commit(1)
    assert not (tmp_path / "few" / "signs.bin").exists()
    part = table._replace(keys=range(10, 10 + 50_000), rows=table.part(0, 50_000))
    assert few.nearest(asked, 100) == nearest_rows(part, asked, 100)


def test_changed_rows_and_rows_that_are_gone(store: FlatVectorStore, rows: list[bytes], tmp_path: Path) -> None:
    """Also where all that the signs name is gone."""
    asked = rows[17]
    gone = {key for key, _ in store.nearest(asked, 2_500)}
    store.delete(gone)
    store.upsert([Row(10 + N_ROWS, asked)])
    store.commit(2)
    left = [key for key in range(10, 10 + N_ROWS) if key not in gone]
    table = Table(
        [*left, 10 + N_ROWS], memoryview(b"".join([*(rows[key - 10] for key in left), asked])).cast("b"), WIDTH
    )
    exact = nearest_rows(table, asked, 100)
    for reader in (store, FlatVectorStore(str(tmp_path), WIDTH)):
        near = reader.nearest(asked, 100)
        assert (len(near), near[0]) == (100, exact[0])
        assert len(set(near) & set(exact)) >= 90


def test_a_process_that_goes_on_asking_gathers_rows_with_numpy_and_finds_the_same(written: Path) -> None:
    """One that asks once does not wait until it is loaded."""
    program = (
        "import sys\n"
        "from codefathom.stores.vectors.flat_vectors import FlatVectorStore\n"
        f"store = FlatVectorStore({str(written)!r}, {WIDTH})\n"
        f"asked = [bytes((7 * number + place) % 100 for place in range({WIDTH})) for number in range(2)]\n"
        "for number in range(8):\n"
        "    near = store.nearest(asked[number % 2], 100)\n"
        "    print('numpy' in sys.modules, hash(tuple(near)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    is_loaded, found = zip(*map(str.split, ran.stdout.splitlines()), strict=True)
    assert is_loaded == ("False",) * 3 + ("True",) * 5
    assert found[:2] * 4 == found
    assert found[0] != found[1]


def test_numpy_is_loaded_for_rows_without_signs_where_a_process_has_compared_many(tmp_path: Path) -> None:
    """For few rows it is never loaded: picking among them takes no time that is felt."""
    data = clustered(300, WIDTH)
    for n_rows in (100, 300):
        store = FlatVectorStore(str(tmp_path / str(n_rows)), WIDTH)
        store.upsert(map(Row, range(n_rows), data))
        store.commit(1)
    program = (
        "import sys\n"
        "from codefathom.stores.vectors.flat_vectors import FlatVectorStore\n"
        "FlatVectorStore.least_for_numpy, FlatVectorStore.compared_before_numpy = 200, 900\n"
        f"asked = bytes(place % 100 for place in range({WIDTH}))\n"
        "for n_rows in (100, 300):\n"
        f"    store = FlatVectorStore({str(tmp_path)!r} + f'/{{n_rows}}', {WIDTH})\n"
        "    for number in range(12 if n_rows == 100 else 4):\n"
        "        near = store.nearest(asked, 10)\n"
        "        print(n_rows, 'numpy' in sys.modules, hash(tuple(near)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    n_rows_asked, is_loaded, answers = zip(*map(str.split, ran.stdout.splitlines()), strict=True)
    assert is_loaded == ("False",) * 14 + ("True",) * 2
    assert [len(set(answers[:12])), len(set(answers[12:]))] == [1, 1]
    assert n_rows_asked == ("100",) * 12 + ("300",) * 4


def test_signs_of_another_file_or_cut_ones_are_not_read(
    store: FlatVectorStore, rows: list[bytes], tmp_path: Path
) -> None:
    file = tmp_path / "signs.bin"
    whole, asked = file.read_bytes(), rows[5]
    store.damage()
    table = Table(range(10, 10 + N_ROWS), memoryview(b"".join(rows)).cast("b"), WIDTH)
    exact = nearest_rows(table, asked, 100)
    zeros = bytes(len(whole) - 48)
    for content in (
        whole[:-1],
        whole + b"\0",
        b"",
        *(whole[:place] + b"\xee" + whole[place + 1 : 48] + zeros for place in (0, 9, 25, 33)),
    ):
        file.unlink()
        file.write_bytes(content)
        reader = FlatVectorStore(str(tmp_path), WIDTH)
        assert (reader.nearest(asked, 100), reader.damage()) == (exact, "")


def test_wrong_signs_are_damage(store: FlatVectorStore, tmp_path: Path) -> None:
    file = tmp_path / "signs.bin"
    whole = bytearray(file.read_bytes())
    assert store.damage() == ""
    whole[random.Random(3).randrange(48, len(whole))] ^= 16
    file.unlink()
    file.write_bytes(whole)
    assert FlatVectorStore(str(tmp_path), WIDTH).damage() == "signs of rows differ from the rows"


def test_the_next_commit_makes_signs_that_are_lacking(
    store: FlatVectorStore, rows: list[bytes], tmp_path: Path
) -> None:
    """An earlier version has written the rows."""
    file = tmp_path / "signs.bin"
    whole = file.read_bytes()
    file.unlink()
    older = FlatVectorStore(str(tmp_path), WIDTH)
    older.upsert([Row(3, rows[0])])
    older.commit(2)
    assert file.read_bytes() == whole
    assert FlatVectorStore(str(tmp_path), WIDTH).damage() == ""
    older.clear()
    older.upsert([Row(3, rows[0])])
    older.commit(3)
    assert not file.exists()
