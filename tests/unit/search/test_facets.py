"""Counts of several projects become one."""

from __future__ import annotations

from codefathom.search.facets import joined_facets
from codefathom.types import NO_FACETS, Chunk, Facets

COPY = Chunk("id", "src/a.py", "python", "function", "f", (), 1, 3, "def f():\n    a\n    b\n")


def counted(n: int, *, is_whole: bool = True) -> Facets:
    counts = {"language": {"python": n}, "kind": {"function": n}, "dir": {"src": n}, "is_test": {"false": n}}
    return Facets(counts, is_whole)


def test_counts_are_added_without_copies_but_those_of_each_project() -> None:
    facets = joined_facets({"shop": counted(3), "depot": counted(1)}, [COPY], is_whole=True)
    assert facets.is_whole
    assert facets.n_places == 3
    assert facets.counts["dir"] == {"src": 3}
    assert facets.counts["project"] == {"shop": 3, "depot": 1}


def test_one_project_that_is_not_whole_makes_all_uncertain() -> None:
    assert not joined_facets({"shop": counted(3), "depot": counted(1, is_whole=False)}, [], is_whole=True).is_whole


def test_without_counts_there_is_nothing() -> None:
    assert joined_facets({"shop": NO_FACETS, "depot": NO_FACETS}, [], is_whole=True) == NO_FACETS
