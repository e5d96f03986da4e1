"""Which lines of a text are kept in a later one: in order, and found in few steps whatever the text."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.source.revisions.blame import kept_lines

ROWS = st.lists(st.sampled_from("abcdefgh"), max_size=30)


class CountedLine:
    """A line that counts how often one is looked at."""

    n_looks = 0

    def __init__(self, text: int) -> None:
        self._text = text

    def __hash__(self) -> int:
        CountedLine.n_looks += 1
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        CountedLine.n_looks += 1
        return isinstance(other, CountedLine) and self._text == other._text


@given(before=ROWS, after=ROWS)
def test_the_places_rise_and_their_lines_are_equal(before: list[str], after: list[str]) -> None:
    pairs = sorted(kept_lines(before, after))
    assert all(before[old] == after[new] for old, new in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@given(rows=ROWS, added=ROWS, place=st.integers(0, 30))
def test_lines_that_were_only_added_change_no_other(rows: list[str], added: list[str], place: int) -> None:
    place = min(place, len(rows))
    assert len(list(kept_lines(rows, [*rows[:place], *added, *rows[place:]]))) == len(rows)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("one two three", "zero one two 3", "one two"),
        ("a { b } c { d }", "a { b } x { y } c { d }", "a { b } c { d }"),
        ("a b c d e", "a c b d e", "a c d e"),
        ("", "a", ""),
    ],
)
def test_lines_are_kept(before: str, after: str, kept: str) -> None:
    old, new = before.split(), after.split()
    assert [old[place] for place, _ in sorted(kept_lines(old, new))] == kept.split()


@pytest.mark.parametrize("step", [7, 99])
def test_many_equal_lines_in_another_order_take_few_steps(step: int) -> None:
    n_lines, n_different = 4_000, 100
    CountedLine.n_looks = 0

    def rows(values: Iterable[int]) -> list[CountedLine]:
        return [CountedLine(value % n_different) for value in values]

    list(kept_lines(rows(range(n_lines)), rows(place * step for place in range(n_lines))))
    assert CountedLine.n_looks < 20 * n_lines
