"""A tree with stamps is what a scan would list, whatever has changed since, and costs one look at each entry."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.waiting import comes

from codefathom.source.changes import FileStat
from codefathom.source.scan import ScanRules, scan
from codefathom.source.stamped_tree import StampedTree
from codefathom.source.stamped_walk import walk_again, walk_stamped
from codefathom.system.mounts import keeps_folder_times

RULES = ScanRules(max_bytes=1_000)
Edit = Callable[[Path], object]

pytestmark = pytest.mark.skipif(not keeps_folder_times(os.getcwd()), reason="this disk keeps no times of folders")

FILES = {
    ".gitignore": "*.log\n/left/\n",
    "a.py": "a",
    "one/b.py": "b",
    "one/c.log": "c",
    "one/two/d.py": "d",
    "one/two/.fathomignore": "*.tmp\n",
    "one/two/three/e.tmp": "e",
    "one/two/three/f.py": "f",
    "left/g.py": "g",
    "venv_like/h.py": "h",
    "venv_like/deep/i.py": "i",
    "large.py": "l" * 2_000,
    "kept/.gitignore": "*\n!j.py\n!/below/\n!/below/k.py\n",
    "kept/j.py": "j",
    "kept/below/k.py": "k",
    "other/m.py": "m",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def stamped_at(root: Path) -> StampedTree:
    """Return the tree as it is remembered some time later: nothing that changes from now on has one of its stamps."""
    stamps = walk_stamped(str(root), RULES)
    assert stamps is not None
    return settled(root, stamps)


def settled(root: Path, stamps: StampedTree) -> StampedTree:
    last_ns = max(item.ctime_ns for item in (*stamps.files, *stamps.folders, *stamps.deciding))
    probe = root.parent / f"{root.name}-probe"
    assert comes(lambda: probe.write_text("") == 0 and probe.stat().st_ctime_ns > last_ns)
    return stamps._replace(looked_at_ns=stamps.looked_at_ns + 10**11).sure()


def check(root: Path, stamps: StampedTree) -> StampedTree:
    now = walk_again(str(root), RULES, stamps)
    assert now.scan == scan(str(root), RULES)
    fresh = walk_stamped(str(root), RULES)
    assert fresh is not None
    assert [item.path for item in now.folders] == [item.path for item in fresh.folders]
    assert sorted(now.deciding) == sorted(fresh.deciding)
    return now


def replace(path: Path, text: str) -> None:
    new = path.with_name("new-file")
    new.write_text(text)
    os.utime(new, ns=(0, path.stat().st_mtime_ns))
    new.replace(path)


def rewrite(path: Path) -> None:
    """Write other bytes, and put back size and time stamp: only what the system has seen is another one."""
    before = path.stat()
    path.write_text("z" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "edit",
    [
        lambda root: None,
        lambda root: (root / "a.py").write_text("changed"),
        lambda root: rewrite(root / "one/two/three/f.py"),
        lambda root: replace(root / "one/b.py", "q"),
        lambda root: (root / "one/new.py").write_text("new"),
        lambda root: (root / "one/b.py").unlink(),
        lambda root: (root / "one/two").rename(root / "one/second"),
        lambda root: (root / "one").rename(root / "zone"),
        lambda root: shutil.rmtree(root / "one"),
        lambda root: shutil.rmtree(root / "other") or (root / "other").write_text("a file now"),
        lambda root: (root / "a.py").unlink() or (root / "a.py").mkdir() or (root / "a.py/inner.py").write_text("x"),
        lambda root: (root / "a.py").unlink() or (root / "a.py").symlink_to("one/b.py"),
        lambda root: (root / "other").rename(root / "gone") or (root / "other").symlink_to("one"),
        lambda root: (root / ".gitignore").write_text("*.log\n"),
        lambda root: rewrite(root / ".gitignore"),
        lambda root: (root / ".gitignore").unlink(),
        lambda root: (root / "one/two/.fathomignore").write_text("*.py\n"),
        lambda root: (root / "one/.gitignore").write_text("f.py\n"),
        lambda root: (root / ".fathomignore").write_text("three/\n"),
        lambda root: (root / "venv_like/pyvenv.cfg").write_text(""),
        lambda root: (root / "large.py").write_text("small now"),
        lambda root: (root / "a.py").write_text("l" * 2_000),
        lambda root: (root / "kept/.gitignore").write_text("*\n"),
        lambda root: (root / "kept/below/k.py").unlink(),
        lambda root: (root / "kept/below/n.py").write_text("n"),
        lambda root: (root / "one/package.json").write_text("{}") and (root / "one/build").mkdir(),
        lambda root: (root / "left/o.py").write_text("o"),
        lambda root: (root / "one/LICENSE").write_text("free"),
    ],
)
def test_any_change_is_seen(root: Path, edit: Edit) -> None:
    stamps = stamped_at(root)
    edit(root)
    check(root, stamps)


def test_marks_that_go_away_are_seen(root: Path) -> None:
    (root / "venv_like/pyvenv.cfg").write_text("")
    stamps = stamped_at(root)
    (root / "venv_like/pyvenv.cfg").unlink()
    assert "venv_like/deep/i.py" in {file.path for file in check(root, stamps).files}


def test_a_folder_that_becomes_a_worktree_is_seen(root: Path) -> None:
    (root / ".git/worktrees/w").mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / "other/.git").write_text("nothing of git\n")
    stamps = stamped_at(root)
    (root / ".git/worktrees/w/gitdir").write_text(f"{root}/other/.git\n")
    (root / "other/.git").write_text(f"gitdir: {root}/.git/worktrees/w\n")
    check(root, stamps)


def test_what_changes_in_the_tick_of_the_look_is_looked_at_again(root: Path) -> None:
    stamps = walk_stamped(str(root), RULES)
    assert stamps is not None
    stamp = next(file for file in stamps.files if file.path == "a.py")
    unsure = stamps._replace(looked_at_ns=max(stamp.mtime_ns, stamp.ctime_ns)).sure()
    assert FileStat("a.py", -1, -1, -1, -1) in unsure.files
    assert FileStat("", -1, -1, -1, -1) in unsure.folders
    assert walk_again(str(root), RULES, unsure).scan == scan(str(root), RULES)


def test_an_unchanged_tree_is_the_same_object_and_costs_one_look_at_each_entry(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root / "kept")  # a folder that is brought back is always listed again
    stamps = stamped_at(root)
    calls: Counter[str] = Counter()
    for name in ("stat", "scandir"):
        monkeypatch.setattr(os, name, counted(name, getattr(os, name), calls))
    assert walk_again(str(root), RULES, stamps) is stamps
    assert calls == {"stat": len(stamps.files) + len(stamps.folders) + len(stamps.deciding)}


def test_one_new_file_lists_its_folder_and_those_above_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(root / "kept")
    stamps = stamped_at(root)
    (root / "one/two/new.py").write_text("new")
    calls: Counter[str] = Counter()
    monkeypatch.setattr(os, "scandir", counted("scandir", os.scandir, calls))
    now = walk_again(str(root), RULES, stamps)
    assert calls == {"scandir": len(("", "one/", "one/two/"))}
    assert len(now.files) == len(stamps.files) + 1


def counted(name: str, function: Callable[..., object], calls: Counter[str]) -> Callable[..., object]:
    def call(*arguments: object, **options: object) -> object:
        calls[name] += 1
        return function(*arguments, **options)

    return call


def test_links_that_are_followed_have_no_stamped_tree(root: Path) -> None:
    assert walk_stamped(str(root), RULES._replace(follow_symlinks=True)) is None


NAMES = ("a.py", "b.py", "c.log", "d", "e", "build", "vendor", ".gitignore", "pyvenv.cfg", "package.json", "LICENSE")
IGNORED = ("*.log\n", "d/\n", "a.py\n!b.py\n", "/d/e\n", "*\n!a.py\n", "")


@pytest.mark.parametrize("seed", range(12))
def test_a_script_of_random_edits_is_followed(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    stamps = stamped_at(tmp_path)
    for _ in range(25):
        for _ in range(chance.choice((0, 1, 1, 3))):
            random_edit(tmp_path, chance)
        stamps = check(tmp_path, stamps)
        stamps = settled(tmp_path, stamps) if chance.random() < 0.5 else stamps.sure()


def random_edit(root: Path, chance: random.Random) -> None:
    folders = [root, *(path for path in sorted(root.rglob("*")) if path.is_dir() and not path.is_symlink())]
    path = chance.choice(folders) / chance.choice(NAMES)
    if path.is_dir():
        target = chance.choice(folders) / chance.choice(NAMES)
        if chance.random() < 0.5 and not target.exists() and path not in target.parents:
            path.rename(target)
        elif chance.random() < 0.4:
            shutil.rmtree(path)
    elif path.exists() and chance.random() < 0.4:
        path.unlink()
    elif path.name in ("d", "e", "build", "vendor") and not path.exists():
        path.mkdir()
    elif not path.is_dir():
        path.write_text(chance.choice(IGNORED) if path.name == ".gitignore" else str(chance.random()))
