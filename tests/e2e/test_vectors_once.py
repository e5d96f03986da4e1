"""Vectors of the bundled model lie in their view alone: what it lacks is made of the texts, and is the same again."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.e2e.test_store_command import hits

from codefathom import Engine
from codefathom.errors import MismatchError
from codefathom.stores.vectors.faiss_vectors import FaissStore


@pytest.fixture
def shop(shop: Path) -> Path:
    with Engine.open(str(shop)) as engine:
        engine.index()
    return shop


def n_stored(project: Path) -> int:
    with closing(sqlite3.connect(f"file:{project}/.fathom/catalog.db?mode=ro", uri=True)) as db:
        return int(db.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def n_bytes(project: Path) -> int:
    return sum(path.stat().st_size for path in (project / ".fathom").rglob("*") if path.is_file())


def view(project: Path) -> bytes:
    (file,) = (project / ".fathom").glob("vectors-*/vectors.bin")
    return file.read_bytes()


def check(project: Path) -> None:
    """Compare the view with the vectors of all texts."""
    with Engine.open(str(project)) as engine:
        assert engine.status().views_current
        assert engine.stores.verify().problem == ""
        catalog, store = engine.opened.catalog, engine.opened.views.vectors
        assert len(store) == catalog.n_rows(engine.opened.embedder.name)  # type: ignore[arg-type]


def test_a_view_that_is_lost_is_made_again(shop: Path) -> None:
    before, rows = hits(shop), view(shop)
    assert n_stored(shop) == 0
    shutil.rmtree(next((shop / ".fathom").glob("vectors-*")))
    with Engine.open(str(shop)) as engine:
        assert engine.index().repaired == ()
    assert (hits(shop), view(shop)) == (before, rows)


def test_it_follows_changes(shop: Path) -> None:
    path = next(shop.rglob("*.py"))
    text = path.read_text()
    with Engine.open(str(shop)) as engine:
        engine.index()
        for change in (f"# A word before all lines.\n{text}", f"{text}\ndef feed_the_kangaroo():\n    pass\n", text):
            path.write_text(change)
            engine.index()
            assert bool(engine.search("feed the kangaroo", mode="vector").hits)
            check(shop)
    path.unlink()
    with Engine.open(str(shop)) as engine:
        engine.index()
    check(shop)
    assert n_stored(shop) == 0


def test_an_index_of_an_earlier_version_becomes_smaller(shop: Path) -> None:
    before, without = hits(shop), n_bytes(shop)
    with Engine.open(str(shop)) as engine:
        engine.opened.catalog.store_made()
    assert n_stored(shop) > 0
    assert n_bytes(shop) > without
    assert hits(shop) == before
    with Engine.open(str(shop)) as engine:
        engine.index()
    assert n_stored(shop) == 0
    assert n_bytes(shop) <= without + 40_000  # the log, and pages that are filled in another way
    assert hits(shop) == before
    check(shop)


def test_a_store_of_other_makers_has_them_in_the_catalogue(shop: Path) -> None:
    before = hits(shop)
    with Engine.open(str(shop)) as engine:
        engine.stores.move("faiss")
        n_rows = engine.opened.catalog.n_rows(engine.opened.embedder.name)
    assert 0 < n_stored(shop) <= n_rows
    (shop / "zoo.py").write_text("def feed_the_kangaroo():\n    return 'grass'\n")
    n_before = n_stored(shop)
    with Engine.open(str(shop)) as engine:
        engine.index()
        assert engine.search("feed the kangaroo", mode="vector").hits[0].chunk.path == "zoo.py"
    assert n_stored(shop) > n_before
    (shop / "zoo.py").unlink()
    with Engine.open(str(shop)) as engine:
        engine.index()
        engine.stores.move("flat")
        engine.index()
    with Engine.open(str(shop)) as engine:
        engine.index()
    assert (n_stored(shop), hits(shop)) == (0, before)
    check(shop)


def test_a_move_that_fails_leaves_the_index_as_it_was(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hits(shop)
    monkeypatch.setattr(FaissStore, "count", lambda _: 0)
    with Engine.open(str(shop)) as engine, pytest.raises(MismatchError):
        engine.stores.move("faiss")
    monkeypatch.undo()
    with Engine.open(str(shop)) as engine:
        engine.index()
    assert (n_stored(shop), hits(shop)) == (0, before)
    check(shop)


def test_settings_that_name_another_store_fill_the_catalogue(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hits(shop)
    monkeypatch.setenv("FATHOM_STORE__VECTORS", "faiss")
    assert hits(shop) == before  # made as they are asked for
    with Engine.open(str(shop)) as engine:
        engine.index()
    assert n_stored(shop) > 0
    assert hits(shop) == before
    monkeypatch.delenv("FATHOM_STORE__VECTORS")
    with Engine.open(str(shop)) as engine:
        engine.index()
    assert (n_stored(shop), hits(shop)) == (0, before)
