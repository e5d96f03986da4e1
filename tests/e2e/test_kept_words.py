"""Chunks with words that no list has are kept in one piece, and expressions find what reading all files finds."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.counted import counting

from codefathom import Engine
from codefathom.search import expression_files, expression_search, more_words
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores import kept_file
from codefathom.types import SearchResult

N_FILES = 30
LETTERS = string.ascii_letters + string.digits
WORDS = "parse_query Query İstanbul ſelf \u212aelvin 漢字query return raise ValueError( handler_ def".split()  # noqa: SIM905
EXPRESSIONS = [
    *(r"parse_query", r"(?i)self", r"raise ValueError\(", r"def \w+_handler|return$", r"^return", r"\breturn\b.*Query"),
    *(r"\AQuery", r"query\Z", r"(?-m:^return)", r"(?-m:handler_$)", r"return\s+raise", r"(?<=\s)Query", r"[^q]Query"),
    *(r"(?i)kelvin", r"字query", r"x{70}y", r"zz\d{3}", r"long_\w+_end"),
]


@pytest.fixture(autouse=True)
def keep_small_things(monkeypatch: pytest.MonkeyPatch, own_folders: None) -> None:
    monkeypatch.setattr(kept_file, "_LEAST", 1)
    monkeypatch.setattr(more_words, "_FEW_LATER", 3)


def some_text(chance: random.Random) -> str:
    """Return lines of words; some texts have a line or a word that is cut, or no end."""
    lines = [" ".join(chance.choices(WORDS, k=chance.randrange(5))) for _ in range(chance.randrange(1, 60))]
    if chance.random() < 0.3:
        lines.insert(chance.randrange(len(lines)), "long_" + "".join(chance.choices(LETTERS, k=9_000)) + "_end zz123")
    if chance.random() < 0.3:
        lines.insert(chance.randrange(len(lines)), f"{'x' * 70}y parse_query")
    return "\n".join(lines) + chance.choice(["", "\n", "\n", "\n"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root, chance = tmp_path / "project", random.Random(9)
    root.mkdir()
    (root / ".fathom").mkdir()
    for number in range(N_FILES):
        (root / f"part{number:02}.py").write_text(some_text(chance), encoding="utf-8")
    with Engine.open(str(root)) as engine:
        engine.index()
    return root


def asked(engine: Engine, expression: str, where: str = "") -> SearchResult:
    return engine.search(expression, mode="regex", limit=10_000, where=parse_filter(where) if where else None)


def places(engine: Engine, where: str = "") -> list[list[tuple[str, int, int, int, float]]]:
    return [
        [
            (hit.chunk.path, hit.chunk.start_line, hit.line, hit.column, hit.signals["matches"])
            for hit in asked(engine, expression, where).hits
        ]
        for expression in EXPRESSIONS
    ]


def places_in_all(project: Path, monkeypatch: pytest.MonkeyPatch, where: str = "") -> object:
    """Return the places that reading all files finds."""
    with monkeypatch.context() as context, Engine.open(str(project)) as engine:
        context.setattr(expression_search, "candidates_of", lambda *_: None)
        return places(engine, where)


@pytest.mark.parametrize("seed", range(3))
def test_after_any_changes_it_finds_what_reading_all_files_finds(
    project: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    with Engine.open(str(project)) as open_engine:
        for n_changed in (0, 2, 2, 12):
            for number in chance.sample(range(N_FILES), n_changed):
                path = project / f"part{number:02}.py"
                if chance.random() < 0.2:
                    path.unlink(missing_ok=True)
                elif path.exists() and chance.random() < 0.4:  # its chunks keep their keys
                    path.write_text("\n" + path.read_text(encoding="utf-8") + "more", encoding="utf-8")
                else:
                    path.write_text(some_text(chance), encoding="utf-8")
            with Engine.open(str(project)) as engine:
                engine.index()
                narrowed = places(engine)
            assert narrowed == places(open_engine) == places_in_all(project, monkeypatch)


@pytest.mark.parametrize("where", ["path ~ 'part0'", 'text ~ "return"', "lines > 10"])
def test_with_a_filter_it_finds_what_reading_all_files_finds(
    project: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engine.open(str(project)) as engine:
        assert places(engine, where) == places_in_all(project, monkeypatch, where)


def test_many_candidates_are_read_as_files(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine.open(str(project)) as engine:
        expected = places(engine)
        monkeypatch.setattr(expression_files, "_MOST_CHUNKS", 3)
        assert places(engine) == expected


def n_steps(project: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    with Engine.open(str(project)) as engine, counting(monkeypatch) as steps:
        asked(engine, "nothing_has_this_word")
    return steps.n_steps


def test_the_next_process_reads_none_of_these_chunks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = n_steps(project, monkeypatch), n_steps(project, monkeypatch)
    assert (project / ".fathom" / "graph.more").exists()
    assert second < first


@pytest.mark.parametrize("harm", [lambda data: data[:-9], lambda data: data[:90] + b"\x07" + data[91:], lambda _: b""])
def test_damaged_texts_are_read_again(
    project: Path, harm: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / ".fathom" / "graph.more"
    with Engine.open(str(project)) as engine:
        expected = places(engine)
    whole = file.read_bytes()
    file.unlink()
    file.write_bytes(harm(whole))
    with Engine.open(str(project)) as engine:
        assert places(engine) == expected
    assert file.read_bytes() == whole
