"""What may have changed is found by size and time stamp, and nothing that may have changed is missed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.source.changes import FileStat, IndexedFileStat, Scan, TreeChanges, compare

SECOND = 1_000_000_000
INDEXED = 1_000 * SECOND
OLD = 10 * SECOND + 1


def known(*files: FileStat) -> dict[str, IndexedFileStat]:
    return {file.path: IndexedFileStat(file.size, file.mtime_ns, "1:0") for file in files}


A = FileStat("a", 1, OLD)


@pytest.mark.parametrize(
    ("before", "after", "suspect", "removed"),
    [
        ([], [A], ["a"], []),
        ([A], [], [], ["a"]),
        ([A], [A], [], []),
        ([A], [FileStat("a", 2, OLD)], ["a"], []),
        ([A], [FileStat("a", 1, OLD + 1)], ["a"], []),
        ([A], [FileStat("a", 1, OLD - 1)], ["a"], []),  # an older file was put back
        ([A], [FileStat("A", 1, OLD)], ["A"], ["a"]),  # only the case changed
        ([A], [FileStat("b", 1, OLD)], ["b"], ["a"]),
        ([A], [FileStat("a/b", 1, OLD)], ["a/b"], ["a"]),  # a folder took the place of a file
        ([FileStat("b", 1, OLD), A], [], [], ["a", "b"]),
    ],
)
def test_changes(before: list[FileStat], after: list[FileStat], suspect: list[str], removed: list[str]) -> None:
    changes = compare(known(*before), Scan(tuple(after), ()), INDEXED)
    assert [file.path for file in changes.suspect] == suspect
    assert changes.removed == tuple(removed)
    assert changes.unsure == ()


@pytest.mark.parametrize(
    ("mtime_ns", "is_unsure"),
    [
        (INDEXED + SECOND // 2, True),  # stamped after the scan
        (INDEXED, True),
        (INDEXED - 10_000_001, True),  # within a tick of the clock that stamps files
        (INDEXED - 30_000_001, False),
        (INDEXED - 1 * SECOND, True),  # a stamp without a fraction is rounded to seconds
        (INDEXED - 3 * SECOND, False),
    ],
)
def test_a_file_stamped_when_it_was_read_is_looked_at_again(mtime_ns: int, is_unsure: bool) -> None:
    file = FileStat("a", 1, mtime_ns)
    expected = TreeChanges((), (file,), ()) if is_unsure else TreeChanges((), (), ())
    assert compare(known(file), Scan((file,), ()), INDEXED) == expected


stats = st.builds(
    FileStat, st.sampled_from("abcdA"), st.integers(0, 2), st.integers(1, 3).map(lambda n: n * SECOND + 1)
)
trees = st.lists(stats, unique_by=lambda file: file.path)


@given(trees, trees)
def test_every_difference_is_named_once(before: list[FileStat], after: list[FileStat]) -> None:
    changes = compare(known(*before), Scan(tuple(after), ()), INDEXED)
    assert set(changes.suspect) == set(after) - set(before)
    assert set(changes.removed) == {file.path for file in before} - {file.path for file in after}
    assert changes.unsure == ()
