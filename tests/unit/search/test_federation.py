"""Merging the results of several projects: what always holds, and what a person expects."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.search.federation import BY_RANK, BY_SCORE, merge, order_of, questions_for
from codefathom.types import Chunk, Hit, SearchResult

_numbers = count()


def result(confidence: float, *scores: float, scale: str = "") -> SearchResult:
    hits = tuple(
        Hit(Chunk(f"{next(_numbers)}", f"f{place}.py", "python", "function", "", (), 1, 2, "x"), score, {})
        for place, score in enumerate(sorted(scores, reverse=True))
    )
    return SearchResult("q", hits, "chunk", "hybrid", confidence, 1, scale=scale or f"model {next(_numbers)}")


def places(results: dict[str, SearchResult], limit: int = 100) -> list[str]:
    return [f"{hit.project_id}{hit.hit.chunk.path[1]}" for hit in merge(results, limit).hits]


@pytest.mark.parametrize(
    ("query", "questions"),
    [
        ("where is it", {"a": "where is it", "b.c": "where is it"}),
        ("where @a/src/ is it", {"a": "where @src/ is it"}),
        ("@b.c/x.py:3 @a/y.py both", {"a": " @y.py both", "b.c": "@x.py:3  both"}),
        ("@bxc/x.py me@a/b @@a/b", {"a": "@bxc/x.py me@a/b @@a/b", "b.c": "@bxc/x.py me@a/b @@a/b"}),
    ],
)
def test_a_mark_keeps_a_question_to_its_project(query: str, questions: dict[str, str]) -> None:
    assert questions_for(query, ("a", "b.c")) == questions


def test_of_equal_projects_the_hits_alternate() -> None:
    assert places({"a": result(0.5, 0.9, 0.8), "b": result(0.5, 0.4, 0.3)}) == ["a0", "b0", "a1", "b1"]


def test_a_project_that_is_less_sure_comes_later_and_not_last() -> None:
    merged = places({"a": result(0.45, 0.9, 0.8), "b": result(0.8, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)})
    assert merged == ["b0", "b1", "b2", "a0", "b3", "b4", "a1", "b5"]


def test_one_project_keeps_its_scores() -> None:
    assert [hit.hit.score for hit in merge({"a": result(0.1, 0.6, 0.5)}, 10).hits] == [0.6, 0.5]


def test_with_equal_models_a_score_counts_by_the_trust_in_its_project() -> None:
    results = {"a": result(0.5, 0.9, 0.8, scale="m"), "b": result(0.8, 0.6, 0.1, scale="m")}
    assert places(results) == ["b0", "a0", "a1", "b1"]
    assert [round(item.hit.score, 2) for item in merge(results, 3).hits] == [0.48, 0.45, 0.3]
    assert order_of(results.values()) == BY_SCORE
    assert order_of([*results.values(), result(0.1, scale="n")]) == BY_RANK


def test_copies_are_there_once_with_the_first_project() -> None:
    one, other = result(0.6, 0.9, 0.8), result(0.5, 0.9, 0.8)
    hits = [replace(hit, chunk=replace(hit.chunk, text=f"{place}\n" * 4)) for place, hit in enumerate(other.hits)]
    first = replace(one.hits[0], chunk=replace(one.hits[0].chunk, text="0\n" * 4))
    merged = merge({"a": replace(one, hits=(first, *one.hits[1:])), "b": replace(other, hits=tuple(hits))}, 10).hits
    assert [(item.project_id, item.hit.chunk.path) for item in merged] == [
        ("a", "f0.py"),
        ("a", "f1.py"),
        ("b", "f1.py"),
    ]


def test_nothing_found_is_nothing() -> None:
    assert merge({"a": result(0.0), "b": result(0.0)}, 10).hits == ()


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
    merged = merge(results, limit).hits
    assert len(merged) == min(limit, sum(len(item.hits) for item in results.values()))
    scores = [hit.hit.score for hit in merged]
    assert scores == sorted(scores, reverse=True)
    assert not scores or scores[0] == 1.0
    for name, item in results.items():
        own = [hit.hit.chunk.path for hit in merged if hit.project_id == name]
        assert own == [hit.chunk.path for hit in item.hits][: len(own)]
