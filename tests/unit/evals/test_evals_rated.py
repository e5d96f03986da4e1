"""Ratings of readers as questions: the good ones are asked again, the bad ones listed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from evals.rated import main

from codefathom import Engine

SHOP = Path(__file__).parents[2] / "repos" / "shop"


def rating(verdict: str, *projects: str, path: str = "shop/pricing.py") -> dict[str, Any]:
    place = {"path": path, "start_line": 6, "end_line": 8}
    question, comment = "where is the total of a cart priced?", "Too long."
    said = {"verdict": verdict, "comment": comment, "question": question}
    return {**said, "projects": list(projects), "citations": [place]}


def test_good_ratings_are_asked_again_and_bad_ones_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shop = shutil.copytree(SHOP, tmp_path / "shop")
    with Engine.open(str(shop)) as engine:
        engine.index()
    file = tmp_path / "ratings.json"
    ratings = [rating("good", "shop"), rating("bad", "shop"), rating("good", "shop", "other"), rating("good", "other")]
    file.write_text(json.dumps({"ratings": ratings}), encoding="utf-8")
    with pytest.raises(SystemExit, match="other, shop"):
        main([str(file), "--root", str(shop)])
    assert main([str(file), "--root", str(shop), "--project", "shop"]) == 0
    out = capsys.readouterr().out
    assert "bad: where is the total of a cart priced?\tToo long.\n" in out
    assert "1 rated good: " in out
    assert "recall@10 1.0000" in out
    file.write_text(json.dumps({"ratings": [rating("bad", "shop")]}), encoding="utf-8")
    assert main([str(file), "--root", str(shop)]) == 2
