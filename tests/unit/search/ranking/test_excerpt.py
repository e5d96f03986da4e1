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


def test_a_window_has_a_third_of_its_lines_before_the_best() -> None:
    text = "".join(f"line {n}\n" for n in range(30))
    assert window(hit(text, line=25), 9) == range(12, 21)
    assert window(hit(text, line=10), 9) == range(9)
    assert window(hit(text, line=39), 9) == range(21, 30)
    assert window(hit(text, line=14), 4) == range(3, 7)
    assert window(hit("one\ntwo", line=11), 9) == range(2)


def test_only_the_part_of_a_long_line_around_its_column_is_shown() -> None:
    line = "".join(f"{n:04}" for n in range(100))  # 400 characters
    (middle,) = telling_lines(hit(line, column=201), 1, 40)
    assert middle.text == f"… {line[188:228]} …"
    (last,) = telling_lines(hit(line, column=400), 1, 40)
    assert last.text == f"… {line[360:]}"
    (inside,) = telling_lines(hit(line, column=40), 1, 40)
    assert inside.text == f"{line[:40]} …"
    (just,) = telling_lines(hit(line, column=41), 1, 40)
    assert just.text == f"… {line[28:68]} …"
    (short,) = telling_lines(hit("x = 1", column=1), 1, 5)
    assert short.text == "x = 1"


def test_the_column_counts_in_the_best_line_only() -> None:
    long = "".join(f"{n:04}" for n in range(30))
    shown = telling_lines(hit(f"{long}\n{long}\n{long}\n", line=11, column=101, name=""), 3, 40)
    assert [one.text for one in shown] == [f"{long[:40]} …", f"… {long[80:]}", f"{long[:40]} …"]
    # A chunk that begins inside a line: the columns of its first line count from the beginning of the file's line.
    first, second = telling_lines(hit(f"{long}\n{long}\n", line=10, column=201, start_column=101, name=""), 2, 40)
    assert (first.text, second.text) == (f"… {long[80:]}", f"{long[:40]} …")
    first, second = telling_lines(hit(f"{long}\n{long}\n", line=11, column=101, start_column=101, name=""), 2, 40)
    assert (first.text, second.text) == (f"… {long[:40]} …", f"… {long[80:]}")


def test_around_the_best_line_two_below_for_each_above() -> None:
    text = "".join(f"line {n}\n" for n in range(20))
    numbers = [[one.number for one in telling_lines(hit(text, line=18, name=""), n, 80)] for n in range(1, 8)]
    assert numbers == [
        [18],
        [18, 19],
        [18, 19, 20],
        [17, 18, 19, 20],
        [17, 18, 19, 20, 21],
        [17, 18, 19, 20, 21, 22],
        [16, 17, 18, 19, 20, 21, 22],
    ]
    assert [one.number for one in telling_lines(hit(text, line=3, name=""), 1, 80)] == [10]
    assert [one.number for one in telling_lines(hit(text, line=99, name=""), 1, 80)] == [29]


def test_a_head_is_the_first_line_that_begins_a_signature_with_the_name() -> None:
    text = "x = 1\ntotal(1)\ndef total(items):\n    pass\ndef total(items):\n    pass\nreturn 2\n"
    assert [one.number for one in telling_lines(hit(text, line=16), 2, 80)] == [12, 16]
    assert [one.number for one in telling_lines(hit(text, line=16, name=""), 2, 80)] == [15, 16]
