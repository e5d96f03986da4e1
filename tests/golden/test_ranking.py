"""The first places of questions of many shapes, in ranking.json. UPDATE_GOLDEN=1 writes the places anew.

`answer` is what a person would open first; it is written by hand, and no update changes it. In the shop, all of the
first three places are compared. Codefathom's own source changes with every commit, so there only the first file is.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codefathom import Engine
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.types import Hit

from .conftest import copy_shop

DATA = Path(__file__).parent / "ranking.json"
SOURCE = Path(__file__).parents[2] / "src" / "codefathom"
QUESTIONS: dict[str, list[dict[str, Any]]] = json.loads(DATA.read_text(encoding="utf-8"))
N_PLACES = 3


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """The shop and Codefathom's own source, indexed."""
    own = tmp_path_factory.mktemp("own")
    shutil.copytree(SOURCE, own / "codefathom", ignore=shutil.ignore_patterns("__pycache__", "*.md"))
    (own / ".fathom").mkdir()  # so that the project is this folder, not one further up
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        projects = {"shop": copy_shop(tmp_path_factory.mktemp("shop")), "own": own}
        opened = {name: Engine.open(str(folder)) for name, folder in projects.items()}
        yield opened
        for engine in opened.values():
            engine.close()


def place(hit: Hit) -> str:
    """Path and lines of a hit."""
    return f"{hit.chunk.path}:{hit.chunk.start_line}-{hit.chunk.end_line}"


def found(engine: Engine, case: dict[str, Any]) -> list[Hit]:
    """The first places of one question."""
    where = parse_filter(case["filter"]) if "filter" in case else None
    level, mode = case.get("level", "chunk"), case.get("mode", "hybrid")
    return list(engine.search(case["question"], limit=N_PLACES, level=level, mode=mode, where=where).hits)


def named(case: dict[str, Any]) -> str:
    """A readable name of a case."""
    return " | ".join(str(case[key]) for key in ("question", "level", "mode", "filter") if key in case)


@pytest.mark.parametrize("case", QUESTIONS["own"], ids=named)
def test_what_a_person_would_open_comes_first(case: dict[str, Any], engines: dict[str, Engine]) -> None:
    assert found(engines["own"], case)[0].chunk.path == case["answer"]


@pytest.mark.parametrize("case", QUESTIONS["shop"], ids=named)
def test_the_first_places_in_the_shop(case: dict[str, Any], engines: dict[str, Engine]) -> None:
    places = [place(hit) for hit in found(engines["shop"], case)]
    assert places[0] == case["answer"]
    if os.environ.get("UPDATE_GOLDEN"):
        update(case, places)
    assert places == case["places"], f"UPDATE_GOLDEN=1 pytest {__file__} accepts the new places"


def update(case: dict[str, Any], places: list[str]) -> None:
    """Write the places of one case into the file."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    next(kept for kept in data["shop"] if named(kept) == named(case))["places"] = places
    case["places"] = places
    DATA.write_text(in_lines(data), encoding="utf-8")


def in_lines(data: dict[str, list[dict[str, Any]]]) -> str:
    """The cases as JSON, one a line."""
    groups = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]"
        for name, cases in data.items()
    ]
    return "{" + ",\n".join(groups) + "}\n"


def test_the_file_is_as_an_update_writes_it() -> None:
    assert DATA.read_text(encoding="utf-8") == in_lines(QUESTIONS)


def test_no_question_stands_twice() -> None:
    names = [named(case) for cases in QUESTIONS.values() for case in cases]
    assert len(set(names)) == len(names)
