"""Child processes: starts and ends them, so that no code from the folder that they work on is run.

A child of Python imports from where this process does, but never from a working directory, and it works in a folder
that belongs to the interpreter. Programs such as git are taken from the absolute entries of PATH alone, and end with
this process.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, BinaryIO, NoReturn, cast

from codefathom.system.isolation import trusted_path

# -P: Python adds no folder by itself. The child finds the package where this process found it, also when it is not
# installed.
_PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); from {} import {} as main; main()"
# Variables that name a place. A relative one is meant from the working directory of this process.
_PLACES = (
    *("FATHOM_CACHE_DIR", "FATHOM_INDEX_DIR", "FATHOM_CONFIG", "HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
    *("XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "SSL_CERT_FILE", "SSL_CERT_DIR", "TMPDIR", "TEMP", "TMP"),
)


def start_python(
    module: str,
    function: str,
    *,
    stderr: IO[bytes] | None = None,
    has_own_session: bool = False,
    descriptors: Sequence[int] = (),
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process that calls a function of ours; its stdin and stdout are pipes.

    `has_own_session`: the process leads a group of its own, to be ended with all that it has started. It inherits the
    open files of `descriptors`, and has `variables` beside those of this process.
    """
    words = [os.path.abspath(sys.executable), "-P", "-c", _PROGRAM.format(module, function), json.dumps(trusted_path())]
    with _no_interrupts():
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=neutral_folder(),
            env=environment() | dict(variables or {}),
            start_new_session=has_own_session,
            pass_fds=descriptors,
        )


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Have a process that starts in the block never get an interrupt of the terminal, also while it begins.

    The parent gets it, and ends its children; one that had just begun would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start_program(
    words: Sequence[str], variables: Mapping[str, str], *, keeps_errors: bool = False
) -> subprocess.Popen[bytes]:
    """Start a program by its absolute path; stdin and stdout are pipes, and with `keeps_errors` stderr, too."""
    return Program(
        words,
        has_input=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if keeps_errors else subprocess.DEVNULL,
        env=dict(variables),
    )


class Program(subprocess.Popen[bytes]):
    """A program that ends when this process does, however that happens: one that waits for a pipe never would."""

    def __init__(self, words: Sequence[str], *, has_input: bool, **options: Any) -> None:
        gate = [_SHELL, "-c", _GATE] if _SHELL else []
        super().__init__([*gate, *words], stdin=subprocess.PIPE, cwd=neutral_folder(), **options)
        stdin = cast(IO[bytes], self.stdin)
        with suppress(OSError):  # ended by somebody already, which whoever reads from it notices
            if gate:
                GUARD.add(self.pid)
                stdin.write(b"\n")
                stdin.flush()
            if not has_input:
                stdin.close()

    def wait(self, timeout: float | None = None) -> int:
        """Wait as `Popen` does."""
        status = super().wait(timeout)
        GUARD.remove(self.pid)
        return status

    def poll(self) -> int | None:
        """Look as `Popen` does."""
        status = super().poll()
        if status is not None:
            GUARD.remove(self.pid)
        return status


class _Guard:
    """A small shell beside this process, which outlives it to end its programs.

    Linux could end a child with its parent by itself (PR_SET_PDEATHSIG), but does so when the thread ends that has
    started it. The shell knows the numbers of programs that have not been waited for, which no other process can have.
    """

    _SCRIPT = (
        'all=" "; while read -r sign number; do one=" $number "; case $sign in +) all="$all$number ";; '
        '-) all="${all%%$one*} ${all#*$one}";; esac; done; kill -KILL $all'
    )

    def __init__(self) -> None:
        self.guarded: set[int] = set()
        self._lock = Lock()
        self._shell: subprocess.Popen[bytes] | None = None
        atexit.register(self._close)

    def add(self, number: int) -> None:
        """End this process together with this one."""
        with self._lock:
            self.guarded.add(number)
            if not self._tell(f"+ {number}\n"):
                self._start()
                self._tell("".join(f"+ {one}\n" for one in self.guarded))

    def remove(self, number: int) -> None:
        """Leave a process alone, which has ended."""
        with self._lock:
            if number in self.guarded:
                self.guarded.discard(number)
                self._tell(f"- {number}\n")

    def _tell(self, text: str) -> bool:
        """Return True if the shell was told; somebody may have ended it."""
        if self._shell is None or self._shell.stdin is None:
            return False
        try:
            self._shell.stdin.write(text.encode())
        except OSError:
            return False
        return True

    def _start(self) -> None:
        self._end()
        with suppress(OSError):
            self._shell = subprocess.Popen(
                [_SHELL, "-c", self._SCRIPT],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=neutral_folder(),
                env={},
                start_new_session=True,  # an interrupt from the terminal is none for it
            )

    def _end(self) -> None:
        shell, self._shell = self._shell, None
        if shell is not None and shell.stdin is not None:
            with suppress(OSError):
                shell.stdin.close()
            shell.wait()

    def _close(self) -> None:
        with self._lock:
            self._end()


_SHELL = "/bin/sh" if os.name == "posix" and os.path.exists("/bin/sh") else ""
# What a program waits for before it begins: that the guard knows it. It reads the end of its input instead where this
# process is killed between the two.
_GATE = 'read -r _ && exec "$0" "$@"'
GUARD = _Guard()


def received(stream: BinaryIO) -> Iterator[Any]:
    """Yield the pickled values of the parent. The child ends silently if the parent closes the stream or dies.

    A thread reads, so that the child also ends in the middle of its work. An interrupt from the terminal is ignored:
    the parent gets it and ends its children.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    arrived: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_receive, args=(stream, arrived), daemon=True).start()
    while True:
        yield arrived.get()


def _receive(stream: BinaryIO, arrived: SimpleQueue[Any]) -> None:
    with suppress(OSError, EOFError, ValueError, pickle.UnpicklingError):  # what was cut off has nobody waiting for it
        while True:
            arrived.put(pickle.load(stream))
    end_at_once()


def end_at_once(status: int = 0) -> NoReturn:
    """End this process silently and without waiting for its threads."""
    os._exit(status)


def neutral_folder() -> str:
    """Return a folder that only users can write to who could also replace the interpreter."""
    return sys.prefix if os.path.isdir(sys.prefix) else os.path.abspath(os.sep)


def environment() -> dict[str, str]:
    """Return the environment for a process that works in another folder: relative paths in it become absolute."""
    variables = dict(os.environ)
    for name in _PLACES:
        if variables.get(name):
            variables[name] = os.path.abspath(variables[name])
    for name in ("PYTHONPATH", "PATH"):
        if name in variables:
            variables[name] = os.pathsep.join(_absolute_entries(variables[name]))
    if not variables.get("PYTHONPATH"):
        variables.pop("PYTHONPATH", None)
    return variables


def find_program(name: str) -> str | None:
    """Return the path of a program, None if it is in no absolute entry of PATH."""
    places = (os.path.join(folder, name) for folder in _absolute_entries(os.environ.get("PATH", os.defpath)))
    return next(filter(None, map(shutil.which, places)), None)


def _absolute_entries(path: str) -> list[str]:
    return [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]
