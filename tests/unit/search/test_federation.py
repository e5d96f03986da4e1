"""Merging the results of several projects: what always holds, and what a person expects."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.search.federation import merge
from codefathom.types import Chunk, Hit, SearchResult


def result(confidence: float, *scores: float) -> SearchResult:
    hits = tuple(
        Hit(Chunk(f"{place}", f"f{place}.py", "python", "function", "", (), 1, 2, "x"), score, {})
        for place, score in enumerate(sorted(scores, reverse=True))
    )
    return SearchResult("q", hits, "chunk", "hybrid", confidence, 1)


def places(results: dict[str, SearchResult], limit: int = 100) -> list[str]:
    return [f"{hit.project_id}{hit.hit.chunk.path[1]}" for hit in merge(results, limit)]


def test_of_equal_projects_the_hits_alternate() -> None:
    assert places({"a": result(0.5, 0.9, 0.8), "b": result(0.5, 0.4, 0.3)}) == ["a0", "b0", "a1", "b1"]


def test_a_project_that_is_less_sure_comes_later_and_not_last() -> None:
    merged = places({"a": result(0.45, 0.9, 0.8), "b": result(0.8, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)})
    assert merged == ["b0", "b1", "b2", "a0", "b3", "b4", "a1", "b5"]


def test_one_project_keeps_its_scores() -> None:
    assert [hit.hit.score for hit in merge({"a": result(0.1, 0.6, 0.5)}, 10)] == [0.6, 0.5]


def test_nothing_found_is_nothing() -> None:
    assert merge({"a": result(0.0), "b": result(0.0)}, 10) == ()


@settings(max_examples=100)
@given(
    st.dictionaries(
        st.sampled_from("abcd"),
        st.builds(
            lambda confidence, scores: result(confidence, *scores),
            st.floats(0, 1),
            st.lists(st.floats(0, 1), max_size=6),
        ),
        min_size=2,
    ),
    st.integers(1, 20),
)
def test_merging_keeps_each_order_and_loses_nothing_before_the_limit(
    results: dict[str, SearchResult], limit: int
) -> None:
    merged = merge(results, limit)
    assert len(merged) == min(limit, sum(len(item.hits) for item in results.values()))
    scores = [hit.hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)
    assert not scores or scores[0] == 1.0
    for name, item in results.items():
        own = [hit.hit.chunk.path for hit in merged if hit.project_id == name]
        assert own == [hit.chunk.path for hit in item.hits][: len(own)]
