"""A hit names a kind and a name that belong together: those of one symbol that lies in the place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.shapes import search_shape
from codefathom.types import FUNCTION_KINDS, Level, SearchResult

REPOS = Path(__file__).parents[1] / "repos"
OUTSIDE = {"block", "file"}  # kinds of places that show no symbol


@pytest.fixture(params=["shop", "depot"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, own_folders: None) -> Iterator[Engine]:
    root = tmp_path / request.param
    shutil.copytree(REPOS / request.param, root)
    (root / "fathom.toml").touch()
    # A small class above larger functions, and several kinds of definitions in few lines.
    (root / "mixed.py").write_text(
        "LIMIT = 3\n\n\nclass TinyError(Exception):\n    pass\n\n\n"
        "def first_helper(value):\n    total = 0\n    for n in range(value):\n        total += n\n    return total\n\n"
        "def second_helper(value):\n    if value > LIMIT:\n        raise TinyError(value)\n    return value\n"
    )
    with Engine.open(str(root)) as opened:
        opened.index()
        yield opened


def pairs_at(engine: Engine, hit: dict[str, Any]) -> set[tuple[str, str]]:
    """Return kind and name of each symbol that shares lines with a hit."""
    symbols = engine.opened.catalog.symbols_of(hit["path"])
    touching = [one for one in symbols if one.start_line <= hit["end_line"] and one.end_line >= hit["start_line"]]
    return {(one.kind, one.qualified_name) for one in touching}


def hits_of(result: SearchResult) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = search_shape(result)["hits"]
    return hits


def questions(engine: Engine) -> list[str]:
    """Return a question for each symbol of the project, and some in plain words."""
    names = {one.symbol.name for one in engine.symbols(limit=1_000)}
    return [*sorted(names)[:60], "where are prices made", "raise an error", "read a file", "TinyError", "limit"]


@pytest.mark.parametrize("level", ["chunk", "symbol", "function", "file"])
def test_the_kind_is_that_of_the_name(engine: Engine, level: Level) -> None:
    n_named = 0
    for question in questions(engine):
        for hit in hits_of(engine.search(question, level=level, limit=50)):
            if hit["name"]:
                n_named += 1
                assert (hit["kind"], hit["name"]) in pairs_at(engine, hit), (question, hit["path"])
            else:
                assert hit["kind"] in OUTSIDE, (question, hit)
    assert n_named > 50 or level == "file"


def test_all_of_the_project_at_once(engine: Engine) -> None:
    for document in engine.opened.catalog.documents():
        for hit in hits_of(engine.search(f"@{document.path}", limit=1_000)):
            assert not hit["name"] or (hit["kind"], hit["name"]) in pairs_at(engine, hit), hit


@pytest.mark.parametrize("kind", ["class", "function", "method", "section"])
def test_a_filter_of_kinds_shows_symbols_of_these(engine: Engine, kind: str) -> None:
    kinds = {
        hit["kind"] for hit in hits_of(engine.search("error value", where=parse_filter(f"kind = {kind}"), limit=99))
    }
    assert kinds <= {kind}


def test_the_class_above_larger_functions(engine: Engine) -> None:
    (hit, *_) = hits_of(engine.search("TinyError"))
    assert (hit["path"], hit["kind"], hit["name"]) == ("mixed.py", "class", "TinyError")
    (hit, *_) = hits_of(engine.search("second_helper"))
    assert (hit["path"], hit["kind"], hit["name"]) == ("mixed.py", "function", "second_helper")
    assert "function" in FUNCTION_KINDS
