"""Folders and files of a project by their real paths: opened step by step, and no link is followed.

The path of a project is resolved once, when the project is found or added. Later, whoever may write into its folder or
into one above it can put a link in the place of any part of that path; a commit in a watched repository is enough. So
nothing is opened by such a path as a whole. Each step is an `openat` with O_NOFOLLOW from the folder before it, begun
at the root of the disk.

One risk remains: on Windows, where there is no `openat`, a path is compared before it is used, and somebody who may
write into the folder at this moment can win a race.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import BinaryIO

from codefathom.errors import MovedError

HAS_OPENAT = {os.open, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd

_CLOSED_LATER = getattr(os, "O_CLOEXEC", 0)
NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)
TO_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _CLOSED_LATER
TO_LIST = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSED_LATER
# Without waiting for the other end of a pipe that took the file's place.
TO_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | _CLOSED_LATER
_MOST_OPEN = 64  # folders of one walk: a process may open about 1,000 files, and a tree may be deeper

_is_junction: Callable[[str], bool] = getattr(os.path, "isjunction", lambda _: False)  # since Python 3.12


def moved_part(root: str) -> str:
    """Return the first part of a real path that is no folder any more, such as a link; "" where all of them are.

    "" also for a path that is gone: whoever opens it says so.
    """
    for place in _parts_of(root):
        try:
            kind = os.lstat(place).st_mode
        except OSError:
            return ""
        if not stat.S_ISDIR(kind) or _is_junction(place):
            return place
    return ""


def refuse_moved(root: str) -> None:
    """Raise MovedError where the real path of a project leads elsewhere now."""
    if place := moved_part(root):
        raise MovedError(
            f"the project {root!r} has moved: {place!r} is a link or a file now, not a folder",
            hint="look at this path; to go on, put the folder back, or remove the project and add it again",
        )


@lru_cache(maxsize=64)  # each question asks it of the same few projects
def _parts_of(path: str) -> tuple[str, ...]:
    place, places = os.path.abspath(path), []
    while (parent := os.path.dirname(place)) != place:
        places.append(place)
        place = parent
    return tuple(reversed(places))


def open_folder(path: str, flags: int = TO_LIST) -> int:
    """Open a folder by its real path. Raises OSError, also where a part of the path is a link."""
    *above, last = os.path.abspath(path).split("/")[1:]
    descriptor = os.open("/", TO_ENTER)
    return _entered(descriptor, (*above, last), flags) if last else os.open("/", flags)


def open_below(root: str, parts: Sequence[str]) -> int:
    """Open a file below the real path of a folder, to read it; never waits.

    Raises OSError, also for a link on the way.
    """
    if not HAS_OPENAT:
        _refuse_link(os.path.join(root, *parts))
        return os.open(os.path.join(root, *parts), TO_READ)
    folder = _folder_below(root, parts)
    try:
        return os.open(parts[-1], TO_READ | NOT_THROUGH_LINKS, dir_fd=folder)
    finally:
        os.close(folder)


def status_below(root: str, parts: Sequence[str]) -> os.stat_result:
    """Return the status of what lies below the real path of a folder, of a link its own. Raises OSError."""
    if not HAS_OPENAT:
        _refuse_link(os.path.dirname(os.path.join(root, *parts)))
        return os.lstat(os.path.join(root, *parts))
    folder = _folder_below(root, parts)
    try:
        return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)


def regular_file(descriptor: int) -> BinaryIO | None:
    """Return an opened file, if it is a regular one; else close it and return None."""
    file = open(descriptor, "rb")  # noqa: SIM115 -- the caller closes it
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return file
    file.close()
    return None


class FolderChain:
    """The folder that a walk is in, and those above it: each was opened in the one before it."""

    def __init__(self, root: str, flags: int = TO_LIST) -> None:
        """Take the real path of the root of the walk; nothing is opened yet. Folders are opened with these flags."""
        self._root = root
        self._flags = flags
        self._opened: list[tuple[str, int]] = []  # path and descriptor; the root first

    def enter(self, folder: str) -> int:
        """Return a folder, open until the next one is entered; "" is the root, other paths end with "/".

        Folders that come one below the other cost one step each. Raises OSError, also for a link on the way.
        """
        opened = self._opened
        while opened and not folder.startswith(opened[-1][0]):
            os.close(opened.pop()[1])
        if not opened:
            opened.append(("", open_folder(self._root, self._flags)))
        path, descriptor = opened[-1]
        for name in folder[len(path) :].split("/")[:-1]:
            descriptor = os.open(name, self._flags | NOT_THROUGH_LINKS, dir_fd=descriptor)
            path = f"{path}{name}/"
            opened.append((path, descriptor))
            if len(opened) > _MOST_OPEN:
                os.close(opened.pop(1)[1])
        return descriptor

    def open(self, path: str) -> int:
        """Open a file to read it, by its path below the root; never waits.

        Raises OSError, also for a link on the way.
        """
        folder, name = self._at(path)
        return os.open(name, TO_READ | NOT_THROUGH_LINKS, dir_fd=folder)

    def status(self, path: str) -> os.stat_result:
        """Return the status of what has this path below the root, of a link its own. Raises OSError."""
        folder, name = self._at(path)
        return os.stat(name, dir_fd=folder, follow_symlinks=False)

    def close(self) -> None:
        """Close all folders."""
        while self._opened:
            os.close(self._opened.pop()[1])

    def _at(self, path: str) -> tuple[int, str]:
        folder, slash, name = path.rpartition("/")
        return self.enter(folder + slash), name


def _folder_below(root: str, parts: Sequence[str]) -> int:
    descriptor = open_folder(root, TO_ENTER)
    return _entered(descriptor, parts[:-1], TO_ENTER) if len(parts) > 1 else descriptor


def _entered(descriptor: int, names: Sequence[str], flags: int) -> int:
    """Go down from a folder, which is closed, and return the last one, opened with these flags."""
    last = len(names) - 1
    for number, name in enumerate(names):
        try:
            inner = os.open(name, (flags if number == last else TO_ENTER) | NOT_THROUGH_LINKS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = inner
    return descriptor


def _refuse_link(path: str) -> None:
    """Raise OSError where a part of a path is a link."""
    if os.path.normcase(os.path.realpath(path)) != os.path.normcase(os.path.abspath(path)):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
