"""The terms of a large project are listed once each, sorted, and take little memory before they are written."""

from __future__ import annotations

import tracemalloc

from codefathom.stores.lexical.term_list import NewTerms


def test_each_term_is_listed_once_in_order_wherever_it_came_from() -> None:
    terms = NewTerms()
    for start in range(0, 450_000, 1_000):
        terms.update(f"n{number}" for number in range(start, start + 2_000))
    terms.update(("naïve", "\ud800", "价格"))
    listed = [line.decode("utf-8", "surrogatepass") for line in terms.lines([b"\nearlier\nn7\n", b"\n"])]
    expected = {"naïve", "\ud800", "价格", "earlier", *(f"n{number}" for number in range(451_000))}
    assert listed == [f"{term}\n" for term in sorted(expected)]


def test_terms_that_wait_take_less_memory_than_their_strings() -> None:
    terms = NewTerms()
    tracemalloc.start()
    try:
        for start in range(0, 600_000, 1_000):
            terms.update(f"term_number_{number}" for number in range(start, start + 1_000))
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 30_000_000  # 600,000 strings of a set: 80 MB
    assert sum(1 for _ in terms.lines()) == 600_000


def test_nothing_new_is_nothing() -> None:
    terms = NewTerms()
    assert not terms
    assert list(terms.lines()) == []
    terms.update(["a"])
    assert terms
