"""As much as has room, and not more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from codefathom.text.packing import n_that_fit


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
