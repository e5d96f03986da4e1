"""The stamps of files: other bytes are seen whatever was put back, and no stamp of one file ends a run."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest
from tests.older_formats import made_older
from tests.waiting import pass_tick

from codefathom import Engine
from codefathom.cli import main
from codefathom.index.indexing import run
from codefathom.source.changes import FileStat, Scan
from codefathom.source.scan import ScanRules
from codefathom.types import IndexReport

LINUX = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps the time at which a file was made")
OLD = "def before():\n    return 1\n"
NEW = "def behind():\n    return 2\n"


@pytest.fixture
def root(tmp_path: Path, own_folders: None) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (root / "src" / f"{name}.py").write_text(OLD)
    (root / "logo.svg.min.js").write_text("var a=1;" * 3_000)  # left out by its content
    os.utime(root / "src" / "a.py", ns=(10**18, 10**18))
    return root


def index(root: Path) -> IndexReport:
    with Engine.open(str(root)) as engine:
        return engine.index()


def symbols(root: Path) -> set[str]:
    with Engine.open(str(root)) as engine:
        return {hit.symbol.name for hit in engine.symbols("be", mode="prefix").hits}


# ---- other bytes under the same size and stamp


def write_in_place(root: Path) -> None:
    with (root / "src/a.py").open("r+") as file:
        file.write(NEW)
    os.utime(root / "src/a.py", ns=(10**18, 10**18))


def write_anew(root: Path) -> None:
    (root / "src/a.py").unlink()
    (root / "src/a.py").write_text(NEW)
    os.utime(root / "src/a.py", ns=(10**18, 10**18))


def exchange_files(root: Path) -> None:
    other = root.parent / "other.py"
    other.write_text(NEW)
    os.utime(other, ns=(10**18, 10**18))
    os.replace(other, root / "src/a.py")


def exchange_folders(root: Path) -> None:
    """No file of the other folder is touched after the index was made."""
    (root / "src").rename(root.parent / "gone")
    (root.parent / "src").rename(root / "src")


CHANGES = [write_in_place, write_anew, exchange_files, exchange_folders]


@LINUX
@pytest.mark.parametrize("change", CHANGES)
def test_other_bytes_with_the_same_size_and_stamp_are_seen(root: Path, change: Callable[[Path], None]) -> None:
    other = root.parent / "src"
    shutil.copytree(root / "src", other)
    (other / "a.py").write_text(NEW)
    for name in ("a", "b", "c"):
        stamp = os.stat(root / "src" / f"{name}.py").st_mtime_ns
        os.utime(other / f"{name}.py", ns=(stamp, stamp))
    index(root)
    before = os.stat(root / "src/a.py")
    change(root)
    after = os.stat(root / "src/a.py")
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    with Engine.open(str(root)) as engine:
        assert engine.status().pending > 0  # not "up to date"
    report = index(root)
    assert (report.changed, report.added, report.removed) == (("src/a.py",), (), ())
    with Engine.open(str(root)) as engine:
        assert engine.status().pending == 0
        assert engine.search("behind").hits[0].chunk.path == "src/a.py"


@LINUX
def test_a_hit_of_an_index_that_is_not_refreshed_says_that_its_file_has_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index(root)
    write_in_place(root)
    settings = root.parent / "settings.toml"
    settings.write_text('[search]\nrefresh = "never"\n')
    monkeypatch.setenv("FATHOM_CONFIG", str(settings))
    with Engine.open(str(root)) as engine:
        hits = {hit.chunk.path: hit for hit in engine.search("before").hits}
    assert {path for path, hit in hits.items() if hit.stale} == {"src/a.py"}


@LINUX
def test_equal_bytes_are_read_once_and_never_parsed_again(root: Path) -> None:
    index(root)
    for path in [*root.rglob("*.py"), *root.rglob("*.js")]:  # as `cp -a` would leave them
        data, stamp = path.read_bytes(), os.stat(path).st_mtime_ns
        path.unlink()
        path.write_bytes(data)
        os.utime(path, ns=(stamp, stamp))
    with Engine.open(str(root)) as engine:
        generation = engine.generation
        reports = [engine.index() for _ in range(2)]
        assert engine.generation == generation
    assert [(report.n_touched, report.n_unchanged) for report in reports] == [(3, 0), (0, 4)]
    assert not any(report.changed or report.added for report in reports)


@LINUX
def test_a_copied_project_with_its_index_is_read_once(root: Path, tmp_path: Path) -> None:
    index(root)
    shutil.copytree(root, tmp_path / "copy", copy_function=shutil.copy2)
    index(tmp_path / "copy")
    report = index(tmp_path / "copy")
    assert (report.n_touched, report.changed, report.n_unchanged) == (0, (), 4)


def to_format_6(root: Path) -> None:
    """Make the index one of an older version, which kept neither ctime nor inode."""
    made_older(root / ".fathom" / "catalog.db", 6)
    (root / ".fathom" / "tree.stamps").unlink(missing_ok=True)  # that version has kept none


@LINUX
@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 35), reason="it drops no columns")
def test_an_index_of_the_version_before_goes_on(root: Path) -> None:
    pass_tick(root.parent / "probe")  # else a file could have been written once more, and would have to be read
    index(root)
    with Engine.open(str(root)) as engine:
        identity, generation = engine.opened.catalog.identity, engine.generation
    to_format_6(root)
    with Engine.open(str(root)) as engine:
        assert engine.status().pending == 0
        assert (engine.opened.catalog.identity, engine.generation) == (identity, generation)
        report = engine.index()  # records what it sees, and reads nothing
        assert (report.n_touched, report.changed, report.added, report.n_unchanged) == (0, (), (), 4)
        assert all(entry.ctime_ns and entry.inode for entry in engine.opened.catalog.entries().values())
        assert all(item.ctime_ns and item.inode for item in engine.opened.catalog.rejected())
    write_in_place(root)
    assert index(root).changed == ("src/a.py",)


@LINUX
@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 35), reason="it drops no columns")
def test_what_changed_before_the_new_version_came_is_seen(root: Path) -> None:
    index(root)
    to_format_6(root)
    write_in_place(root)
    assert index(root).changed == ("src/a.py",)


class Renumbering:
    """A disk over a network that gives each file a new inode at each look."""

    def __init__(self, root: Path) -> None:
        self.root, self.n_looks, self.n_read = root, 0, 0

    def scan(self, rules: ScanRules) -> Scan:
        self.n_looks += 1
        files = [FileStat.of(path.name, path.stat()) for path in sorted(self.root.glob("*.*")) if path.is_file()]
        return Scan(tuple(file._replace(inode=file.inode + self.n_looks) for file in files), ())

    def open(self, path: str) -> BinaryIO | None:
        self.n_read += 1
        return BytesIO((self.root / path).read_bytes())

    def stat(self, path: str) -> FileStat | None:
        return FileStat.of(path, (self.root / path).stat())


def indexed_from(tree: object, root: Path) -> IndexReport:
    """Index the files of a tree that is no folder."""
    with Engine.open(str(root)) as engine, engine.opened.writing() as stages:
        recipe = stages.recipe._replace(revision=tree)  # type: ignore[arg-type]
        events = list(run(replace(stages, recipe=recipe)))
    assert isinstance(events[-1], IndexReport)
    return events[-1]


@LINUX
def test_inodes_that_a_disk_makes_up_are_not_compared_for_ever(tmp_path: Path, own_folders: None) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for number in range(60):
        (root / f"f{number}.py").write_text(f"def f{number}(): ...\n")
        os.utime(root / f"f{number}.py", ns=(10**18, 10**18))
    tree = Renumbering(root)
    reports, n_read = [], []
    for _ in range(4):
        tree.n_read = 0
        reports.append(indexed_from(tree, root))
        n_read.append(tree.n_read)
    assert [len(report.added) for report in reports] == [60, 0, 0, 0]
    assert [report.n_touched for report in reports] == [0, 60, 0, 0]
    assert n_read[2:] == [0, 0]


# ---- no single file stops a run

STAMPS = [2**63, 2**33 * 10**9, 32 * 10**18, -(2**31) * 10**9, -5, -(2**62) * 3, 2**63 - 1, 0]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_stamp_of_any_year_is_indexed(root: Path, n_workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codefathom.index.workers.MIN_BYTES_FOR_WORKERS", 0)
    settings = root.parent / "settings.toml"
    settings.write_text(f"[index]\nworkers = {n_workers}\n[source]\nmax_file_bytes = 50000000\n")
    monkeypatch.setenv("FATHOM_CONFIG", str(settings))
    for number, stamp in enumerate(STAMPS):
        path = root / f"stamp{number}.py"
        path.write_text(f"def before{number}(): ...\n")
        try:
            os.utime(path, ns=(stamp, stamp))
        except (OSError, OverflowError):  # this system has no such year
            os.utime(path, ns=(0, 0))
    large = root / "large.py"
    large.write_text("x = 1  # long enough to be read in windows\n" * 120_000)
    os.utime(large, ns=(2**33 * 10**9, 2**33 * 10**9))
    first, second = index(root), index(root)
    assert (len(first.added), first.failures) == (4 + len(STAMPS), ())
    assert (second.added, second.changed, second.failures) == ((), (), ())
    with Engine.open(str(root)) as engine:
        hits = engine.search("before1").hits
    assert hits[0].chunk.path == "stamp1.py"


@pytest.mark.parametrize(
    "words", [["files"], ["status"], ["search", "before"], ["context", "before"], ["symbols", "before0"]]
)
def test_each_command_tells_of_a_file_of_the_year_2262(
    root: Path, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, stamp in (("late.py", 2**34 * 10**9), ("early.py", -(2**31) * 10**9)):
        (root / name).write_text("def before0(): ...\n")
        os.utime(root / name, ns=(stamp, stamp))
    monkeypatch.chdir(root)
    for shape in ([], ["--json"]):
        assert main([*words, *shape]) == 0
        captured = capsys.readouterr()
        assert "unexpected" not in captured.err
    assert json.loads(captured.out)


class Breaking(Renumbering):
    """A tree with files on which a step of ours breaks, each with another error or value."""

    def scan(self, rules: ScanRules) -> Scan:
        files = [FileStat.of(path.name, path.stat()) for path in sorted(self.root.glob("*.*")) if path.is_file()]
        # No disk says so; what a step does with it stands for whatever is not thought of.
        return Scan(tuple(file._replace(mtime_ns=2**80) if file.path == "stamp.py" else file for file in files), ())

    def open(self, path: str) -> BinaryIO | None:
        if path in _ERRORS:
            raise _ERRORS[path]
        return super().open(path)


_ERRORS: dict[str, Exception] = {
    "value.py": ValueError("a value"),
    "recursion.py": RecursionError("too deep"),
    "memory.py": MemoryError(),
    "index.md": IndexError("a list"),
    "disk.py": OSError(5, "Input/output error"),
}


@pytest.mark.parametrize("n_large", [0, 1])
def test_a_file_that_breaks_a_step_fails_alone(tmp_path: Path, own_folders: None, n_large: int) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for name in (*_ERRORS, "stamp.py", "a.py", "z.py"):
        (root / name).write_text("def before(): ...\n")
    if n_large:
        (root / "value.py").write_text("x = 1  # long enough to be read in windows\n" * 120_000)
    report = indexed_from(Breaking(root), root)
    assert sorted(report.added) == ["a.py", "z.py"]
    reasons = {failure.path: failure.reason for failure in report.failures}
    assert reasons.keys() == {*_ERRORS, "stamp.py"}
    assert "ValueError: a value" in reasons["value.py"]
    assert "OverflowError" in reasons["stamp.py"]


class Full(Renumbering):
    """A disk that is full."""

    def open(self, path: str) -> BinaryIO | None:
        raise sqlite3.OperationalError("database or disk is full")


def test_what_is_no_fault_of_a_file_ends_the_run(tmp_path: Path, own_folders: None) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("def before(): ...\n")
    with pytest.raises(sqlite3.OperationalError):
        indexed_from(Full(root), root)
