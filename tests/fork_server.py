"""A process that has imported the program, and forks for each process that tests start (tests/fathom.py).

It has started no thread and opened nothing but the socket that its requests come from. More modules that the forked
processes import are named behind the number of that socket.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import signal
import socket
import sys
import threading
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

# Rooms whose modules are imported, with all that those import. Servers and what is installed as an extra are not.
ROOMS = ("cli", "cli.commands", "compat", "parse", "project", "project.impact", "project.stores", "providers", "remote")
REVISIONS = "codefathom.source.revisions"
CHILDREN = ("codefathom.server.searches.search_child", "codefathom.server.jobs.job_child", "codefathom.index.workers")
ALSO = (f"{REVISIONS}.history", f"{REVISIONS}.staged_files", "codefathom.text.unified_diff", "regex", *CHILDREN)
# Those of the projects that most tests index. To compile their patterns takes half a second in each process.
LANGUAGES = ("go", "java", "javascript", "python", "rust", "typescript")


def main() -> None:
    """Answer requests until their socket ends; in a process that was forked, run the command and end as it does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    requests = socket.socket(fileno=int(sys.argv[1]))
    _prepare()
    while head := _head(requests):
        data, streams = head
        pipe = os.pipe()
        if between := os.fork():
            os.waitpid(between, 0)  # its child belongs to the process that asks from now on
            requests.sendall(os.read(pipe[0], 8))
            for descriptor in (*streams, *pipe):
                os.close(descriptor)
        elif command := os.fork():
            os.write(pipe[1], command.to_bytes(8))
            os._exit(0)
        else:
            for descriptor in (requests.detach(), *pipe):
                os.close(descriptor)
            _run(streams, *pickle.loads(data))


def _prepare() -> None:
    for room in ROOMS:
        for module in iter_modules(import_module(f"codefathom.{room}").__path__):
            import_module(f"codefathom.{room}.{module.name}")
    for name in ALSO:
        import_module(name)
    for name in sys.argv[2:]:
        import_module(name)
    bundled = import_module("codefathom.providers.local.bundled")
    bundled.load(bundled.MODEL_FILE)
    for language in LANGUAGES:
        import_module("codefathom.parse.grammars").load(language)
    assert len(os.listdir("/proc/self/task")) == 1, "a thread would be missing in each process that is forked"
    gc.collect()
    gc.freeze()  # else the first collection in each process would copy all pages


def _head(requests: socket.socket) -> tuple[bytes, list[int]] | None:
    head, streams, _, _ = socket.recv_fds(requests, 8, 3)
    if not head:
        return None
    n_bytes, data = int.from_bytes(head), b""
    while len(data) < n_bytes:
        data += requests.recv(n_bytes - len(data))
    return data, list(streams)


def _run(
    streams: list[int], code: str, words: list[str], environment: dict[str, str], folder: str, *signals_and_group: Any
) -> None:
    """Become what an interpreter is in the first line of the code."""
    blocked, has_own_session, group = signals_and_group
    if has_own_session:
        os.setsid()
    if group >= 0:
        os.setpgid(0, group)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, _stream(number, getattr(sys, name)))
    sys.argv = words
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    try:
        exec(code, {"__name__": "__main__"})
    except SystemExit as asked:
        if asked.code is None or isinstance(asked.code, int):
            _end(asked.code or 0)
        raise
    _end(0)


def _end(code: int) -> NoReturn:
    """Do what an interpreter does at its end, but for freeing each object.

    All that was imported before the fork is copied as it is freed: that takes as long as a search.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)  # which says so, and changes the code
    os._exit(code & 0xFF)


def _stream(number: int, before: Any) -> Any:
    """Return a stream as an interpreter makes it at its start."""
    return open(
        number,
        "w" if number else "r",
        encoding=before.encoding,
        errors=before.errors,
        closefd=False,
        buffering=1 if number == 2 or os.isatty(number) else -1,
    )


if __name__ == "__main__":
    main()
