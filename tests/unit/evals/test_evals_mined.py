"""The page on questions from history: the repositories kept apart, each tool on the same questions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from evals import mined  # noqa: E402
from evals.benchmark import Corpus, Question  # noqa: E402
from evals.metrics import Found, Scores, Target  # noqa: E402
from evals.run import Run, Scored  # noqa: E402
from evals.worker import Answer, Outcome  # noqa: E402


def test_the_repositories_of_a_split_come_with_their_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = [{"name": f"owner/{split}", "language": "go", "split": split} for split in ("K", "learn")]
    (tmp_path / "manifest.json").write_text(json.dumps(sources))
    monkeypatch.setattr(mined, "MANIFEST", tmp_path / "manifest.json")
    (tmp_path / "owner+K" / "tree").mkdir(parents=True)
    row = {"kind": "commit", "text": "Close it\u2028now", "paths": ["a.go", "b.go"]}
    (tmp_path / "owner+K" / "questions.jsonl").write_text(json.dumps(row, ensure_ascii=False), "utf-8")
    (corpus,) = mined.corpora(tmp_path, mined.KEPT_APART)
    assert (corpus.name, corpus.language, corpus.source) == ("owner/K", "go", tmp_path / "owner+K" / "tree")
    (question,) = corpus.questions
    assert (question.text, question.category) == ("Close it\u2028now", "commit")
    assert [target.path for target in question.targets] == ["a.go", "b.go"]


QUESTIONS = (
    Question("a", mined.ISSUE, (Target("a.py"),)),
    Question("b", mined.ISSUE, (Target("b.py"),)),
    Question("c", mined.ISSUE, (Target("c.py"), Target("d.py"))),
    Question("d", "doc", (Target("a.py"),)),
)


def test_the_page_tells_how_early_files_of_issues_come() -> None:
    places = [
        ["/trees/one/a.py"],
        ["x.py", "x.py", "y.py", "b.py"],
        ["1.py", "2.py", "3.py", "4.py", "5.py", "d.py"],
        ["a.py"],
    ]
    answers = tuple(
        Answer(question.text, tuple(map(Found, paths)), (1.0,))
        for question, paths in zip(QUESTIONS, places, strict=True)
    )
    outcome = Outcome("one", answers, None, None, None, None, None, None)
    page = mined.page([Run("fathom", "", "", None, (outcome,), ())], [Corpus("one", "go", Path(), "", QUESTIONS)])
    assert (
        "| fathom | 50.0 | 100.0 | 100.0 | 0.0 |" in page
    )  # one file is at the third place, one of several at the sixth


def test_the_page_compares_tools_by_kind_and_by_language() -> None:
    def run(tool: str, ndcg: float) -> Run:
        scored = tuple(
            Scored(corpus, language, kind, "question", Scores(ndcg, 1.0, ndcg, 1.0))
            for corpus, language in (("one", "go"), ("two", "ruby"))
            for kind in ("commit", "doc")
        )
        outcomes = tuple(Outcome(name, (), None, None, None, None, None, None) for name in ("one", "two"))
        return Run(tool, f"{tool} 1", "", None, outcomes, scored)

    page = mined.page([run("fathom", 0.75), run("semble", 0.5)], [])
    assert "4 questions about 2 repositories" in page
    assert "| kind of question | questions | fathom | first | semble | first |" in page
    assert "| all | 4 | 0.750 | 0.750 | 0.500 | 0.500 |" in page
    assert {
        name: f"| {name} | 2 | 0.750 | 0.750 | 0.500 | 0.500 |" in page for name in ("commit", "doc", "go", "ruby")
    } == {
        "commit": True,
        "doc": True,
        "go": True,
        "ruby": True,
    }
