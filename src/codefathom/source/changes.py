"""A scan and the index → the files that may have changed, by size and time stamp alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from codefathom.types import Skipped

# Linux stamps files with a clock that ticks every 1 to 10 ms and lags behind the one a program reads.
_TICK_NS = 20_000_000
# FAT counts in 2 s, HFS+ and many archives in 1 s: such a time stamp has no fraction.
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class FileStat(NamedTuple):
    """A file as the scan saw it."""

    path: str  # relative to the root, POSIX
    size: int  # bytes
    mtime_ns: int


class Scan(NamedTuple):
    """The files of a folder, sorted by path, and what was left out for another reason than an ignore rule."""

    files: tuple[FileStat, ...]
    skipped: tuple[Skipped, ...]  # sorted; the path of a whole directory ends with "/"


class IndexedFileStat(NamedTuple):
    """A file as the index remembers it."""

    size: int  # bytes
    mtime_ns: int
    fingerprint: str


class TreeChanges(NamedTuple):
    """The files that differ from the index, or may differ."""

    suspect: tuple[FileStat, ...]  # new, or with a size or time stamp that differs
    unsure: tuple[FileStat, ...]  # size and stamp are equal, but a second write could have the same late stamp
    removed: tuple[str, ...]  # sorted


def compare(entries: Mapping[str, IndexedFileStat], scan: Scan, indexed_at_ns: int) -> TreeChanges:
    """Compare a scan with the index.

    `indexed_at_ns` is the clock just before the scan that the index was made from. A file stamped at that time or later
    could have been written again after it was read, with the same stamp: only its bytes can tell.
    """
    suspect: list[FileStat] = []
    unsure: list[FileStat] = []
    missing = set(entries)
    for file in scan.files:
        missing.discard(file.path)
        before = entries.get(file.path)
        if before is None or before.mtime_ns != file.mtime_ns or before.size != file.size:
            suspect.append(file)
        elif is_unsure(file.mtime_ns, indexed_at_ns):
            unsure.append(file)
    return TreeChanges(tuple(suspect), tuple(unsure), tuple(sorted(missing)))


def is_unsure(mtime_ns: int, indexed_at_ns: int) -> bool:
    """Return True if a file with this time stamp may have been written again after it was read, with the same stamp."""
    return mtime_ns >= indexed_at_ns - (_TICK_NS if mtime_ns % _SECOND_NS else _COARSE_TICK_NS)
