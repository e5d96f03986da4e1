"""Ranks of files by what needs them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.graph.centrality import Link, ranked

PATHS = ("a", "b", "c", "d")
LINKS = st.lists(
    st.builds(Link, st.sampled_from(PATHS), st.sampled_from(PATHS), st.sampled_from(("", "x")), st.floats(0.01, 100)),
    max_size=12,
)
WEIGHTS = st.fixed_dictionaries({path: st.floats(0, 10) for path in PATHS}).filter(lambda start: any(start.values()))


@given(WEIGHTS, LINKS)
def test_the_ranks_share_one_reader(start: dict[str, float], links: list[Link]) -> None:
    ranks = ranked(start, links)
    assert sum(ranks.files.values()) == pytest.approx(1)
    assert ranks.files.keys() == start.keys()
    assert min(ranks.files.values()) >= 0
    assert ranks == ranked(start, links)


def test_what_others_need_is_central() -> None:
    ranks = ranked(dict.fromkeys("abc", 1.0), [Link("a", "c", "f", 1.0), Link("b", "c", "", 1.0)])
    assert ranks.files["c"] > ranks.files["a"] == ranks.files["b"]
    assert ranks.names["c", "f"] == pytest.approx(ranks.names["c", ""])


def test_without_links_only_the_start_counts() -> None:
    assert ranked({"a": 3.0, "b": 1.0}, []).files == {"a": 0.75, "b": 0.25}


def test_what_is_near_the_start_is_central_to_it() -> None:
    links = [Link("a", "b", "", 1.0), Link("c", "d", "", 1.0)]
    near_a, near_c = (ranked({**dict.fromkeys("abcd", 0.01), start: 1.0}, links).files for start in "ac")
    assert near_a["b"] > near_a["d"]
    assert near_c["d"] > near_c["b"]


def test_a_weak_link_leads_few_readers_on() -> None:
    weak, strong = (ranked({"a": 1.0, "b": 0.0}, [Link("a", "b", "f", weight)]).files["b"] for weight in (0.01, 1.0))
    assert weak < strong / 10


def test_links_of_unknown_files_are_left_out() -> None:
    assert ranked({"a": 1.0}, [Link("a", "z", "", 1.0), Link("z", "a", "", 1.0)]).files == {"a": 1.0}
