"""Several processes find what one finds; all have ended when the search has, and one that dies is an error."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from tests.packed_texts import with_text_functions

from codefathom import Engine
from codefathom.errors import IndexingError, StoppedError
from codefathom.search.expression_trial import Match, Trial, try_on
from codefathom.search.expression_workers import ExpressionTask, tried_together
from codefathom.stores.catalog.catalog import Catalog
from codefathom.system.stopping import stopping
from codefathom.text.expressions import compiled, deadline

_N_FILES, _FILES_OF_PART = 60, 7
_LIMIT_S = 60.0


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workers") / "project"
    folder.mkdir()
    for number in range(_N_FILES):
        lines = [f"value_{line} = [{line}] * {number};{'!?' * (line % 3)}" for line in range(number * 3)]
        (folder / f"file{number:02}.py").write_text("\n".join(lines))
    (folder / "slow.py").write_text(f"text = '{'a' * 60}!'\n")
    with Engine.open(folder) as engine:
        engine.index()
    return folder / ".fathom" / "catalog.db"


@pytest.fixture
def catalog(index: Path) -> Iterator[Catalog]:
    opened = Catalog.open(str(index), read_only=True)
    before = set(threading.enumerate())
    yield opened
    opened.close()
    # The thread of a process ends with it.
    assert set(threading.enumerate()) <= before


def matched(
    catalog: Catalog, written: str, n_workers: int, allowed: Collection[int] | None = None, limit_s: float = _LIMIT_S
) -> tuple[list[Match], int, list[int]]:
    """Return the matches, the number of files that were cut short, and the number of files in each part read here."""
    paths, here = catalog.paths(), []
    parts = [paths[start : start + _FILES_OF_PART] for start in range(0, len(paths), _FILES_OF_PART)]
    with deadline(limit_s) as running:

        def tried(part: list[str]) -> Trial:
            here.append(len(part))
            return try_on(part, compiled(written), catalog, allowed, running)

        source = catalog.source()
        assert source is not None
        task = ExpressionTask(source.file, written, allowed, limit_s)
        trials = list(tried_together(parts, tried, task, n_workers, running)) if n_workers else list(map(tried, parts))
    assert len(trials) == len(parts)
    return [match for trial in trials for match in trial.matches], sum(trial.n_cut for trial in trials), here


@pytest.mark.parametrize("written", [r"(?m)^value_\d+", r"\s+v", r"[!?]{2,}", r"\A.", r"nowhere", "", r"(?s)\].*\Z"])
def test_several_processes_find_what_one_finds(catalog: Catalog, written: str) -> None:
    assert matched(catalog, written, 2)[:2] == matched(catalog, written, 0)[:2]


def test_only_allowed_chunks_count(catalog: Catalog) -> None:
    allowed = set(catalog.keys_of(catalog.paths()[20:40]))
    matches = matched(catalog, r"\[", 2, allowed)[0]
    assert matches == matched(catalog, r"\[", 0, allowed)[0]
    assert {match.key for match in matches} <= allowed


def test_an_expression_without_end_is_cut_short_in_each_process(catalog: Catalog) -> None:
    matches, n_cut, _ = matched(catalog, r"(?m)(a|a)+$|\[1\]", 2, limit_s=1.0)
    assert n_cut == 1
    assert {match.chunk.path for match in matches} >= {"file02.py", "file59.py"}


def test_time_that_other_processes_spend_is_counted(catalog: Catalog) -> None:
    with deadline(_LIMIT_S) as running:
        source = catalog.source()
        assert source is not None
        task = ExpressionTask(source.file, r"\[\d", None, _LIMIT_S)
        parts = [[path] for path in catalog.paths()]
        list(tried_together(parts, lambda part: Trial([], 0), task, 2, running))
        assert running.left_s < _LIMIT_S


def test_a_process_that_dies_is_an_error(catalog: Catalog) -> None:
    with deadline(_LIMIT_S) as running:
        source = catalog.source()
        assert source is not None
        task = ExpressionTask(source.file, "x", None, None)  # type: ignore[arg-type]  # no process can do anything with it
        parts = [[path] for path in catalog.paths()]
        with pytest.raises(IndexingError, match=r"process that searched some of the files has died \(status 1\)"):
            list(tried_together(parts, lambda part: Trial([], 0), task, 1, running))


def test_a_search_that_is_stopped_ends_them(catalog: Catalog) -> None:
    with stopping(lambda: True), pytest.raises(StoppedError):
        matched(catalog, r"\[", 2)


def test_damage_is_noted_whoever_reads_it_and_then_this_process_reads_alone(index: Path, tmp_path: Path) -> None:
    copy = tmp_path / "catalog.db"
    copy.write_bytes(index.read_bytes())
    with with_text_functions(sqlite3.connect(copy)) as db:
        changed = "UPDATE chunks SET kind = 'other' WHERE document_id IN (SELECT id FROM documents WHERE path GLOB ?)"
        assert db.execute(changed, ("file?5.py",)).rowcount
    db.close()
    catalog = Catalog.open(str(copy), read_only=True)
    matches, _, _ = matched(catalog, r"\[", 2)
    damaged = {f"file{tens}5.py" for tens in range(6)}
    assert catalog.soundness.damaged_paths == damaged
    assert not damaged & {match.chunk.path for match in matches}
    again, _, here = matched(catalog, r"\[", 2)  # the file is marked now, and no other process opens it
    assert again == matches
    assert sum(here) >= len(catalog.paths())
    catalog.close()
