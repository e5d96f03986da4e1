"""A tree of files as an earlier walk has found it, compared with the disk without listing it again. No file is opened.

A folder whose times and inode are what they were lists the same names: both times change when an entry comes, goes or
gets another name. So one look at each folder and file that has a stamp is enough. What could have changed within the
tick of the clock in which it was looked at has no stamp here, and is looked at again.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeVar, overload

from codefathom.source.changes import COARSE_TICK_NS, FileStat, Scan, is_unsure
from codefathom.system.real_paths import TO_ENTER, open_folder
from codefathom.types import Skipped

_NO_STAMP = (-1, -1, -1, -1)  # size, two times and inode that nothing on a disk has
_Item = TypeVar("_Item", FileStat, Skipped)


class StatColumns(Sequence[FileStat]):
    """Files and their stamps in columns: those of a large tree are compared without a value for each."""

    __slots__ = ("_columns", "paths")

    def __init__(self, paths: Sequence[str], columns: Sequence[Sequence[int]]) -> None:
        self.paths, self._columns = paths, columns  # size, two times and inode

    def rows(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Yield the numbers of each file behind its path, as `FileStat` has them."""
        return zip(self.paths, *self._columns, strict=False)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[FileStat]:
        return map(_AS_STAT, self.rows())

    @overload
    def __getitem__(self, place: int) -> FileStat: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[FileStat]: ...
    def __getitem__(self, place: int | slice) -> FileStat | Sequence[FileStat]:
        if isinstance(place, slice):
            return StatColumns(self.paths[place], [column[place] for column in self._columns])
        return FileStat(self.paths[place], *(column[place] for column in self._columns))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, StatColumns)) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as long as a list


_AS_STAT = partial(tuple.__new__, FileStat)  # as `FileStat` does it, without a call for each


class StampedTree(NamedTuple):
    """The folders that a walk has listed, and what it has found in them; each list is sorted by path."""

    files: Sequence[FileStat]
    skipped: tuple[Skipped, ...]
    folders: Sequence[FileStat]  # "" is the root, other paths end with "/"
    deciding: Sequence[FileStat]  # ignore files, and files that are too large: their folders depend on them
    looked_at_ns: int  # by the clock, before the first folder was listed

    @property
    def scan(self) -> Scan:
        """The files, and what was left out."""
        return Scan(self.files, self.skipped)

    def sure(self, others: Collection[str] = ()) -> StampedTree:
        """Return the tree without the stamps of these files, and of what may change without another stamp."""

        late = self.looked_at_ns - COARSE_TICK_NS
        paths = set(others)

        def settled(items: Sequence[FileStat]) -> tuple[FileStat, ...]:
            # Of both times: a program can set the first one back.
            unsure = {
                item.path
                for item in items
                if (item.mtime_ns >= late or item.ctime_ns >= late)
                and is_unsure(max(item.mtime_ns, item.ctime_ns), self.looked_at_ns)
            }
            unsure |= paths
            return tuple([FileStat(item.path, *_NO_STAMP) if item.path in unsure else item for item in items])

        return self._replace(files=settled(self.files), folders=settled(self.folders), deciding=settled(self.deciding))

    def below(self, folder: str) -> StampedTree:
        """Return the part of the tree in a folder, "" or with a slash at its end."""
        return self._replace(
            files=_below(self.files, folder),
            skipped=tuple(_below(self.skipped, folder)),
            folders=_below(self.folders, folder),
            deciding=_below(self.deciding, folder),
        )


def _below(items: Sequence[_Item], folder: str) -> Sequence[_Item]:
    if not folder:
        return items
    # "0" is the character after the slash.
    start, end = (bisect_left(items, border, key=attrgetter("path")) for border in (folder, f"{folder[:-1]}0"))
    return items[start:end]


@dataclass(frozen=True, slots=True)
class TreeDifferences:
    """All in which the disk differs from a stamped tree."""

    files: dict[str, FileStat]  # that are other ones now, in folders that list the same names
    folders: frozenset[str]  # to be listed again


def differences(root: str, stamps: StampedTree, most_bytes: int) -> TreeDifferences:
    """Look at all folders and files that have a stamp. A larger file than `most_bytes` is left to the walk.

    Raises OSError when the root cannot be entered, also for a link on the way.
    """
    descriptor = open_folder(root, TO_ENTER)
    try:
        folders = {folder for folder, _ in _others(stamps.folders, map(_name, _paths(stamps.folders)), descriptor)}
        folders.update(folder_of(path) for path, _ in _others(stamps.deciding, _paths(stamps.deciding), descriptor))
        files: dict[str, FileStat] = {}
        for path, status in _others(stamps.files, _paths(stamps.files), descriptor):
            if status is None or not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
                folders.add(folder_of(path))
            else:
                files[path] = FileStat.of(path, status)
    finally:
        os.close(descriptor)
    return TreeDifferences(files, frozenset(folders))


def _paths(items: Sequence[FileStat]) -> Iterable[str]:
    return items.paths if isinstance(items, StatColumns) else map(itemgetter(0), items)


def _name(folder: str) -> str:
    # Without its slash: else a link in the place of a folder would be followed.
    return folder[:-1] or "."


def _others(
    stamps: Sequence[FileStat], places: Iterable[str], descriptor: int
) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield what has another stamp, with its status now; None for what is gone. Nothing is called but what looks."""
    look = os.stat
    rows = stamps.rows() if isinstance(stamps, StatColumns) else stamps
    for (path, size, mtime_ns, ctime_ns, inode), place in zip(rows, places, strict=True):
        try:
            status = look(place, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            yield path, None
            continue
        is_same = (
            status.st_mtime_ns == mtime_ns
            and status.st_ctime_ns == ctime_ns
            and status.st_ino == inode
            and status.st_size == size
        )
        if not is_same and FileStat.of(path, status) != (path, size, mtime_ns, ctime_ns, inode):
            yield path, status


def folder_of(path: str) -> str:
    """Return the path of the folder that a file or folder lies in, "" or with a slash at its end."""
    return path[: path.rstrip("/").rfind("/") + 1]
