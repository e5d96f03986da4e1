"""A question that nobody waits for any more ends: nothing is looked at after the moment at which that was seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path

import pytest

from codefathom import Engine, Federation
from codefathom.askers.side_by_side import outcomes
from codefathom.errors import StoppedError
from codefathom.system.stopping import check_stopped, stop_test, stopping

SHOP = Path(__file__).parents[2] / "repos" / "shop"


class Leaver:
    """Somebody who leaves after having been asked so many times whether he still waits."""

    def __init__(self, patience: float = float("inf")) -> None:
        self.n_asked = 0
        self._patience = patience

    def __call__(self) -> bool:
        self.n_asked += 1
        return self.n_asked > self._patience


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / "fathom.toml").touch()
    with Engine.open(str(tmp_path / "shop")) as engine:
        engine.index()
        yield engine


@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector", "symbol", "regex"])
def test_a_search_ends_at_the_stage_at_which_nobody_waits(engine: Engine, mode: str) -> None:
    stayer = Leaver()
    with stopping(stayer):
        assert engine.search("price", mode=mode).hits  # type: ignore[arg-type]
    assert stayer.n_asked >= 4  # between its stages
    for patience in range(stayer.n_asked):
        leaver = Leaver(patience)
        with stopping(leaver), pytest.raises(StoppedError):
            engine.search("price", mode=mode)  # type: ignore[arg-type]
        assert leaver.n_asked == patience + 1  # nobody was asked again: nothing went on


def test_an_expression_is_not_looked_for_in_the_files_after_that(engine: Engine) -> None:
    words, expression = Leaver(), Leaver()
    with stopping(words):
        engine.search("price", mode="lexical")
    with stopping(expression):
        engine.search("p.i.e", mode="regex")
    assert expression.n_asked - words.n_asked >= engine.status().n_documents - 2  # once for each file


def test_what_a_search_indexes_first_ends_as_well(engine: Engine) -> None:
    (Path(engine.root) / "fresh.py").write_text("def fresh():\n    return 1\n")
    before = engine.generation
    with Engine.open(engine.root) as other:
        with stopping(Leaver(0)), pytest.raises(StoppedError):
            other.search("fresh")
        with other.opened.writing():  # the lock is free again
            pass
        assert other.search("fresh").hits[0].chunk.path == "fresh.py"
    assert engine.generation > before


def test_a_question_to_several_ends_in_all_of_them(engine: Engine) -> None:
    federation = Federation({"one": engine, "two": engine})
    with stopping(Leaver(3)), pytest.raises(StoppedError):
        federation.search("price")


def test_the_caller_belongs_to_the_context() -> None:
    assert stop_test() is None
    check_stopped()
    with stopping(lambda: True):
        with pytest.raises(StoppedError):
            check_stopped()
        with stopping(lambda: False):
            check_stopped()
        with pytest.raises(StoppedError):  # also in the threads that ask several
            outcomes(lambda _: check_stopped(), {"a": 1, "b": 2})
        inside = copy_context()
    check_stopped()
    with pytest.raises(StoppedError):
        inside.run(check_stopped)
