"""One writer for each index, and any number of users, over all processes; the system frees the locks of the dead."""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from codefathom import types
from codefathom.errors import IndexingError, LockedError
from codefathom.stores.folder import File, Folder, folder_at, kind_of
from codefathom.stores.write_errors import writing_error

if TYPE_CHECKING:
    from codefathom.types.index_runs import RunProgress

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FILE = "write.lock"
_USE_FILE = "use.lock"
_POLL_S = 0.05
_TELL_S = 1.0
_LOCKED_BYTE = 1 << 30  # Windows locks bytes, and nobody else can read those: one far behind the text
_USERS = 1 << 16  # bytes, of which each user locks one where no lock can be shared
_ATTEMPTS = 100
# The text that a holder writes. No other text is shown: the file may have come with a repository.
_HOLDER = (
    r"(?a)(process \d{1,10}(?: on [\w.-]{1,64})?(?: since [\d-]{10} [\d:]{8})?)(?:, (\d{1,12}) of (\d{1,12}) files)?"
)
_MOST_TEXT = 200  # bytes


class WriterLock:
    """The right to write one index."""

    def __init__(self, folder: Folder | str) -> None:
        self._folder = folder_at(folder)
        self._file = self._folder.file(_FILE)
        self._descriptor: int | None = None
        self._name = ""  # of this process, while this object holds the lock

    @property
    def is_held(self) -> bool:
        """True if this object holds the lock."""
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Take the lock if it is free; return True if it was. Raises IndexingError, SourceError."""
        for _ in range(_ATTEMPTS):
            try:
                descriptor = self._file.descriptor()
            except OSError as error:
                self._folder.refuse_gone()
                raise writing_error("cannot lock the index", self._folder, error) from error
            if not _try(descriptor):
                os.close(descriptor)
                return False
            if self._is_in_place(descriptor):
                self._descriptor = descriptor
                self._name = f"process {os.getpid()}{_host()} since {time.strftime('%Y-%m-%d %H:%M:%S')}"
                _name_holder(descriptor, self._name)
                return True
            os.close(descriptor)  # another process has removed this file meanwhile, and made a new one
        return False

    def wait(self, wait_s: float) -> Generator[str, None, None]:
        """Take the lock; while another process holds it, yield its name each second, for at most `wait_s`.

        Raises LockedError that names the holder when it was not free by then, IndexingError.
        """
        deadline = time.monotonic() + wait_s
        tell_at = 0.0
        while not self.acquire():
            now = time.monotonic()
            left_s = deadline - now
            if left_s <= 0:
                waited = f" and was not free within {wait_s:g} s" if wait_s else ""
                raise LockedError(
                    f"the index is being written by {self.holder()}{waited}",
                    hint="wait for it to end, then try again; index.wait_s sets how long `fathom index` waits",
                )
            if now >= tell_at:
                tell_at = now + _TELL_S
                yield self.holder()
            time.sleep(min(_POLL_S, left_s))

    def holder(self) -> str:
        """Return the process that holds the lock, as it has written in the file."""
        match = self._text()
        return match[1] if match else "another process"

    def tell(self, progress: RunProgress) -> None:
        """Write the progress of the run of this holder into the file."""
        if self._descriptor is not None:
            # As many characters each time: whoever reads meanwhile sees the numbers of before, or of now.
            n_done = f"{progress.n_done:0{len(str(progress.n_files))}}"
            _name_holder(self._descriptor, f"{self._name}, {n_done} of {progress.n_files} files")

    def progress(self) -> RunProgress | None:
        """Return the progress of the run of another holder; None while nobody else holds the lock.

        Nothing is waited for, and no writer is kept waiting.
        """
        # A text stays where its holder was killed; where there is none, the lock was given back.
        match = None if self.is_held else self._text()
        if match is None or not self._is_taken():
            return None
        return types.RunProgress(int(match[2] or 0), int(match[3] or 0))

    def _text(self) -> re.Match[str] | None:
        with suppress(OSError, IndexingError):
            return re.fullmatch(_HOLDER, self._file.read(_MOST_TEXT).decode("utf-8", "replace"))
        return None

    def _is_taken(self) -> bool:
        try:
            with self._file.open() as stream:
                if is_free := _try(stream.fileno(), is_shared=True):
                    _release(stream.fileno())
                return not is_free
        except OSError:
            return False

    def release(self) -> None:
        """Give the lock back, if this object holds it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                _name_holder(descriptor, "")
                _release(descriptor)
            finally:
                os.close(descriptor)

    def _is_in_place(self, descriptor: int) -> bool:
        return _is_in_place(self._file, descriptor)


