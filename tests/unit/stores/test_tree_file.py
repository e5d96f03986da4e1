"""The tree beside the catalogue: a few changes are written beside it, and what belongs to another tree is not read."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.facts.reasons import Note
from codefathom.source.changes import FileStat
from codefathom.source.stamped_tree import StampedTree, StatColumns
from codefathom.stores.folder import folder_at
from codefathom.stores.tree_file import TreeFile
from codefathom.types import Skipped

KEYS = [bytes([number]) * 32 for number in range(5)]
FOLDERS = StatColumns.of([FileStat("", 0, 1, 2, 3), FileStat("part/", 0, 4, 5, 6)])


def tree(n_files: int) -> StampedTree:
    files = StatColumns.of(FileStat(f"part/file{number:06}.py", number, 7, 8, number) for number in range(n_files))
    return StampedTree(files, (Skipped("part/link.py", Note("symlink")),), FOLDERS, StatColumns.of([]), 9)


def changed(before: StampedTree, *numbers: int) -> StampedTree:
    files = before.files.with_stamps([FileStat(f"part/file{number:06}.py", 1, 10, 11, 12) for number in numbers])
    folders = before.folders.with_stamps([FileStat("part/", 0, -1, -1, -1)])
    return before._replace(files=files, folders=folders, looked_at_ns=13)


def n_bytes(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in folder.iterdir()}


@pytest.mark.parametrize("n_files", [3_000, 30_000])
def test_few_changes_take_the_same_room_in_any_tree(tmp_path: Path, n_files: int) -> None:
    first = tree(n_files)
    own = TreeFile(folder_at(str(tmp_path)))
    own.save(KEYS[0], first)
    n_whole = n_bytes(tmp_path)["tree.stamps"]
    now = changed(first, 5, 2_000)
    own.save(KEYS[1], now)
    later = changed(now, 7)
    own.save(KEYS[2], later)
    assert n_bytes(tmp_path) == {"tree.stamps": n_whole, "tree.later": 248}
    for file in (own, TreeFile(folder_at(str(tmp_path)))):
        assert file.load(KEYS[2]) == later
        assert file.load(KEYS[0]) is None


def test_changes_of_another_tree_are_not_read(tmp_path: Path) -> None:
    first = tree(3_000)
    own, other = (TreeFile(folder_at(str(tmp_path))) for _ in range(2))
    own.save(KEYS[0], first)
    assert other.load(KEYS[0]) == first
    own.save(KEYS[1], tree(3_001))
    own.save(KEYS[2], changed(tree(3_001), 1))
    other.save(KEYS[3], changed(first, 1))  # of the first tree, which is not there any more: it is written whole
    for file in (own, other, TreeFile(folder_at(str(tmp_path)))):
        assert file.load(KEYS[3]) == changed(first, 1)
        assert file.load(KEYS[2]) is None


def test_a_damaged_file_beside_the_tree_leaves_the_tree(tmp_path: Path) -> None:
    own = TreeFile(folder_at(str(tmp_path)))
    own.save(KEYS[0], tree(3_000))
    own.save(KEYS[1], changed(tree(3_000), 1))
    later = tmp_path / "tree.later"
    for content in (b"", later.read_bytes()[:-1], later.read_bytes()[:-5] + b"\0\0\0\0\0", b"\0" * 500):
        later.write_bytes(content)
        assert TreeFile(folder_at(str(tmp_path))).load(KEYS[1]) is None
        assert TreeFile(folder_at(str(tmp_path))).load(KEYS[0]) == tree(3_000)


def test_many_changes_and_other_paths_are_written_whole(tmp_path: Path) -> None:
    own = TreeFile(folder_at(str(tmp_path)))
    own.save(KEYS[0], tree(3_000))
    own.save(KEYS[1], changed(tree(3_000), *range(200)))
    assert "tree.later" not in n_bytes(tmp_path)
    without = changed(tree(3_000), 1)._replace(skipped=())
    own.save(KEYS[2], without)
    assert "tree.later" not in n_bytes(tmp_path)
    assert TreeFile(folder_at(str(tmp_path))).load(KEYS[2]) == without
