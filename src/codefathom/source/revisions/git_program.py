"""The program git, to read objects only: nothing that stands in a repository is run, fetched or written.

- Only `rev-parse`, `ls-tree`, `ls-files --stage`, `rev-list`, `cat-file`, `config --get-regexp`, `blame`, `log` and,
  for names alone, `for-each-ref` and `diff-tree` are called. As they are called, none of them uses filters, textconv,
  hooks, an alias or a pager; hooks and the file system monitor, which `ls-files` might ask, are switched off.
- No other machine is asked, also not for the objects that a partial clone lacks: every protocol is forbidden, so that
  neither a remote helper nor ssh is started.
- Objects are taken as they are, without replacements (`refs/replace`), and no lock is taken.
- git itself refuses a repository of another user (`safe.directory`).
- git opens whatever has the name of one of its files, and waits for ever where that is a named pipe. So each of its
  answers is waited for within `answer`, which ends it after a time; it ends with this process, too, also a killed one.

Alternates are followed, as `git clone --shared` needs them: with them a repository can name objects of another one on
this disk, if it knows their hashes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Condition, Thread
from typing import IO, TYPE_CHECKING

from codefathom.errors import SourceError
from codefathom.source.work_tree import work_tree
from codefathom.system.children import environment, find_program, start_program

if TYPE_CHECKING:
    import subprocess

_MOST_S = 120.0  # for one answer; git needs milliseconds, on a slow disk and in a large repository some seconds
_PIECE = 1 << 16  # bytes of an answer that are read at once
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "true",
    "core.attributesFile": os.devnull,
    "protocol.allow": "never",
    "gc.auto": "0",
    "maintenance.auto": "false",
}
_OF_USER = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")  # where `safe.directory` stands
_WITHOUT_GIT = "commits, revisions and the history of lines need a git repository; all else works without one"
_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


def start_git(folder: str, *words: str, keeps_errors: bool = False) -> subprocess.Popen[bytes]:
    """Start git in a folder, with pipes. Raises SourceError when it is not there."""
    program = find_program("git")
    if program is None:
        raise SourceError("git is not in the PATH", hint="install git: it reads the revisions of a repository")
    own = {name: value for name, value in environment().items() if _is_harmless(name)}
    settings = [word for name, value in _SETTINGS.items() for word in ("-c", f"{name}={value}")]
    try:
        return start_program(
            [program, "--no-pager", *settings, "-C", folder, *words], own | _VARIABLES, keeps_errors=keeps_errors
        )
    except OSError as error:
        raise SourceError(f"git cannot be started: {error.strerror}", hint="install git again") from error


def output_of_git(folder: str, *words: str) -> str:
    """Return the output of git. Raises SourceError with its reason when it fails."""
    with start_git(folder, *words, keeps_errors=True) as process, answer(process, folder):
        output, errors = process.communicate()
    if process.returncode:
        raise _failure(folder, errors.decode("utf-8", "replace").strip())
    return output.decode("utf-8", "surrogateescape")


@contextmanager
def answer(process: subprocess.Popen[bytes], folder: str) -> Iterator[None]:
    """Wait for git inside the block, and end it when that takes too long. Raises SourceError then."""
    wait = _WATCH.begun(process, time.monotonic() + _MOST_S)
    try:
        yield
    finally:
        if _WATCH.is_late(wait):
            raise SourceError(
                f"git has not read the repository in {folder!r} within {_MOST_S:g} s",
                hint="check whether a file in its folder .git, or one that it names, is a named pipe "
                "or is on a disk that does not answer",
            )


class _Wait:
    """An answer of git that somebody waits for."""

    def __init__(self, process: subprocess.Popen[bytes], until: float) -> None:
        self.process, self.until = process, until


class _Watch:
    """Ends each process of git whose answer takes too long. One thread for all: some thousand answers are read."""

    def __init__(self) -> None:
        self._change = Condition()
        self._waits: set[_Wait] = set()
        self._looks_at = 0.0  # when the thread looks at them next
        self._thread: Thread | None = None

    def begun(self, process: subprocess.Popen[bytes], until: float) -> _Wait:
        """Begin to watch an answer that must have come at a time."""
        wait = _Wait(process, until)
        with self._change:
            self._waits.add(wait)
            if self._thread is None or not self._thread.is_alive():  # a forked process has no thread
                self._looks_at = until
                self._thread = Thread(target=self._run, name="git watch", daemon=True)
                self._thread.start()
            elif until < self._looks_at:
                self._change.notify()
        return wait

    def is_late(self, wait: _Wait) -> bool:
        """Stop watching an answer; return True if its process was ended."""
        with self._change:
            is_late = wait not in self._waits
            self._waits.discard(wait)
            return is_late

    def _run(self) -> None:
        with self._change:
            while self._waits:
                self._looks_at = min(wait.until for wait in self._waits)
                self._change.wait(max(self._looks_at - time.monotonic(), 0.0))
                late = {wait for wait in self._waits if wait.until <= time.monotonic()}
                self._waits -= late
                for wait in late:
                    wait.process.kill()
            self._thread = None


_WATCH = _Watch()


def end_git(process: subprocess.Popen[bytes]) -> None:
    """Kill a process of git that answers on and on, and close its pipes."""
    process.kill()
    with suppress(OSError), process:
        pass


def zero_ended(output: IO[bytes], most_bytes: int = sys.maxsize) -> Iterator[bytes]:
    """Yield what stands between zero bytes, of about so many bytes; what was cut off at the end is left out."""
    rest, n_bytes = b"", 0
    while n_bytes < most_bytes and (piece := output.read(_PIECE)):
        n_bytes += len(piece)
        *parts, rest = (rest + piece).split(b"\0")
        yield from parts


def _is_harmless(name: str) -> bool:
    return not name.startswith(("GIT_", "SSH_ASKPASS")) or name in _OF_USER


def _failure(folder: str, reason: str) -> SourceError:
    if "dubious ownership" in reason:
        return SourceError(
            f"git does not read the repository in {folder!r}, which belongs to another user",
            hint=f"if you trust it, run `git config --global --add safe.directory {folder}`",
        )
    if "not a git repository" in reason:
        top = work_tree(folder)
        if top is not None:
            return SourceError(
                f"git does not take {os.path.join(top, '.git')!r} for a repository: it is damaged or not whole",
                hint=f"run `git status` in {top!r} to see more; {_WITHOUT_GIT}",
            )
        return SourceError(
            f"{folder!r} is not inside a git repository",
            hint=_WITHOUT_GIT,
        )
    return SourceError(
        f"git cannot read the repository in {folder!r}: {reason[:300] or 'it gave no reason'}",
        hint="run `git fsck` there to see more",
    )
