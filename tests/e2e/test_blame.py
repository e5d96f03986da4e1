"""The commit of each line: after changes, renames and in old encodings; and that nothing of a repository is run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.errors import FathomError

FILE = "prices.py"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    commit(root, "Add prices", b"one = 1\ntwo = 2\nthree = 3\n")
    return root


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=a@b.c")
    return subprocess.run(
        ["git", "-C", str(root), *who, *words], check=True, capture_output=True, text=True, timeout=LONG_S
    ).stdout.strip()


def commit(root: Path, subject: str, content: bytes, path: str = FILE) -> str:
    (root / path).write_bytes(content)
    git(root, "add", "-A")
    git(root, "commit", "-qm", subject)
    return git(root, "rev-parse", "HEAD")


def blamed(root: Path, path: str = FILE, start_line: int = 1, end_line: int = 100) -> list[tuple[int, int, str]]:
    """Return the groups of lines, each with the subject of its commit."""
    with Engine.open(str(root)) as engine:
        engine.index()
        groups = engine.blame(path, start_line, end_line)
    return [(group.start_line, group.end_line, group.commit.subject if group.commit else "") for group in groups]


def test_each_line_has_the_commit_that_wrote_it(repository: Path) -> None:
    commit(repository, "Raise two", b"one = 1\ntwo = 20\nthree = 3\n")
    assert blamed(repository) == [(1, 1, "Add prices"), (2, 2, "Raise two"), (3, 3, "Add prices")]
    assert blamed(repository, start_line=2, end_line=2) == [(2, 2, "Raise two")]


def test_a_line_that_is_in_no_commit_has_none_and_moves_the_others(repository: Path) -> None:
    commit(repository, "Raise two", b"one = 1\ntwo = 20\nthree = 3\n")
    (repository / FILE).write_bytes(b"zero = 0\none = 1\ntwo = 20\nthree = 30\n")
    assert blamed(repository) == [(1, 1, ""), (2, 2, "Add prices"), (3, 3, "Raise two"), (4, 4, "")]
    (repository / "new.py").write_bytes(b"a = 1\nb = 2\n")
    assert blamed(repository, "new.py") == [(1, 2, "")]


def test_renames_line_ends_and_old_encodings_are_no_changes(repository: Path) -> None:
    git(repository, "mv", FILE, "cost.py")
    git(repository, "commit", "-qm", "Rename")
    (repository / "cost.py").write_bytes(b"one = 1\r\ntwo = 2\r\nthree = 3\r\n")
    assert blamed(repository, "cost.py") == [(1, 3, "Add prices")]
    commit(repository, "Old", "# g\u00fcnstig\n# sch\u00f6n\x0c\n# f\u00fcr\n".encode("latin-1"), "old.py")
    assert blamed(repository, "old.py") == [(1, 3, "Old")]


def test_a_folder_of_a_repository_and_strange_names_are_found(repository: Path) -> None:
    (repository / "shop").mkdir()
    (repository / "shop/fathom.toml").touch()
    for name in ("--output=x.py", ":(top)b.py", "gr\u00f6\u00dfe.py"):
        commit(repository, "Strange", b"a = 1\n", f"shop/{name}")
        assert blamed(repository / "shop", name) == [(1, 1, "Strange")]


def test_nothing_that_a_repository_names_is_run_or_believed(repository: Path, tmp_path: Path) -> None:
    trap, proof = tmp_path / "trap", tmp_path / "it-ran"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\n")
    trap.chmod(0o755)
    last = commit(repository, "Raise two", b"one = 1\ntwo = 20\nthree = 3\n")
    (repository / ".gitattributes").write_text("* diff=trap filter=trap\n")
    (repository / ".mailmap").write_text("Eve <eve@b.c> Ann <a@b.c>\n")
    (repository / "ignored").write_text(last)
    settings = ("diff.external", "diff.trap.command", "diff.trap.textconv", "core.pager", "core.fsmonitor")
    for name in (*settings, "filter.trap.clean", "filter.trap.smudge", "pager.blame", "gpg.program"):
        git(repository, "config", name, str(trap))
    git(repository, "config", "alias.blame", f"!{trap}")
    git(repository, "config", "log.showSignature", "true")
    git(repository, "config", "blame.ignoreRevsFile", "ignored")
    git(repository, "config", "mailmap.file", str(repository / ".mailmap"))
    proof.unlink(missing_ok=True)
    assert blamed(repository)[1] == (2, 2, "Raise two")
    with Engine.open(str(repository)) as engine:
        authors = {group.commit.author for group in engine.blame(FILE, 1, 3) if group.commit}
    assert authors == {"Ann"}
    assert not proof.exists()
    git(repository, "config", "blame.ignoreRevsFile", "nowhere")
    with pytest.raises(FathomError, match="who wrote the lines"):
        blamed(repository)


def test_secrets_in_a_message_are_masked(repository: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    commit(repository, f"Use {token}", b"one = 1\ntwo = 20\nthree = 3\n")
    assert token not in str(blamed(repository))


@pytest.mark.parametrize(("path", "end_line"), [("gone.py", 3), (FILE, 4_001)])
def test_what_cannot_be_told_is_an_error(repository: Path, path: str, end_line: int) -> None:
    with pytest.raises(FathomError):
        blamed(repository, path, 1, end_line)


def test_a_folder_without_a_repository_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / FILE).write_text("one = 1\n")
    with pytest.raises(FathomError, match="repository"):
        blamed(tmp_path / "plain")


def test_a_partial_clone_is_asked_for_nothing(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repository}", "partial")
    objects = sorted((tmp_path / "partial/.git/objects").rglob("*"))
    with pytest.raises(FathomError, match="partial clone"):
        blamed(tmp_path / "partial")
    assert sorted((tmp_path / "partial/.git/objects").rglob("*")) == objects


def test_a_file_that_was_far_longer_in_its_commit_is_not_read(repository: Path) -> None:
    commit(repository, "Add zeros", bytes(50_000_001), "zeros.py")
    (repository / "zeros.py").write_bytes(b"zero = 0\n")
    with pytest.raises(FathomError, match="50,000,001 bytes in its last commit"):
        blamed(repository, "zeros.py")
