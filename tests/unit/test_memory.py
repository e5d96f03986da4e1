"""Freed memory goes back to the system where the C library can do that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from codefathom.memory import give_back

STATUS = Path("/proc/self/statm")


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is asked")
def test_freed_memory_is_given_back() -> None:
    kept = []
    pieces = [bytearray(1_000) for _ in range(100_000)]
    kept.append(bytearray(1_000))  # at the end of the heap: what lies below it is not given back by itself
    before = int(STATUS.read_text().split()[1])
    del pieces
    give_back()
    assert int(STATUS.read_text().split()[1]) < before
    assert kept
