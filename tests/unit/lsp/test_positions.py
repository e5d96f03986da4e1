"""Places in texts: units of an encoding, names, and lines of a text that was changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.lsp.positions import column_of, from_wire, has_other_ends, lines_of, names_at, same_lines, to_wire


@given(st.text(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_units_there_and_back(line: str, encoding: str) -> None:
    for column in range(len(line) + 1):
        assert from_wire(line, to_wire(line, column, encoding), encoding) == column


@pytest.mark.parametrize(("units", "column"), [(-5, 0), (0, 0), (2, 1), (3, 2), (10**12, 3)])
def test_a_position_outside_is_the_nearest_one(units: int, column: int) -> None:
    assert from_wire("𝕏ab", units) == column


@pytest.mark.parametrize(
    ("line", "column", "names"),
    [
        ("a.price()", 2, [("price", 2)]),
        ("a.price()", 7, [("price", 2)]),
        ("(foo-bar x)", 2, [("foo", 1), ("foo-bar", 1)]),
        ("  ", 1, []),
        ("", 0, []),
    ],
)
def test_names_at_a_column(line: str, column: int, names: list[tuple[str, int]]) -> None:
    assert names_at(line, column) == names


def test_a_name_is_a_whole_word_first() -> None:
    assert column_of("pricey = price", "price") == 9
    assert column_of("pricey", "price") == 0
    assert column_of("none", "price") is None


def test_lines_of_other_systems() -> None:
    assert lines_of("a\r\nb\n") == ["a", "b", ""]
    assert not has_other_ends(lines_of("a\r\nb"))
    assert has_other_ends(lines_of("a\rb\n"))


LINES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@given(LINES, LINES)
def test_same_lines_read_alike_and_keep_their_order(old: list[str], new: list[str]) -> None:
    pairs = same_lines(old, new)
    assert all(old[mine - 1] == new[theirs - 1] for mine, theirs in pairs.items())
    assert list(pairs.values()) == sorted(set(pairs.values()))
    assert list(pairs) == sorted(pairs)


def test_all_lines_but_the_changed_ones_are_found() -> None:
    old = [f"line {n}" for n in range(30)]
    new = ["new", *old[:9], "other", *old[10:20], *old[25:], "end"]
    assert set(same_lines(old, new)) == {*range(1, 10), *range(11, 21), *range(26, 31)}
