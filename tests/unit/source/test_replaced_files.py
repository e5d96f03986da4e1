"""Files and folders that become links between the listing of a tree and its reading: nothing is read through them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from codefathom.askers.loose_files import LooseFiles
from codefathom.errors import MovedError, SourceError
from codefathom.index.plan import FileJob, Recipe
from codefathom.index.prepare import prepare
from codefathom.index.word_search import UnindexedFiles
from codefathom.index.workers import prepare_all
from codefathom.source.changes import FileStat
from codefathom.source.documents import fingerprint_at, read, undecodable_lines_of
from codefathom.source.large import survey
from codefathom.source.origin import FolderFiles, Tree, opened_folders
from codefathom.source.scan import ScanRules, Walk, folder_rules, scan
from codefathom.types import Skipped

pytestmark = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links are opened here")

MARK = "zebra_from_outside"
PATH = "top/middle/deep/file.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project, and beside it a tree of the same names with other texts."""
    root = tmp_path.resolve() / "above" / "project"
    for name in (PATH, "top/other.py", "first.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("def inside():\n    return 1\n")
    shutil.copytree(root, outside(root))
    for file in outside(root).rglob("*.py"):
        file.write_bytes(f"# caf\u00e9\ndef {MARK}():\n    return 1\n".encode("latin-1"))
    (outside(root) / "top/middle/deep/.gitignore").write_text("*.py\n")
    (outside(root) / "top/middle/deep" / f"{MARK}.py").touch()
    return root


def outside(root: Path) -> Path:
    return root.parent.parent / "outside" / "project"


def replaced(place: Path, target: Path) -> None:
    """Put a link in the place of a file or folder."""
    place.rename(place.with_name(place.name + "-was"))
    place.symlink_to(target)


REPLACED: dict[str, Callable[[Path], None]] = {
    "the file": lambda root: replaced(root / PATH, outside(root) / PATH),
    "its folder": lambda root: replaced(root / "top/middle/deep", outside(root) / "top/middle/deep"),
    "a folder in the middle": lambda root: replaced(root / "top", outside(root) / "top"),
    "the root": lambda root: replaced(root, outside(root)),
    "the folder above the root": lambda root: replaced(root.parent, outside(root).parent),
}
Replacing = pytest.mark.parametrize("replace", REPLACED.values(), ids=REPLACED.keys())


def readers(root: Path, file: FileStat) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield all that reads a file of a tree by its path."""
    top = str(root)
    recipe = Recipe(root=top)
    followed = Recipe(root=top, rules=ScanRules(follow_symlinks=True))
    unindexed, loose = UnindexedFiles(recipe), LooseFiles(top, (file.path,), 1_000_000)
    unindexed.search("inside")  # which lists the tree
    yield "a document", lambda: read(top, file)
    yield "a document of a tree with links", lambda: read(FolderFiles(top, follows=True), file)
    yield "a document among others", lambda: _with_open_folders(root, file)
    yield "a large file", lambda: survey(top, file)
    yield "a fingerprint", lambda: fingerprint_at(top, file.path) or None
    yield "lines of an old encoding", lambda: undecodable_lines_of(top, file.path) or None
    yield "an original", lambda: Tree(top, 1_000_000).content(file.path)
    yield "a stamp", lambda: Tree(top, 1_000_000).stamp(file.path)
    yield "a stamp among others", lambda: _stamp_with_open_folders(root, file)
    yield "a file of no project", lambda: _content(loose, file)
    yield "the size of a file of no project", lambda: loose.stat(file.path)
    yield "words before an index", lambda: unindexed.search(MARK).hits
    yield "lines before an index", lambda: _lines(unindexed, file)
    yield "a stage of the index", lambda: prepare(FileJob(file, ""), recipe)
    yield "stages of the index", lambda: list(prepare_all([FileJob(file, "")], recipe, 0))
    yield "stages of the index with links", lambda: list(prepare_all([FileJob(file, "")], followed, 0))
    yield "a comparison before the stages", lambda: list(prepare_all([FileJob(file, "1:x")], recipe, 1))


def _with_open_folders(root: Path, file: FileStat) -> object:
    with opened_folders(str(root)) as tree:
        return read(tree, file)


def _stamp_with_open_folders(root: Path, file: FileStat) -> object:
    with opened_folders(str(root)) as tree:
        assert isinstance(tree, FolderFiles)
        return Tree(tree, 1_000_000).stamp(file.path)


def _content(files: LooseFiles, file: FileStat) -> object:
    with suppress(OSError):
        opened = files.open(file.path)
        return opened and opened.read()
    return None


def _lines(files: UnindexedFiles, file: FileStat) -> object:
    with suppress(SourceError):
        return files.lines(file.path)
    return None


@Replacing
def test_no_reader_follows_a_link_that_came_after_the_listing(root: Path, replace: Callable[[Path], None]) -> None:
    file = next(file for file in scan(str(root)).files if file.path == PATH)
    before = {name: look() for name, look in readers(root, file)}
    later = list(readers(root, file))
    replace(root)
    for name, look in later:
        found = look()
        assert MARK not in repr(found), name
        assert found != before[name] or not before[name] or isinstance(found, Skipped), name
    assert MARK in (root / PATH).read_text("latin-1")  # it is what whoever follows the links reads


@Replacing
def test_a_scan_lists_nothing_behind_a_link(root: Path, replace: Callable[[Path], None]) -> None:
    replace(root)
    for look in (scan, folder_rules):
        with suppress(MovedError):
            assert MARK not in repr(look(str(root)))


@pytest.mark.parametrize("name", ["the root", "the folder above the root"])
@pytest.mark.parametrize("look", [scan, folder_rules])
def test_a_root_behind_a_link_is_an_error(root: Path, name: str, look: Callable[[str], object]) -> None:
    REPLACED[name](root)
    with pytest.raises(MovedError, match="has moved"):
        look(str(root))


class ReplacingWalk(Walk):
    """A walk in which a folder becomes a link when the folder above it was just listed."""

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        listed = super().entries(folder)
        if folder == "top/middle/":
            root = Path(self._root)
            replaced(root / "top/middle/deep", outside(root) / "top/middle/deep")
        return listed


def test_a_folder_that_becomes_a_link_during_the_walk_is_not_entered(root: Path) -> None:
    walk = ReplacingWalk(str(root), ScanRules())
    walk.run()
    found = walk.outcome()
    assert [file.path for file in found.files] == ["first.py", "top/other.py"]
    assert [(item.path, item.reason) for item in found.skipped] == [("top/middle/deep/", "symlink")]


def test_links_inside_are_followed_where_the_settings_say_so(root: Path) -> None:
    (root / "linked").symlink_to(root / "top")
    (root / "again.py").symlink_to(root / "first.py")
    followed = FolderFiles(str(root), follows=True)
    for path in ("linked/other.py", "again.py"):
        file = FileStat(path, 1, 1)
        assert not isinstance(read(followed, file), Skipped)
        assert isinstance(read(str(root), file), Skipped)
        assert Tree(followed, 1_000).content(path) is not None
        assert Tree(str(root), 1_000).content(path) is None
