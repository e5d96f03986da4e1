"""A model's grades move the best candidates, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.errors import ProviderError, SettingsError
from codefathom.providers.base import Reranker
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.rerank import Unusable, WeightedReranker
from codefathom.search.ranking.signals import Candidate
from codefathom.types import Chunk


class Grades:
    """Gives the grades it was given, and remembers what it was shown."""

    name = "grades"

    def __init__(self, *grades: float) -> None:
        self.grades = list(grades)
        self.shown: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.shown += [question, *texts]
        return self.grades[: len(texts)]


class Broken:
    name = "broken"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        raise ProviderError("the server is away")


def ranked(*scores: float) -> list[RankedCandidate]:
    return [
        RankedCandidate(
            Candidate(key, Chunk(f"c{key}", f"f{key}.py", "python", "block", "", (), 1, 1, f"text {key}")),
            score,
            {"lexical": score},
        )
        for key, score in enumerate(scores)
    ]


def keys(items: Sequence[RankedCandidate]) -> list[int]:
    return [item.candidate.key for item in items]


def apply(model: Reranker, scores: Sequence[float], *, depth: int = 20, weight: float = 0.5) -> list[RankedCandidate]:
    reranked = WeightedReranker(model, depth, weight).apply("a question", ranked(*scores))
    assert reranked.problem is None
    return list(reranked.ranked)


def test_all_of_the_weight_orders_by_the_grades_alone() -> None:
    assert keys(apply(Grades(0.1, 0.9, 0.5), [0.9, 0.8, 0.7], weight=1.0)) == [1, 2, 0]


def test_none_of_the_weight_changes_nothing() -> None:
    reranked = apply(Grades(0.1, 0.9, 0.5), [0.9, 0.8, 0.7], weight=0.0)
    assert keys(reranked) == [0, 1, 2]
    assert [item.score for item in reranked] == pytest.approx([0.9, 0.8, 0.7])


def test_both_count_by_their_weight() -> None:
    # Scaled: 1, 0.75, 0 of the ranking and 0, 1, 0.5 of the model.
    reranked = apply(Grades(-4.0, 4.0, 0.0), [0.9, 0.85, 0.7])
    assert keys(reranked) == [1, 0, 2]
    assert [item.score for item in reranked] == pytest.approx([0.875, 0.8, 0.75])


def test_what_is_not_read_stays_below() -> None:
    model = Grades(0.0, 1.0)
    reranked = apply(model, [0.9, 0.8, 0.8, 0.1], depth=2, weight=1.0)
    assert keys(reranked) == [1, 0, 2, 3]
    assert [item.score for item in reranked] == pytest.approx([0.9, 0.8, 0.8, 0.1])
    assert model.shown == ["a question", "f0.py\ntext 0", "f1.py\ntext 1"]


def test_the_grade_is_a_signal_of_what_was_read() -> None:
    reranked = apply(Grades(0.25, 0.75), [0.9, 0.8, 0.1], depth=2)
    assert {item.candidate.key: dict(item.signals) for item in reranked} == {
        0: {"lexical": 0.9, "rerank": 0.25},
        1: {"lexical": 0.8, "rerank": 0.75},
        2: {"lexical": 0.1},
    }


def test_equal_grades_leave_the_order() -> None:
    assert keys(apply(Grades(0.5, 0.5, 0.5), [0.9, 0.9, 0.7], weight=1.0)) == [0, 1, 2]


@pytest.mark.parametrize("model", [Broken(), Unusable("onnx:x", SettingsError("the server is away"))])
def test_a_model_that_fails_leaves_the_ranking(model: Reranker) -> None:
    before = ranked(0.9, 0.8)
    reranked = WeightedReranker(model).apply("a question", before)
    assert (reranked.ranked, str(reranked.problem)) == (before, "not reranked: the server is away")


@pytest.mark.parametrize(("scores", "question"), [([], "q"), ([0.9], "q"), ([0.9, 0.8], " ")])
def test_nothing_to_order_is_not_asked_for(scores: list[float], question: str) -> None:
    model = Grades(1.0, 1.0)
    assert keys(WeightedReranker(model).apply(question, ranked(*scores)).ranked) == list(range(len(scores)))
    assert model.shown == []


NUMBERS = st.floats(0.0, 1.0)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(NUMBERS, st.floats(-50, 50)), max_size=8), st.integers(1, 8), NUMBERS)
def test_it_is_always_an_order_of_the_same(pairs: list[tuple[float, float]], depth: int, weight: float) -> None:
    scores = sorted((score for score, _ in pairs), reverse=True)
    reranked = (
        WeightedReranker(Grades(*(grade for _, grade in pairs)), depth, weight).apply("q", ranked(*scores)).ranked
    )
    assert sorted(keys(reranked)) == list(range(len(pairs)))
    new = [item.score for item in reranked]
    assert (
        new == sorted(new, reverse=True) or max(abs(x - y) for x, y in zip(new, sorted(new)[::-1], strict=True)) < 1e-9
    )
    assert all(scores[-1] - 1e-9 <= score <= scores[0] + 1e-9 for score in new)
    assert keys(reranked)[depth:] == list(range(depth, len(pairs)))
