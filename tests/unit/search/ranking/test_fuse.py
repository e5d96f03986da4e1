"""Fusion: the formulas, the order of equal scores, and lists with nothing to tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.ranking.fuse import Fusion, cut, fuse, fused_sum, reciprocal_rank, scaled, weighted_sum

SIDES = st.lists(st.dictionaries(st.integers(0, 9), st.floats(-5, 5), max_size=6), max_size=3)


def test_reciprocal_rank_is_the_documented_sum() -> None:
    scores = reciprocal_rank([{"a": 9.0, "b": 8.0}, {"c": 0.1, "b": 0.2}], [1.0, 0.5], k=60)
    assert scores == {"a": 1 / 61, "b": 1 / 62 + 0.5 / 61, "c": 0.5 / 62}
    assert list(scores) == ["b", "a", "c"]


def test_without_weights_each_ranking_counts_one() -> None:
    assert reciprocal_rank([{3: 9.0}, {3: 1.0}], k=1) == {3: 1.0}
    assert weighted_sum([{3: 9.0}, {3: 1.0, 4: 0.0}]) == {3: 2.0, 4: 0.0}


def test_equal_scores_have_equal_ranks() -> None:
    assert reciprocal_rank([{1: 7.0, 2: 7.0, 3: 5.0}], k=0) == {1: 1.0, 2: 1.0, 3: 1 / 3}


def test_weighted_sum_scales_each_side_over_its_own_candidates() -> None:
    scores = weighted_sum([{1: 10.0, 2: 20.0, 3: 15.0}, {2: 0.1, 4: 0.9}], [0.6, 0.4])
    assert scores == pytest.approx({2: 0.6, 4: 0.4, 3: 0.3, 1: 0.0})
    assert list(scores) == [2, 4, 3, 1]


@pytest.mark.parametrize("side", [{1: 0.3}, {1: 0.3, 2: 0.3}, {1: 0.0, 2: 0.0}, {1: -2.0}])
def test_a_side_without_preference_gives_all_it_found_one(side: dict[int, float]) -> None:
    assert set(scaled(side).values()) == {1.0}


def test_equal_scores_are_ordered_by_key_whatever_the_order_of_the_sides() -> None:
    assert list(reciprocal_rank([{9: 2.0, 1: 1.0}, {1: 2.0, 9: 1.0}])) == [1, 9]
    assert list(weighted_sum([{"b": 1.0, "a": 1.0}])) == ["a", "b"]


def test_nothing_fuses_to_nothing() -> None:
    assert reciprocal_rank([]) == weighted_sum([]) == weighted_sum([{}, {}], [0.6, 0.4]) == {}


def test_weights_must_fit_the_sides() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        weighted_sum([{1: 1.0}, {2: 1.0}], [1.0])
    with pytest.raises(ValueError, match=r"shorter|longer"):
        reciprocal_rank([{1: 1.0}], [1.0, 2.0])


@given(SIDES)
def test_every_candidate_is_kept_best_first_and_within_the_weights(sides: list[dict[int, float]]) -> None:
    scores = weighted_sum(sides)
    assert set(scores) == {key for side in sides for key in side}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert all(0 <= score <= len(sides) + 1e-9 for score in scores.values())


@given(SIDES.filter(bool))
def test_what_all_rank_first_is_first(sides: list[dict[int, float]]) -> None:
    scores = reciprocal_rank([{**side, 77: 9.0} for side in sides])
    assert next(iter(scores)) == 77
    assert set(scores) == {77, *(key for side in sides for key in side)}


@pytest.mark.parametrize(
    ("scores", "k", "n_kept"),
    [
        ([5, 4, 3, 2], 4, 4),
        ([5, 4, 3, 2], 3, 3),
        ([5, 4, 3, 3], 3, 2),
        ([5, 3, 3, 3], 3, 3),
        ([5, 3, 3], 2, 2),
        ([5, 4, 3, 3, 3, 3], 5, 5),
        ([3, 3], 1, 1),
        ([], 3, 0),
    ],
)
def test_a_cut_does_not_part_equals_unless_they_are_half(scores: list[int], k: int, n_kept: int) -> None:
    ranking = list(enumerate(scores))
    assert cut(ranking, k) == ranking[:n_kept]


LEXICAL, VECTOR = {1: 9.0, 2: 4.0}, {2: 0.9, 3: 0.5, 4: 0.2}


@pytest.mark.parametrize(
    ("fusion", "sums"),
    [
        (Fusion(), {2: 0.6 / 62 + 0.4 / 61, 1: 0.6 / 61, 3: 0.4 / 62, 4: 0.4 / 63}),
        (Fusion(rrf_k=1), {2: 0.6 / 3 + 0.4 / 2, 1: 0.6 / 2, 3: 0.4 / 3, 4: 0.4 / 4}),
        (Fusion(min_similarity=0.2), {2: 0.6 / 62 + 0.4 / 61, 1: 0.6 / 61, 3: 0.4 / 62}),  # the border is outside
        (Fusion(lexical_weight=0.1, vector_weight=2.0), {2: 0.1 / 62 + 2 / 61, 3: 2 / 62, 4: 2 / 63, 1: 0.1 / 61}),
        (Fusion("weighted"), {1: 0.6, 2: 0.4, 3: 0.4 * 3 / 7, 4: 0.0}),
        (Fusion("weighted", min_similarity=0.3), {1: 0.6, 2: 0.4, 3: 0.0}),
    ],
)
def test_words_and_meaning_are_joined_as_the_settings_say(fusion: Fusion, sums: dict[int, float]) -> None:
    found = fused_sum(LEXICAL, VECTOR, fusion)
    assert found == pytest.approx(sums)
    assert list(found) == list(sums)
    best = next(iter(sums.values()))
    assert fuse(LEXICAL, VECTOR, fusion) == pytest.approx({key: score / best for key, score in sums.items()})


def test_where_nothing_speaks_for_any_all_have_nothing() -> None:
    assert fuse({}, {}, Fusion()) == {}
    assert fuse({1: 1.0}, {}, Fusion(lexical_weight=0.0)) == {1: 0.0}
