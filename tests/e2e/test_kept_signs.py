"""An expression of signs alone reads only the files that have them, and finds what reading all files finds."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.packed_texts import with_text_functions

from codefathom import Engine
from codefathom.fleet import fleet_run
from codefathom.fleet.fleet import Fleet
from codefathom.search import expression_search
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores import kept_file
from codefathom.system.stopping import stopping
from codefathom.types import SearchResult

N_FILES = 70
EXPRESSIONS = [
    *(r"=>\s*\{", r"\)\s*->", r"\[\]\{", "<<<<", "::<", r"\d+\s*[-+]\s*\d+", r"^\s*\}\s*\)\s*;$", "[!?]{2,}"),
    *(
        r"(?i)k\s*=>",
        r"\}\s+\}",
        r"(?s)!!.*\?\?",
        r"(?<=\))\s*;",
        r"\+\+(?!;)",
        r"é=>",
        r"\w->",
        r"\A;;",
        r"(!!|\?\?)\Z",
    ),
]
RARE = r"=>\s*\{"  # in two files of the project


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(expression_search, "LEAST_FILES", 3)


def some_text(chance: random.Random) -> str:
    pieces = [*"=><-+!?:;.,(){}[]", "\n", "\n", " ", "\u3000", "k", "K", "\u212a", "é", "漢", "12", "name", "\u0663"]
    return "".join(chance.choices(pieces, k=chance.randrange(1, 400)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / ".fathom").mkdir()
    for number in range(N_FILES):
        (root / f"part{number:02}.py").write_text(f"value = ({number}, [{number}])\n")
    for number in (3, 40):
        (root / f"part{number:02}.py").write_text("first =>\n{\n  second\n}\n")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


def asked(engine: Engine, expression: str) -> SearchResult:
    return engine.search(expression, mode="regex", limit=10_000)


def places(engine: Engine, expression: str) -> list[tuple[str, int, int, int]]:
    return [(hit.chunk.path, hit.chunk.start_line, hit.line, hit.column) for hit in asked(engine, expression).hits]


def read(engine: Engine, expression: str = RARE) -> str:
    """Return how many files were read."""
    return asked(engine, expression).plan.why.partition(" files")[0]


def test_the_second_expression_reads_the_files_with_its_signs(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        assert read(engine, r"\]\s*\)") == f"all {N_FILES}"
        assert read(engine) == f"2 of {N_FILES}"
    with Engine.open(str(project)) as engine:
        assert read(engine) == f"2 of {N_FILES}"
        assert [place[0] for place in places(engine, RARE)] == ["part03.py", "part40.py"]
        assert read(engine, "<<<<") == f"0 of {N_FILES}"
        assert read(engine, ";|=") == f"all {N_FILES}"


def test_files_that_were_written_later_are_read(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        read(engine)
        (project / "part05.py").write_text("other => {}\n")
        (project / "part03.py").unlink()
        (project / "part06.py").write_text("nothing\n")
        (project / "new.py").write_text("new =>{\n")
        engine.index()
        assert read(engine) == f"4 of {N_FILES}"
        assert [place[0] for place in places(engine, RARE)] == ["new.py", "part05.py", "part40.py"]
    with Engine.open(str(project)) as engine:
        assert read(engine) == f"4 of {N_FILES}"


@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_it_finds_what_reading_all_files_finds(
    project: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        for number in chance.sample(range(N_FILES), 12):
            path = project / f"part{number:02}.py"
            if chance.random() < 0.2:
                path.unlink(missing_ok=True)
            else:
                path.write_text(some_text(chance), encoding="utf-8")
        with Engine.open(str(project)) as engine:
            engine.index()
            narrowed = [places(engine, expression) for expression in (*EXPRESSIONS, *EXPRESSIONS[:2])]
        with monkeypatch.context() as context, Engine.open(str(project)) as engine:
            context.setattr(expression_search, "LEAST_FILES", 1_000)
            assert narrowed == [places(engine, expression) for expression in (*EXPRESSIONS, *EXPRESSIONS[:2])]


@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: data[:90] + b"\x07" + data[91:], lambda _: b""])
def test_a_damaged_table_is_made_again(project: Path, harm: Callable[[bytes], bytes]) -> None:
    with Engine.open(str(project)) as engine:
        read(engine)
    file = project / ".fathom" / "graph.signs"
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(harm(whole))
    with Engine.open(str(project)) as engine:
        assert read(engine) == f"all {N_FILES}"
        assert read(engine) == f"2 of {N_FILES}"
    assert file.read_bytes() == whole


def test_nothing_is_kept_of_a_catalogue_with_damaged_rows(project: Path) -> None:
    with with_text_functions(sqlite3.connect(project / ".fathom" / "catalog.db")) as db:
        assert db.execute("UPDATE chunks SET kind = 'other' WHERE key = 5").rowcount
    db.close()
    with Engine.open(str(project)) as engine:
        first = asked(engine, RARE)
        assert first.degraded
        assert read(engine) == f"all {N_FILES}"
    assert not (project / ".fathom" / "graph.signs").exists()


def test_only_some_files_make_no_table(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.search(RARE, mode="regex", where=parse_filter('text ~ "first"'))
        assert read(engine) == f"all {N_FILES}"


def test_a_fleet_keeps_one_table_for_all_its_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_run, "MOST_BYTES", 1)
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
        for number in range(4):
            (tmp_path / name / f"part{number}.py").write_text(f"{name} {'=> {' if number == 2 else '='} {number}\n")
    with Fleet.make("team") as fleet:
        fleet.add([str(tmp_path / name) for name in ("alpha", "beta")])
        fleet.index()
        for n_read in ("all 8", "2 of 8"):
            with Engine.open(fleet.root) as engine:
                assert read(engine) == n_read
                assert [place[0] for place in places(engine, RARE)] == ["alpha/part2.py", "beta/part2.py"]
        (tmp_path / "beta" / "part1.py").write_text("beta => {\n")
        fleet.index()
        with Engine.open(fleet.root) as engine:
            assert len(places(engine, RARE)) == 3


def test_a_question_with_a_limit_makes_no_table_of_a_large_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be ended before the table is whole, and so may each one after it: a job makes the table."""
    monkeypatch.setattr(expression_search, "_FEW_FILES", 10)
    with Engine.open(str(project)) as engine:
        with stopping(lambda: False):
            assert read(engine) == f"all {N_FILES}"
            assert read(engine) == f"all {N_FILES}"
        engine.read_signs()
        with stopping(lambda: False):
            assert read(engine) == f"2 of {N_FILES}"
            assert [place[0] for place in places(engine, RARE)] == ["part03.py", "part40.py"]


def test_signs_of_a_small_project_are_left_to_its_first_question(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.read_signs()
        assert not (project / ".fathom" / "graph.signs").exists()
        with stopping(lambda: False):
            read(engine)
        assert (project / ".fathom" / "graph.signs").exists()
