"""The command `fathom` as a process, for tests that look at what it does and not at how it starts.

An interpreter takes a third of a second of a processor until it has imported the command line, and the tests start
thousands. So a process beside pytest has imported it (tests/fork_server.py), and forks for each command: a process of
its own as any other, with its number, streams, signals and exit code. `is_fresh` starts an interpreter instead, for a
test about that; FATHOM_TEST_FRESH=1 does for all tests.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import signature
from pathlib import Path
from threading import Lock
from typing import Any, AnyStr

from tests.waiting import LONG_S, Started

import codefathom

FATHOM = (sys.executable, "-m", "codefathom")
_COMMAND = "import sys; from codefathom.cli import main; sys.exit(main())"
_MAIN = os.path.join(codefathom.__path__[0], "__main__.py")
_HAS_FORKS = sys.platform == "linux" and not os.environ.get("FATHOM_TEST_FRESH")
# Variables that an interpreter reads as it starts, and where grammars lie that the process loads before it forks.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "TZ", "COVERAGE", "SEMBLE_")
_PR_SET_CHILD_SUBREAPER = 36
_ADOPTING = Lock()


class _Forked(subprocess.Popen[AnyStr]):
    """A process of Python, `python -m codefathom …` or `python -P -c CODE …`; anything else is started as always."""

    _is_fresh = False

    def _execute_child(self, *values: Any) -> None:
        start = super()._execute_child  # type: ignore[misc]
        asked = signature(start).bind(*values).arguments
        program = _program(asked["args"])
        if program is None or self._is_fresh or not _HAS_FORKS or asked["pass_fds"] or asked["preexec_fn"]:
            start(*values)
            return
        environment = dict(os.environ if asked["env"] is None else asked["env"])
        read_at_start = {name: value for name, value in environment.items() if name.startswith(_READ_AT_START)}
        ends = asked["p2cread"], asked["c2pwrite"], asked["errwrite"]
        folder = os.path.abspath(asked["cwd"] or os.curdir)
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        # A search process of a server imports numpy first, which takes as long as three searches.
        modules = ("numpy",) if "search_child" in program[0] else ()
        self.pid = _fork_server(*modules, **read_at_start).fork(
            [own if end == -1 else end for own, end in enumerate(ends)],
            (*program, environment, folder, blocked, asked["start_new_session"], asked["process_group"]),
        )
        self._child_created = True
        pipes = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(asked[name] for name in pipes))  # type: ignore[attr-defined]


class Fathom(_Forked[AnyStr], Started[AnyStr]):
    """A process of `fathom`; words and options are those of `Popen`, without the name of the command."""

    def __init__(self, words: Sequence[str | Path], *, is_fresh: bool = False, **options: Any) -> None:
        self._is_fresh = is_fresh
        super().__init__([*FATHOM, *map(os.fspath, words)], **options)


class Child(_Forked[AnyStr], Started[AnyStr]):
    """A process of Python: a child of a server that runs in the process of the tests, or code of a test."""


def run_fathom(
    *words: str | Path,
    input: Any = None,  # noqa: A002 - its name in `subprocess.run`
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end as `subprocess.run` does, with both outputs captured."""
    return _ended(Fathom, words, input, options)


def run_python(code: str, *words: str | Path, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run code of Python to its end in the same way; `words` are its `sys.argv[1:]`."""
    return _ended(Child, [sys.executable, "-P", "-c", code, *map(os.fspath, words)], None, options)


def _ended(
    start: Callable[..., Started[Any]], words: Sequence[str | Path], sent: Any, options: dict[str, Any]
) -> subprocess.CompletedProcess[Any]:
    stdin = options.pop("stdin", None) if sent is None else subprocess.PIPE
    streams = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with start(words, **{**streams, **options}) as process:
        out, err = process.communicate(sent, LONG_S)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _program(words: Any) -> tuple[str, list[str]] | None:
    """Return the code of a process of Python and its `sys.argv`, or None."""
    if words[: len(FATHOM)] == list(FATHOM):
        return _COMMAND, [_MAIN, *words[len(FATHOM) :]]
    return (words[3], ["-c", *words[4:]]) if words[:3] == [sys.executable, "-P", "-c"] else None


class _ForkServer:
    def __init__(self, modules: Sequence[str], read_at_start: Mapping[str, str]) -> None:
        self._requests, theirs = socket.socketpair()
        program = Path(__file__).with_name("fork_server.py")
        environment = {**read_at_start, "OPENBLAS_NUM_THREADS": "1"}  # numpy would start threads
        with theirs:
            words = [sys.executable, "-P", program, str(theirs.fileno()), *modules]
            self.process = Started(words, env=environment, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])

    def fork(self, streams: Sequence[int], request: tuple[Any, ...]) -> int:
        """Return the number of a new process, a child of this one."""
        data = pickle.dumps(request)
        with _ADOPTING:
            _adopt(True)
            try:
                socket.send_fds(self._requests, [len(data).to_bytes(8)], streams)
                self._requests.sendall(data)
                number = int.from_bytes(self._requests.recv(8))
            finally:
                _adopt(False)
        assert number, "the process that forks has ended: its errors are above"
        return number


@cache
def _fork_server(*modules: str, **read_at_start: str) -> _ForkServer:
    return _ForkServer(modules, read_at_start)


def _adopt(does: bool) -> None:
    """Have the system give grandchildren to this process that lose their parent, or not."""
    assert ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(does), 0, 0, 0) == 0
