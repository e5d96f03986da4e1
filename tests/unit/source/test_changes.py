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
    return {file.path: IndexedFileStat(file.size, file.mtime_ns, "1:0", *file[3:]) for file in files}


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
    FileStat,
    st.sampled_from("abcdA"),
    st.integers(0, 2),
    st.integers(1, 3).map(lambda n: n * SECOND + 1),
    st.integers(1, 2),
    st.integers(1, 2),
)
trees = st.lists(stats, unique_by=lambda file: file.path)


@given(trees, trees)
def test_every_difference_is_named_once(before: list[FileStat], after: list[FileStat]) -> None:
    changes = compare(known(*before), Scan(tuple(after), ()), INDEXED)
    assert set(changes.suspect) == set(after) - set(before)
    assert set(changes.removed) == {file.path for file in before} - {file.path for file in after}
    assert changes.unsure == ()


B = A._replace(ctime_ns=INDEXED - 5 * SECOND, inode=5)


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (B, B, ""),
        (B, B._replace(ctime_ns=INDEXED), "suspect"),
        (B, B._replace(inode=6), "suspect renumbered"),
        (B, B._replace(ctime_ns=INDEXED, inode=6), "suspect"),
        (B, B._replace(size=9, inode=6), "suspect"),
        (A, B, "unrecorded"),  # the index of an older version
        (A, B._replace(ctime_ns=INDEXED + 1), "suspect"),  # changed since the last run, whatever its stamp says
        (B, A, ""),  # from a place that tells neither, such as a revision
    ],
)
def test_ctime_and_inode_tell_of_other_bytes(before: FileStat, after: FileStat, names: str) -> None:
    changes = compare(known(before), Scan((after,), ()), INDEXED)
    assert {name for name in changes._fields if getattr(changes, name)} == set(names.split())
    without_inodes = compare(known(before), Scan((after,), ()), INDEXED, by_inode=False)
    assert bool(without_inodes.suspect) == ("suspect" in names and "renumbered" not in names)
    assert without_inodes.renumbered == ()
