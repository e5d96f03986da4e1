"""A store of other makers as a view: the catalogue decides, and answers while the store is away."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest

from codefathom.errors import StoreAwayError
from codefathom.stores import rescored
from codefathom.stores.base import Row
from codefathom.stores.folder import folder_at
from codefathom.stores.rescored import RescoredStore, RowsOf
from codefathom.stores.vectors.candidates import Change, Label, StoreOptions, StoreSetup, Within
from codefathom.stores.vectors.faiss_vectors import FaissStore
from codefathom.testing.candidate_store import CatalogOfRows
from codefathom.types import Filter, FilterGroup

SIZE = 8
QUERY = bytes([127] * SIZE)


class Unplugged(FaissStore):
    """FAISS behind a plug: counts the questions, and keeps what it was asked within."""

    def __init__(self, setup: StoreSetup) -> None:
        super().__init__(setup)
        self.is_away = False
        self.n_asked = 0
        self.withins: list[Within] = []

    def _plugged(self) -> None:
        self.n_asked += 1
        if self.is_away:
            raise StoreAwayError("cannot reach the store", hint="start it")

    def label(self) -> Label | None:
        self._plugged()
        return super().label()

    def count(self) -> int:
        self._plugged()
        return super().count()

    def apply(self, change: Change) -> None:
        self._plugged()
        super().apply(change)

    def candidates(self, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        self._plugged()
        self.withins.append(within)
        return super().candidates(vector, n, within)


class Shop:
    """A catalogue, its store, and the view that a search sees."""

    def __init__(self, folder: Path) -> None:
        setup = StoreSetup(folder_at(str(folder / "store")), SIZE, StoreOptions(project="shop"))
        self.catalog = CatalogOfRows(folder / "rows.db")
        self.store = Unplugged(setup)
        self.waits: list[float] = []
        self.clock_s = 1_000.0
        rows_of_shop = RowsOf(self.catalog, "model", "owner", "shop", SIZE)
        self.view = RescoredStore(self.store, rows_of_shop, self.waits.append, lambda: self.clock_s)

    def write(self, rows: dict[int, bytes | None], generation: int) -> None:
        """Write to the catalogue and commit the view, as an index run does."""
        self.catalog.write(rows, generation, is_whole=False)
        self.view.upsert(Row(key, row) for key, row in rows.items() if row is not None)
        self.view.delete([key for key, row in rows.items() if row is None])
        self.view.commit(generation)


def rows(keys: Iterable[int], seed: int = 1) -> dict[int, bytes | None]:
    chance = Random(seed)
    return {key: chance.randbytes(SIZE - 1) + b"\1" for key in keys}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    made.write(rows(range(1, 101)), 1)
    return made


def test_while_the_store_is_away_the_catalogue_gives_the_same(shop: Shop) -> None:
    with_store = [shop.view.nearest(QUERY, k, allowed) for k in (1, 10, 500) for allowed in (None, {3, 50, 777})]
    shop.store.is_away = True
    without = [shop.view.nearest(QUERY, k, allowed) for k in (1, 10, 500) for allowed in (None, {3, 50, 777})]
    assert without == with_store
    assert shop.view.problem == "cannot reach the store; start it"
    assert shop.view.generation == shop.catalog.generation


@pytest.mark.parametrize("most_keys", [10_000, 3])
def test_a_filter_finds_all_though_an_approximate_index_names_fewer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, most_keys: int
) -> None:
    """As HNSW does where many rows are equal; whether the filter is sent as keys or tested afterwards."""
    exact = {len(allowed): shop.view.nearest(QUERY, 5, allowed) for allowed in ({3}, {3, 50}, set(range(20, 40)))}
    monkeypatch.setattr(rescored, "MAX_KEYS", most_keys)
    monkeypatch.setattr(Unplugged, "is_exact", False)
    candidates = Unplugged.candidates
    monkeypatch.setattr(Unplugged, "candidates", lambda *asked: candidates(*asked)[:1])
    for allowed in ({3}, {3, 50}, set(range(20, 40))):
        assert shop.view.nearest(QUERY, 5, allowed) == exact[len(allowed)]


def test_it_is_asked_some_times_then_left_alone_and_is_back_by_itself(shop: Shop) -> None:
    shop.store.is_away, shop.store.n_asked = True, 0
    shop.view.nearest(QUERY, 5)
    assert shop.store.n_asked == 4
    assert shop.waits == [0.1, 0.2, 0.4]
    for _ in range(3):
        shop.view.nearest(QUERY, 5)
    assert shop.store.n_asked == 4  # a pause
    shop.clock_s += 16
    shop.view.nearest(QUERY, 5)
    assert shop.store.n_asked == 5  # one attempt, and another pause
    shop.clock_s += 16
    shop.store.is_away = False
    shop.view.nearest(QUERY, 5)
    assert shop.view.problem == ""


def test_what_was_written_while_it_was_away_comes_with_the_next_commit(shop: Shop) -> None:
    shop.store.is_away = True
    shop.write({1: None, 2: None, **rows([201, 202], seed=2)}, 2)
    assert {key for key, _ in shop.view.nearest(QUERY, 500)} == {*range(3, 101), 201, 202}
    shop.store.is_away = False
    shop.clock_s += 16
    assert shop.view.generation == 1  # of the store: behind the catalogue
    shop.write(rows([301], seed=3), 3)
    assert set(shop.store.keys()) == {*range(3, 101), 201, 202, 301}
    assert shop.view.generation == 3
    assert {key for key, _ in shop.view.nearest(QUERY, 500)} == {*range(3, 101), 201, 202, 301}


def test_a_project_too_large_to_be_looked_through_says_that_the_store_is_away(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescored, "MAX_LOOKED_THROUGH", 99)
    shop.store.is_away = True
    with pytest.raises(StoreAwayError, match="cannot reach the store") as error:
        shop.view.nearest(QUERY, 5)
    assert error.value.hint == "start it"


def test_rows_that_were_lost_or_added_elsewhere_are_damage(shop: Shop) -> None:
    assert shop.view.damage() == ""
    shop.store.apply(Change((), (5, 6), False, Label("owner", 1)))
    assert shop.view.damage() == "the store has 98 rows of this project, the catalogue 100"
    shop.store.is_away = True
    assert shop.view.damage() == ""


def test_rows_of_another_catalogue_are_no_view(shop: Shop) -> None:
    other = RescoredStore(shop.store, RowsOf(shop.catalog, "model", "another owner", "shop", SIZE))
    shop.store.withins.clear()
    assert (other.generation, other.nearest(QUERY, 5)) == (-1, shop.view.nearest(QUERY, 5))  # those of the catalogue
    assert len(shop.store.withins) == 1  # asked by the second view only


def test_rows_that_the_catalogue_no_longer_has_do_not_take_the_place_of_others(shop: Shop) -> None:
    best = [key for key, _ in shop.view.nearest(QUERY, 60)]
    shop.catalog.write(dict.fromkeys(best[:50]), 1, is_whole=False)
    assert [key for key, _ in shop.view.nearest(QUERY, 10)] == best[50:60]


def test_the_keys_of_a_filter_go_to_the_store(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.write(rows(range(1, 10_100)), 1)
    allowed = set(range(50, 10_050))
    neighbours = shop.view.nearest(QUERY, 20, allowed)
    assert shop.store.withins[-1] == Within(keys=sorted(allowed))
    assert neighbours == inside(shop, allowed)


IS_GO = Filter("language", "eq", "Go")
IN_SRC = Filter("path", "contains", "src")


@pytest.fixture(scope="module")
def large_shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """More rows than a filter names by their keys; no test changes them."""
    shop = Shop(tmp_path_factory.mktemp("large"))
    shop.write(rows(range(1, 30_100)), 1)
    return shop


@pytest.mark.parametrize(
    ("where", "fields"),
    [
        (IS_GO, {"language": ["go"]}),
        (FilterGroup("AND", (FilterGroup("AND", (IN_SRC, IS_GO)),)), {"language": ["go"]}),
        (Filter("lang", "in", ("go", "Rust")), {"language": ["go", "rust"]}),
        (FilterGroup("OR", (IS_GO, IN_SRC)), None),
        (Filter("language", "ne", "python"), None),
        (None, None),
    ],
)
def test_a_filter_of_many_keys_is_said_in_fields_or_tested_afterwards(
    large_shop: Shop, where: Filter | FilterGroup | None, fields: dict[str, list[str]] | None
) -> None:
    allowed = {key for key in range(1, 30_100) if key % 3 == 1}  # written in Go
    neighbours = large_shop.view.nearest(QUERY, 20, allowed, where)
    assert large_shop.store.withins[-1] == Within(fields=fields)
    assert neighbours == inside(large_shop, allowed)


def inside(shop: Shop, allowed: set[int]) -> list[tuple[int, float]]:
    return [item for item in shop.view.nearest(QUERY, 40_000) if item[0] in allowed][:20]


def test_few_rows_far_away_are_found_in_a_wide_filter(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    near, far = bytes([127] * SIZE), bytes([1] + [127] * (SIZE - 1))
    shop.write(dict.fromkeys(range(1, 15000), near) | dict.fromkeys(range(15000, 26000), far), 1)
    neighbours = shop.view.nearest(QUERY, 5, set(range(15_000, 26_000)))
    assert [key for key, _ in neighbours] == list(range(15_000, 15_005))
