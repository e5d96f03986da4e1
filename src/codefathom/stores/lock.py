"""One writer for each index, over all processes; the system frees the lock when its holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from codefathom.errors import IndexingError, LockedError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FILE = "write.lock"
_POLL_S = 0.05
_LOCKED_BYTE = 1 << 30  # Windows locks bytes, and nobody else can read those: one far behind the text


@contextmanager
def writer_lock(folder: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the writer lock of an index. Raises LockedError naming the holder when it is not free within `wait_s`."""
    path = os.path.join(folder, _FILE)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise IndexingError(
            f"cannot lock the index in {folder!r}: {error.strerror}", hint="set FATHOM_INDEX_DIR to another folder"
        ) from error
    try:
        _acquire(descriptor, time.monotonic() + wait_s)
        try:
            _name_holder(descriptor, f"process {os.getpid()}{_host()}")
            yield
        finally:
            _name_holder(descriptor, "")
            _release(descriptor)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, deadline: float) -> None:
    while not _try(descriptor):
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            os.lseek(descriptor, 0, os.SEEK_SET)
            holder = os.read(descriptor, 200).decode("utf-8", "replace") or "another process"
            raise LockedError(f"the index is being written by {holder}", hint="wait for it to end, then try again")
        time.sleep(min(_POLL_S, left_s))


def _name_holder(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode())


def _host() -> str:
    return f" on {os.uname().nodename}" if hasattr(os, "uname") else ""


def _try(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _release(descriptor: int) -> None:
    # Closing would do, but for a child process that was forked meanwhile and holds a copy.
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
