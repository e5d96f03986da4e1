"""Paths by stems in a file give what a dictionary of all paths gives."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counted import n_python_calls

from codefathom.stores.catalog.stem_table import StemTable
from codefathom.text.file_stems import by_stem, flat_stem

NAMES = st.one_of(
    st.sampled_from(
        ["__init__.py", "mod.rs", "In-it.py", "init", "index.d.ts", "_.py", ".a_b", "Aİ.x", "a.py", "A.go"]
    ),
    st.text(st.one_of(st.sampled_from("aB_-.\\é"), st.characters(exclude_characters="/\0")), min_size=1, max_size=6),
)
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=12, unique=True)


def ordered(paths: list[str]) -> list[str]:
    return sorted(paths, key=lambda path: path.encode("utf-8", "surrogatepass"))


def again(table: StemTable) -> StemTable:
    return StemTable.unpacked(memoryview(b"".join(table.packed())))


@given(PATHS, PATHS, st.lists(NAMES, max_size=4))
def test_a_table_is_the_same_whether_made_read_or_brought_up_to_date(
    paths: list[str], more: list[str], others: list[str]
) -> None:
    table = StemTable.of(3, ordered(paths))
    both = ordered([*{*paths, *more}])
    assert dict(again(table)) == dict(table) == by_stem(ordered(paths))
    for one in (table, again(table)):
        later = one.later(4, len(both), more)
        assert later is not None
        expected = by_stem(both)
        assert {stem: later[stem] for stem in expected} == expected
        assert set(later) == set(expected)
        assert (len(later), later.n_paths, later.generation) == (len(expected), len(both), 4)
        asked = frozenset(map(flat_stem, others))
        assert later.keys() & asked == expected.keys() & asked
        assert {stem: later.get(stem) for stem in asked} == {stem: expected.get(stem) for stem in asked}


def test_paths_that_are_gone_need_a_whole_table() -> None:
    table = StemTable.of(3, ["a.py", "b/__init__.py", "c.py"])
    assert table.later(4, 2, []) is None
    assert table.later(4, 3, ["d.py"]) is None
    assert table.later(4, 3, ["a.py"]) is not None
    moved = table.later(4, 4, ["d.py"])
    assert moved is not None
    assert (moved.later(5, 4, ["d.py"]), moved.later(5, 3, [])) != (None, None)
    assert moved.later(5, 3, []) is None


@pytest.mark.parametrize("paths", [[], ["a\0b.py", "c.py"]])
def test_names_that_cannot_be_packed_are_not(paths: list[str]) -> None:
    table = StemTable.of(1, paths)
    assert (dict(again(table)) == {}) if not paths else (table.packed() == [])


@pytest.mark.parametrize("n_files", [2_000, 32_000])
def test_a_stem_is_found_without_reading_all(n_files: int) -> None:
    chance = random.Random(2)
    table = again(
        StemTable.of(1, ordered([f"d{n % 50}/{chance.random()}.{n}.py" for n in range(n_files)] + ["x/y.py"]))
    )
    assert table["y"] == ["x/y.py"]
    assert n_python_calls(lambda: table.get("y")) < 100
    assert n_python_calls(lambda: table.get("nothing")) < 100


def test_halving_reads_the_same_stems_once() -> None:
    """Each lookup begins in the middle: what was read there is not read again."""
    table = again(StemTable.of(1, ordered([f"a/name{number:05}.py" for number in range(8_000)])))
    words = [f"name{number:05}x" for number in range(0, 8_000, 80)]
    assert [table.get(word) for word in words] == [None] * 100
    n_calls = n_python_calls(lambda: [table.get(word) for word in words])
    assert n_calls <= 10 * len(words)
