"""Moving the vectors to another store and back: the same hits, nothing lost, and nothing said to work that does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.contracts.qdrant_server import KEY, served
from tests.e2e.conftest import SHOP

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import MismatchError, SettingsError, UsageError
from codefathom.stores.vectors.candidates import Within
from codefathom.stores.vectors.faiss_vectors import FaissStore
from codefathom.types import Progress

QUESTIONS = ("retry with backoff", "price of the cart", "lang:python discount", "where is the config read")


@pytest.fixture
def shop(shop: Path) -> Path:
    with Engine.open(str(shop)) as engine:
        engine.index()
    return shop


def hits(project: Path, mode: str = "auto") -> list[object]:
    with Engine.open(str(project)) as engine:
        return [
            (hit.chunk.path, hit.chunk.start_line, hit.score)
            for question in QUESTIONS
            for hit in engine.search(question, mode=mode, limit=30).hits
        ]


def files(project: Path) -> set[str]:
    return {path.suffix for path in (project / ".fathom").glob("vectors-*/*")}


def test_every_store_gives_the_same_hits(shop: Path) -> None:
    before = hits(shop), hits(shop, "vector")
    for target in ("faiss", "duckdb", "flat"):
        with Engine.open(str(shop)) as engine:
            report = engine.stores.move(target)
        assert (report.store, report.same, report.problem) == (target, 1.0, "")
        assert (hits(shop), hits(shop, "vector")) == before


def test_the_settings_choose_a_store_as_well(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hits(shop)
    monkeypatch.setenv("FATHOM_STORE__VECTORS", "duckdb")
    assert hits(shop) == before
    assert ".duckdb" in files(shop)
    with Engine.open(str(shop)) as engine, pytest.raises(SettingsError, match=r"store\.vectors is set to 'duckdb'"):
        engine.stores.move("faiss")


def test_an_open_engine_follows_a_move(shop: Path) -> None:
    with Engine.open(str(shop)) as reader, Engine.open(str(shop)) as mover:
        first = reader.search(QUESTIONS[0]).hits
        mover.stores.move("faiss")
        mover.stores.remove("flat")
        assert reader.search(QUESTIONS[0]).hits == first
        assert reader.opened.store.vectors == "faiss"
        assert files(shop) == {".faiss"}


def test_changes_reach_the_store(shop: Path) -> None:
    with Engine.open(str(shop)) as engine:
        engine.stores.move("duckdb")
        (shop / "zoo.py").write_text("def feed_the_kangaroo():\n    return 'grass'\n")
        engine.index()
        assert engine.search("feed the kangaroo", mode="vector").hits[0].chunk.path == "zoo.py"
        assert engine.stores.verify().problem == ""
        (shop / "zoo.py").unlink()
        engine.index()
        assert "zoo.py" not in {hit.chunk.path for hit in engine.search("feed the kangaroo", mode="vector").hits}
        assert engine.stores.verify().problem == ""


def test_a_store_that_differs_is_told_and_filled_anew(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "move", "--to", "faiss", "-C", str(shop)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("faiss holds the ")
    assert "`fathom store remove flat` deletes them" in said.err
    assert main(["store", "verify", "flat", "-C", str(shop)]) == 0
    (next((shop / ".fathom").glob("vectors-*/vectors.faiss"))).unlink()
    assert main(["store", "verify", "faiss", "--json", "-C", str(shop)]) == 0  # `refresh` has made it again
    assert main(["store", "remove", "flat", "-C", str(shop)]) == 0
    assert main(["store", "verify", "flat", "--json", "-C", str(shop)]) == 1
    capsys.readouterr()
    assert main(["store", "verify", "flat", "-C", str(shop)]) == 1
    assert "flat differs from the index: it shows generation -1" in capsys.readouterr().out
    assert main(["store", "verify", "flat", "--fix", "--json", "-C", str(shop)]) == 0
    assert json.loads(capsys.readouterr().out)["same"] == 1.0


def test_a_move_that_was_killed_goes_on(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codefathom.stores.rescored._STEP", 3)
    before, told = hits(shop), list[Progress]()

    class Killed(BaseException):
        pass

    def kill_after_two(progress: Progress) -> None:
        told.append(progress)
        if progress.n_done >= 6:
            raise Killed

    with Engine.open(str(shop), on_progress=kill_after_two) as engine, pytest.raises(Killed):
        engine.stores.move("faiss")
    with Engine.open(str(shop)) as engine:
        assert engine.stores.in_force.vectors == "flat"
    assert hits(shop) == before
    written: list[int] = []
    apply = FaissStore.apply
    monkeypatch.setattr(FaissStore, "apply", lambda store, change: (written.append(1), apply(store, change))[1])
    with Engine.open(str(shop)) as engine:
        n_steps = -(-engine.stores.move("faiss").n_rows // 3)
    assert len(written) == n_steps - 2 + 1  # the label last
    assert hits(shop) == before


@pytest.mark.parametrize(
    ("action", "target", "said"),
    [
        ("move", "klingon", "unknown store: 'klingon'"),
        ("move", "http://localhost:6333", "unknown store: 'http://localhost:6333'"),
        ("move", "flat", "the vectors are in flat already"),
        ("remove", "flat", "flat is the store in which searches look"),
        ("verify", "oracle://me:secret@host/db", "unknown store: 'oracle://host/db'"),
    ],
)
def test_a_wrong_target_is_a_clear_error(shop: Path, action: str, target: str, said: str) -> None:
    with Engine.open(str(shop)) as engine, pytest.raises(UsageError) as error:
        getattr(engine.stores, action)(target)
    assert str(error.value) == said
    assert error.value.hint
    assert "secret" not in error.value.hint


@pytest.mark.parametrize("target", ["chroma://[", "qdrant://[", "chroma://localhost:port", "qdrant://localhost:port"])
def test_an_address_that_is_none_is_a_clear_error(shop: Path, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "test", target, "-C", str(shop)]) == 2
    said = capsys.readouterr().err
    assert "is not a valid URL" in said
    assert "hint: " in said


def test_an_action_without_a_store_says_what_is_missing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "move", "-C", str(shop)]) == 2
    assert "needs the name of a store" in capsys.readouterr().err


def test_removing_the_index_removes_its_rows_from_the_store(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[str] = []
    drop = FaissStore.drop
    monkeypatch.setattr(FaissStore, "drop", lambda store: (dropped.append("faiss"), drop(store))[1])
    with Engine.open(str(shop)) as engine:
        engine.stores.move("faiss")
        assert engine.remove_index() > 0
    assert dropped == ["faiss"]
    assert not (shop / ".fathom").exists()


def test_a_store_says_what_it_is_and_holds(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["store", "test", "-C", str(shop)]) == 0
    assert capsys.readouterr().out.startswith("flat answers\n  points  ")
    assert main(["store", "list", "faiss", "-C", str(shop)]) == 0
    assert capsys.readouterr().out == "faiss holds no project\n"
    assert main(["store", "move", "faiss", "-q", "-C", str(shop)]) == 0
    capsys.readouterr()
    assert main(["store", "list", "-C", str(shop)]) == 0
    assert capsys.readouterr().out.endswith("  this project\n")
    assert main(["store", "test", "--json", "-C", str(shop)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["state"]["index"] == "IndexFlatIP"
    assert said["projects"] == {said["project"]: said["state"]["points"]}


def test_a_server_is_tested_filled_and_cleared(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From nothing to a move: with the key from the environment, and an error that names the remedy."""
    before = hits(shop), hits(shop, "vector")
    with served(KEY) as server:
        target = server.url.replace("http", "qdrant")
        assert main(["store", "test", target, "-C", str(shop)]) == 2
        assert "set QDRANT_API_KEY" in capsys.readouterr().err
        monkeypatch.setenv("QDRANT_API_KEY", KEY)
        assert main(["store", "test", target, "-C", str(shop)]) == 0
        assert "codefathom (not made yet)" in capsys.readouterr().out
        assert main(["store", "init", target, "-C", str(shop)]) == 0
        assert "payload_indexes" in capsys.readouterr().out
        assert main(["store", "move", "--to", target, "-C", str(shop)]) == 0
        assert (hits(shop), hits(shop, "vector")) == before
        other = shop.parent / "other"
        shutil.copytree(SHOP, other)
        with Engine.open(str(other)) as engine:
            engine.index()
            engine.stores.move(target)
            names = list(engine.stores.state().projects)
        assert len(names) == 2
        capsys.readouterr()
        (gone,) = (name for name in names if name.startswith("other-"))
        assert main(["store", "remove", target, "--project", gone, "-C", str(shop)]) == 0
        assert main(["store", "list", "-C", str(shop)]) == 0
        assert gone not in capsys.readouterr().out.removeprefix(f"removed {gone}")
        assert main(["store", "remove", target, "--project", "nobody", "-C", str(shop)]) == 2
        assert "has no project 'nobody'" in capsys.readouterr().err
        server.stop()
        assert main(["store", "test", "-C", str(shop)]) == 2
        assert "cannot be reached" in capsys.readouterr().err
        assert (hits(shop), hits(shop, "vector")) == before  # the catalogue answers


