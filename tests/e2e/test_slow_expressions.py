"""An expression or a filter that no machine is done with ends, and the result says so: from the terminal and Python."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import AnswerRequest, Engine
from codefathom.cli import main
from codefathom.errors import SlowExpressionError
from codefathom.search.filter.filter_parser import parse_filter

SHOP = Path(__file__).parent.parent / "repos" / "shop"
# Doubles its work with every letter. It reads as an expression, so that the planner takes it for one.
ENDLESS = "(a|a)+$"
VICTIM = f"text = '{'a' * 60}!'\nlast = 'a'  # aaa\n"
FILTER = f'text ~ "{ENDLESS}"'
QUESTION = "where are orders priced"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("FATHOM_SEARCH__EXPRESSION_TIMEOUT_S", "0.5")
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    (tmp_path / "shop" / "victim.py").write_text(VICTIM)
    (tmp_path / "shop" / "zebra.txt").write_text("a line\nthat ends with aaa\n")
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with Engine.open(str(shop)) as opened:
        yield opened


@pytest.mark.parametrize("mode", ["regex", "auto"])
def test_an_expression_finds_what_it_can_and_says_what_was_left(engine: Engine, mode: str) -> None:
    result = engine.search(ENDLESS, mode=mode)  # type: ignore[arg-type]  # both are modes
    assert result.mode == "regex"
    assert "zebra.txt" in {hit.chunk.path for hit in result.hits}, "one file does not take the time of all"
    [said] = [text for text in result.degraded if repr(ENDLESS) in text]
    assert "1 file was not searched to the end" in said
    assert "search.expression_timeout_s" in said


def test_a_filter_that_is_not_decided_is_an_error(engine: Engine) -> None:
    where = parse_filter(FILTER)
    for ask in (
        lambda: engine.search(QUESTION, where=where),
        lambda: engine.context(QUESTION, where=where),
        lambda: engine.ask(AnswerRequest(QUESTION, where)),
    ):
        with pytest.raises(SlowExpressionError, match="takes too long") as caught:
            ask()
        assert "search.expression_timeout_s" in caught.value.hint
    assert engine.search(QUESTION).hits, "the catalogue is sound"
    assert all(check.ok for check in engine.doctor() if check.name == "catalogue")


def test_a_negated_filter_lets_nothing_pass_undecided(engine: Engine) -> None:
    with pytest.raises(SlowExpressionError):
        engine.search(QUESTION, where=parse_filter(f'not (text ~ "{ENDLESS}" or path ~ "x")'))


def test_what_a_context_lacks_is_said(engine: Engine) -> None:
    [said] = [text for text in engine.context(ENDLESS).degraded if "takes too long" in text]
    assert repr(ENDLESS) in said


@pytest.mark.parametrize("command", [["search", "--mode", "regex"], ["search"], ["context"], ["ask"]])
def test_on_the_command_line(shop: Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, ENDLESS]) == 0
    out, err = capsys.readouterr()
    assert "takes too long" in err
    assert "zebra.txt" in out


@pytest.mark.parametrize("command", ["search", "context", "ask"])
def test_in_json(shop: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--json", ENDLESS]) == 0
    assert any("takes too long" in text for text in json.loads(capsys.readouterr().out)["degraded"])


@pytest.mark.parametrize("command", ["search", "context", "ask"])
def test_a_filter_on_the_command_line(shop: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--filter", FILTER, QUESTION]) == 2
    err = capsys.readouterr().err
    assert repr(ENDLESS) in err
    assert "search.expression_timeout_s" in err


def test_where_nothing_was_found_in_time_the_ranking_answers_and_says_it(engine: Engine, shop: Path) -> None:
    result = engine.search("(a|a)+[%;]$")  # no word of it could keep it from the file that is slow
    assert result.mode == "hybrid"
    assert any("takes too long" in text for text in result.degraded)
