"""What an event means, by the rules of the folder that it comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import pytest

from codefathom.source.scan import ScanRules
from codefathom.source.watching.watched_folders import (
    Effect,
    FileEvent,
    OwnPlaces,
    WatchedFolders,
    outer_stamps,
)

Kind = Literal["added", "changed", "removed"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    for name in ("src/deep", "node_modules/left", "logs", ".git/info", ".fathom", "python", "far"):
        (root / name).mkdir(parents=True)
    (root / ".gitignore").write_text("*.log\nlogs/\nbuilt/\n")
    (root / "python/pyvenv.cfg").touch()
    (root / "src/a.py").touch()
    (root / "src/link").symlink_to(tmp_path)
    return root


def effect(root: Path, path: str, kind: Kind = "changed", rules: ScanRules | None = None) -> Effect:
    own = OwnPlaces((str(root / "far"),), ("fathom.toml",))
    return WatchedFolders(str(root), rules or ScanRules(), own).effect(FileEvent(os.path.join(root, path), kind))


@pytest.mark.parametrize(
    ("path", "kind", "needed"),
    [
        ("src/a.py", "changed", Effect.FILES),
        ("src/new.py", "added", Effect.FILES),  # gone again
        ("src/gone.py", "removed", Effect.FILES),
        ("src/a.log", "changed", Effect.NOTHING),
        ("src/a.log", "removed", Effect.NOTHING),
        ("logs/a.py", "added", Effect.NOTHING),
        ("logs", "changed", Effect.NOTHING),
        ("node_modules", "added", Effect.NOTHING),
        ("node_modules/left/index.js", "added", Effect.NOTHING),
        (".git", "changed", Effect.NOTHING),
        (".git/index.lock", "added", Effect.NOTHING),
        (".fathom/catalog.db", "changed", Effect.NOTHING),
        ("far/catalog.db", "changed", Effect.NOTHING),
        ("far", "removed", Effect.NOTHING),
        ("python/bin.py", "added", Effect.NOTHING),
        ("python/pyvenv.cfg", "removed", Effect.FOLDERS),  # it is the reason why that folder is left out
        ("src/deep", "removed", Effect.FOLDERS),
        ("src/deep", "added", Effect.FOLDERS),
        ("src/deep", "changed", Effect.FILES),
        (".gitignore", "changed", Effect.FOLDERS),
        ("src/.fathomignore", "removed", Effect.FOLDERS),
        ("Cargo.toml", "added", Effect.FOLDERS),  # `target` beside it holds output
        ("fathom.toml", "changed", Effect.FOLDERS),
        ("src/fathom.toml", "changed", Effect.FILES),
        ("", "removed", Effect.FOLDERS),
        ("../elsewhere/a.py", "changed", Effect.NOTHING),
        ("../projects/a.py", "changed", Effect.NOTHING),
    ],
)
def test_effects(tree: Path, path: str, kind: Kind, needed: Effect) -> None:
    path = os.path.normpath(os.path.join(tree, path))
    assert effect(tree, path, kind) is needed


def test_a_new_folder_is_to_be_watched_unless_it_is_ignored(tree: Path) -> None:
    folders = WatchedFolders(str(tree), ScanRules(), OwnPlaces())
    for name in ("src/more", "built", "src/built"):
        (tree / name).mkdir()
    effects = [folders.effect(FileEvent(str(tree / name), "added")) for name in ("src/more", "built", "src/built")]
    assert effects == [Effect.FOLDERS, Effect.NOTHING, Effect.NOTHING]


def test_other_kinds_of_files_than_the_chosen_ones_do_not_count(tree: Path) -> None:
    (tree / "src/new").mkdir()
    rules = ScanRules(required_exts=(".PY",))
    paths = ("src/a.py", "src/A.Py", "src/a.md", "src/new")
    assert [effect(tree, path, "added", rules) for path in paths] == [
        Effect.FILES,
        Effect.FILES,
        Effect.NOTHING,
        Effect.FOLDERS,
    ]


def test_the_watched_folders_are_those_that_a_scan_looks_into(tree: Path) -> None:
    (tree / "odd \udcff").mkdir()
    paths = WatchedFolders(str(tree), ScanRules(), OwnPlaces()).paths()
    assert paths == [str(tree), *(str(tree / name) for name in ("far", "python", "src", "src/deep"))]
    rules = ScanRules(extra_ignore=("!node_modules/left/",))
    assert str(tree / "node_modules/left") in WatchedFolders(str(tree), rules, OwnPlaces()).paths()


def test_a_link_to_a_folder_is_followed_only_if_the_settings_say_so(tree: Path) -> None:
    (tree / "src/inside").symlink_to(tree / "logs")
    assert effect(tree, "src/inside", "added") is Effect.FILES  # listed as skipped
    rules = ScanRules(follow_symlinks=True)
    assert effect(tree, "src/inside", "added", rules) is Effect.FOLDERS
    assert effect(tree, "src/gone", "removed", rules) is Effect.FOLDERS
    assert not any(
        "tmp" in os.path.relpath(path, tree) for path in WatchedFolders(str(tree), rules, OwnPlaces()).paths()
    )


def test_ignore_files_outside_are_seen_by_their_stamps(tree: Path) -> None:
    inner = tree / "src"
    stamps = [outer_stamps(str(inner))]
    for path in (tree / ".gitignore", tree / ".git/info/exclude"):
        path.write_text("another rule\n")
        stamps.append(outer_stamps(str(inner)))
    (tree / "src/a.py").write_text("1")
    assert outer_stamps(str(inner)) == stamps[-1]
    inner.rename(tree / "other")
    stamps.append(outer_stamps(str(inner)))
    assert stamps[-1] is None
    inner.mkdir()
    stamps.append(outer_stamps(str(inner)))
    assert len(set(stamps)) == 5
    inner.rmdir()
    inner.touch()
    assert outer_stamps(str(inner)) is None


def test_the_patterns_of_the_user_are_looked_at(tree: Path, tmp_path: Path) -> None:
    patterns = tmp_path / "ignore"
    before = outer_stamps(str(tree), str(patterns))
    patterns.write_text("*.tmp\n")
    assert outer_stamps(str(tree), str(patterns)) != before
    assert outer_stamps(str(tree)) != before  # the user's configuration names another file now, or none


def test_a_hostile_git_file_leads_nowhere(tmp_path: Path) -> None:
    for text in ("gitdir: \0", "gitdir: " + "a/" * 5000, "gitdir: /dev/zero", "\udcff"):
        (tmp_path / ".git").write_text(text, errors="surrogateescape")
        assert outer_stamps(str(tmp_path)) is not None
        assert WatchedFolders(str(tmp_path), ScanRules(), OwnPlaces()).paths() == [str(tmp_path.resolve())]
