"""Which changes of a file its stamps tell, and which the events of a watcher: `python -m evals.unseen_changes`."""

from __future__ import annotations

import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from watchfiles._rust_notify import RustNotify

from evals.report import table

_WAIT_MS = 300
_N_TOKENS = 20


def main() -> int:
    """Change one file in several ways, and say of each what was noticed; then time a question to the watcher."""
    with TemporaryDirectory(dir=os.getcwd()) as folder:
        rows = [[name, *_noticed(Path(folder), way)] for name, way in _WAYS.items()]
        print(table(["a change by", "event", "another stamp"], rows))
        times = sorted(_token_ms(Path(folder)) for _ in range(_N_TOKENS))
    print(f"a token file is told after {times[_N_TOKENS // 2]:.1f} ms (median), {times[-1]:.1f} ms at most")
    return 0


@contextmanager
def _written(folder: Path) -> Iterator[Callable[[], None]]:
    def change() -> None:
        (folder / "root" / "file.py").write_text("y = 2\n")

    yield change


@contextmanager
def _mapped(folder: Path) -> Iterator[Callable[[], None]]:
    with (folder / "root" / "file.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:

        def change() -> None:
            memory[0:1] = b"y"
            memory.flush()

        yield change


@contextmanager
def _linked(folder: Path) -> Iterator[Callable[[], None]]:
    other = folder / "outside.py"
    os.link(folder / "root" / "file.py", other)

    def change() -> None:
        other.write_text("y = 2\n")

    yield change
    other.unlink()


_Way: TypeAlias = Callable[[Path], AbstractContextManager[Callable[[], None]]]
_WAYS: dict[str, _Way] = {"a write": _written, "mapped memory": _mapped, "a hard link outside of the tree": _linked}


def _noticed(folder: Path, way: _Way) -> list[str]:
    root = folder / "root"
    root.mkdir(exist_ok=True)
    file = root / "file.py"
    file.write_text("x = 1\n" * 1_000)
    with way(folder) as change:
        watcher = RustNotify([str(root)], False, False, 0, False, False)
        while watcher.watch(50, 5, _WAIT_MS, None) != "timeout":
            pass
        before = _stamp(file)
        change()
        event = watcher.watch(50, 5, _WAIT_MS, None)
        watcher.close()
        return ["no" if event == "timeout" else "yes", "yes" if _stamp(file) != before else "no"]


def _stamp(file: Path) -> tuple[int, int, int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _token_ms(folder: Path) -> float:
    root = folder / "root"
    watcher = RustNotify([str(root)], False, False, 0, False, False)
    began = time.perf_counter()
    (root / "token").write_text(str(began))
    watcher.watch(1, 1, 2_000, None)
    watcher.close()
    return 1_000 * (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
