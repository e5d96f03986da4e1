"""Ages of files on the first page of a project: those of the last commits, as a fresh clone sets all stamps anew."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.git_over_http import git

from codefathom import Engine
from codefathom.source.revisions import file_ages

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

JANUARY, MARCH = 1_767_614_400, 1_772_971_200
Commit = Callable[[str, str, int], None]


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commit:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q")

    def write(path: str, text: str, time_s: int) -> None:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
        for name in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{name}_DATE", f"{time_s} +0000")
        git(root, "add", path)
        git(root, "commit", "-q", "-m", "Change")

    return write


def ages(root: Path, revision: str = "") -> dict[str, float]:
    with Engine.open(root, revision=revision or None) as engine:
        engine.index()
        return {file.path: file.changed_at for file in engine.glance().files}


def test_a_fresh_clone_shows_when_its_files_were_changed(tmp_path: Path, commit: Commit) -> None:
    commit("old.py", "def old(): ...\n", JANUARY)
    commit("new.py", "def new(): ...\n", JANUARY)
    commit("new.py", "def new(): return 1\n", MARCH)
    git(tmp_path, "clone", "-q", "shop", "copy")
    assert ages(tmp_path / "copy") == {"old.py": JANUARY, "new.py": MARCH}
    assert ages(tmp_path / "shop", "HEAD") == {"old.py": JANUARY, "new.py": MARCH}


def test_what_is_not_committed_has_the_time_of_its_file(tmp_path: Path, commit: Commit) -> None:
    commit("kept.py", "def kept(): ...\n", JANUARY)
    commit("changed.py", "def changed(): ...\n", JANUARY)
    (tmp_path / "shop" / "changed.py").write_text("def changed(): return 'again'\n")
    (tmp_path / "shop" / "added.py").write_text("def added(): ...\n")
    for name in ("changed.py", "added.py"):
        os.utime(tmp_path / "shop" / name, (MARCH, MARCH))
    assert ages(tmp_path / "shop") == {"kept.py": JANUARY, "changed.py": MARCH, "added.py": MARCH}


def test_a_folder_of_a_repository_has_the_ages_of_its_own_files(tmp_path: Path, commit: Commit) -> None:
    commit("cart.py", "x = 1\n", JANUARY)
    commit("part/cart.py", "def cart(): ...\n", MARCH)
    (tmp_path / "shop" / "part" / "fathom.toml").touch()
    assert ages(tmp_path / "shop" / "part")["cart.py"] == MARCH


def test_a_shallow_clone_has_at_most_the_age_of_its_oldest_commit(tmp_path: Path, commit: Commit) -> None:
    commit("old.py", "def old(): ...\n", JANUARY)
    commit("new.py", "def new(): ...\n", MARCH)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{tmp_path / 'shop'}", "copy")
    assert ages(tmp_path / "copy") == {"old.py": MARCH, "new.py": MARCH}


def test_what_no_listed_commit_changed_is_as_old_as_the_oldest_of_them(
    tmp_path: Path, commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit("old.py", "def old(): ...\n", JANUARY)
    commit("new.py", "def new(): ...\n", MARCH - 1)
    commit("new.py", "def new(): return 1\n", MARCH)
    few = tuple(word.replace("=3000", "=2") for word in file_ages._LIST)
    monkeypatch.setattr(file_ages, "_LIST", few)
    assert ages(tmp_path / "shop") == {"old.py": MARCH - 1, "new.py": MARCH}


def test_a_name_that_looks_like_a_time_is_none(tmp_path: Path, commit: Commit) -> None:
    commit("1772971200", "a text of no kind\n", JANUARY)
    commit("\n5.py", "def five(): ...\n", JANUARY)
    tree_of = ages(tmp_path / "shop")
    assert set(tree_of.values()) == {JANUARY}
    assert "1772971200" in tree_of


def test_a_damaged_repository_leaves_the_first_page_whole(tmp_path: Path, commit: Commit) -> None:
    commit("cart.py", "def cart(): ...\n", JANUARY)
    shutil.rmtree(tmp_path / "shop" / ".git" / "objects")
    os.utime(tmp_path / "shop" / "cart.py", (MARCH, MARCH))
    assert ages(tmp_path / "shop") == {"cart.py": MARCH}
