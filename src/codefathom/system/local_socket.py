"""A socket of this machine that only processes of this user reach: in a folder that nobody else may enter.

Both ends ask the system whose process the other one is. Linux only, where both can be asked; elsewhere there is none.
Next to nothing is imported: a host of `fathom mcp` waits for that.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SOCKET, _LOCK = "socket", "lock"
_BACKLOG = 128
_PEER_BYTES = 12  # struct ucred: process, user, group


class UserSocket:
    """A socket that listens until it is closed; no other process of this user listens at its folder meanwhile."""

    def __init__(self, listener: socket.socket, lock: int, folder: str) -> None:
        self.listener = listener
        self._lock = lock
        self._folder = folder

    def close(self) -> None:
        """Stop to listen, and take the socket away."""
        with suppress(OSError), _short_path(self._folder) as path:
            os.unlink(path)
        self.listener.close()
        os.close(self._lock)


def listen(folder: str) -> UserSocket | None:
    """Listen at a folder, which is made; None where another process does already, or the system cannot.

    Raises OSError for a folder that others may enter, and where it cannot be made.
    """
    if not _has_peers():
        return None
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    import fcntl  # noqa: PLC0415  - not there on every system

    with _short_path(folder) as path:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open(os.path.join(os.path.dirname(path), _LOCK), flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return None
        try:
            with suppress(FileNotFoundError):
                os.unlink(path)  # of a process that was killed
            listener = socket.socket(socket.AF_UNIX)
            try:
                listener.bind(path)
                listener.listen(_BACKLOG)
            except OSError:
                listener.close()
                raise
        except OSError:
            os.close(lock)
            raise
    return UserSocket(listener, lock, folder)


def connect(folder: str, timeout_s: float) -> socket.socket | None:
    """Return a connection to the process of this user that listens at a folder; None where there is none."""
    if not _has_peers():
        return None
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout_s)
    try:
        with _short_path(folder) as path:
            connection.connect(path)
        if is_of_this_user(connection):
            return connection
    except OSError:
        pass
    connection.close()
    return None


def is_of_this_user(connection: socket.socket) -> bool:
    """Return True if the process at the other end runs as the same user."""
    try:
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER_BYTES)
    except OSError:
        return False
    return len(peer) == _PEER_BYTES and int.from_bytes(peer[4:8], sys.byteorder) == os.geteuid()


def _has_peers() -> bool:
    return hasattr(socket, "AF_UNIX") and hasattr(socket, "SO_PEERCRED") and os.path.isdir("/proc/self/fd")


@contextmanager
def _short_path(folder: str) -> Iterator[str]:
    """Yield a path of the socket that has few bytes, wherever the folder is. Raises OSError for one of others.

    The system takes at most some 100 bytes for the address of a socket. The path goes over the opened folder, so what
    was looked at is what is used.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise PermissionError(1, "other users may enter the folder", folder)
        yield f"/proc/self/fd/{descriptor}/{_SOCKET}"
    finally:
        os.close(descriptor)
