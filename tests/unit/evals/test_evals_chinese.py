from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest
from evals.benchmark import CHINESE, HERE, Corpus, Question
from evals.chinese import PARTS, Pair, Scored, ask, development_pairs, main, pairs, table
from evals.metrics import Scores, Target

SET_K = {
    row["name"]
    for row in json.loads((HERE.parent / "training/order_sources.json").read_text(encoding="utf-8"))
    if row["split"] == "K"
}


def test_our_questions_are_many_and_mostly_without_latin_letters() -> None:
    ours = pairs()
    assert len(ours) >= 200
    assert 2 * sum(not one.has_latin for one in ours) >= len(ours)
    assert len({one.chinese for one in ours}) == len({one.english for one in ours}) == len(ours)
    assert all(one.english.isascii() and not one.chinese.isascii() for one in ours)


def test_they_ask_repositories_that_decide_nothing_else() -> None:
    repositories = sorted({one.repository for one in pairs()}, key=str.lower)
    assert len(repositories) >= 12
    assert set(repositories) <= SET_K
    parts = {(one.repository, one.part) for one in pairs()}
    assert parts == {(name, PARTS[number % 2]) for number, name in enumerate(repositories)}


def test_their_files_are_paths_inside_a_tree() -> None:
    paths = [PurePosixPath(target.path) for one in pairs() for target in one.targets]
    assert len(paths) >= len(pairs())
    assert [path for path in paths if path.is_absolute() or ".." in path.parts] == []


def test_the_table_compares_means_over_repositories() -> None:
    def scored(repository: str, chinese: str, ndcg: float) -> Scored:
        pair = Pair(repository, "tuned", chinese, "a question", (Target("a.py"),))
        return Scored(pair, Scores(ndcg, 1.0, ndcg, ndcg), Scores(1.0, 1.0, 1.0, 1.0))

    text = table("tuned", [scored("a/a", "缓存", 0.0), scored("a/a", "缓存 cache", 1.0), scored("b/b", "缓存", 1.0)])
    rows = text.splitlines()
    assert rows[2] == "| all | 3 | 0.750 | 0.750 | 1.000 | 1.000 | 75.0% |"
    assert rows[3] == "| without Latin letters | 2 | 0.500 | 0.500 | 1.000 | 1.000 | 50.0% |"


def test_a_development_wording_stands_beside_its_english_question() -> None:
    one, other = (Target("a.py"),), (Target("b.py"),)
    questions = (
        Question("where is the cache", "semantic", one),
        Question("where is the queue", "semantic", other),
        Question("队列在哪里", CHINESE, other),
    )
    found = list(development_pairs(Corpus("small", "python", Path(), "", questions)))
    assert [(pair.english, pair.chinese, pair.targets) for pair in found] == [
        ("where is the queue", "队列在哪里", other)
    ]


def test_both_questions_are_asked_of_the_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_INDEX_DIR", str(tmp_path / "index"))
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "cache.py").write_text("def clear_cache():\n    '''Clear the cache.'''\n", encoding="utf-8")
    (tree / "mail.py").write_text("def send_mail():\n    '''Send a mail.'''\n", encoding="utf-8")
    pair = Pair("small", "tuned", "清空缓存", "clear the cache", (Target("cache.py"),))
    (scored,) = ask(tree, [pair])
    assert (scored.chinese.first, scored.english.first) == (1.0, 1.0)


def test_a_folder_of_trees_or_the_development_benchmark_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--index", "somewhere"])
    assert "--trees" in capsys.readouterr().err
