"""Runs commands of `fathom` in this process and notes, by Python's audit hooks, what they do outside of what they may.

    python -P -m evals.trials.watched ROOT ALLOWED [ALLOWED ...] < COMMANDS

COMMANDS is a JSON list of argument lists. ROOT is the project, ALLOWED are the folders that may be written. Prints one
JSON object a command: code, out, err, and `noted`, what it must not do: a file written elsewhere, a network address
asked, code of the project run, a process started that is not this interpreter.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from typing import Any

_WRITES = {"os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink", "os.truncate", "os.mkdir", "os.chmod"}
_WRITES |= {"os.chown", "os.utime", "os.mkfifo", "os.mknod", "os.setxattr"}
_NETWORK = {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
_STARTS = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"}


class Watch:
    """What was done that must not be done."""

    def __init__(self, root: str, allowed: list[str]) -> None:
        self.noted: list[str] = []
        self._root = os.path.join(os.path.realpath(root), "")
        self._allowed = tuple(os.path.join(os.path.realpath(folder), "") for folder in allowed)
        self._inside = threading.local()
        sys.addaudithook(self._take)

    def _take(self, event: str, arguments: tuple[Any, ...]) -> None:
        if getattr(self._inside, "busy", False):
            return
        self._inside.busy = True
        try:
            self._judge(event, arguments)
        finally:
            self._inside.busy = False

    def _judge(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if isinstance(path, (str, bytes)) and (writes or any(sign in (mode or "") for sign in "wax+")):
                self._place(event, path)
        elif event in _WRITES:
            for path in arguments[:2]:
                is_there = event == "os.mkdir" and isinstance(path, (str, bytes)) and os.path.isdir(path)
                if isinstance(path, (str, bytes)) and event not in ("os.link", "os.symlink") and not is_there:
                    self._place(event, path)
        elif event in _NETWORK:
            self.noted.append(f"{event} {arguments[-1]!r}")
        elif event == "subprocess.Popen":
            if os.path.realpath(str(arguments[0])) != os.path.realpath(sys.executable):
                self.noted.append(f"{event} {arguments[1]!r}")
        elif event in _STARTS:
            self.noted.append(f"{event} {arguments!r}")
        elif event == "exec":
            name = getattr(arguments[0], "co_filename", "")
            if os.path.isabs(name) and os.path.realpath(name).startswith(self._root):
                self.noted.append(f"ran {name}")
        elif event in ("ctypes.dlopen", "import"):
            self._loaded(arguments)

    def _loaded(self, arguments: tuple[Any, ...]) -> None:
        path = arguments[1] if len(arguments) > 1 else arguments[0]
        if isinstance(path, str) and os.path.isabs(path) and os.path.realpath(path).startswith(self._root):
            self.noted.append(f"loaded {path}")

    def _place(self, event: str, path: str | bytes) -> None:
        # Names relative to an opened folder cannot be told here: what they did is seen in the tree afterwards.
        text = os.fsdecode(path)
        if not os.path.isabs(text) or text.startswith(("/dev/null", "/proc/self/fd/")):
            return
        folder = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))
        if not folder.startswith(self._allowed) and os.path.join(folder, "") not in self._allowed:
            self.noted.append(f"{event} {text}")


def _run(words: list[str]) -> dict[str, object]:
    """Run one command; return its exit status and what it wrote."""
    from codefathom.cli import main as fathom

    before = sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in before]
    sys.stdout, sys.stderr = streams
    try:
        code: object = fathom(words)
    except SystemExit as error:
        code = error.code
    finally:
        sys.stdout, sys.stderr = before
    texts = []
    for stream in streams:
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        texts.append(buffer.getvalue().decode("utf-8", "surrogateescape"))
    return {"code": code, "out": texts[0], "err": texts[1]}


def main() -> None:
    """Run the commands on stdin."""
    root, *allowed = sys.argv[1:]
    commands: list[list[str]] = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    watch = Watch(root, allowed)
    for words in commands:
        watch.noted.clear()
        result = _run(words)
        answers.write(json.dumps({**result, "noted": sorted(set(watch.noted))}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
