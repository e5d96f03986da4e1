"""Steps that a test can count: they are the same on a busy machine and on a quiet one."""

from __future__ import annotations

import gc
import sqlite3
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, NamedTuple

import pytest
from tests.waiting import pass_tick

from codefathom import Engine
from codefathom.project import current_index


def n_python_calls(work: Callable[[], object]) -> int:
    """Return how many functions of Python were entered while something was done; a generator counts at each step."""
    n_calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()  # else the garbage of other tests is counted
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
    return n_calls


def n_calls_of(function: FunctionType, work: Callable[[], object]) -> int:
    """Return how often a function was entered, in this thread and in those that were started meanwhile."""
    n_calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call" and frame.f_code is function.__code__

    before = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return n_calls


class Steps:
    """Calls by the name of a function of C, all calls, and steps of SQLite's machine."""

    def __init__(self) -> None:
        self.functions: Counter[str] = Counter()
        self.n_calls = 0
        self.n_steps = 0

    def called(self, _: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            self.functions[function.__qualname__] += 1
        self.n_calls += event in ("call", "c_call")

    def step(self) -> int:
        self.n_steps += 1
        return 0


@contextmanager
def counting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    """Count what happens inside, in this thread and in the connections that are opened.

    Each question looks at the tree: else those that do would be those that a busy machine answers late.
    """
    steps, connect = Steps(), sqlite3.connect

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*arguments, **options)
        connection.set_progress_handler(steps.step, 1)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", counted)
        patch.setattr(current_index, "LOOK_AGAIN_AFTER_S", 0.0)
        patch.setattr(current_index, "_REST", 0.0)
        sys.setprofile(steps.called)
        try:
            yield steps
        finally:
            sys.setprofile(None)


def grow_older(folder: Path) -> None:
    """Wait until what is written now has another stamp than all that was written before."""
    pass_tick(folder.parent / "probe")


class TwoProjects(NamedTuple):
    """Two indexed projects that differ in the number of their files."""

    few: Path
    many: Path


def two_projects(
    factory: pytest.TempPathFactory,
    sizes: tuple[int, int],
    write: Callable[[Path, int], object],
    first: Callable[[Path], object],
) -> TwoProjects:
    """Write and index both; what a process loads once is loaded by the first question, before anything counts."""
    few, many = (factory.mktemp(str(size)) / "project" for size in sizes)
    for folder, size in zip((few, many), sizes, strict=True):
        folder.mkdir()
        write(folder, size)
        grow_older(folder)
        with Engine.open(folder) as engine:
            engine.index()
        first(folder)
    return TwoProjects(few, many)
