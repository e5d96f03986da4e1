"""A list by rank, gathered by repository and file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.grouping import by_repository

Place = tuple[str, str]  # project, path


def own(place: Place) -> Place:
    return place


@pytest.mark.parametrize(
    ("ranked", "gathered"),
    [
        ([], []),
        (["a/x", "b/x", "a/y", "a/x", "b/x"], ["a/x", "a/x", "a/y", "b/x", "b/x"]),
        (["b/x", "a/x", "b/y/z"], ["b/x", "b/y/z", "a/x"]),
        (["x", "a/x", "y", "x"], ["x", "x", "y", "a/x"]),  # files of the root
    ],
)
def test_groups_are_in_the_order_of_their_best(ranked: list[str], gathered: list[str]) -> None:
    assert by_repository(ranked, lambda path: ("", path)) == tuple(gathered)


def test_equal_names_in_two_projects_are_apart() -> None:
    ranked: list[Place] = [("one", "a/x"), ("two", "a/x"), ("one", "a/x")]
    assert by_repository(ranked, own) == (("one", "a/x"), ("one", "a/x"), ("two", "a/x"))


@given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from(["a/x", "a/y", "b/x", "x"]))))
def test_no_place_is_lost_and_the_best_stays_first(ranked: list[Place]) -> None:
    gathered = by_repository(ranked, own)
    assert sorted(gathered) == sorted(ranked)
    assert gathered[:1] == tuple(ranked[:1])
    runs = [place for place, before in zip(gathered, (None, *gathered), strict=False) if place != before]
    assert len(runs) == len(set(runs))
