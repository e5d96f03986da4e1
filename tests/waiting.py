"""What tests wait for: processes, threads, conditions. No wait is without a limit, or needs a fast machine."""

from __future__ import annotations

import atexit
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, AnyStr

_TICK_NS = 30_000_000  # the clock of a disk goes on by less at a time
LONG_S = 300.0  # for what takes a second or two on a machine that is idle; only what hangs takes longer


class Started(subprocess.Popen[AnyStr]):
    """A process that is waited for `LONG_S` at most, and killed where its `with` block fails or the tests end."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        _running.add(self)

    def wait(self, timeout: float | None = None) -> int:
        return super().wait(LONG_S if timeout is None else timeout)

    def communicate(
        self,
        input: Any = None,  # noqa: A002 - its name in Popen
        timeout: float | None = None,
    ) -> tuple[Any, Any]:
        return super().communicate(input, LONG_S if timeout is None else timeout)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, traceback)


_running: weakref.WeakSet[Started[Any]] = weakref.WeakSet()


@atexit.register
def _kill_all() -> None:
    for process in list(_running):
        process.kill()


def join(*threads: threading.Thread) -> None:
    """Wait until threads have ended."""
    for thread in threads:
        thread.join(LONG_S)
        assert not thread.is_alive(), f"{thread.name} does not end"


def comes(happens: Callable[[], object]) -> bool:
    """Wait until something is true; return whether it came."""
    until = time.monotonic() + LONG_S
    while not happens():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def pass_tick(probe: Path) -> None:
    """Wait until what is written now has another stamp than all that was written before, by a file of one's own."""
    probe.write_text("")
    before = probe.stat().st_ctime_ns
    assert comes(lambda: probe.write_text("") == 0 and probe.stat().st_ctime_ns > before + _TICK_NS)


def is_readable(file: int, seconds: float) -> bool:
    """Wait until something can be read. `select.select` takes no descriptor above 1,023, and a long run has more."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
