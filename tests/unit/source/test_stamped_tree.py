"""Columns of stamps give what a look at each file gives, wherever a change lies."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.source import stamped_tree
from codefathom.source.changes import FileStat
from codefathom.source.stamped_tree import StatColumns

NUMBERS = st.integers(0, 3)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), max_size=20)
PLACES = st.sets(st.integers(0, 19))


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stamped_tree, "_BLOCK", 4)
        yield


def columns(rows: list[tuple[int, int, int, int]]) -> StatColumns:
    paths = [f"part/file{number:04}" for number in range(len(rows))]
    return StatColumns(paths, [array("q", column) for column in zip(*rows, strict=True)] or [array("q")] * 4)


@given(ROWS, PLACES, st.integers(4, 6))
def test_places_with_another_stamp(rows: list[tuple[int, int, int, int]], places: set[int], number: int) -> None:
    before = columns(rows)
    changed = [FileStat(before.paths[place], 9, 8, number, 1) for place in sorted(places) if place < len(rows)]
    now = before.with_stamps([*changed, FileStat("part/file", 1, 1, 1, 1), FileStat("zzz", 1, 1, 1, 1)])
    assert [now.paths[place] for place in now.places_since(before) or ()] == [file.path for file in changed]
    assert list(now) == list(({file.path: file for file in before} | {file.path: file for file in changed}).values())
    assert now.since(before).others == tuple(changed)
    assert list(before) == list(columns(rows))  # which stay as they are


@given(ROWS, st.integers(-1, 5))
def test_places_with_a_late_time(rows: list[tuple[int, int, int, int]], moment: int) -> None:
    late = {place for place, (_, mtime, ctime, _) in enumerate(rows) if mtime >= moment or ctime >= moment}
    assert columns(rows).later_than(moment) == late


def test_an_equal_block_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """One changed file among many: only the numbers beside it are compared one by one."""
    n_compared = 0

    def differ(one: int, other: int) -> bool:
        nonlocal n_compared
        n_compared += 1
        return one != other

    monkeypatch.setattr(stamped_tree, "ne", differ)
    before = columns([(1, 2, 3, number) for number in range(4_000)])
    now = before.with_stamps([FileStat("part/file1234", 7, 7, 7, 1234)])
    assert now.places_since(before) == [1234]
    assert n_compared == 3 * 4  # of three columns the block with the change
