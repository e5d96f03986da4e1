"""The user's `core.excludesFile`: the file that git itself would read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.config.git_config import excludes_file, excludes_in

TEXTS = (
    "",
    "[core]\n\texcludesFile = /a/b\n",
    "[Core]\nEXCLUDESFILE=/a/b # mine\n",
    '[core]\n\texcludesfile = "/a b/c"\n',
    "[core] excludesfile = /x\n[user]\n\texcludesfile = /y\n",
    "[core]\n\texcludesfile = /x\n\texcludesfile = /z\n",
    '[core "sub"]\n\texcludesfile = /x\n',
    "[core]\n; excludesfile = /x\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_value_is_that_of_git(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text(text)
    words = ["git", "config", "--file", str(file), "--get", "core.excludesFile"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=LONG_S, check=False)
    assert excludes_in(text) == (done.stdout.removesuffix("\n") if done.returncode == 0 else None)


def test_the_file_is_looked_for_where_git_looks(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert excludes_file(home) == str(tmp_path / ".config" / "git" / "ignore")
    assert excludes_file({**home, "XDG_CONFIG_HOME": "/xdg"}) == "/xdg/git/ignore"
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    assert excludes_file(home) == str(tmp_path / "mine")
    (tmp_path / "other").write_text("[core]\n\texcludesFile =\n")
    assert excludes_file({**home, "GIT_CONFIG_GLOBAL": str(tmp_path / "other")}) == ""
    (tmp_path / "mine").symlink_to(tmp_path / "dotfiles")
    assert excludes_file(home) == str(tmp_path / "dotfiles")


@pytest.mark.parametrize("is_repository", [True, False])
def test_files_are_left_out_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_repository: bool) -> None:
    for name in ("cache", "state"):
        monkeypatch.setenv(f"FATHOM_{name.upper()}_DIR", str(tmp_path / name))
    config, exclude, root = tmp_path / "config", tmp_path / "exclude", tmp_path / "project"
    config.write_text(f"[core]\n\texcludesFile = {exclude}\n")
    exclude.write_text("notes*.py\n/deep/only.py\n!kept.py\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    (root / "deep").mkdir(parents=True)
    for name in ("a.py", "notes_of_mine.py", "deep/notes.py", "deep/only.py", "only.py"):
        (root / name).write_text(f"value = {name!r}\n")
    (root / "fathom.toml").touch()
    if is_repository:
        environ = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "init", "-q", str(root)], check=True, timeout=LONG_S, env=environ)
    with Engine.open(str(root)) as engine:
        engine.index()
        assert {item.path for item in engine.files.listed()} == {"a.py", "only.py", "fathom.toml"}
