from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from evals.heads import LEVELS, Outcome, TypeName, measured, report, sample, set_k

from codefathom.types import Symbol

DEPOT = Path(__file__).parents[2] / "repos" / "depot"


def named(name: str) -> TypeName:
    return TypeName(name, "a.py", (Symbol("class", name, name, 1, 2, 1),), has_namesakes=name == "B")


def test_the_types_of_a_repository_are_searched_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INDEX_DIR", "CACHE_DIR"):
        monkeypatch.setenv(f"FATHOM_{name}", str(tmp_path / name))
    root = tmp_path / "owner+depot" / "tree"
    shutil.copytree(DEPOT, root)
    outcomes = {one.type_name.name: one for one in measured(root)}
    assert set(outcomes) == {"Crate", "Parcel", "Label", "LabelPrinter", "Pallet", "Ledger"}
    assert {one.repository for one in outcomes.values()} == {"owner+depot"}
    assert all(one.is_head[level] for one in outcomes.values() for level in LEVELS)
    assert {name for name, one in outcomes.items() if not one.type_name.has_namesakes} == {"LabelPrinter"}
    assert outcomes["Label"].places["symbol"].startswith("csharp/Label.cs:7-")


def test_a_sample_is_even() -> None:
    names = [named(name) for name in "ABCDEFGH"]
    assert [one.name for one in sample(names, 4)] == ["A", "C", "E", "G"]
    assert sample(names, 9) == names
    assert sample([], 4) == []


def test_the_report_is_a_table_of_means_over_repositories() -> None:
    outcomes = [
        Outcome("one", named("A"), {"chunk": True, "symbol": True}, {}),
        Outcome("one", named("B"), {"chunk": False, "symbol": True}, {}),
        Outcome("two", named("C"), {"chunk": True, "symbol": False}, {}),
    ]
    assert list(report(outcomes))[2:] == ["| all types | 3 | 0.750 | 0.500 |", "| with namesakes | 1 | 0.000 | 1.000 |"]


def test_set_k_are_the_repositories_that_no_decision_is_based_on(tmp_path: Path) -> None:
    trees = set_k(tmp_path)
    assert tmp_path / "google+re2" / "tree" in trees
    assert tmp_path / "gabime+spdlog" / "tree" not in trees
