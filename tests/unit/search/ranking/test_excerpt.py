"""Which lines of a hit are shown where there is little room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.ranking.excerpt import telling_lines, window
from codefathom.types import Chunk, Hit

BODY = """\
# What it costs.
def total(items):
    # a comment

    for item in items:
        add(item)
    {
    }
    return price
"""


def hit(text: str = BODY, line: int = 10, name: str = "shop.total", column: int = 1, start_column: int = 1) -> Hit:
    end_line = 10 + text.removesuffix("\n").count("\n")
    chunk = Chunk(
        "id",
        "a.py",
        "python",
        "function",
        "",
        ("shop.total",),
        10,
        end_line,
        text,
        "def total(items):",
        "",
        start_column,
    )
    return Hit(chunk, 0.5, {}, line=line, name=name, column=column)


@pytest.mark.parametrize(
    ("line", "n_lines", "numbers"),
    [
        (11, 1, [11]),
        (18, 1, [18]),
        (18, 2, [11, 18]),  # the head of the symbol, and the best line
        (18, 4, [11, 14, 15, 18]),  # around it, without lines of brackets
        (11, 4, [10, 11, 12, 14]),
        (10, 99, [10, 11, 12, 14, 15, 18]),
    ],
)
def test_the_lines_that_tell_most(line: int, n_lines: int, numbers: list[int]) -> None:
    shown = telling_lines(hit(line=line), n_lines, 80)
    assert [one.number for one in shown] == numbers
    assert [one.text for one in shown] == [BODY.split("\n")[one.number - 10] for one in shown]


@given(text=st.text("ab(\n ", max_size=80), line=st.integers(0, 60), n_lines=st.integers(1, 12))
def test_never_more_lines_and_each_is_of_the_file(text: str, line: int, n_lines: int) -> None:
    lines = text.removesuffix("\n").split("\n")
    shown = telling_lines(hit(text, line), n_lines, 200)
    assert len(shown) <= n_lines
    assert all(one.text == lines[one.number - 10].rstrip() for one in shown)
    assert len(shown) == min(n_lines, sum(any(map(str.isalnum, one)) for one in lines))
    places = window(hit(text, line), n_lines)
    assert len(places) == min(n_lines, len(lines))
    assert all(0 <= place < len(lines) for place in places)


@pytest.mark.parametrize(
    ("column", "start_column", "shown"),
    [
        (1, 1, f"{'x' * 20} …"),
        (300, 1, f"… {'x' * 40}"[:22] + " …"),
        (395, 1, f"… {'x' * 14}needle"),
        (1_395, 1_001, f"… {'x' * 14}needle"),  # the chunk begins in the middle of the line
    ],
)
def test_a_long_line_is_shown_where_it_counts(column: int, start_column: int, shown: str) -> None:
    (line,) = telling_lines(hit("x" * 394 + "needle\n", column=column, start_column=start_column), 3, 20)
    assert line.text == shown
