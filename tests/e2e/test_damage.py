"""Damage to an index is found, named and repaired: by `fathom index`, and by `fathom doctor --fix`."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest
from evals.damage import ORDER, Trial, rows, run
from evals.damaging import SHARES
from tests.packed_texts import with_text_functions

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import DamagedError
from codefathom.types import SearchResult

SHOP = Path(__file__).parents[1] / "repos" / "shop"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(SHOP, tmp_path / "project")
    with Engine.open(str(tmp_path / "project")) as engine:
        engine.index()
    return tmp_path / "project"


@pytest.fixture
def at_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


def the(project: Path, pattern: str) -> Path:
    (found,) = (project / ".fathom").glob(pattern)
    return found


def overwrite(file: Path, place: int, content: bytes) -> None:
    """Change bytes of a file; its size and its time stamp stay."""
    status = file.stat()
    with open(file, "r+b") as target:
        target.seek(place)
        target.write(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def damage_vectors(project: Path) -> None:
    file = the(project, "vectors-*/vectors.bin")
    overwrite(file, file.stat().st_size - 2_000, bytes(range(200)))


def damage_words(project: Path) -> None:
    file = the(project, "lexical/*/*.fieldnorm")
    overwrite(file, 0, bytes(byte ^ 7 for byte in file.read_bytes()[:40]))


def damage_lines(project: Path) -> None:
    """Change a bit in the packed text of a chunk, as a stray write would: SQLite sees nothing."""
    file = project / ".fathom" / "catalog.db"
    with with_text_functions(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        query = "SELECT packed FROM chunks WHERE instr(TEXT_OF(packed), 'def price') LIMIT 1"
        (packed,) = db.execute(query).fetchone()
    db.close()
    middle = len(packed) // 2
    overwrite(file, file.read_bytes().index(packed) + middle, bytes([packed[middle] ^ 16]))


def damage_hash(project: Path) -> None:
    """Change what no checksum of a row covers."""
    file = project / ".fathom" / "catalog.db"
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db:
        (digest,) = db.execute("SELECT text_hash FROM chunks ORDER BY key LIMIT 1").fetchone()
    db.close()
    overwrite(file, file.read_bytes().index(digest), bytes(15))


def damage_statement(project: Path) -> None:
    """Change a byte of a statement that made a table: SQLite repeats it in a message that is no UTF-8 then."""
    file = project / ".fathom" / "catalog.db"
    overwrite(file, file.read_bytes().index(b"CREATE TABLE ") + 8, b"\xc3")


def answers(project: Path, **options: object) -> list[object]:
    with Engine.open(str(project)) as engine:
        return [
            [(hit.chunk, round(hit.score, 6)) for hit in engine.search(query, mode=mode, **options).hits]  # type: ignore[arg-type]
            for query in ("how is a price made", "order total", "discount")
            for mode in ("hybrid", "vector", "lexical")
        ]


def test_a_damaged_statement_has_the_index_made_anew(at_project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = answers(at_project)
    damage_statement(at_project)
    assert main(["search", "how is a price made"]) == 0
    assert "indexed 15 files" in capsys.readouterr().err
    assert answers(at_project) == before


DAMAGES = [damage_vectors, damage_words, damage_lines, damage_hash]


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_next_index_repairs(project: Path, damage: Callable[[Path], None]) -> None:
    before = answers(project)
    damage(project)
    with Engine.open(str(project)) as engine:
        bad = [check for check in engine.doctor() if not check.ok]
        assert [check.name for check in bad] in (["catalogue"], ["views"])
        assert "doctor --fix" in bad[0].hint
        report = engine.index()
        assert report.repaired
        assert all(check.ok for check in engine.doctor())
        assert engine.index().repaired == ()
    assert answers(project) == before


@pytest.mark.parametrize("damage", DAMAGES)
def test_doctor_fix_repairs(at_project: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture) -> None:
    damage(at_project)
    assert main(["doctor"]) == 1
    told = capsys.readouterr().out
    assert "FAIL" in told
    assert "fathom doctor --fix" in told
    assert main(["doctor", "--fix"]) == 0
    assert "FAIL" not in capsys.readouterr().out
    assert main(["doctor"]) == 0


def test_a_search_does_not_write_damage_into_new_files(project: Path) -> None:
    """One that takes in a changed file writes vectors anew and merges files of words: without what is wrong in them."""
    before = answers(project)
    for damage in (damage_vectors, damage_words):
        damage(project)
        (project / "new.py").write_text("def brand_new_function():\n    return 'marker'\n")
        assert answers(project)
        (project / "new.py").unlink()
        assert answers(project) == before


def test_lines_that_differ_are_not_shown_and_the_result_says_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    damage_lines(project)
    monkeypatch.setenv("FATHOM_SEARCH__REFRESH", "never")
    with Engine.open(str(project)) as engine:
        results = [engine.search("price", level=level, limit=50) for level in ("chunk", "symbol", "file")]
        for result in results:
            assert not any("prize" in hit.chunk.text for hit in result.hits)
            assert all(hit.chunk.text for hit in result.hits)
            (told,) = result.degraded
            assert "damaged" in told
            assert "fathom index" in told
        answer = engine.ask("how is a price made")
        assert "prize" not in answer.text
        assert any("damaged" in told for told in answer.degraded)
        assert any("damaged" in told for told in engine.status().damage)
        with pytest.raises(DamagedError, match="damaged"):
            list(engine.export("jsonl"))
        with pytest.raises(DamagedError, match="damaged"):
            engine.context("price")
    monkeypatch.chdir(project)
    monkeypatch.delenv("FATHOM_SEARCH__REFRESH")
    # The next command makes the index again.
    assert main(["search", "price"]) == 0
    assert "damaged" not in capsys.readouterr().err


def test_an_open_engine_goes_on_with_what_another_process_has_made_again(project: Path) -> None:
    with Engine.open(str(project)) as engine, Engine.open(str(project)) as other:
        before = engine.search("order total")
        damage_lines(project)
        assert other.index().repaired == ("catalogue",)
        after = engine.search("order total")
        assert [hit.chunk for hit in after.hits] == [hit.chunk for hit in before.hits]
        assert after.degraded == ()


def test_an_old_catalogue_that_is_put_back_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers(project)
    old = (project / ".fathom" / "catalog.db").read_bytes()
    (project / "new.py").write_text("def brand_new_function():\n    return 'marker'\n")
    with Engine.open(str(project)) as engine:
        engine.index()
    (project / ".fathom" / "catalog.db").write_bytes(old)
    (project / "new.py").unlink()
    monkeypatch.setenv("FATHOM_SEARCH__REFRESH", "never")
    with Engine.open(str(project)) as engine:
        assert any("older" in sentence for sentence in engine.status().damage)
        with pytest.raises(DamagedError, match="older"):
            engine.search("order total")
        engine.index()
    assert answers(project) == before


@pytest.mark.parametrize("pattern", ["lexical/state", "vectors-*/vectors.bin"])
def test_a_view_that_is_missing_is_named(project: Path, monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    before = answers(project)
    the(project, pattern).unlink()
    monkeypatch.setenv("FATHOM_SEARCH__REFRESH", "never")
    with Engine.open(str(project)) as engine:
        result: SearchResult = engine.search("order total")
        assert any("missing or damaged" in sentence for sentence in result.degraded)
        assert engine.status().damage
    monkeypatch.delenv("FATHOM_SEARCH__REFRESH")
    assert answers(project) == before


def test_status_says_what_is_damaged(at_project: Path, capsys: pytest.CaptureFixture) -> None:
    catalogue = at_project / ".fathom" / "catalog.db"
    catalogue.write_bytes(catalogue.read_bytes()[:5_000])
    assert main(["status"]) == 0
    told = capsys.readouterr().out
    assert "damaged" in told
    assert "fathom index" in told
    assert main(["index"]) == 0
    assert "repaired: the catalogue" in capsys.readouterr().out
    assert main(["status"]) == 0
    assert "damaged" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda path: path.mkdir(), "it is a folder, not a file"),
        (lambda path: path.write_bytes(b"noise" * 1_000), "it was damaged: file is not a database"),
    ],
)
def test_status_says_why_an_index_was_set_aside(
    at_project: Path, capsys: pytest.CaptureFixture, spoil: Callable[[Path], None], reason: str
) -> None:
    catalog = at_project / ".fathom" / "catalog.db"
    catalog.unlink()
    spoil(catalog)
    main(["status"])
    assert reason in capsys.readouterr().out


def test_an_index_that_is_only_read_is_compared_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be marked, locked or repaired there."""
    damage_vectors(project)
    monkeypatch.setenv("FATHOM_SEARCH__REFRESH", "never")
    folder = project / ".fathom"
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        with Engine.open(str(project)) as engine:
            assert engine.search("order total").hits
            assert not all(check.ok for check in engine.doctor())
    finally:
        for path in [folder, *folder.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)


# ---- random damage


def silent(trials: Iterator[Trial]) -> list[Trial]:
    made = list(trials)
    assert {trial.before for trial in made} <= set(ORDER)
    assert [row[0] for row in rows(made)][-1] == "all"
    return [trial for trial in made if trial.before in ("WRONG", "CRASH") or trial.after]


# Each kind of file, of an index at rest and of a killed run, and each way to change one. The others are like these.
CHOSEN = (0, 2, 3, 4, 5, 7, 8, 9, 11, 12, 16, 23, 25, 27, 36, 40, 47, 54, 55, 57, 58, 59)


def test_random_damage_is_never_silent() -> None:
    made = list(run(CHOSEN, seed=12))
    assert silent(iter(made)) == []
    assert {(trial.state, trial.change.kind) for trial in made} == set(product(("at rest", "killed"), SHARES))


@pytest.mark.long
def test_much_random_damage_is_never_silent() -> None:
    seed = random.randrange(1_000_000)
    assert silent(run(range(1_000), seed, n_processes=2)) == [], f"seed {seed}: see `python -m evals.damage --only`"
