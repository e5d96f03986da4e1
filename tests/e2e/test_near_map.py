"""Maps of a large project for somebody who asks, without ranking all files anew: what is near, and the kept ranks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.errors import UsageError
from codefathom.facts.reasons import MAP_FOLLOWED
from codefathom.search.graph import near_map, usual_map
from codefathom.search.graph.project_map import ProjectMap
from codefathom.stores.catalog.catalog import Catalog
from codefathom.types import Symbol

N_FAR = 150
WHOLE = 30_000  # tokens for all files


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shop of which little has to do with one question, beside very much else that has to do with itself."""
    folder = tmp_path_factory.mktemp("near") / "project"
    (folder / "shop").mkdir(parents=True)
    (folder / "far").mkdir()
    (folder / "fathom.toml").touch()
    (folder / "shop" / "basket.py").write_text(
        "from shop.money import Purse\n\n\ndef sum_of_basket(basket):\n    return Purse().total(basket)\n"
    )
    (folder / "shop" / "money.py").write_text(
        "from shop.coins import count_coins\n\n\n"
        "class Purse:\n    def total(self, basket):\n        return count_coins(basket)\n"
    )
    (folder / "shop" / "coins.py").write_text("RATE = 3\n\n\ndef count_coins(basket):\n    return len(basket)\n")
    for number in range(N_FAR):
        (folder / "far" / f"part{number}.py").write_text(
            f"from far.part{number // 2} import own{number // 2}\n\n\n"
            f"def own{number}():\n    return own{number // 2}()\n"
        )
    with Engine.open(folder) as engine:
        engine.index()
    return folder


@pytest.fixture
def engine(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The project counts as a large one; its ranks are known."""
    monkeypatch.setattr(usual_map, "FOLLOWS_FROM", 1)
    with Engine.open(root) as engine:
        engine.map()
        yield engine


def names(found: ProjectMap) -> set[tuple[str, str]]:
    return {(file.path, symbol.name) for file in found.files for symbol in file.symbols}


def first_paths(found: ProjectMap, n: int) -> list[str]:
    return [file.path for file in sorted(found.files, key=lambda file: file.rank)][:n]


def exact(engine: Engine, monkeypatch: pytest.MonkeyPatch, **wish: Any) -> ProjectMap:
    """Return the map that ranking all files gives."""
    with monkeypatch.context() as patch:
        patch.setattr(usual_map, "FOLLOWS_FROM", 10_000)
        return engine.map(**wish)


@pytest.mark.parametrize("wish", [{"query": "sum_of_basket"}, {"files": ["shop/basket.py"]}], ids=["question", "files"])
def test_what_is_near_stands_first(engine: Engine, monkeypatch: pytest.MonkeyPatch, wish: dict[str, Any]) -> None:
    found, ranked = engine.map(**wish, max_tokens=70), exact(engine, monkeypatch, **wish, max_tokens=70)
    near = {"shop/basket.py", "shop/money.py", "shop/coins.py"}
    assert set(first_paths(found, 3)) == set(first_paths(ranked, 3)) == near
    assert first_paths(found, 1) == first_paths(ranked, 1)
    assert {item for item in names(found) if item[0] in near} == {item for item in names(ranked) if item[0] in near}
    assert found.verdict == ranked.verdict


@pytest.mark.parametrize("folder", ["shop", "far"])
def test_a_folder_has_the_map_that_ranking_all_files_gives(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    for most in (30, 300, WHOLE):
        found = engine.map(folders=[folder], max_tokens=most)
        assert found == exact(engine, monkeypatch, folders=[folder], max_tokens=most)


def test_pages_go_to_the_end(engine: Engine) -> None:
    whole = engine.map("sum_of_basket", max_tokens=WHOLE)
    assert (len(whole.files), whole.n_left_out, whole.n_symbols_left_out) == (N_FAR + 4, 0, 0)
    seen, offset = set[tuple[str, str]](), 0
    while (page := engine.map("sum_of_basket", max_tokens=400, offset=offset)).next_offset is not None:
        seen |= names(page)
        offset = page.next_offset
    assert seen | names(page) == names(whole)


def test_few_files_are_read_for_a_question(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(catalog: Catalog, path: str, plain=Catalog.references_of) -> object:  # type: ignore[no-untyped-def]
        read.append(path)
        return plain(catalog, path)

    monkeypatch.setattr(Catalog, "references_of", counted)
    engine.map("sum_of_basket", max_tokens=70)
    assert len(read) == len(set(read)) <= near_map._MOST_READ
    assert len(read) < N_FAR / 2
    read.clear()
    engine.map(folders=["far"], max_tokens=300)
    assert not read


def test_a_changed_file_shows_what_it_has_now(root: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usual_map, "_MOST_CHANGED", 1)
    (root / "shop" / "coins.py").write_text("def weigh_coins(basket):\n    return len(basket)\n")
    (root / "shop" / "new.py").write_text("def new_coin():\n    return 1\n")
    try:
        engine.index()
        found = engine.map(folders=["shop"], max_tokens=WHOLE)
        assert {("shop/coins.py", "weigh_coins"), ("shop/new.py", "new_coin")} <= names(found)
        assert ("shop/coins.py", "count_coins") not in names(found)
        assert (found.n_files, found.n_left_out, found.n_symbols_left_out) == (4, 0, 0)
        assert [note.values["count"] for note in found.limitations if note.kind == MAP_FOLLOWED] == [2]
        assert ("shop/new.py", "new_coin") in names(engine.map("new_coin", max_tokens=60))
    finally:
        (root / "shop" / "coins.py").write_text("RATE = 3\n\n\ndef count_coins(basket):\n    return len(basket)\n")
        (root / "shop" / "new.py").unlink()
        engine.index()


@pytest.mark.parametrize("most", [0, -1])
def test_no_number_of_tokens_is_refused(engine: Engine, most: int) -> None:
    for wish in ({"query": "sum_of_basket"}, {"folders": ["shop"]}):
        with pytest.raises(UsageError, match="max_tokens cannot be"):
            engine.map(**wish, max_tokens=most)  # type: ignore[arg-type]


def test_a_damaged_definition_is_left_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue leaves out damaged rows, and whoever has asked it says so."""

    def left_out(catalog: Catalog, path: str, plain=Catalog.symbols_of) -> list[Symbol]:  # type: ignore[no-untyped-def]
        return [item for item in plain(catalog, path) if item.name != "total"]

    monkeypatch.setattr(Catalog, "symbols_of", left_out)
    for wish in ({"query": "sum_of_basket"}, {"folders": ["shop"]}):
        found = engine.map(**wish, max_tokens=WHOLE)  # type: ignore[arg-type]
        assert ("shop/money.py", "Purse") in names(found)
        assert ("shop/money.py", "Purse.total") not in names(found)
