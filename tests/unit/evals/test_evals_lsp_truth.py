"""Answers of a language server beside what a compiler says."""

from __future__ import annotations

from pathlib import Path

from evals.editor import At
from evals.lsp_truth import Truth, compared, examples

from codefathom import Engine

LOAD, OTHER = "p `a`/load().", "p `c`/load()."


def test_places_are_right_wrong_or_open(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def load():\n    pass\n")
    (tmp_path / "b.py").write_text("from a import load\n\nload()\nload()\nload()\n")
    with Engine.open(str(tmp_path), is_root=True) as engine:
        engine.index()
    definition, uses = At("a.py", 1, 4), [At("b.py", 1, 14), At("b.py", 3, 0), At("b.py", 9, 0)]
    symbols = {at: frozenset({LOAD}) for at in (definition, *uses)} | {At("b.py", 4, 0): frozenset({OTHER})}
    counts = compared(tmp_path, Truth({LOAD: [definition]}, {LOAD: uses}, symbols), 60)
    assert {kind: len(places) for kind, places in counts.references.items()} == {
        "right": 2,
        "missing": 1,
        "wrong": 1,
        "open": 1,
    }
    assert counts.row() == (tmp_path.name, "1", "3", "2", "0", "1", "3", "0.667", "0.667", "1")
    assert f"references wrong: b.py:4:0 {LOAD}" in list(examples(counts, 1))
