"""The measure of documents: which headings are asked, and how a document that comes second counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from evals.headings import headings, measured, report, sample

from codefathom import Engine


def project(root: Path) -> Path:
    root.mkdir()
    (root / "guide.md").write_text(
        "# Guide\n\n## Run behind a reverse proxy\n\nSet the header.\n\n## How to ask a question\n\nWrite one.\n"
    )
    (root / "other.md").write_text("# How to ask a question\n\nWrite one.\n\n## Größe of a large folder\n\nMuch.\n")
    (root / "CHANGELOG.md").write_text("# What changed in this version\n\nMuch.\n")
    (root / "proxy.py").write_text("def reverse_proxy(header):\n    return header\n")
    return root


def test_headings_of_one_document_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("INDEX_DIR", "CACHE_DIR"):
        monkeypatch.setenv(f"FATHOM_{name}", str(tmp_path / name))
    root = project(tmp_path / "project")
    with Engine.open(str(root)) as engine:
        engine.index()
        assert headings(engine) == [("Run behind a reverse proxy", "guide.md")]
    (outcome,) = measured(root)
    assert (outcome.repository, outcome.heading, outcome.path) == (
        "project",
        *("Run behind a reverse proxy", "guide.md"),
    )
    assert outcome.scores.ndcg > 0
    assert (outcome.first == "guide.md") == (outcome.scores.first == 1)
    second = outcome._replace(scores=outcome.scores._replace(ndcg=0.5, first=0.0))
    perfect = outcome._replace(scores=outcome.scores._replace(ndcg=1.0, first=1.0))
    assert list(report([perfect, second]))[-1] == "| 2 | 0.750 | 0.500 |"


def test_the_sample_is_the_same_each_time() -> None:
    found = [(f"heading number {place} of all", "a.md") for place in range(40)]
    assert sample(found, 15) == sample(found, 15) != found[:15]
    assert sorted(sample(found, 99)) == sorted(found)
