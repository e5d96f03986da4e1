"""A disk without room: what was indexed can still be searched, errors name the disk, and room ends the trouble."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom import Engine
from codefathom.errors import IndexingError, UnwritableError

if sys.platform == "win32":
    pytest.skip("needs limits of POSIX", allow_module_level=True)

import resource

from tests.waiting import LONG_S

DISK_KB = 1_400
QUERY = "feed the kangaroo"


def limited(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose process cannot make any file longer than it is, nor write into a new one."""
    return subprocess.run(
        [sys.executable, "-m", "codefathom", words[0], "-C", str(project), *words[1:]],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        timeout=LONG_S,
    )


def write(project: Path, number: int) -> None:
    lines = (f"def part_{number}_{place}(value):\n    return value * {place}\n" for place in range(80))
    (project / f"part{number}.py").write_text("\n".join(lines))


def make(project: Path) -> None:
    project.mkdir(exist_ok=True)
    (project / "fathom.toml").touch()
    (project / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")


pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    make(tmp_path / "project")
    return tmp_path / "project"


QUESTIONS = (
    ("search", QUERY),
    ("symbols", "feed_kangaroo"),
    ("context", QUERY),
    ("ask", QUERY),
    ("search", "--mode", "regex", "feed_.*"),
)


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_an_index_is_searched_where_nothing_can_be_written(project: Path, words: tuple[str, ...]) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
    told = limited(project, *words)
    assert told.returncode == 0, told.stderr
    assert "feed_kangaroo" in told.stdout


def test_what_has_changed_since_is_told(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
    write(project, 1)
    told = limited(project, "search", QUERY)
    assert (told.returncode, "feed_kangaroo" in told.stdout) == (0, True), told.stderr
    assert "cannot be brought up to date" in told.stderr


def test_doctor_and_index_say_that_nothing_can_be_written(project: Path) -> None:
    with Engine.open(str(project)) as engine:
        engine.index()
    for command in ("index", "doctor"):
        told = limited(project, command)
        assert told.returncode, told.stdout
        said = told.stdout + told.stderr
        assert "free" in said, said
        assert "make room on this disk" in said, said


def test_without_an_index_the_error_names_the_disk(project: Path) -> None:
    told = limited(project, "search", QUERY)
    assert told.returncode == 2
    assert str(project) in told.stderr
    assert "make room on this disk" in told.stderr
    assert "unexpected" not in told.stderr


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk, and a small one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k", "none", str(place)]
    if (
        not shutil.which("mount")
        or subprocess.run(command, capture_output=True, check=False, timeout=LONG_S).returncode
    ):
        pytest.skip("this user may not mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True, timeout=LONG_S)


def leave(disk: Path, n_kb: int) -> None:
    """Fill a disk but for so much."""
    filler = disk / "fill"
    filler.unlink(missing_ok=True)
    status = os.statvfs(disk)
    rest = status.f_bavail * status.f_frsize - n_kb * 1_000
    if rest > 0:
        filler.write_bytes(b"\0" * rest)


def test_at_every_amount_of_room_the_old_index_or_the_new_one_is_searched(disk: Path) -> None:
    project = disk / "project"
    make(project)
    (project / ".git").mkdir()
    with Engine.open(str(project)) as engine:
        engine.index()
        before = engine.search(QUERY).hits
    n_failed = n_done = 0
    for number, n_kb in enumerate((0, 10, 40, 80, 120, 200, 300, 400, 600)):
        leave(disk, DISK_KB)
        write(project, number)
        leave(disk, n_kb)
        with Engine.open(str(project)) as engine:
            try:
                report = engine.index()
                n_done += bool(report.added)
            except IndexingError as error:
                n_failed += 1
                assert isinstance(error, UnwritableError), error
                assert "room" in f"{error} {error.hint}"
                assert str(disk) in str(error)
            assert engine.search(QUERY).hits[0].chunk == before[0].chunk
        with Engine.open(str(project)) as engine:
            assert engine.search(QUERY).hits[0].chunk == before[0].chunk
    assert n_failed
    assert n_done
    leave(disk, DISK_KB)
    with Engine.open(str(project)) as engine:
        engine.index()
        assert all(check.ok for check in engine.doctor()), engine.doctor()
        assert engine.search("part_3_7", limit=1).hits[0].chunk.path == "part3.py"


def test_room_that_comes_back_is_used_by_an_engine_that_is_open(disk: Path) -> None:
    project = disk / "project"
    make(project)
    with Engine.open(str(project)) as engine:
        engine.index()
    write(project, 1)
    leave(disk, 0)
    with Engine.open(str(project)) as engine:
        assert engine.search(QUERY).stale
        with pytest.raises(UnwritableError, match="no room on the disk"):
            engine.index()
        leave(disk, DISK_KB)
        assert engine.index().added
        assert not engine.search(QUERY).stale
