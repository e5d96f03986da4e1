"""The whole process as a shell sees it: signals, pipes, terminals, encodings."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fathom import Fathom
from tests.waiting import LONG_S, is_readable

from codefathom.cli import main

SHOP = Path(__file__).parents[1] / "repos" / "shop"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(SHOP, tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    # Unbuffered, Python drops the rest of a write that a closed pipe has cut short.
    ours = ("FATHOM_", "NO_COLOR", "PYTHONUNBUFFERED")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}


def start(words: list[str], project: Path, surroundings: dict[str, str], **streams) -> subprocess.Popen:
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return Fathom(words, cwd=project, env=surroundings, **streams)


def finished(process: subprocess.Popen) -> tuple[int, bytes, bytes]:
    out, err = process.communicate()
    return process.returncode, out, err


def test_a_reader_that_goes_away_is_no_error(project: Path, surroundings: dict[str, str]) -> None:
    long = "".join(f"def function_{n}():\n    return {n}\n\n\n" for n in range(20_000))
    (project / "long.py").write_text(long)
    process = start(["context", "--max-files", "1", "--max-tokens", "9999999", "function_7"], project, surroundings)
    assert process.stdout.readline() == b"##File: long.py\n"
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait() == 141
    assert b"Traceback" not in errors
    assert b"BrokenPipe" not in errors
    process.stderr.close()


def test_ctrl_c_ends_a_watch_without_a_traceback(project: Path, surroundings: dict[str, str]) -> None:
    process = start(["index", "--watch", "--json"], project, surroundings)
    assert process.stdout.readline().startswith(b"{")  # the first report: it is running
    process.send_signal(signal.SIGINT)
    code, _, errors = finished(process)
    assert (code, errors.splitlines()[-1]) == (130, b"fathom: interrupted")
    assert b"Traceback" not in errors


def on_terminal(words: list[str], project: Path, surroundings: dict[str, str], typed: bytes = b"") -> tuple[int, str]:
    """Run with all three streams on a pseudo terminal; return exit code and what is on the screen."""
    inside, outside = pty.openpty()
    process = start(words, project, surroundings, stdin=outside, stdout=outside, stderr=outside)
    os.close(outside)
    os.write(inside, typed)
    screen = b""
    while is_readable(inside, LONG_S):
        try:
            piece = os.read(inside, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        screen += piece
    os.close(inside)
    return process.wait(), screen.decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_colour_is_for_terminals(
    project: Path, surroundings: dict[str, str], variables: dict[str, str], coloured: bool
) -> None:
    code, screen = on_terminal(["search", "retry"], project, surroundings | variables)
    assert code == 0
    assert "api/handlers/retry.go" in screen
    assert ("\x1b[1;36m" in screen) is coloured


def test_an_interactive_index_takes_patterns_and_asks(project: Path, surroundings: dict[str, str]) -> None:
    code, screen = on_terminal(["index", "--interactive"], project, surroundings, b"docs/ *.java\n\ny\n")
    assert code == 0
    assert (project / ".fathomignore").read_text() == "docs/\n*.java\n"
    first, _, rest = screen.partition("patterns to ignore")
    assert "+ tools/Export.java" in first
    assert "+ tools/Export.java" not in rest
    assert re.search(r"expected: about [\d.]+ s and [\d.]+ kB on the disk", first)
    assert re.search(r"go on\? It takes about [\d.]+ s and [\d.]+ kB on the disk\. \[Y/n\]", rest)
    assert "chunks in the index" in rest


def test_patterns_are_not_written_through_a_link(project: Path, surroundings: dict[str, str]) -> None:
    elsewhere = project.parent / "profile-of-the-user"
    elsewhere.write_text("mine\n")
    (project / ".fathomignore").symlink_to(elsewhere)
    code, screen = on_terminal(["index", "--interactive"], project, surroundings, b"docs/\n")
    assert code == 2
    assert "cannot write" in screen
    assert elsewhere.read_text() == "mine\n"


def test_an_interactive_index_can_be_refused(project: Path, surroundings: dict[str, str]) -> None:
    code, screen = on_terminal(["index", "--interactive"], project, surroundings, b"\nn\n")
    assert (code, "nothing was indexed" in screen) == (0, True)


@pytest.mark.parametrize(("reply", "is_indexed"), [(b"n\n", False), (b"No\n", False), (b"y\n", True), (b"YES\n", True)])
def test_yes_and_no_are_no_patterns(
    project: Path, surroundings: dict[str, str], reply: bytes, is_indexed: bool
) -> None:
    code, screen = on_terminal(["index", "--interactive"], project, surroundings, reply)
    assert (code, "chunks in the index" in screen) == (0, is_indexed)
    assert not (project / ".fathomignore").exists()


def test_a_terminal_that_knows_only_ascii_gets_everything(project: Path, surroundings: dict[str, str]) -> None:
    (project / "账户.py").write_text("def sign_in():\n    '用户认证'\n", encoding="utf-8")
    process = start(["search", "用户认证 sign_in"], project, surroundings | {"PYTHONIOENCODING": "ascii"})
    code, out, _ = finished(process)
    assert code == 0
    assert b"\\u8d26\\u6237.py" in out


class NoStream:
    """A stdout that fails in a way nobody has thought of."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        raise RuntimeError("the printer is on fire")

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("debug", "traced"), [("", False), ("1", True)])
def test_what_nobody_expects_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], debug: str, traced: bool
) -> None:
    monkeypatch.setenv("FATHOM_DEBUG", debug)
    monkeypatch.setattr(sys, "stdout", NoStream())
    assert main(["version"]) == 2
    errors = capsys.readouterr().err
    assert errors.endswith(
        "fathom: unexpected RuntimeError: the printer is on fire\n"
        "  hint: run again with FATHOM_DEBUG=1 to see the traceback\n"
    )
    assert ("Traceback" in errors) is traced
