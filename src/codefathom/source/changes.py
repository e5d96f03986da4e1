"""A scan and the index → the files that may have changed, by what the system says of them without reading. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from codefathom.types.skipped_files import Skipped

if TYPE_CHECKING:
    import os


# Linux stamps files with a clock that ticks every 1 to 10 ms and lags behind the one a program reads.
_TICK_NS = 20_000_000
# FAT counts in 2 s, HFS+ and many archives in 1 s: such a time stamp has no fraction.
COARSE_TICK_NS = 2_000_000_000
UNKNOWN_SIZE = -1  # of a document that is made when it is read
_SECOND_NS = 1_000_000_000
_LARGEST = 2**63 - 1  # that SQLite can hold: as a time stamp, a moment in the year 2262


class FileStat(NamedTuple):
    """A file as the scan saw it."""

    path: str  # relative to the root, POSIX
    size: int  # bytes
    mtime_ns: int
    ctime_ns: int = 0  # when the system saw the last change of the file, which no program can set; 0: not known
    inode: int = 0

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> FileStat:
        """Return a file by its status; a number that no index can hold is cut to one that it can."""
        ctime_ns = status.st_ctime_ns or 0  # None for a status that is made of a revision
        inode = status.st_ino & _LARGEST
        return cls(path, status.st_size, _storable(status.st_mtime_ns), _storable(ctime_ns), inode)


class Scan(NamedTuple):
    """The files of a folder, sorted by path, and what was left out for another reason than an ignore rule."""

    files: Sequence[FileStat]
    skipped: tuple[Skipped, ...]  # sorted; the path of a whole directory ends with "/"


class IndexedFileStat(NamedTuple):
    """A file as the index remembers it."""

    size: int  # bytes
    mtime_ns: int
    fingerprint: str
    ctime_ns: int = 0  # 0: not recorded
    inode: int = 0


class FileState(Protocol):
    """A file at one moment, as the system describes it without reading."""

    @property
    def size(self) -> int:
        """In bytes."""
        ...

    @property
    def mtime_ns(self) -> int | None:
        """Time of the last change of its content, as programs set it."""
        ...

    @property
    def ctime_ns(self) -> int:
        """Time of its last change, as the system saw it; 0 where it is not known."""
        ...

    @property
    def inode(self) -> int:
        """Number of the file on its disk."""
        ...


class TreeChanges(NamedTuple):
    """The files that differ from the index, or may differ."""

    suspect: tuple[FileStat, ...]  # new, or different by what the system says
    unsure: tuple[FileStat, ...]  # size and stamp are equal, but a second write could have the same late stamp
    removed: tuple[str, ...]  # sorted
    unrecorded: tuple[FileStat, ...] = ()  # as indexed, but an older version has kept no ctime and inode of them
    renumbered: tuple[FileStat, ...] = ()  # those of the suspect ones of which the inode alone differs


def compare(
    entries: Mapping[str, IndexedFileStat], scan: Scan, indexed_at_ns: int, *, by_inode: bool = True
) -> TreeChanges:
    """Compare a scan with the index.

    With `by_inode` False an inode tells nothing: some disks over a network give new ones each time.
    `indexed_at_ns` is the clock just before the scan that the index was made from. A file stamped at that time or later
    could have been written again after it was read, with the same stamp: only its bytes can tell.
    """
    suspect: list[FileStat] = []
    unsure: list[FileStat] = []
    unrecorded: list[FileStat] = []
    renumbered: list[FileStat] = []
    missing = set(entries)
    for file in scan.files:
        missing.discard(file.path)
        before = entries.get(file.path)
        if before is None or differs(before, file, by_inode=by_inode):
            suspect.append(file)
            if before is not None and not differs(before, file, by_inode=False):
                renumbered.append(file)
        elif file.ctime_ns and not before.ctime_ns:
            (suspect if is_unsure(file.ctime_ns, indexed_at_ns) else unrecorded).append(file)
        elif is_unsure(file.mtime_ns, indexed_at_ns):
            unsure.append(file)
    return TreeChanges(tuple(suspect), tuple(unsure), tuple(sorted(missing)), tuple(unrecorded), tuple(renumbered))


def differs(before: FileState, now: FileState, *, by_inode: bool = True) -> bool:
    """Return True if a file may have other bytes than before, as git tells it.

    Size and time stamp can both be put back, the time at which the system saw that cannot. A file that takes the place
    of another one has another inode.
    """
    has_size = before.size != UNKNOWN_SIZE != now.size
    if (has_size and before.size != now.size) or before.mtime_ns != now.mtime_ns:
        return True
    if not before.ctime_ns or not now.ctime_ns:
        return False
    return before.ctime_ns != now.ctime_ns or (by_inode and before.inode != now.inode)


def is_unsure(mtime_ns: int, indexed_at_ns: int) -> bool:
    """Return True if a file with this time stamp may have been written again after it was read, with the same stamp."""
    return mtime_ns >= indexed_at_ns - (_TICK_NS if mtime_ns % _SECOND_NS else COARSE_TICK_NS)


def _storable(number: int) -> int:
    return min(max(number, -_LARGEST), _LARGEST)
