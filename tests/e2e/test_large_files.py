"""Files above the usual limit: indexed in little memory, whole or not at all, and no process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import Started

from codefathom import Engine
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.types import IndexReport, Progress

LIMIT_S = 600
BLOCK = '''def price_{n}(order, rate):
    """Compute the price of order {n}, with tax."""
    total = sum(item.price * item.count for item in order.items)
    return total + total * rate + {n}


'''
END = "def the_very_last_zebra():\n    return 'savannah'\n"

INDEX = """
import os, sys
from codefathom import Engine
with Engine.open(sys.argv[1]) as engine:
    for event in engine.index_events():
        if getattr(event, "n_chunks", 0) and len(sys.argv) > 2:
            print("on", flush=True)
            sys.argv.pop()
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("FATHOM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("FATHOM_SOURCE__MAX_FILE_BYTES", "4000000000")  # the file of a project may only lower it


def code(n_bytes: int) -> str:
    n_blocks = n_bytes // (len(BLOCK) + 10)
    return "".join(BLOCK.format(n=number) for number in range(n_blocks)) + END


def make(root: Path, n_bytes: int, workers: int = 2) -> Path:
    """Write a project with one large file and a small one."""
    root.mkdir()
    (root / "fathom.toml").write_text(f"[index]\nworkers = {workers}\n")
    (root / "small.py").write_text("def little_mouse():\n    return 'cheese'\n")
    (root / "large.py").write_text(code(n_bytes))
    return root


def check(root: Path, *, large: bool = True) -> None:
    """What the index shows is what lies on the disk, and all of it is found."""
    with Engine.open(str(root)) as engine:
        catalog = engine.opened.catalog
        for name in ("large.py", "small.py") if large else ("small.py",):
            assert catalog.text(name) == (root / name).read_text()
        assert [item for item in engine.doctor() if not item.ok] == []
        status = engine.status()
        assert (status.n_without_vector, status.views_current, status.pending) == (0, True, 0)
        for query, name in [("the_very_last_zebra", "large.py"), ("little_mouse", "small.py")][: 1 + large]:
            hit = engine.search(query, limit=1).hits[0].chunk
            assert (query in hit.text, hit.path) == (True, name)
            lines = (root / name).read_text().split("\n")
            assert hit.text.removesuffix("\n") == "\n".join(lines[hit.start_line - 1 : hit.end_line])


def test_a_large_file_is_indexed_whole_and_followed(tmp_path: Path) -> None:
    root = make(tmp_path / "project", MAX_WHOLE_FILE_BYTES + 600_000)
    path = root / "large.py"
    with Engine.open(str(root)) as engine:
        report = engine.index()
        assert (report.added, report.failures) == (("fathom.toml", "small.py", "large.py"), ())
        assert report.n_chunks == engine.status().n_chunks > 3_000
        document = engine.opened.catalog.document("large.py")
        assert document is not None
        assert document.n_lines == path.read_text().count("\n")
        assert "too many to parse" in str(document.problems[0])
    check(root)
    with Engine.open(str(root)) as engine:
        os.utime(path, ns=(1, 10**15))
        assert engine.index().n_touched == 1
        path.write_text("first = 1\n" + path.read_text())
        assert engine.index().changed == ("large.py",)
    check(root)
    path.write_text("def small_now():\n    pass\n" + END)
    with Engine.open(str(root)) as engine:
        assert engine.index().changed == ("large.py",)
        assert [found.symbol.name for found in engine.symbols("small_now")] == ["small_now"]
    check(root)
    path.unlink()
    with Engine.open(str(root)) as engine:
        assert engine.index().removed == ("large.py",)
        assert engine.opened.catalog.text("large.py") == ""


def test_a_large_file_that_changes_meanwhile_fails_alone(tmp_path: Path) -> None:
    root = make(tmp_path / "project", 3 * MAX_WHOLE_FILE_BYTES)  # of which some windows are read ahead
    path = root / "large.py"
    with Engine.open(str(root)) as engine:
        for event in engine.index_events():
            if isinstance(event, Progress) and event.path == "large.py":
                with path.open("r+b") as file:  # in place, below what was read so far
                    file.seek(-len("savannah'\n"), os.SEEK_END)
                    file.write(b"SAVANNAH")
            if isinstance(event, IndexReport):
                assert [(failure.path, failure.reason) for failure in event.failures] == [
                    ("large.py", "it changed while it was read")
                ]
                assert event.n_chunks == engine.status().n_chunks
        assert engine.opened.catalog.text("large.py") == ""
        assert engine.search("little_mouse").hits[0].chunk.path == "small.py"
        assert engine.index().failures == ()
    check(root)


@pytest.mark.parametrize("is_new", [True, False])
def test_a_run_that_is_left_in_the_middle_of_a_large_file_is_completed(tmp_path: Path, is_new: bool) -> None:
    root = make(tmp_path / "project", MAX_WHOLE_FILE_BYTES + 600_000)
    with Engine.open(str(root)) as engine:
        if not is_new:
            engine.index()
            (root / "large.py").write_text("# another\n" + code(MAX_WHOLE_FILE_BYTES + 700_000))
        events = engine.index_events()
        for event in events:
            if isinstance(event, Progress) and event.path == "large.py":
                break
        events.close()
        assert engine.opened.catalog.text("large.py") == ("" if is_new else code(MAX_WHOLE_FILE_BYTES + 600_000))
        assert engine.index().failures == ()
    check(root)


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes by signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent_and_quietly(tmp_path: Path, how: signal.Signals) -> None:
    root = make(tmp_path / "project", 12_000_000)
    command = [sys.executable, "-c", INDEX, str(root), "tell"]
    with Started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        process.send_signal(how)
        # The pipe is closed when the last of the workers, which have it too, has ended.
        _, said = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, said) == (-how, b"")
    with Engine.open(str(root)) as engine:
        assert engine.index().failures == ()
    check(root)


@pytest.mark.skipif(sys.platform == "win32", reason="asks the system how much memory was used")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    unit = 1 if sys.platform == "darwin" else 1024
    peaks = []
    for name, n_bytes in (("a", 5_000_000), ("b", 17_000_000)):
        root = make(tmp_path / name, n_bytes, workers=1)
        command = [sys.executable, "-c", INDEX, str(root)]
        ran = subprocess.run(command, capture_output=True, check=True, timeout=LIMIT_S)
        peaks.append(int(ran.stdout) * unit)
    assert peaks[1] - peaks[0] < 60_000_000  # four times the file; held as a whole it took fifteen times as much
