"""The files of a view that were found as they were written, by their stamps, in a small file beside them.

A change that only a few files caused reads none of them again. A file that anything has written since has another
stamp; what a disk loses without a write is found by a check that reads everything. This saves work and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from zlib import crc32

from codefathom.errors import IndexingError
from codefathom.source.changes import is_unsure
from codefathom.stores.folder import File, Folder

_NAME = "checked"
_MOST = 10_000_000  # bytes


class CheckedFiles:
    """The list of one folder of a view. Needs the writer lock of the index."""

    def __init__(self, folder: Folder) -> None:
        self._file = folder.file(_NAME)

    def first_damaged(self, files: Iterable[tuple[File, str]], is_sound: Callable[[File], bool]) -> File | None:
        """Return the first of these files that is not sound; one that is listed with its checksum is not read."""
        before, now_ns = self._lines(), time.time_ns()
        lines = set()
        for file, checksum in files:
            status = file.status()
            line, is_settled = "", False
            if status is not None:
                stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                line = " ".join(map(str, (file.name, checksum, *stamp)))
                is_settled = not is_unsure(max(status.st_mtime_ns, status.st_ctime_ns), now_ns)
            if (not line or line not in before) and not is_sound(file):
                return file
            if is_settled:
                lines.add(line)
        if lines != before:
            self._write(lines)
        return None

    def _lines(self) -> set[str]:
        with suppress(OSError, ValueError, IndexingError):
            text, _, end = self._file.read(_MOST).rpartition(b"\n")
            if end == b"%d" % crc32(text):
                return set(text.decode("utf-8").split("\n"))
        return set()

    def _write(self, lines: set[str]) -> None:
        text = "\n".join(sorted(lines)).encode("utf-8", "surrogateescape")
        with suppress(OSError, IndexingError):  # then all is read again the next time
            self._file.replace([b"%s\n%d" % (text, crc32(text))], lasts=False)
