"""Steps that a test can count: they are the same on a busy machine and on a quiet one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def n_python_calls(work: Callable[[], object]) -> int:
    """Return how many functions of Python were entered while something was done; a generator counts at each step."""
    n_calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return n_calls
