"""Gives freed memory back to the system."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Return to the system what the C library keeps free for the process; only glibc is known to keep much.

    It has a heap for each thread, also for those that have ended, and an index run starts many.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
