"""As much as has room, and not more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codefathom.text.packing import first_of_each, n_that_fit


@given(sizes=st.lists(st.integers(0, 50), max_size=30), room=st.integers(0, 500))
def test_the_most_first_items_that_have_room(sizes: list[int], room: int) -> None:
    asked: list[int] = []

    def fits(n: int) -> bool:
        asked.append(n)
        return sum(sizes[:n]) <= room

    n = n_that_fit(len(sizes), fits)
    assert sum(sizes[:n]) <= room
    assert n == len(sizes) or sum(sizes[: n + 1]) > room
    assert len(asked) <= 6


@given(sizes=st.lists(st.integers(0, 12), max_size=5), n=st.integers(0, 80))
def test_lists_take_turns(sizes: list[int], n: int) -> None:
    shares = first_of_each(n, sizes)
    assert sum(shares) == min(n, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sizes, strict=True))
    cut = [share for share, size in zip(shares, sizes, strict=True) if share < size]
    assert not cut or max(shares) - min(cut) <= 1
    before = first_of_each(max(n - 1, 0), sizes)
    assert all(fewer <= more for fewer, more in zip(before, shares, strict=True))
