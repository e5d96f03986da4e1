"""Children end with their parent, also while they are at work, and say nothing about it."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.waiting import Started

AT_WORK = """
import sys, time
from codefathom.system.children import received
for task in received(sys.stdin.buffer):
    sys.stdout.write("at work\\n")
    sys.stdout.flush()
    if task == "wait":
        time.sleep(3600)
    while task == "count":
        pass
"""


@contextmanager
def child() -> Iterator[subprocess.Popen[bytes]]:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with Started([sys.executable, "-P", "-c", AT_WORK], **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def begin(process: subprocess.Popen[bytes], task: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(pickle.dumps(task))
    process.stdin.flush()
    assert process.stdout.readline() == b"at work\n"


@pytest.mark.parametrize("task", ["rest", "wait", "count"])
def test_a_child_ends_when_its_parent_has_gone(task: str) -> None:
    with child() as process:
        begin(process, task)
        _, said = process.communicate()  # closes stdin, as the system does for a parent that is killed
        assert (process.returncode, said) == (0, b"")


def test_half_a_message_is_no_error(tmp_path: object) -> None:
    with child() as process:
        begin(process, "rest")
        assert process.stdin is not None
        process.stdin.write(pickle.dumps(["a", "b"])[:-3])
        _, said = process.communicate()
        assert (process.returncode, said) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_is_for_the_parent_and_a_termination_is_quiet() -> None:
    with child() as process:
        begin(process, "rest")
        process.send_signal(signal.SIGINT)
        begin(process, "wait")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
        assert (process.returncode, said) == (-signal.SIGTERM, b"")