def test_a_folder_of_qdrant_is_the_users_own(shop: Path, tmp_path: Path) -> None:
    before = hits(shop), hits(shop, "vector")
    with Engine.open(str(shop)) as engine:
        engine.stores.move(f"qdrant://{tmp_path}/qdrant")
    assert (tmp_path / "qdrant").is_dir()
    assert (hits(shop), hits(shop, "vector")) == before


def test_a_store_can_be_made_before_there_is_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FATHOM_STATE_DIR", str(tmp_path / "state"))
    shutil.copytree(SHOP, tmp_path / "new")
    (tmp_path / "new" / "fathom.toml").touch()
    with served() as server:
        target = server.url.replace("http", "qdrant")
        at = ["-C", str(tmp_path / "new")]
        assert main(["store", "init", target, *at]) == 0
        assert main(["index", "--set", "store.vectors=qdrant", "--set", f"store.url={server.url}", *at]) == 0
        capsys.readouterr()
        assert main(["store", "list", target, *at]) == 0
    assert "new-" in capsys.readouterr().out


def test_a_store_that_cannot_compare_all_may_miss_some(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Chroma, whose index is approximate whatever `store.exact` says: one of ten nearest is no difference."""
    candidates = FaissStore.candidates

    def without_the_third(store: FaissStore, vector: bytes, n: int, within: Within) -> list[tuple[int, float]]:
        named = candidates(store, vector, n, within)
        return named[:2] + named[3:]

    monkeypatch.setattr(FaissStore, "candidates", without_the_third)
    with Engine.open(str(shop)) as engine, pytest.raises(MismatchError, match="names 13 rows of 14"):
        engine.stores.move("faiss")
    monkeypatch.setattr(FaissStore, "is_exact", False)
    with Engine.open(str(shop)) as engine:
        report = engine.stores.move("faiss")
    assert (report.problem, report.same) == ("", 0.9)
