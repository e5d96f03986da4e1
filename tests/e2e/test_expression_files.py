"""An expression with a word in it reads the files with that word, and finds what reading all files finds."""

from __future__ import annotations

import random
import shutil
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.counted import Steps, TwoProjects, counting, two_projects

from codefathom import Engine
from codefathom.errors import UsageError

FEW, MANY = 60, 240  # files
_WORDS = "parse_query parseQuery Parse query_ __init__ self.path İstanbul ſelf Kelvin naïve 漢字query x² if in".split()  # noqa: SIM905
_BLOB = "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=90_000))
EXPRESSIONS = [
    *(r"parse_query", r"\bquery\b", r"(?i)PARSE", r"(?i)self", r"(?i)istanbul", r"(?i)kelvin", r"__init__"),
    *(r"\bx\b", r"x", r"query_?\n", r"\bif\b|\bin\b", r"parse\w*\s+\w*query", r"(?<=self\.)path", r"^query"),
    *(r"query$", r"na.ve", r"\d+", f"{_BLOB[300:310]}", f"{_BLOB[41_000:41_008]}.", r"漢字query", r"字"),
    *(
        r"zebra",
        r"last line\Z",
        r"[pq]u?arse",
        r"[A-Z]{3}\d",
        r"[a-z]{5}[A-Z]\w",
        r"\d{3}\b",
        r"[0-9a-f]{4}",
        r"_[a-z]{4}",
    ),
    *(r"(?i)[A-Z]{5}_", r"[a-z]{2}arse", r"[a-zA-Z0-9]{9}_", r"\b[a-z]{4}\b", r"[A-Z][a-z]{4}"),
]


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Engine]]:
    """A project with words of all kinds, one long line and one file that is cut inside its words; and its copy without
    lists of terms, where all files are read."""
    folder, chance = tmp_path_factory.mktemp("words") / "project", random.Random(3)
    folder.mkdir()
    for number in range(40):
        lines = (" ".join(chance.choices(_WORDS, k=chance.randrange(6))) for _ in range(chance.randrange(1, 90)))
        (folder / f"file{number}.py").write_text("\n".join(lines), encoding="utf-8")
    (folder / "blob.txt").write_text(f"data = {_BLOB}\n")
    (folder / "long.txt").write_text(f"id = {_BLOB[500:600]}parse_query\nlast line")
    copy = tmp_path_factory.mktemp("copy") / "project"
    shutil.copytree(folder, copy)
    for root in (folder, copy):
        with Engine.open(root) as engine:
            engine.index()
    for lists in copy.glob(".fathom/lexical/*/terms.*"):
        lists.unlink()
    with Engine.open(folder) as engine, Engine.open(copy) as reads_all:
        yield engine, reads_all


def places(engine: Engine, expression: str) -> list[tuple[str, int, int, int]]:
    result = engine.search(expression, mode="regex", limit=10_000)
    assert not result.degraded
    return [(hit.chunk.path, hit.chunk.start_line, hit.line, hit.column) for hit in result.hits]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_finds_what_reading_all_files_finds(engines: tuple[Engine, Engine], expression: str) -> None:
    engine, reads_all = engines
    assert places(engine, expression) == places(reads_all, expression)


_PIECES = st.sampled_from(
    [
        *(*_WORDS, "par", "se", "_", r"\w{0,3}", r"\s", r"\b", "[pq]", "[a-z]", r"\d", "[A-Z]{2}", ".", "(?:ue|arse)"),
        *("i", "|", "?", "(?i:"),
    ]
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(pieces=st.lists(_PIECES, min_size=1, max_size=6))
def test_any_expression_finds_the_same(engines: tuple[Engine, Engine], pieces: list[str]) -> None:
    engine, reads_all = engines
    expression = "".join(pieces) + ")" * pieces.count("(?i:")
    try:
        expected = places(reads_all, expression)
    except UsageError:
        return
    assert places(engine, expression) == expected


def write(folder: Path, n_files: int) -> None:
    """Write files of ten chunks and more, two of which have the word."""
    for number in range(n_files):
        lines = "\n".join(f"def function{line}_of{number}(value):\n    return value + {line}\n" for line in range(120))
        (folder / f"file{number}.py").write_text(lines + ("\nzebra_crossing = 1\n" if number in (3, 7) else "\n"))


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> TwoProjects:
    return two_projects(tmp_path_factory, (FEW, MANY), write, search)


def search(folder: Path) -> list[str]:
    with Engine.open(folder) as engine:
        return [hit.chunk.path for hit in engine.search(r"zebra_\w+ = \d", mode="regex").hits]


def test_files_without_the_word_are_not_read(projects: TwoProjects, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (steps_of_search(folder, monkeypatch) for folder in projects)
    # The path of each file, and no row of its text: to read those of one file takes more than a hundred steps.
    assert many.n_steps - few.n_steps <= 20 * (MANY - FEW)


def steps_of_search(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    with counting(monkeypatch) as steps:
        assert search(folder) == ["file3.py", "file7.py"]
    return steps


def test_files_without_a_word_of_such_letters_are_not_read(projects: TwoProjects) -> None:
    with Engine.open(projects[0]) as engine:
        assert engine.search(r"[a-z]{5}_[a-z]{8}", mode="regex").plan.why == (
            "2 of 60 files were read, because the others lack words or signs that each match has"
        )


def test_the_answer_says_how_many_files_were_read(projects: TwoProjects) -> None:
    with Engine.open(projects[0]) as engine:
        assert engine.search(r"zebra_\w+ = \d", mode="regex").plan.why == (
            "2 of 60 files were read, because the others lack words or signs that each match has"
        )
        assert engine.search(r"\w+ \+ \d", mode="regex").plan.why == (
            "all 60 files were read, because each of them may hold a match"
        )
        assert engine.search(r"zebra_\w+ = \d").plan.why.startswith("it reads as a regular expression; 2 of 60 files")
