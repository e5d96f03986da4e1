"""The planner at work: in the engine, on the command line, and with the mode that a user gives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.cli import main
from codefathom.errors import UsageError
from codefathom.search.filter.filter_parser import parse_filter

SHOP = Path(__file__).parent.parent / "repos" / "shop"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    shutil.copytree(SHOP, tmp_path / "shop")
    (tmp_path / "shop" / ".fathom").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


@pytest.fixture
def engine(shop: Path) -> Iterator[Engine]:
    with Engine.open(shop) as opened:
        yield opened


def test_who_calls_is_answered_by_the_calls(engine: Engine) -> None:
    result = engine.search("who calls total_cents")
    assert (result.mode, result.plan.route) == ("graph", "graph")
    assert result.plan.why == "it asks what calls total_cents"
    assert [hit.chunk.path for hit in result.hits] == ["shop/orders.py"]
    [hit] = result.hits
    assert "total_cents(self.items)" in hit.chunk.text.split("\n")[hit.line - hit.chunk.start_line]
    assert hit.reason == "calls it"
    assert result.confidence == 1.0
    assert not result.weak


def test_what_a_file_imports_and_who_imports_it(engine: Engine) -> None:
    imported = engine.search("what does shop/orders.py import")
    assert {hit.chunk.path for hit in imported.hits} == {"shop/pricing.py", "shop/store/database.py"}
    importing = engine.search("which files import shop/pricing.py")
    assert [hit.chunk.path for hit in importing.hits] == ["shop/orders.py"]


def test_in_chinese(engine: Engine) -> None:
    assert [hit.chunk.path for hit in engine.search("谁调用了 password_digest?").hits] == ["shop/accounts.py"]


def test_a_test_that_calls_comes_last(engine: Engine, shop: Path) -> None:
    (shop / "tests").mkdir()
    tests = "".join(f"\n\ndef test_total_{n}():\n    assert total_cents([]) == 0\n" for n in range(3))
    (shop / "tests" / "test_pricing.py").write_text(f"from shop.pricing import total_cents\n{tests}")
    engine.index()
    result = engine.search("callers of total_cents")
    # Though the test calls it three times, and the code once.
    assert [hit.chunk.path for hit in result.hits] == ["shop/orders.py", "tests/test_pricing.py"]
    assert [hit.reason for hit in result.hits] == ["calls it", "calls it 3 times"]


def test_a_filter_holds_for_connections(engine: Engine) -> None:
    result = engine.search("who uses Database", where=parse_filter("path ~ 'orders'"))
    assert {hit.chunk.path for hit in result.hits} == {"shop/orders.py"}


def test_an_expression_is_matched(engine: Engine) -> None:
    result = engine.search(r"def \w+_cents\(")
    assert (result.mode, result.plan.route, result.confidence) == ("regex", "regex", 1.0)
    assert [hit.chunk.path for hit in result.hits] == ["shop/pricing.py"]


def test_what_finds_nothing_is_looked_for_by_words_and_says_so(engine: Engine) -> None:
    uncalled = engine.search("who calls place")
    assert (uncalled.mode, uncalled.plan.route) == ("hybrid", "graph")
    assert uncalled.plan.why == "it asks what calls place, but nothing was found that way"
    assert uncalled.hits
    unmatched = engine.search(r"price_\w+_of_order")
    assert (unmatched.mode, unmatched.plan.route) == ("hybrid", "regex")
    assert unmatched.hits


def test_a_mode_overrules_the_plan(engine: Engine) -> None:
    result = engine.search("who calls total_cents", mode="hybrid")
    assert (result.mode, result.plan.route, result.plan.why) == ("hybrid", "semantic", "")
    assert result.hits[0].chunk.path == "shop/pricing.py"
    assert [hit.chunk.path for hit in engine.search("total_cents", mode="graph").hits] == ["shop/orders.py"]


def test_a_module_is_named_as_code_names_it(engine: Engine) -> None:
    result = engine.search("who imports shop.pricing")
    assert (result.plan.route, result.plan.why) == ("graph", "it asks what imports shop.pricing")
    assert [hit.chunk.path for hit in result.hits] == [
        hit.chunk.path for hit in engine.search("who imports shop/pricing.py").hits
    ]
    assert engine.search("who imports shop.nothing").mode == "hybrid"


def test_what_is_a_symbol_and_a_module_is_called_as_the_symbol(tmp_path: Path) -> None:
    (tmp_path / "Shop").mkdir()
    (tmp_path / "Shop" / "Cart.php").write_text("<?php\nnamespace Shop;\n\nclass Cart\n{\n}\n")
    (tmp_path / "main.php").write_text("<?php\nuse Shop\\Cart;\n\nfunction main() { return new Cart(); }\n")
    with Engine.open(tmp_path) as opened:
        for question in ("who calls Shop\\Cart", "who imports Shop\\Cart"):
            result = opened.search(question)
            assert (result.mode, [hit.chunk.path for hit in result.hits]) == ("graph", ["main.php"])
        assert {edge.kind for edge in opened.related("Shop.Cart").edges} >= {"called by"}


def test_mode_graph_needs_a_name_that_is_here(engine: Engine) -> None:
    with pytest.raises(UsageError, match="no symbol is called 'nobody'"):
        engine.search("nobody", mode="graph")


def test_the_line_that_says_how(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "who calls total_cents"]) == 0
    shown = capsys.readouterr()
    assert "graph: it asks what calls total_cents; --mode chooses another way" in shown.err
    assert "calls it" in shown.out
    assert main(["search", "order price"]) == 0
    assert "semantic" not in capsys.readouterr().err
    assert main(["search", "--mode", "regex", "total_.*"]) == 0
    assert "regex:" not in capsys.readouterr().err


def test_json_holds_the_plan(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--json", "total_cents"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["mode"] == "hybrid"
    assert shown["plan"] == {
        "route": "symbol",
        "why": "total_cents is defined here; definitions come first",
        "kept_to": "",
        "why_parts": [{"kind": "defined_here", "values": {"name": "total_cents"}}],
    }


def test_a_question_needs_no_command(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["who calls total_cents"]) == 0
    assert "calls it" in capsys.readouterr().out
    assert main(["--json", "how is the price of an order computed"]) == 0
    assert json.loads(capsys.readouterr().out)["question"] == "how is the price of an order computed"
    assert main(["serch"]) == 2
    assert "'serch' is not a command" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["shop/pricing.py", "pricing.py", "shop.pricing", "@shop/pricing.py"])
def test_a_target_of_related_is_a_path_its_end_or_a_module(
    shop: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    assert main(["related", "--json", target]) == 0
    assert json.loads(capsys.readouterr().out)["target"] == "shop/pricing.py"
    assert main(["related", f"{target}x"]) == 2
    assert "not in the index" in capsys.readouterr().err
