"""Which tests changed together with some files, and more often than with everything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.graph.change_history import changed_together

MONEY, ORDERS, FAR = "tests/test_money.py", "tests/test_orders.py", "tests/test_far.py"
APART = [("shop/other.py",)] * 20


@pytest.mark.parametrize(
    ("commits", "more", "less"),
    [
        ([("shop/money.py", MONEY)] * 5 + APART, MONEY, FAR),
        ([("shop/money.py", MONEY)] * 5 + [("shop/money.py", ORDERS)] + APART, MONEY, ORDERS),
        ([("shop/money.py", MONEY, FAR)] * 5 + [("shop/other.py", FAR)] * 20, MONEY, FAR),  # changes with everything
        ([("shop/money.py", MONEY)] * 5 + [(FAR,)] * 20 + APART, MONEY, FAR),
        ([("shop/money.py", MONEY)] * 9 + [("shop/b.py", ORDERS)] + APART, MONEY, ORDERS),  # seen once only
        ([("shop/b.py", ORDERS)] * 9 + [("shop/money.py", MONEY)] + APART, ORDERS, MONEY),  # of several files the best
    ],
)
def test_what_changes_with_a_file_alone_counts_more(commits: list[tuple[str, ...]], more: str, less: str) -> None:
    shares = changed_together(commits, ["shop/money.py", "shop/b.py"])
    assert shares[more] > shares.get(less, 0.0)


@pytest.mark.parametrize(
    "commits",
    [
        [],
        [("shop/money.py",)],
        [(MONEY,)] * 5,  # tests alone
        [("shop/money.py", MONEY)],  # all that is known changes together
        [("shop/money.py", "docs/money.md")] * 5 + APART,
    ],
)
def test_nothing_speaks_for_a_test(commits: list[tuple[str, ...]]) -> None:
    assert not any(changed_together(commits, ["shop/money.py"]).values())


def test_a_changed_test_speaks_for_no_other_one() -> None:
    assert changed_together([(MONEY, ORDERS, "shop/a.py")] * 5 + APART, [MONEY]) == {}


PATHS = st.sampled_from(["a.py", "b.py", "c.py", MONEY, ORDERS, FAR])


@given(st.lists(st.sets(PATHS, min_size=1).map(tuple), max_size=12), st.sets(PATHS))
def test_shares_lie_between_0_and_1_whatever_the_order(commits: list[tuple[str, ...]], paths: set[str]) -> None:
    shares = changed_together(commits, sorted(paths))
    assert all(0 <= share < 1 for share in shares.values())
    assert changed_together(commits[::-1], sorted(paths)) == shares
