"""Several programs write one index: who comes second waits for the first, and says so."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fathom import Fathom, run_fathom
from tests.waiting import LONG_S, Started, is_readable

from codefathom.cli import main
from codefathom.engine import Engine
from codefathom.errors import LockedError
from codefathom.types import IndexReport, Progress

# Takes the lock as an index run does, and lets it go when its stdin ends.
HOLDER = """
import sys
from codefathom.stores.lock import writer_lock
with writer_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""
# Stops in the middle of the first run, after the first files are in the catalogue, until its stdin has a line.
FIRST = """
import sys
from codefathom.engine import Engine
with Engine.open(sys.argv[1]) as engine:
    for event in engine.index_events():
        if getattr(event, "phase", "") == sys.argv[2]:
            print(event.phase, flush=True)
            sys.stdin.readline()
"""


pytestmark = pytest.mark.usefixtures("own_folders")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "fathom.toml").touch()
    (folder / "zoo.py").write_text("def feed_kangaroo():\n    return 'grass'\n")
    return folder


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    with Started(
        [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.close()


@contextmanager
def held(project: Path) -> Iterator[subprocess.Popen[str]]:
    (project / ".fathom").mkdir(exist_ok=True)
    with started("-c", HOLDER, str(project / ".fathom")) as holder:
        assert line_of(holder) == "held"
        yield holder


def test_an_index_run_waits_for_another_writer_and_says_for_whom(project: Path) -> None:
    with held(project) as holder, Engine.open(str(project)) as engine:
        events = engine.index_events()
        first = next(events)
        assert isinstance(first, Progress)
        assert first.phase == "wait"
        assert f"process {holder.pid}" in first.message
        assert "since 20" in first.message
        go_on(holder)
        *_, report = events
        assert isinstance(report, IndexReport)
        assert report.added == ("fathom.toml", "zoo.py")


def test_many_runs_at_once_all_succeed(project: Path) -> None:
    runs = [Fathom(["index", "-q"], cwd=project, stderr=subprocess.PIPE, text=True) for _ in range(12)]
    assert [(run.communicate(timeout=LONG_S)[1], run.returncode) for run in runs] == [("", 0)] * len(runs)


def test_a_writer_that_dies_frees_the_lock(project: Path) -> None:
    with held(project) as holder, Engine.open(str(project)) as engine:
        events = engine.index_events()
        next(events)
        holder.kill()
        assert isinstance(list(events)[-1], IndexReport)


@pytest.mark.parametrize("words", [["--wait", "0"], ["--wait", "0.2"]])
def test_the_wait_has_a_limit(project: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with held(project) as holder:
        assert main(["index", *words, "-C", str(project)]) == 2
        said = capsys.readouterr().err
        assert f"process {holder.pid}" in said
        assert "index.wait_s" in said
        with Engine.open(str(project)) as engine, pytest.raises(LockedError):
            engine.index(wait_s=0)


def test_an_import_waits_too(project: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.json"
    with Engine.open(str(project)) as engine:
        engine.index()
        lines.write_text("\n".join(engine.export("jsonl")))
    with held(project), started("-m", "codefathom", "import", "-C", str(project), "--as", "jsonl", str(lines)) as run:
        assert run.stderr is not None
        assert "waiting" in run.stderr.readline()
    with started("-m", "codefathom", "import", "-C", str(project), "--as", "jsonl", str(lines)) as run:
        assert run.wait(LONG_S) == 0


def test_ctrl_c_ends_a_wait_at_once(project: Path) -> None:
    with held(project), started("-m", "codefathom", "index", "-C", str(project)) as run:
        assert run.stderr is not None
        assert run.stderr.readline().startswith("waiting")
        run.send_signal(signal.SIGINT)
        assert run.wait(LONG_S) == 130
        assert "Traceback" not in run.stderr.read()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of POSIX")
def test_a_terminal_shows_who_is_waited_for(project: Path) -> None:
    ours, theirs = pty.openpty()
    with held(project) as holder:
        run = Fathom(["index", "-C", project], stderr=theirs)
        os.close(theirs)
        shown, until = b"", time.monotonic() + LONG_S
        while f"process {holder.pid}".encode() not in shown and time.monotonic() < until:
            if is_readable(ours, 1):
                shown += os.read(ours, 4_096)
        assert b"waiting" in shown
        run.kill()
        run.wait()
    os.close(ours)


# ---- while the first index is made


QUESTIONS: dict[str, Callable[[Path], list[str]]] = {
    "search": lambda project: ["search", "-C", str(project), "feed the kangaroo"],
    "ask": lambda project: ["ask", "-C", str(project), "who feeds the kangaroo?"],
    "context": lambda project: ["context", "-C", str(project), "feed the kangaroo"],
    "export": lambda project: ["export", "-C", str(project), "--as", "jsonl"],
    "symbols": lambda project: ["symbols", "-C", str(project), "feed_kangaroo"],
}


@pytest.mark.parametrize("phase", ["scan", "write"])
@pytest.mark.parametrize("words", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_question_waits_for_the_first_index(project: Path, phase: str, words: Callable[[Path], list[str]]) -> None:
    """At `scan` nothing is in the catalogue, at `write` all is, but nothing can be searched yet."""
    with started("-c", FIRST, str(project), phase) as first:
        assert line_of(first) == phase
        with started("-m", "codefathom", *words(project)) as question:
            assert question.stderr is not None
            told = question.stderr.readline()
            assert "waiting" in told
            assert f"process {first.pid}" in told
            go_on(first)
            answer = question.communicate(timeout=LONG_S)[0]
            assert question.returncode == 0
            assert "feed_kangaroo" in answer
        assert first.wait(LONG_S) == 0


def test_a_question_tells_how_far_the_first_index_is(project: Path) -> None:
    with started("-c", FIRST, str(project), "write") as first:
        assert line_of(first) == "write"
        with started("-m", "codefathom", "search", "-C", str(project), "feed the kangaroo") as question:
            assert question.stderr is not None
            assert "2/2 files" in question.stderr.readline()
            go_on(first)
            assert "indexed" not in question.communicate(timeout=LONG_S)[1]  # by the other process


def test_a_first_index_that_was_ended_is_not_up_to_date(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Engine.open(str(project)) as engine:
        events = engine.index_events()
        assert any(isinstance(event, Progress) and event.phase == "write" for event in events)
        events.close()  # type: ignore[attr-defined]
        assert engine.status().indexed_at == 0.0
    (project / "late.py").write_text("x = 1\n")
    assert main(["status", "-C", str(project)]) == 0
    assert "no: the first run is not complete, 2 of 3 files are indexed" in capsys.readouterr().out
    assert main(["index", "-q", "-C", str(project)]) == 0
    assert main(["status", "-C", str(project)]) == 0
    assert "up to date  yes" in capsys.readouterr().out


@pytest.mark.parametrize("refresh", ["never", "auto"])
def test_who_will_not_wait_gets_what_is_there_and_hears_so(project: Path, refresh: str) -> None:
    with started("-c", FIRST, str(project), "write") as first:
        assert line_of(first) == "write"
        settings = [f"--set=search.refresh={refresh}", "--set=index.wait_s=0"]
        question = ["search", "-C", str(project), "--json", "feed_kangaroo"]
        run = run_fathom(*question, *settings, text=True)
        assert run.returncode == 0, run.stderr
        assert "the project is being indexed, 100 %; until then only names are found" in run.stdout
        assert "feed_kangaroo" in run.stdout


def test_status_does_not_wait(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with started("-c", FIRST, str(project), "scan") as first:
        assert line_of(first) == "scan"
        assert main(["status", "-C", str(project)]) == 0
        assert "kangaroo" not in capsys.readouterr().out
