"""The share of an answer that has room in a number of tokens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def n_that_fit(n_items: int, fits: Callable[[int], bool]) -> int:
    """Return the number of items that have room, counted from the first on; 0 where not even one has.

    `fits` says it of a number of first items; where it says yes, it must say yes of fewer items, too.
    """
    if not n_items or fits(n_items):  # the usual case
        return n_items
    low, high = 0, n_items - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def first_of_each(n_items: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the number of items of each list when lists of these sizes take turns for so many places."""

    def n_in(n_rounds: int) -> int:
        return sum(min(size, n_rounds) for size in sizes)

    n_rounds = n_that_fit(max(sizes, default=0), lambda n: n_in(n) <= n_items)
    n_left = n_items - n_in(n_rounds)  # of the round that not all lists have
    shares = []
    for size in sizes:
        has_one_more = size > n_rounds and n_left > 0
        n_left -= has_one_more
        shares.append(min(size, n_rounds) + has_one_more)
    return tuple(shares)
