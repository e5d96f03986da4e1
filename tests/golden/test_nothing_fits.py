"""Questions that nothing here answers: a short list and a warning, or a refusal, never a heap of unrelated files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

NONSENSE = ["zzqqxx", "how to bake bread", "quantum chromodynamics of zebras", "如何烤面包"]


@pytest.mark.parametrize("question", NONSENSE)
@pytest.mark.parametrize("command", ["context", "ask"])
def test_no_files_and_no_answer(run: Run, indexed: Path, command: str, question: str) -> None:
    refused = run([command, question], indexed)
    assert refused.code == 1
    assert "shop/" not in refused.out
    assert "--anyway" in refused.err

    nearest = run([command, "--anyway", question], indexed)
    assert (nearest.code, "shop/" in nearest.out) == (0, True)


@pytest.mark.parametrize("question", NONSENSE)
def test_a_search_shows_a_short_list(run: Run, indexed: Path, question: str) -> None:
    short = run(["search", question], indexed)
    assert "weak: most likely nothing here answers this" in short.err
    assert 1 <= n_hits(short.out) <= 3
    everything = run(["search", "--anyway", question], indexed)
    assert n_hits(everything.out) > (3 if " " in question else 1)
    assert "weak: " in everything.err


def n_hits(text: str) -> int:
    return sum(1 for line in text.splitlines() if line[:1].strip() and ":" in line)


def test_json_says_that_it_is_weak(run: Run, indexed: Path) -> None:
    assert json.loads(run(["search", "--json", "zzqqxx"], indexed).out)["weak"] is True
    files = json.loads(run(["context", "--json", "zzqqxx"], indexed).out)
    assert (files["weak"], files["files"], files["n_tokens"]) == (True, [], 0)
    answer = json.loads(run(["ask", "--json", "zzqqxx"], indexed).out)
    assert (answer["label"], answer["sources"]) == ("low", [])


@pytest.mark.parametrize(
    "question",
    [
        "where are orders priced",
        "how do customers sign in",
        "gitignore",
        "who calls total_cents",
        "价格在哪里计算",
        "@shop/orders.py price",
    ],
)
def test_what_is_here_is_given(run: Run, indexed: Path, question: str) -> None:
    for command in ("search", "ask"):
        assert run([command, question], indexed).code == 0


def test_a_weak_context_is_short(run: Run, indexed: Path) -> None:
    weak = json.loads(run(["context", "--json", "--max-files", "10", "migration of a database schema"], indexed).out)
    assert weak["weak"] is True
    assert 1 <= len(weak["files"]) <= 3
    assert any(note.startswith("weak: ") for note in weak["degraded"])


@pytest.mark.parametrize("question", ["What is this project for?", "这个项目是做什么的？"])
def test_the_project_as_a_whole_is_told_from_an_overview(run: Run, indexed: Path, question: str) -> None:
    result = json.loads(run(["search", "--json", question], indexed).out)
    assert (result["hits"][0]["path"], result["weak"], result["plan"]["route"]) == ("README.md", False, "answer")
    assert result["hits"][0]["reason"] == "tells what the project is for"
    paths = [hit["path"] for hit in result["hits"]]
    assert any(path.endswith("__init__.py") for path in paths)
    assert not any(path.startswith(("tests/", "docs/")) for path in paths)
    scores = [hit["score"] for hit in result["hits"]]
    assert scores == sorted(scores, reverse=True)

    answer = run(["ask", question], indexed)
    assert answer.code == 0
    assert "A very small web shop" in answer.out

    kept = json.loads(run(["search", "--json", "--lang", "python", question], indexed).out)
    assert {hit["language"] for hit in kept["hits"]} == {"python"}
