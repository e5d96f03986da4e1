"""Fewer rounds: several places at once, folders, names that other tools have, and mistakes with a way out of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.e2e.test_mcp import answers, call

from codefathom.answer.tokens import estimate
from codefathom.engine import Engine


@pytest.fixture
def indexed(shop: Path) -> Path:
    (shop / "long.py").write_text("".join(f"value_{n} = {n}\n" for n in range(2_000)))
    with Engine.open(str(shop)) as engine:
        engine.index()
    return shop


def text_of(result: dict) -> str:
    return result["content"][0]["text"]


def test_several_places_are_read_at_once(indexed: Path) -> None:
    places = ["shop/pricing.py:6-8", "README.md", "nowhere.py", "long.py"]
    calls = [call(most, "read", paths=places, max_tokens=most) for most in (200, 400, 2_000, 20_000)]
    calls.append(call(1, "read", path=places))
    calls.append(call(2, "read", path="README.md", paths=["shop/pricing.py"], projects=[str(indexed)]))
    found = answers(indexed, *calls)
    for most in (200, 400, 2_000, 20_000):
        result = found[most]["result"]
        content = result["structuredContent"]
        assert estimate(text_of(result)) <= most
        assert estimate(json.dumps(content, ensure_ascii=False)) <= most
        assert [place["path"] for place in content["places"]] == places_shown(places)[: len(content["places"])]
        assert len(content["places"]) + content["left_out"] == len(places)
    whole = found[20_000]["result"]["structuredContent"]["places"]
    assert (whole[0]["start_line"], whole[0]["end_line"]) == (6, 8)
    assert whole[2]["problem"] == "no such file in the index: 'nowhere.py'"
    assert whole[3]["left_out"] == 0
    assert found[2_000]["result"]["structuredContent"]["places"][3]["left_out"] > 0
    assert found[1]["result"] == found[2_000]["result"]
    named = found[2]["result"]["structuredContent"]["places"]
    assert {place["path"].rpartition("/")[2] for place in named} >= {"README.md", "pricing.py"}


def places_shown(places: list[str]) -> list[str]:
    return [place.partition(":")[0] for place in places]


def test_a_folder_is_listed(indexed: Path) -> None:
    for n in range(300):
        (indexed / "shop" / f"part_{n}.py").write_text(f"x = {n}\n")
    told = answers(
        indexed,
        call(1, "read", path="."),
        call(2, "read", path=f"{indexed}/shop", max_tokens=20_000),
        call(3, "read", directory="shop/", max_tokens=200),
        call(4, "read", path="shop", projects=[str(indexed)]),
    )
    root, shop, small, named = (told[n]["result"] for n in (1, 2, 3, 4))
    assert any(entry.startswith("shop/ (30") for entry in root["structuredContent"]["entries"])
    assert "README.md (" in text_of(root)
    assert any(entry.startswith("pricing.py (1") for entry in shop["structuredContent"]["entries"])
    assert estimate(text_of(small)) <= 200
    content = small["structuredContent"]
    assert len(content["entries"]) + content["left_out"] == len(shop["structuredContent"]["entries"])
    assert not named["isError"]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("search", {"query": "cents", "path": "web"}, "web/src"),
        ("search", {"q": "cents", "folder": "web", "lang": "typescript"}, "web/src"),
        ("search", {"query": "cents", "glob": "*.ts"}, "web/src"),
        ("search", {"pattern": "cents", "path": "web", "glob": ["*.ts", "*.py"]}, "web/src"),
        ("search", {"query": "cents", "dir": "web", "num_results": 1}, "web/src"),
        ("read", {"file": "shop/pricing.py", "line": 11}, "def discount"),
        ("read", {"files": ["shop/pricing.py:11"]}, "def discount"),
        ("related", {"symbol": "total_cents"}, "shop/orders.py"),
        ("related", {"name": "@@total_cents"}, "shop/orders.py"),
        ("related", {"file": "shop/pricing.py"}, "shop/orders.py"),
        ("map", {"task": "change how prices are made", "directory": "shop"}, "shop/pricing.py"),
    ],
)
def test_names_that_other_tools_have_are_understood(indexed: Path, tool: str, arguments: dict, text: str) -> None:
    result = answers(indexed, call(1, tool, **arguments))[1]["result"]
    assert not result["isError"], result
    assert text in text_of(result)
    if "glob" in arguments or "path" in arguments:
        assert "shop/pricing.py" not in text_of(result)


@pytest.mark.parametrize("named", [False, True], ids=["here", "by name"])
@pytest.mark.parametrize(
    ("tool", "arguments", "said", "remedy"),
    [
        ("search", {"query": "cents", "paths": ["shpo"]}, "there is no file or folder 'shpo'", "shop"),
        ("search", {"query": "cents", "paths": ["web/scr"]}, "there is no file or folder 'web/scr'", "web/src"),
        ("search", {"query": "cents", "paths": ["zzqq"]}, "there is no file or folder 'zzqq'", "read with path"),
        ("map", {"paths": ["shpo"]}, "there is no file or folder 'shpo'", "shop"),
        ("read", {"path": "pricing.py"}, "no such file", "shop/pricing.py"),
        ("read", {"path": "shop/prices.py"}, "no such file", "shop/pricing.py"),
        ("read", {"path": "zzqq"}, "no such file", "read with path . lists"),
        ("related", {"target": "@@total_cent"}, "no symbol is called 'total_cent'", "@@total_cents"),
        ("related", {"target": "total_cent"}, "no symbol is called 'total_cent'", "@@total_cents"),
        ("related", {"target": "@@zzqq"}, "no symbol is called 'zzqq'", "search with mode symbol"),
        ("search", {"query": "@@zzqq"}, "no symbol is called 'zzqq'", "search with mode symbol"),
    ],
)
def test_a_mistake_names_what_may_be_meant(
    indexed: Path, tool: str, arguments: dict, said: str, remedy: str, named: bool
) -> None:
    projects = {"projects": [str(indexed)]} if named else {}
    result = answers(indexed, call(1, tool, **arguments, **projects))[1]["result"]
    assert result["isError"], result
    assert said in text_of(result)
    assert remedy in text_of(result).partition("Remedy: ")[2]
    assert not re.search(r"`fathom ", text_of(result)), "a remedy that an agent cannot use"


def test_lines_of_several_places_are_written_in_their_paths(indexed: Path) -> None:
    result = answers(indexed, call(1, "read", paths=["README.md", "long.py"], start_line=3))[1]["result"]
    assert result["isError"]
    assert "path:10-40" in text_of(result)
    assert "path is missing" in text_of(answers(indexed, call(1, "read"))[1]["result"])
