"""Other checkouts of the repository in its own folder are left out; clones and submodules are part of the project."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom.source.scan import Scan, ScanRules, folder_rules, scan
from codefathom.source.watching.watched_folders import Effect, FileEvent, OwnPlaces, WatchedFolders

REASON = "worktree of this repository"
PLACE = ".claude/worktrees/x"


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, timeout=LONG_S)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    made(root, "a.py")
    return root


def made(root: Path, name: str) -> None:
    """Make a repository with one file."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-b", "main")
    (root / name).write_text("x = 1\n")
    git(root, "add", name)
    git(root, "commit", "-m", "one")


def paths(found: Scan) -> list[str]:
    return [file.path for file in found.files]


def left_out(found: Scan) -> dict[str, str]:
    return {item.path: item.reason for item in found.skipped}


@pytest.mark.parametrize("place", [PLACE, "trees/y", "deep/er/z"])
@pytest.mark.parametrize("words", [(), ("-c", "worktree.useRelativePaths=true")], ids=["whole path", "relative"])
def test_a_worktree_of_the_project_is_left_out_with_the_reason(
    repository: Path, place: str, words: tuple[str, ...]
) -> None:
    git(repository, *words, "worktree", "add", place)
    assert (repository / place / "a.py").exists()
    found = scan(str(repository))
    assert (paths(found), left_out(found)) == (["a.py"], {f"{place}/": REASON})


def test_a_worktree_of_a_part_of_the_repository_is_left_out(repository: Path) -> None:
    (repository / "part").mkdir()
    (repository / "part" / "b.py").touch()
    git(repository, "worktree", "add", "part/tree")
    found = scan(str(repository / "part"))
    assert (paths(found), left_out(found)) == (["b.py"], {"tree/": REASON})


def test_a_worktree_is_a_project_of_its_own_and_holds_worktrees(repository: Path) -> None:
    git(repository, "worktree", "add", PLACE)
    own = repository / PLACE
    git(own, "worktree", "add", "inner")
    found = scan(str(own))
    assert (paths(found), left_out(found)) == (["a.py"], {"inner/": REASON})


def test_a_repository_that_was_moved_knows_its_worktrees(repository: Path) -> None:
    """As in a container, where the folder has another path than in the files of git."""
    git(repository, "worktree", "add", PLACE)
    elsewhere = repository.rename(repository.with_name("elsewhere"))
    assert left_out(scan(str(elsewhere))) == {f"{PLACE}/": REASON}


def test_worktrees_of_a_bare_repository_are_its_files(tmp_path: Path, repository: Path) -> None:
    """Such a folder holds nothing but worktrees."""
    top = tmp_path.resolve() / "top"
    top.mkdir()
    git(top, "clone", "--bare", str(repository), ".bare")
    (top / ".git").write_text("gitdir: ./.bare\n")
    git(top, "worktree", "add", "main")
    assert paths(scan(str(top))) == [*(f".bare/{name}" for name in _bare_files(top)), "main/a.py"]


def _bare_files(top: Path) -> list[str]:
    """Files of a bare repository under another name than `.git`, which only a rule of the user leaves out."""
    found = scan(str(top / ".bare"))
    return paths(found)


def test_a_worktree_comes_back_by_a_rule_that_names_it(repository: Path) -> None:
    git(repository, "worktree", "add", PLACE)
    found = scan(str(repository), ScanRules(ignore=(f"!{PLACE}/",)))
    assert f"{PLACE}/a.py" in paths(found)


def test_a_clone_and_a_submodule_are_part_of_the_project_but_their_worktrees_are_not(
    repository: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    made(library, "lib.py")
    git(repository, "clone", str(library), "clone")
    git(repository, "submodule", "add", str(library), "sub")
    git(repository / "clone", "worktree", "add", "own")
    git(repository / "sub", "worktree", "add", "own")
    found = scan(str(repository))
    assert paths(found) == [".gitmodules", "a.py", "clone/lib.py", "sub/lib.py"]
    assert left_out(found) == {"clone/own/": REASON, "sub/own/": REASON}


def test_worktrees_of_other_repositories_stay(repository: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    made(library, "lib.py")
    git(library, "worktree", "add", str(repository / "library"))
    found = scan(str(repository))
    assert (paths(found), left_out(found)) == (["a.py", "library/lib.py"], {})


HOSTILE = {
    "empty": b"",
    "no line of git": b"hello\n",
    "any bytes": bytes(range(256)) * 100,
    "NUL": b"gitdir: /a\0/.git/worktrees/x\n",
    "two lines": b"gitdir: ROOT/.git/worktrees/x\nmore: yes\n",
    "long": b"gitdir: " + b"../" * 400_000 + b"worktrees/x\n",
    "another repository": b"gitdir: /somewhere/.git/worktrees/x\n",
    "a name in it": b"gitdir: ROOT/.git/worktrees\n",
    "its own repository": b"gitdir: ROOT/.git\n",
    "a share of a network": b"gitdir: \\\\host\\share\\.git\\worktrees\\x\n",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_file_of_git_with_any_content_leaves_nothing_out(repository: Path, content: bytes) -> None:
    (repository / "nested").mkdir()
    (repository / "nested" / "b.py").touch()
    (repository / "nested" / ".git").write_bytes(content.replace(b"ROOT", os.fsencode(repository)))
    found = scan(str(repository))
    assert (paths(found), left_out(found)) == (["a.py", "nested/b.py"], {})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("kind", ["link", "pipe", "loop"])
def test_what_is_no_file_of_git_is_not_followed_or_waited_for(repository: Path, kind: str) -> None:
    git(repository, "worktree", "add", "tree")
    nested = repository / "nested"
    nested.mkdir()
    (nested / "b.py").touch()
    if kind == "pipe":
        os.mkfifo(nested / ".git")
    else:
        (nested / ".git").symlink_to(repository / "tree" / ".git" if kind == "link" else nested / ".git")
    assert paths(scan(str(repository))) == ["a.py", "nested/b.py"]


def test_the_folders_of_a_worktree_are_not_watched(repository: Path) -> None:
    git(repository, "worktree", "add", PLACE)
    (repository / PLACE / "inner").mkdir()
    watched = WatchedFolders(str(repository), ScanRules(), OwnPlaces())
    rules = folder_rules(str(repository))
    assert f"{PLACE}/inner/" not in rules
    for path in (f"{PLACE}/a.py", f"{PLACE}/inner/new.py"):
        assert watched.effect(FileEvent(str(repository / path), "changed")) is Effect.NOTHING
    # It may be taken away, or be made of a folder that was watched before.
    assert watched.effect(FileEvent(str(repository / PLACE / ".git"), "removed")) is Effect.FOLDERS
    assert watched.effect(FileEvent(str(repository / ".git"), "added")) is Effect.NOTHING


def test_only_a_folder_with_an_entry_of_git_costs_a_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two/three"):
        (repository / name).mkdir(parents=True)
    opened: list[str] = []
    real = os.open

    def counted(path: str, *words: object, **more: object) -> int:
        opened.append(str(path))
        return real(path, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", counted)
    scan(str(repository))
    assert ".git" not in opened
    (repository / "one" / ".git").touch()
    scan(str(repository))
    assert opened.count(".git") == 1
