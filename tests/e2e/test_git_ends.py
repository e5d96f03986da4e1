"""A process of git ends with the one that has started it, however that one ends and whatever git waits for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import LONG_S, Started, comes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="named pipes as POSIX has them")

_READ_COMMIT = "from codefathom.source.revisions.revision import revision; revision({folder!r}, 'v1')"
_READ_FILE = """
from codefathom.source.revisions.git_tree import GitTree, Blob, _objects
_objects({folder!r}).content(Blob(0o100644, {id!r}, 5))
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one tag, all of whose objects are named pipes."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "a.py").write_text("a = 1")
    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"),
        ("tag", "v1"),
    ):
        subprocess.run(["git", "-C", str(root), *words], check=True, timeout=LONG_S)
    return root


@pytest.mark.parametrize("program", [_READ_COMMIT, _READ_FILE])
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_git_that_waits_for_a_pipe_ends_with_its_killed_reader(
    repository: Path, program: str, end: signal.Signals
) -> None:
    id_ = _output(repository, "rev-parse", "v1:a.py" if program is _READ_FILE else "v1")
    stored = repository / ".git" / "objects" / id_[:2] / id_[2:]
    stored.unlink()
    os.mkfifo(stored)
    code = program.format(folder=str(repository), id=id_)
    with Started([sys.executable, "-c", code]) as reader:
        assert comes(lambda: _waiting_in(repository))
        reader.send_signal(end)
        reader.wait()
    assert comes(lambda: not _waiting_in(repository))


def test_no_program_begins_before_the_guard_knows_it(tmp_path: Path) -> None:
    """One whose starter is killed right after it has started it leaves nothing behind."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"""
import os, shutil, signal
from codefathom.system.children import GUARD, start_program
GUARD.add = lambda number: os.kill(os.getpid(), signal.SIGKILL)
start_program([shutil.which('cat'), {str(pipe)!r}], {{}})
"""
    with Started([sys.executable, "-c", code]) as starter:
        assert starter.wait() == -signal.SIGKILL
    assert comes(lambda: not _listed(f" {pipe}"))


def test_what_has_ended_is_not_ended_again(repository: Path) -> None:
    """The number of a process that has ended may be that of a stranger's one."""
    code = f"""
import sys
from codefathom.source.revisions.revision import revision
from codefathom.system.children import GUARD
revision({str(repository)!r}, 'v1')
print(sorted(GUARD.guarded))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LONG_S)
    assert said.stdout == "[]\n"


def _output(repository: Path, *words: str) -> str:
    words = ("git", "-C", str(repository), *words)
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=LONG_S).stdout.strip()


def _waiting_in(repository: Path) -> list[str]:
    """Return the processes of git that work in a repository."""
    return _listed(f" -C {repository} ")


def _listed(words: str) -> list[str]:
    """Return the processes whose command line has these words."""
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True, timeout=LONG_S)
    return [line for line in listed.stdout.splitlines() if words in line]
