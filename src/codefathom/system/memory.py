"""Free memory of the machine, and the return of freed memory to the system."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from contextlib import suppress
from typing import NamedTuple

_LOOK_S = 0.25  # how long a look at the system's memory counts
_SHARE = 0.5  # of what is free; the rest is for what grows meanwhile, and for others
_PLENTY = 1 << 40  # where the system does not say how much is free
# Limit and use of a control group, version 2 and 1, and what of the use is a cache of files.
_GROUPS = (
    ("sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory.current", "sys/fs/cgroup/memory.stat"),
    (
        "sys/fs/cgroup/memory/memory.limit_in_bytes",
        "sys/fs/cgroup/memory/memory.usage_in_bytes",
        "sys/fs/cgroup/memory/memory.stat",
    ),
)


class Allowance:
    """The number of bytes that work may take now, if it can be done in smaller pieces."""

    def __init__(self, system: str = os.sep) -> None:
        """`system` is the folder in which `proc` and `sys` lie."""
        self._system = system
        self._until = 0.0
        self._n_bytes = _PLENTY

    @property
    def n_bytes(self) -> int:
        """Half of the free memory, measured again from time to time."""
        now = time.monotonic()
        if now >= self._until:
            self._until = now + _LOOK_S
            free = free_bytes(self._system)
            self._n_bytes = _PLENTY if free is None else int(_SHARE * free)
        return self._n_bytes


def free_bytes(system: str = os.sep) -> int | None:
    """Return the free bytes of the system or its control group, whichever has fewer; None if neither is known."""
    sizes = [_free_of_system(system), *(_free_of_group(system, *names) for names in _GROUPS)]
    return min((size for size in sizes if size is not None), default=None)


class ResidentBytes(NamedTuple):
    """The resident memory of this process and of the processes that it has started; shared pages count for each."""

    own: int
    children: int


def resident_bytes(system: str = os.sep) -> ResidentBytes | None:
    """Return the resident memory of this process and its descendants; None where the system has no /proc."""
    parents = {pid: parent for pid in _pids(system) if (parent := _parent(system, pid)) is not None}
    if os.getpid() not in parents:
        return None
    family, new = set[int](), {os.getpid()}
    while new:
        family |= new
        new = {pid for pid, parent in parents.items() if parent in new} - family
    own = _resident(system, os.getpid())
    return ResidentBytes(own, sum(_resident(system, pid) for pid in family) - own)


def _pids(system: str) -> list[int]:
    try:
        return [int(name) for name in os.listdir(os.path.join(system, "proc")) if name.isdecimal()]
    except OSError:
        return []


def _parent(system: str, pid: int) -> int | None:
    # The name of the program may hold spaces and brackets; what follows the last bracket has a fixed order.
    fields = _text(system, f"proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[1]) if len(fields) > 1 else None


def _resident(system: str, pid: int) -> int:
    return 1024 * (_value_of(_text(system, f"proc/{pid}/status"), "VmRSS:") or 0)


def give_back() -> None:
    """Return memory to the system that the C library keeps for the process; only glibc is known to keep much.

    glibc has a heap for each thread, also for ended ones, and an index run starts many.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def _free_of_system(system: str) -> int | None:
    size = _value_of(_text(system, "proc/meminfo"), "MemAvailable:")
    return None if size is None else 1024 * size


def _free_of_group(system: str, limit: str, use: str, details: str) -> int | None:
    try:
        free = int(_text(system, limit)) - int(_text(system, use))
    except ValueError:  # there is no such group, or no limit: "max"
        return None
    return max(free + (_value_of(_text(system, details), "inactive_file") or 0), 0)


def _value_of(text: str, name: str) -> int | None:
    words = next((line.split() for line in text.splitlines() if line.startswith(name)), [])
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else None


def _text(system: str, name: str) -> str:
    with suppress(OSError), open(os.path.join(system, name), encoding="ascii", errors="replace") as file:
        return file.read()
    return ""
