"""What is free is read where the system says it, and freed memory goes back where the C library can do that."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.waiting import Started, comes

from codefathom.system.memory import Allowance, free_bytes, give_back, resident_bytes

STATUS = Path("/proc/self/statm")
MEMINFO = "MemTotal:       8000000 kB\nMemFree:          100000 kB\nMemAvailable:    2000000 kB\n"


def write(system: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (system / name).parent.mkdir(parents=True, exist_ok=True)
        (system / name).write_text(text)
    return str(system)


def group(limit: str, use: str, details: str = "", version: int = 2) -> dict[str, str]:
    folder = "sys/fs/cgroup/" if version == 2 else "sys/fs/cgroup/memory/"
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    return {folder + names[0]: limit, folder + names[1]: use, folder + "memory.stat": details}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        ({"proc/meminfo": MEMINFO}, 2_048_000_000),
        ({"proc/meminfo": "MemTotal: 1 kB\n"}, None),
        ({"proc/meminfo": MEMINFO, **group("max\n", "100\n")}, 2_048_000_000),
        ({"proc/meminfo": MEMINFO, **group("1000000\n", "900000\n")}, 100_000),
        ({"proc/meminfo": MEMINFO, **group("1000000", "900000", "anon 5\ninactive_file 400000\n")}, 500_000),
        ({"proc/meminfo": MEMINFO, **group("1000000", "1200000")}, 0),
        ({"proc/meminfo": MEMINFO, **group("9223372036854771712", "5", version=1)}, 2_048_000_000),
        ({**group("1000000", "400000", version=1)}, 600_000),
    ],
)
def test_what_is_free_is_the_least_that_anybody_grants(tmp_path: Path, files: dict[str, str], free: int | None) -> None:
    assert free_bytes(write(tmp_path, files)) == free


def test_work_may_take_half_of_what_is_free_and_much_where_nobody_says(tmp_path: Path) -> None:
    assert Allowance(write(tmp_path, {"proc/meminfo": MEMINFO})).n_bytes == 1_024_000_000
    assert Allowance(str(tmp_path / "none")).n_bytes > 10**12


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


def test_resident_memory_is_that_of_the_process_and_of_those_it_has_started() -> None:
    if not os.path.isdir("/proc/self"):
        pytest.skip("this system has no /proc")
    before = resident_bytes()
    assert before is not None
    assert before.own > 1_000_000
    program = "import time; b = b'x' * 40_000_000; time.sleep(300)"
    with Started([sys.executable, "-c", program]) as child:
        assert comes(lambda: (now := resident_bytes()) is not None and now.children - before.children > 40_000_000)
        child.kill()


def test_resident_memory_is_not_known_without_proc(tmp_path: Path) -> None:
    assert resident_bytes(str(tmp_path)) is None