class UseLock:
    """The right to use an index that may be removed while nobody uses it; see `unused`."""

    def __init__(self, folder: Folder, *, is_taken: bool = False) -> None:
        """With `is_taken`, it is acquired at once where that can be."""
        self._folder = folder
        self._file = folder.file(_USE_FILE)
        self._stream: BinaryIO | None = None  # closed with this object at the latest
        if is_taken:
            self.acquire()

    def acquire(self) -> bool:
        """Say that the index is in use from now on; return False where that cannot be written."""
        for _ in range(_ATTEMPTS):
            try:
                self._folder.make()
                stream = os.fdopen(self._file.descriptor(), "r+b", buffering=0)
                _share(stream.fileno())
                if _is_in_place(self._file, stream.fileno()):
                    stream.truncate(0)
                    stream.write(b"used\n")  # the time of this says when it was used last
                    self._stream = stream
                    return True
                stream.close()  # the index was removed in this moment
            except (OSError, IndexingError):
                return False
        return False

    def release(self) -> None:
        """Say that this object does not use it any more."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()


def used_at(folder: Folder) -> float:
    """Return when an index with a `UseLock` was used last, in seconds since the epoch; 0.0 when it never was."""
    status = folder.file(_USE_FILE).status()
    return status.st_mtime if status is not None else 0.0


@contextmanager
def unused(folder: Folder) -> Iterator[bool]:
    """Yield True if nobody uses an index; then nobody begins to in the block. Raises IndexingError, OSError."""
    descriptor = folder.file(_USE_FILE).descriptor()
    try:
        yield _try(descriptor, _USERS)
    finally:
        os.close(descriptor)


@contextmanager
def held_lock(lock: WriterLock, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold a lock, and give it back. Raises LockedError naming the holder when it is not free within `wait_s`."""
    if not lock.is_held:
        for _ in lock.wait(wait_s):
            pass
    try:
        yield
    finally:
        lock.release()


def writer_lock(folder: Folder | str, *, wait_s: float = 0.0) -> AbstractContextManager[None]:
    """Hold the writer lock of an index. Raises as `held_lock`."""
    return held_lock(WriterLock(folder), wait_s=wait_s)


def _name_holder(descriptor: int, text: str) -> None:
    with suppress(OSError):  # on a full disk the lock holds as well without a name
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text.encode())
        os.ftruncate(descriptor, len(text.encode()))


def _host() -> str:
    return f" on {os.uname().nodename}" if hasattr(os, "uname") else ""


def _is_in_place(file: File, descriptor: int) -> bool:
    opened, status = os.fstat(descriptor), file.status()
    if status is None or kind_of(status) != "file" or opened.st_nlink > 1:
        return False
    return sys.platform == "win32" or os.path.samestat(opened, status)


def _share(descriptor: int) -> None:
    """Wait for a lock that others may have at the same time. Raises OSError."""
    if sys.platform == "win32":
        os.lseek(descriptor, _LOCKED_BYTE + random.randrange(_USERS), os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_SH)


def _try(descriptor: int, n_bytes: int = 1, *, is_shared: bool = False) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, n_bytes)
        else:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
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
