"""The files of a work tree that git knows by size and time stamp: which blob each one is, without reading it.

The index of git is read with `git ls-files --stage --debug`, which opens no file of the work tree, so that no filter is
run. Its form may change in a later git; what is not understood is not known, and is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from codefathom.source.changes import FileStat, is_unsure
from codefathom.source.origin import Stamp
from codefathom.source.revisions.git_program import answer, start_git
from codefathom.source.revisions.git_tree import Blob
from codefathom.source.work_tree import own_git_directory, work_tree

_MOST_BYTES = 500_000_000
_SECOND_NS = 1_000_000_000
_SIZE_BITS = 0xFFFFFFFF  # git keeps no more of a size
_ENTRY = re.compile(
    rb"(?P<mode>100[0-7]{3}) (?P<id>[0-9a-f]{40}|[0-9a-f]{64}) 0\t(?P<path>[^\0]+)\0\s+ctime: \d{1,20}:\d{1,9}\n"
    rb"\s+mtime: (?P<s>\d{1,10}):(?P<ns>\d{1,9})\n\s+dev: [^\n]*\n\s+uid: [^\n]*\n\s+size: (?P<size>\d{1,10})\t[^\n]*\n"
)


class StagedFile(NamedTuple):
    """A file as it was when git last compared it with a blob."""

    size: int  # bytes; the lowest 32 bits
    mtime_ns: int
    blob_stamp: int

    def is_blob(self, blob: FileStat, file: Stamp) -> bool:
        """Return True if a file of this size and time stamp has the content of a blob."""
        same_file = (file.size & _SIZE_BITS, file.mtime_ns) == (self.size, self.mtime_ns)
        return same_file and self.blob_stamp == blob.mtime_ns


def staged_files(folder: str) -> Mapping[str, StagedFile]:
    """Return the files by path from the top of the repository, as far as size and time stamp tell of their content."""
    top = work_tree(folder)
    if top is None:
        return {}
    try:
        written_ns = os.stat(os.path.join(own_git_directory(top), "index")).st_mtime_ns
    except (OSError, ValueError):  # a bare repository, or nothing was ever added
        return {}
    entries = ((match["path"], _staged(match)) for match in _ENTRY.finditer(_output(top)))
    # A file that was written again in the moment in which git wrote its index may have kept its stamp.
    sure = ((path, item) for path, item in entries if not is_unsure(item.mtime_ns, written_ns))
    return {path.decode("utf-8", "surrogateescape"): item for path, item in sure}


def _output(top: str) -> bytes:
    with start_git(top, "ls-files", "--stage", "--debug", "-z") as process, answer(process, top):
        assert process.stdout is not None  # a pipe
        output = process.stdout.read(_MOST_BYTES + 1)
        if len(output) > _MOST_BYTES:  # paths may be written shorter in the index than they are
            process.kill()
            return b""
    return output


def _staged(match: re.Match[bytes]) -> StagedFile:
    blob = Blob(int(match["mode"], 8), match["id"].decode(), 0)
    return StagedFile(int(match["size"]), int(match["s"]) * _SECOND_NS + int(match["ns"]), blob.stamp)
