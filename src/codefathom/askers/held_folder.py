"""A temporary folder that goes with its process: when it is closed, or, after a kill, when the next one is made.

A process holds a lock in its folder, which the system frees when the process dies; so neither the age of a folder nor
the number of a process decides.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from codefathom.errors import FathomError, SourceError
from codefathom.stores.folder import Folder
from codefathom.stores.lock import WriterLock

_PREFIX = "fathom-files-"
_ATTEMPTS = 10


class HeldFolder:
    """A new folder that only this user can enter. Making one removes those of dead processes."""

    def __init__(self) -> None:
        """Make the folder. Raises SourceError when it cannot be made."""
        try:
            parent = os.path.realpath(tempfile.gettempdir())
            _remove_left_over(parent)
            self.path, self._lock = _made(parent)
        except OSError as error:
            raise SourceError(
                f"cannot make a temporary folder: {error.strerror or error}", hint="set TMPDIR to a folder with room"
            ) from error

    def close(self) -> None:
        """Remove the folder with all that lies in it."""
        self._lock.release()
        _remove(self.path)


def _made(parent: str) -> tuple[str, WriterLock]:
    for _ in range(_ATTEMPTS):
        path = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
        lock = WriterLock(path)
        with suppress(FathomError):
            if lock.acquire():
                return path, lock
        # Another process has just taken this folder for one that was left over: it removes it.
    raise OSError(f"{_ATTEMPTS} folders in {parent!r} were removed by others")


def _remove_left_over(parent: str) -> None:
    with os.scandir(parent) as listing:
        folders = [entry.path for entry in listing if entry.name.startswith(_PREFIX) and _is_own(entry)]
    for path in folders:
        lock = WriterLock(path)
        # An empty folder is being made at this moment: the first thing in it is the lock.
        with suppress(OSError, FathomError):
            if os.listdir(path) and lock.acquire():
                lock.release()
                _remove(path)


def _is_own(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        is_ours = not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
        return is_ours and entry.is_dir(follow_symlinks=False)
    return False


def _remove(path: str) -> None:
    folder, name = os.path.split(path)
    with suppress(OSError, FathomError):
        Folder(folder).remove(name)
