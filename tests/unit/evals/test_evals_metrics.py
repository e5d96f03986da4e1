"""The figures of the benchmark: by hand, and equal to the reference scorer where that is at hand."""

from __future__ import annotations

import importlib.util
import math
import os
import random
from pathlib import Path
from types import ModuleType

import pytest
from evals.benchmark import development
from evals.metrics import Found, Scores, Target, mean_of_groups, percentile, same_file, score
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[3]
BENCH = Path(os.environ.get("BENCH_DIR") or ROOT.parent / "shared" / "bench")
SECOND = 1 / math.log2(3)


@pytest.mark.parametrize(
    ("found", "targets", "expected"),
    [
        ([], [Target("a.py")], Scores(0, 0, 0, 0)),
        ([Found("a.py")], [], Scores(0, 0, 0, 0)),
        ([Found("a.py")], [Target("a.py")], Scores(1, 1, 1, 1)),
        ([Found("b.py"), Found("a.py")], [Target("a.py")], Scores(SECOND, 1, 0, 0.5)),
        # Places of one file are not joined: the second target has rank 3.
        (
            [Found("a.py", 1, 5), Found("a.py", 6, 9), Found("b.py")],
            [Target("a.py"), Target("b.py")],
            Scores((1 + 0.5) / (1 + SECOND), 1, 1, 1),
        ),
        # One place meets both targets: it gains once, and the ideal has two places.
        ([Found("a.py", 1, 9)], [Target("a.py", 1, 3), Target("a.py", 5, 7)], Scores(1 / (1 + SECOND), 1, 1, 1)),
        # What is found after ten places counts for nothing.
        ([Found(f"{n}.py") for n in range(10)] + [Found("a.py")], [Target("a.py")], Scores(0, 0, 0, 0)),
    ],
)
def test_score(found: list[Found], targets: list[Target], expected: Scores) -> None:
    assert score(found, targets) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("place", "target", "is_met"),
    [
        (Found("a.py", 1, 4), Target("a.py", 5, 9), False),
        (Found("a.py", 1, 5), Target("a.py", 5, 9), True),
        (Found("a.py", 9, 20), Target("a.py", 5, 9), True),
        (Found("a.py", 10, 20), Target("a.py", 5, 9), False),
        (Found("a.py"), Target("a.py", 5, 9), True),
        (Found("a.py", 100, 200), Target("a.py"), True),
        (Found("b.py", 5, 9), Target("a.py", 5, 9), False),
    ],
)
def test_lines_count_where_both_name_them(place: Found, target: Target, is_met: bool) -> None:
    assert score([place], [target]).recall == is_met


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("src/a.py", "a.py", True),
        ("a.py", "/somewhere/src/a.py", True),
        ("src\\a.py", "src/a.py", True),
        ("src/aa.py", "a.py", False),
        ("src/a.py", "lib/a.py", False),
        ("a.py/x", "a.py", False),
    ],
)
def test_a_path_may_begin_further_down(one: str, other: str, same: bool) -> None:
    assert same_file(one, other) is same_file(other, one) is same


def test_each_group_weighs_the_same() -> None:
    rows = [("a", 1.0), ("a", 0.0), ("a", 0.5), ("b", 1.0)]
    assert mean_of_groups(rows, lambda row: row[0], lambda row: row[1]) == 0.75


@pytest.mark.parametrize(("percent", "expected"), [(0, 1), (50, 2.5), (95, 3.85), (100, 4)])
def test_percentile_lies_between_neighbours(percent: float, expected: float) -> None:
    assert percentile([4, 1, 3, 2], percent) == pytest.approx(expected)
    assert percentile([], percent) == 0


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    if not (BENCH / "evaluate.py").exists():
        pytest.skip("the development benchmark is not here; BENCH_DIR names it")
    spec = importlib.util.spec_from_file_location("reference", BENCH / "evaluate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


paths = st.sampled_from(["a.py", "src/a.py", "lib/src/a.py", "b.py", "src/b.py", "xa.py", "src\\b.py"])
spans = st.one_of(
    st.just((None, None)), st.tuples(st.integers(1, 20), st.integers(0, 9)).map(lambda at: (at[0], at[0] + at[1]))
)
places = st.tuples(paths, spans).map(lambda place: (place[0], *place[1]))


@settings(max_examples=100)
@given(found=st.lists(places, max_size=14), targets=st.lists(places, max_size=12))
def test_a_question_scores_as_in_the_reference(
    reference: ModuleType, found: list[tuple[str, int | None, int | None]], targets: list[tuple[str, int, int]]
) -> None:
    theirs = reference.score_query(found, targets, 10)
    ours = score([Found(*place) for place in found], [Target(*target) for target in targets])
    expected = [theirs[name] for name in ("ndcg10", "recall10", "hit1", "mrr")]
    assert ours == pytest.approx(expected)


@given(st.lists(st.floats(0, 1000), max_size=20), st.integers(0, 100))
def test_percentiles_are_those_of_the_reference(reference: ModuleType, values: list[float], percent: int) -> None:
    assert percentile(values, percent) == pytest.approx(reference.pct(values, percent))


def test_a_whole_run_scores_as_in_the_reference(reference: ModuleType, tmp_path: Path) -> None:
    for spec in reference.load_specs().values():
        (tmp_path / spec["name"] / (spec.get("benchmark_root") or "")).mkdir(parents=True)
    chance = random.Random(7)
    answers: dict[str, dict[str, list[Found]]] = {}
    rows = []
    for corpus in development(BENCH, tmp_path):
        known = [target for question in corpus.questions for target in question.targets]
        for question in corpus.questions:
            if question.category == "Chinese wording":
                continue
            found = [
                Found(target.path, line := chance.randint(1, 900), line + 60) for target in chance.choices(known, k=9)
            ]
            answers.setdefault(corpus.name, {})[question.text] = found
            rows.append((corpus.name, score(found, question.targets)))
    theirs = reference.score(answers)["macro"]
    ours = [mean_of_groups(rows, lambda row: row[0], lambda row, n=n: row[1][n]) for n in range(4)]
    assert ours == pytest.approx([theirs[name] for name in ("ndcg10", "recall10", "hit1", "mrr")])
    assert 0.05 < ours[0] < 0.95
