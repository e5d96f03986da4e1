"""Ctrl-C wherever it strikes: the command ends with 130 and one plain line, and the second one ends it at once."""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fathom import Fathom
from tests.waiting import LONG_S, comes

SHOP = Path(__file__).parents[1] / "repos" / "shop"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends SIGINT")

# An index run on a terminal: at the first line of progress, PLACE gets a signal.
PROGRAM = """
import io, os, signal, sqlite3, sys
from codefathom.cli import main


def strike():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1_000):  # the handler runs between two of them
        pass


class Dropped:
    def __del__(self):
        strike()


def in_a_destructor():
    Dropped()


def in_a_function_of_sqlite():
    db = sqlite3.connect(":memory:")
    db.create_function("strike", 0, strike)
    try:
        db.execute("SELECT strike()").fetchall()
    except sqlite3.OperationalError:
        pass


class Screen(io.TextIOWrapper):
    has_struck = False

    def isatty(self):
        return True

    def write(self, text):
        if not self.has_struck and "[" in text:
            self.has_struck = True
            PLACE()
        return super().write(text)


sys.stderr = Screen(os.fdopen(2, "wb", closefd=False), write_through=True)
sys.argv[1:] = ["index"]
code = main()
assert sys.stderr.has_struck
sys.exit(code)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(SHOP, tmp_path / "project")
    (tmp_path / "project" / "fathom.toml").touch()
    return tmp_path / "project"


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "NO_COLOR"))}
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(tmp_path / "home"))
    return {**kept, **places, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize("place", ["in_a_destructor", "in_a_function_of_sqlite", "strike"])
def test_it_is_not_forgotten_where_python_cannot_raise_it(
    place: str, project: Path, surroundings: dict[str, str]
) -> None:
    program = [sys.executable, "-c", PROGRAM.replace("PLACE", place)]
    ran = subprocess.run(
        program, check=False, cwd=project, env=surroundings, capture_output=True, text=True, timeout=LONG_S
    )
    assert (ran.returncode, ran.stdout) == (130, ""), ran.stderr
    assert ran.stderr.rstrip().endswith("fathom: interrupted")
    assert ran.stderr.count("interrupted") == 1
    assert not any(word in ran.stderr for word in ("Traceback", "Exception ignored", "KeyboardInterrupt"))


def interrupted(words: list[str], delay_s: float, n_signals: int, project: Path, env: dict[str, str]) -> None:
    """Run a command, send signals a while after it has made its folder, and check how it ends; it may be faster."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Fathom(words, is_fresh=True, cwd=project, env=env, text=True, start_new_session=True, **pipes) as process:
        assert process.stderr is not None
        assert comes(
            lambda: (project / ".fathom").exists() or process.poll() is not None
        )  # before, nothing of ours runs
        time.sleep(delay_s)  # any moment will do
        for _ in range(n_signals):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does: its children get it, too
        output, errors = process.communicate()
    # One that comes while Python itself ends is taken by the system, of which a shell makes 130, too: a second one, or
    # the first one after the command has said what it did.
    may_end_late = n_signals > 1 or "in the index after" in output
    assert process.returncode in (0, 130, *([-signal.SIGINT] if may_end_late else [])), errors
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    if process.returncode == 130:
        assert errors.count("fathom: interrupted") == 1


@pytest.mark.parametrize("n_signals", [1, 2])
def test_an_index_run_ends_plainly_at_any_moment(n_signals: int, project: Path, surroundings: dict[str, str]) -> None:
    for number in range(40):  # above 1.5 MB: other processes prepare the files
        (project / f"long{number}.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(1_500)))
    moments = random.Random(30)
    for _ in range(4):
        shutil.rmtree(project / ".fathom", ignore_errors=True)
        interrupted(["index"], moments.uniform(0.0, 1.2), n_signals, project, surroundings)


@pytest.mark.long
def test_hundreds_of_index_runs_end_plainly(project: Path, surroundings: dict[str, str]) -> None:
    for number in range(40):
        (project / f"long{number}.py").write_text("".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(1_500)))
    moments = random.Random(31)
    for _ in range(200):
        shutil.rmtree(project / ".fathom", ignore_errors=True)
        interrupted(["index"], moments.uniform(0.0, 2.0), moments.choice([1, 2]), project, surroundings)


HALF = b"POST /search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"


@pytest.mark.parametrize("n_signals", [1, 2])
def test_a_server_ends_with_one_line(n_signals: int, project: Path, surroundings: dict[str, str]) -> None:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with Fathom(["serve", "--port", "0"], cwd=project, env=surroundings, text=True, **pipes) as process:
        lines = list(until("serving http", process))
        port = int(lines[-1].split("http://")[1].split(";")[0].rpartition(":")[2])
        lines += until("startup complete", process)
        with socket.create_connection(("127.0.0.1", port)) as client:
            if n_signals > 1:  # a request that keeps it from ending at once
                client.sendall(HALF)
            process.send_signal(signal.SIGINT)
            if n_signals > 1:
                lines += until("Shutting down", process)
                process.send_signal(signal.SIGINT)
            _, rest = process.communicate()
    errors = "".join(lines) + rest
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "fathom: interrupted"
    assert errors.count("interrupted") == 1
    assert "Traceback" not in errors
    assert "Exception" not in errors


def until(words: str, process: subprocess.Popen[str]) -> Iterator[str]:
    """Yield the lines of stderr up to the one with these words."""
    assert process.stderr is not None
    while line := process.stderr.readline():
        yield line
        if words in line:
            return
    raise AssertionError(f"{words!r} never comes")
