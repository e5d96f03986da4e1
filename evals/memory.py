"""Peak memory of a process and its children, watched from outside."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

EVERY_S = 0.1
PROC = Path("/proc")


def run_watched(
    command: Sequence[str], *, env: dict[str, str], cwd: Path, held: Callable[[int], int] | None = None
) -> tuple[int, int | None]:
    """Run a command to its end and return (exit code, most bytes held at once by it and its children).

    `held` says how many bytes a process and its children hold; by default shared pages count once, split among those
    who share them. None where the system has no /proc.
    """
    process = subprocess.Popen(command, env=env, cwd=cwd)
    peak = 0
    while process.poll() is None:
        peak = max(peak, (held or bytes_held)(process.pid))
        time.sleep(EVERY_S)
    return process.returncode, peak or None


def bytes_held(pid: int, *, alone: bool = False) -> int:
    """Return how many bytes a process and its children hold now, or it alone; 0 where the system has no /proc."""
    return sum(map(_bytes_held, [pid] if alone else family(pid)))


def bytes_resident(pid: int) -> int:
    """Return the sum of the resident sizes of a process and its children: what is shared counts for each of them."""
    return sum(map(_bytes_resident, family(pid)))


def family(pid: int) -> Iterator[int]:
    """Yield a process and all that it has started; only itself where the system has no /proc."""
    yield pid
    try:
        children = [task.read_text() for task in (PROC / str(pid) / "task").glob("*/children")]
    except OSError:  # it ended while we looked
        return
    for child in " ".join(children).split():
        yield from family(int(child))


def _bytes_held(pid: int) -> int:
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _bytes_resident(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
