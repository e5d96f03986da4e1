"""Temporary folders of living and of dead processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests.waiting import Started

from codefathom.askers.held_folder import HeldFolder

HOLD = """
import os, sys
from codefathom.askers.held_folder import HeldFolder
folder = HeldFolder()
os.mkdir(os.path.join(folder.path, "index"))
print(folder.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holding() -> tuple[Started[str], Path]:
    process = Started([sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_the_folder_of_a_killed_process_goes_with_the_next_one(parent: Path) -> None:
    living, its_folder = holding()
    dead, left = holding()
    with living, dead:
        dead.kill()
        dead.wait()
        assert left.is_dir()
        own = HeldFolder()
        assert not left.exists()
        assert (its_folder / "index").is_dir()
        living.communicate("")
    own.close()
    assert not Path(own.path).exists()


def test_what_others_have_put_there_stays(parent: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    target = tmp_path_factory.mktemp("target")
    (target / "write.lock").touch()
    (parent / "fathom-files-link").symlink_to(target)
    (parent / "fathom-files-file").touch()
    (parent / "fathom-files-new").mkdir()
    (parent / "other").mkdir()
    (parent / "other" / "write.lock").touch()
    HeldFolder().close()
    assert {path.name for path in parent.iterdir()} == {
        "fathom-files-link",
        "fathom-files-file",
        "fathom-files-new",
        "other",
    }
    assert (target / "write.lock").exists()


def test_a_folder_belongs_to_its_user_alone(parent: Path) -> None:
    folder = HeldFolder()
    assert os.stat(folder.path).st_mode & 0o077 == 0
    folder.close()
