"""The history of a repository as evidence for which tests a change touches: what is read, and that nothing is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.source.revisions.git_tree import GitTree
from codefathom.source.revisions.history import past_changes


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    return root


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "core.quotePath=false")
    return subprocess.run(
        ["git", "-C", str(root), *who, *words], check=True, capture_output=True, text=True, timeout=LONG_S
    ).stdout


def change(root: Path, *paths: str) -> None:
    """Commit another text in these files."""
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text() if file.exists() else ""
        file.write_text(f"{text}# {len(text)}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")


def past(root: Path, prefix: str = "") -> list[set[str]]:
    return [set(paths) for paths in past_changes(GitTree(str(root), git(root, "rev-parse", "HEAD").strip(), prefix))]


def test_each_commit_has_the_files_that_it_changed_newest_first(repository: Path) -> None:
    change(repository, "a.py", "b.py", "c.py")  # the first commit, which adds all there is
    change(repository, "a.py", "b.py")
    change(repository, *(f"many/{number}.py" for number in range(31)))
    change(repository, "shop/line\nbreak.py", "shop/gr\u00f6\u00dfe.py")
    git(repository, "mv", "c.py", "d.py")
    change(repository)
    assert past(repository) == [{"c.py", "d.py"}, {"shop/line\nbreak.py", "shop/gr\u00f6\u00dfe.py"}, {"a.py", "b.py"}]
    assert past(repository, "shop/") == [{"line\nbreak.py", "gr\u00f6\u00dfe.py"}]


def test_a_merge_is_no_change_of_its_own(repository: Path) -> None:
    change(repository, "a.py")
    git(repository, "checkout", "-qb", "side")
    change(repository, "b.py")
    git(repository, "checkout", "-q", "-")
    change(repository, "c.py")
    git(repository, "merge", "-q", "--no-ff", "-m", "merge", "side")
    assert sorted(map(sorted, past(repository))) == [["b.py"], ["c.py"]]


def test_only_the_latest_commits_are_read(repository: Path) -> None:
    author = "a <a@b.c> 1700000000 +0000"
    commands = []
    for number in range(3_200):
        commands.append(f"commit refs/heads/long\nauthor {author}\ncommitter {author}\ndata 0\n")
        commands.append(f"M 100644 inline f{number}.py\ndata 1\nx\n")
    stream = "".join(commands).encode()
    subprocess.run(["git", "-C", str(repository), "fast-import", "--quiet"], input=stream, check=True, timeout=LONG_S)
    changes = past_changes(GitTree(str(repository), git(repository, "rev-parse", "long").strip(), ""))
    assert (len(changes), changes[0], changes[-1]) == (3_000, ("f3199.py",), ("f200.py",))


@pytest.mark.parametrize("commit", ["0" * 40, "HEAD^{tree}", "--all", "no-such"])
def test_what_git_cannot_list_has_no_history(repository: Path, commit: str) -> None:
    change(repository, "a.py")
    change(repository, "a.py")
    assert past_changes(GitTree(str(repository), commit, "")) == ()


def test_a_partial_clone_is_asked_for_nothing(repository: Path, tmp_path: Path) -> None:
    change(repository, "a.py")
    change(repository, "a.py")
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=tree:0", "--no-checkout", repository.as_uri(), str(tmp_path / "partial"))
    objects = sorted((tmp_path / "partial/.git/objects").rglob("*"))
    assert past(tmp_path / "partial") == []
    assert sorted((tmp_path / "partial/.git/objects").rglob("*")) == objects


def test_nothing_that_a_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    trap, proof = tmp_path / "trap", tmp_path / "it-ran"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\n")
    trap.chmod(0o755)
    (repository / ".gitattributes").write_text("* diff=trap filter=trap\n")
    change(repository, "a.py")
    change(repository, "a.py")
    settings = ("diff.external", "diff.trap.command", "diff.trap.textconv", "core.pager", "core.fsmonitor")
    for name in (*settings, "core.alternateRefsCommand", "pager.rev-list", "pager.diff-tree"):
        git(repository, "config", name, str(trap))
    for name in ("alias.rev-list", "alias.diff-tree"):
        git(repository, "config", name, f"!{trap}")
    git(repository, "config", "diff.orderFile", str(tmp_path / "nowhere"))
    proof.unlink(missing_ok=True)
    assert past(repository) == [{"a.py"}]
    assert not proof.exists()


def test_a_test_without_any_use_is_named_because_it_changed_with_the_file(repository: Path) -> None:
    """The file is read by a framework, so that no line of the test leads to it."""
    change(repository, "shop/views.py", "tests/test_pages.py", "tests/test_far.py", "shop/other.py")
    for _ in range(4):
        change(repository, "shop/views.py", "tests/test_pages.py")
        change(repository, "shop/other.py", "tests/test_far.py")
        change(repository, "shop/other.py")
    diff = f"--- a/shop/views.py\n+++ b/shop/views.py\n@@ -{5},1 +{5},1 @@\n-# {_last(repository)}\n+# changed\n"
    with Engine.open(str(repository)) as engine:
        tests = engine.impact(diff=diff).tests
    assert [test.path for test in tests] == ["tests/test_pages.py"]
    assert "same commit" in tests[0].reason


def _last(root: Path) -> str:
    return (root / "shop/views.py").read_text().split("# ")[-1].strip()
