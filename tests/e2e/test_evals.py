"""The benchmark in small form: the runner works, and known places of the standard library are found."""

from __future__ import annotations

import json
import re
import shutil
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest
from evals.benchmark import Corpus, MissingCorpusError, development, edited_file, lay, standard_library
from evals.metrics import Found, Scores, Target, mean
from evals.report import headline, page, table
from evals.run import Comparison, Missing, Run, Scored, ToolFailedError, run_tool, run_tools
from evals.trees import copy_tree
from evals.worker import Answer, Outcome

LIBRARY = Path(sysconfig.get_path("stdlib"))


@pytest.fixture(scope="module")
def small_library(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The files that answer the questions, with those that lie beside them in small packages."""
    whole = standard_library()
    folder = tmp_path_factory.mktemp("library")
    names = {target.path for question in whole.questions for target in question.targets}
    packages = {Path(name).parent for name in names if "/" in name}
    beside = {path.relative_to(LIBRARY).as_posix() for package in packages for path in (LIBRARY / package).glob("*.py")}
    for name in sorted(names | beside):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(LIBRARY / name, folder / name)
    return Corpus(whole.name, whole.language, folder, "", whole.questions)


def test_known_places_of_the_standard_library_are_found(small_library: Corpus) -> None:
    before = sorted(small_library.source.rglob("*"))
    run = run_tool("fathom", [small_library], python=sys.executable, repeat=1)
    assert len(run.scored) == len(small_library.questions) >= 25
    assert mean(one.scores.recall for one in run.scored) >= 0.85
    assert mean(one.scores.first for one in run.scored) >= 0.6
    (outcome,) = run.outcomes
    assert outcome.fresh_ms is not None
    assert outcome.process_ms is not None
    assert (outcome.n_bytes or 0) > 100_000
    assert "| recall@10 | " in page(Comparison((run,)))
    assert sorted(small_library.source.rglob("*")) == before


def test_every_expected_file_is_in_this_python() -> None:
    library = standard_library()
    missing = [target.path for question in library.questions for target in question.targets]
    assert [path for path in missing if not (LIBRARY / path).is_file()] == []


def test_a_tool_that_cannot_start_is_named(small_library: Corpus) -> None:
    with pytest.raises(ToolFailedError, match="nothing-like-this"):
        run_tool("nothing-like-this", [small_library], python=sys.executable, repeat=1)


def test_a_tool_that_fails_is_named_on_the_page(small_library: Corpus) -> None:
    measured = run_tools(["nothing-like-this"], [small_library], peer_python=sys.executable, repeat=1)
    assert measured.runs == ()
    ((tool, reason),) = [(one.tool, one.reason) for one in measured.missing]
    assert tool == "nothing-like-this"
    assert reason == "No module named 'evals.adapters.nothing-like-this'"
    text = page(Comparison((run_of("fathom", {"gin": 0.5}, 1.0),), (Missing("semble", "no module"),)))
    assert "\nsemble: not measured (no module)\n" in text


def test_an_interpreter_may_be_named_from_here(
    small_library: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ToolFailedError, match="no interpreter bin/python"):
        run_tool("nothing-like-this", [small_library], python="bin/python", repeat=1)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    with pytest.raises(ToolFailedError, match="No module named"):  # it was started, and the adapter is missing
        run_tool("nothing-like-this", [small_library], python="bin/python", repeat=1)


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    folder = tmp_path / "bench"
    (folder / "annotations").mkdir(parents=True)
    (folder / "repos.json").write_text(json.dumps([{"name": "shop", "language": "go", "benchmark_root": "src"}]))
    items = [
        {"query": "price", "category": "symbol", "relevant": ["src/gone.go", "src/a.go"], "secondary": []},
        {"query": "pay", "category": "semantic", "relevant": [{"path": "src/a.go", "start_line": 2, "end_line": 4}]},
    ]
    (folder / "annotations" / "shop.json").write_text(json.dumps(items))
    (folder / "queries-zh.json").write_text(json.dumps({"shop": {"1": "付款"}}))
    return folder


def test_development_reads_annotations(bench: Path, tmp_path: Path) -> None:
    (tmp_path / "trees" / "shop" / "src").mkdir(parents=True)
    (tmp_path / "trees" / "shop" / "src" / "a.go").write_text("package a\n")
    (corpus,) = development(bench, tmp_path / "trees")
    assert [(question.text, question.category) for question in corpus.questions] == [
        ("price", "symbol"),
        ("pay", "semantic"),
        ("付款", "Chinese wording"),
    ]
    assert corpus.questions[1].targets == corpus.questions[2].targets == (Target("src/a.go", 2, 4),)
    root = lay(corpus, tmp_path / "laid")
    assert edited_file(corpus, root) == "a.go"


def test_development_names_the_tree_that_is_missing(bench: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingCorpusError, match=r"no tree of shop.*BENCH_CORPORA"):
        development(bench, tmp_path)


def run_of(tool: str, ndcg: dict[str, float], index_s: float | None, *, category: str = "symbol") -> Run:
    answer = Answer("price", (Found("a.go", 1, 2),), (1.0, 3.0))
    outcomes = tuple(Outcome(name, (answer,), index_s, index_s, 10, 2_000_000, None, 40.0) for name in ndcg)
    scored = tuple(
        Scored(name, "go", category, "price", Scores(value, value, value, value)) for name, value in ndcg.items()
    )
    return Run(tool, f"{tool} 1", "3.11", 5_000_000, outcomes, scored)


def test_page_compares_tools() -> None:
    ours = run_of("fathom", {"gin": 0.5, "shop": 1.0}, 3.0)
    text = page(Comparison((ours, run_of("semble", {"gin": 0.25, "shop": 0.25}, 2.0))))
    assert "| NDCG@10 | 0.750 | 0.250 |" in text
    assert "| index, all repositories (s) | 6.0 | 4.0 |" in text
    assert "| index, elapsed time (times that of semble) | 1.50 | 1.00 |" in text
    assert "| query p50 (ms) | 2.00 | 2.00 |" in text
    assert "| changed file → found, mean (ms) | – | – |" in text
    assert "| index on disk (MB) | 4 | 4 |" in text
    assert "| go | 2 | 0.750 | 0.250 |" in text
    assert "Python's standard library" not in text


def test_page_works_without_semble_and_index() -> None:
    text = page(Comparison((run_of("ripgrep", {"gin": 0.5}, None),)))
    assert "| index, all repositories (s) | – |" in text
    assert "| index, elapsed time (times that of semble) | – |" in text
    assert "| goal |" not in text


def test_the_published_figure_needs_all_repositories() -> None:
    few, all_of_them = ({str(n): 0.5 for n in range(n_corpora)} for n_corpora in (20, 21))
    assert "0.851" not in page(Comparison((run_of("semble", few, 1.0),)))
    assert "0.851" in page(Comparison((run_of("semble", all_of_them, 1.0),)))
    assert "0.851" not in page(Comparison((run_of("fathom", all_of_them, 1.0),)))


def test_goals_are_judged_by_the_run() -> None:
    ours = run_of("fathom", {"gin": 0.9}, 3.0)
    text = page(Comparison((ours, run_of("semble", {"gin": 0.5}, 1.0))), {"acc@5": 63.06, "hit@5": 93.7})
    assert "| NDCG@10 ≥ 0.9 | 0.900 | met |" in text
    assert "| index, processor time (times that of semble) ≤ 1.5 | 3.00 | missed |" in text
    assert "| issues, all files among the first five (%) ≥ 72 | 63.1 | missed |" in text
    assert "| issues, a file among the first five (%) ≥ 90 | 93.7 | met |" in text
    assert "| whole `search` command (ms) ≤ 350 | 40 | met |" in text
    assert "architecture" not in text  # nobody asked
    alone = page(Comparison((ours,)))
    assert "processor time (times" not in alone
    assert "issues" not in alone
    assert re.search(r"Measured on \d{4}-\d\d-\d\d, (?:commit [0-9a-f]{9}|outside a repository)", alone)


def test_the_headline_is_the_figure_of_the_page() -> None:
    english = run_of("fathom", {"gin": 0.5}, 3.0)
    chinese = run_of("fathom", {"gin": 0.1}, 3.0, category="Chinese wording")
    library = run_of("fathom", {"python-stdlib": 1.0}, 3.0)
    scored = (*english.scored, *chinese.scored, *library.scored)
    run = replace(english, outcomes=(*english.outcomes, *library.outcomes), scored=scored)
    assert headline(run) == 0.5
    assert "| NDCG@10 | 0.500 |" in page(Comparison((run,)))


def test_table_names_columns_first() -> None:
    assert table(("", "a"), [("x", "1")]) == "|  | a |\n| --- | --: |\n| x | 1 |"


def test_a_tree_takes_from_every_root_in_turn(tmp_path: Path) -> None:
    for root, names in {"one": ["a.py", "b.py", "c.bin"], "two": ["d.go", ".hidden/e.go"]}.items():
        for name in names:
            (tmp_path / root / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / root / name).write_text("x")
    roots = [tmp_path / "one", tmp_path / "two"]

    def copied(n_files: int) -> list[str]:
        folder = tmp_path / str(n_files)
        assert copy_tree(roots, folder, n_files) == min(n_files, 3)
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

    assert copied(2) == ["part0/a.py", "part1/d.go"]
    assert copied(3) == ["part0/a.py", "part0/b.py", "part1/d.go"]
    assert copied(5) == ["again1-part0/a.py", "again1-part1/d.go", "part0/a.py", "part0/b.py", "part1/d.go"]
    assert (tmp_path / "5" / "again1-part0" / "a.py").read_text() == "\nx"
    assert copy_tree([], tmp_path / "none", 5) == 0
