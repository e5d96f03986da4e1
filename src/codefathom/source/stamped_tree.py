"""A tree of files as an earlier walk has found it, compared with the disk without listing it again. No file is opened.

A folder whose times and inode are what they were lists the same names: both times change when an entry comes, goes or
gets another name. So one look at each folder and file that has a stamp is enough. What could have changed within the
tick of the clock in which it was looked at has no stamp here, and is looked at again.
"""

from __future__ import annotations

import os
import stat
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import compress
from operator import attrgetter, ne
from typing import Any, NamedTuple, overload

from codefathom.source.changes import COARSE_TICK_NS, FileStat, Scan, is_unsure
from codefathom.system.real_paths import TO_ENTER, open_folder
from codefathom.types.skipped_files import Skipped

_BLOCK = 1_024  # numbers that are compared at once
_NO_STAMP = (-1, -1, -1, -1)  # size, two times and inode that nothing on a disk has


class StatColumns(Sequence[FileStat]):
    """Files and their stamps in columns: those of a large tree are compared without a value for each."""

    __slots__ = ("columns", "paths")

    def __init__(self, paths: Sequence[str], columns: Sequence[array[int]]) -> None:
        self.paths, self.columns = paths, columns  # size, two times and inode

    @classmethod
    def of(cls, files: Iterable[FileStat]) -> StatColumns:
        """Return files in columns."""
        rows = list(files)
        numbers = ([row.size for row in rows], [row.mtime_ns for row in rows])
        seen = ([row.ctime_ns for row in rows], [row.inode for row in rows])
        return cls([row.path for row in rows], [array("q", column) for column in (*numbers, *seen)])

    def with_stamps(self, stamps: Collection[FileStat]) -> StatColumns:
        """Return these files with other stamps for some of them."""
        by_place = {place: file for file in stamps for place in self._places(file.path)}
        if not by_place:
            return self
        columns = [column[:] for column in self.columns]
        for place, (_, *numbers) in by_place.items():
            for column, number in zip(columns, numbers, strict=True):
                column[place] = number
        return StatColumns(self.paths, columns)

    def _places(self, path: str) -> range:
        """Return the places of a path, which are sorted."""
        first = bisect_left(self.paths, path)
        return range(first, bisect_right(self.paths, path, first))

    def since(self, before: StatColumns) -> FileDifferences:
        """Return in what these files differ from those of before."""
        places = self.places_since(before)
        if places is not None:
            return FileDifferences(tuple(self[place] for place in places), frozenset())
        same = set(before.rows())
        others = tuple([_AS_STAT(row) for row in self.rows() if row not in same])
        return FileDifferences(others, frozenset(before.paths).difference(self.paths))

    def places_since(self, before: StatColumns) -> list[int] | None:
        """Return the places with another stamp than before, ascending; None where the paths are others."""
        if self.paths is not before.paths and self.paths != before.paths:
            return None
        pairs = zip(self.columns, before.columns, strict=True)
        return sorted({place for now, then in pairs for place in _differing(now, then)})

    def later_than(self, moment_ns: int) -> set[int]:
        """Return the places with a time of this moment or later, by any of both times: a program can set one back."""
        _, mtimes, ctimes, _ = self.columns
        return {
            place
            for times in (mtimes, ctimes)
            for start, block in _blocks(times)
            if max(block) >= moment_ns
            for place in compress(range(start, start + len(block)), map(moment_ns.__le__, block))
        }

    def rows(self) -> Iterator[tuple[str, int, int, int, int]]:
        """Yield the numbers of each file behind its path, as `FileStat` has them."""
        return zip(self.paths, *self.columns, strict=False)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[FileStat]:
        return map(_AS_STAT, self.rows())

    @overload
    def __getitem__(self, place: int) -> FileStat: ...
    @overload
    def __getitem__(self, place: slice) -> StatColumns: ...
    def __getitem__(self, place: int | slice) -> FileStat | StatColumns:
        if isinstance(place, slice):
            return StatColumns(self.paths[place], [column[place] for column in self.columns])
        return FileStat(self.paths[place], *(column[place] for column in self.columns))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StatColumns):
            return self.paths == other.paths and self.columns == other.columns
        return isinstance(other, tuple) and tuple(self) == other

    __hash__ = None  # type: ignore[assignment]  # as long as a list


def _blocks(column: array[int]) -> Iterator[tuple[int, array[int]]]:
    """Yield a column in pieces with the places where they begin: one change is looked for in one of them."""
    return ((start, column[start : start + _BLOCK]) for start in range(0, len(column), _BLOCK))


def _differing(now: array[int], then: array[int]) -> Iterator[int]:
    """Yield the places at which two columns of the same length differ."""
    for (start, block), (_, earlier) in zip(_blocks(now), _blocks(then), strict=True):
        if block != earlier:
            yield from compress(range(start, start + len(block)), map(ne, block, earlier))


_AS_STAT = partial(tuple.__new__, FileStat)  # as `FileStat` does it, without a call for each


class FileDifferences(NamedTuple):
    """In what files differ from those of before."""

    others: tuple[FileStat, ...]  # new ones, and those with another stamp
    gone: frozenset[str]


class StampedTree(NamedTuple):
    """The folders that a walk has listed, and what it has found in them; each list is sorted by path."""

    files: StatColumns
    skipped: tuple[Skipped, ...]
    folders: StatColumns  # "" is the root, other paths end with "/"
    deciding: StatColumns  # ignore files, and files that are too large: their folders depend on them
    looked_at_ns: int  # by the clock, before the first folder was listed

    @property
    def scan(self) -> Scan:
        """The files, and what was left out."""
        return Scan(self.files, self.skipped)

    def sure(self, others: Collection[str] = ()) -> StampedTree:
        """Return the tree without the stamps of these files, and of what may change without another stamp."""

        late = self.looked_at_ns - COARSE_TICK_NS

        def settled(items: StatColumns) -> StatColumns:
            _, mtimes, ctimes, _ = items.columns
            unsure = [
                items.paths[place]
                for place in items.later_than(late)
                if is_unsure(max(mtimes[place], ctimes[place]), self.looked_at_ns)
            ]
            return items.with_stamps([FileStat(path, *_NO_STAMP) for path in (*unsure, *others)])

        return self._replace(files=settled(self.files), folders=settled(self.folders), deciding=settled(self.deciding))

    def below(self, folder: str) -> StampedTree:
        """Return the part of the tree in a folder, "" or with a slash at its end."""
        skipped = self.skipped[_below(self.skipped, folder, attrgetter("path"))]
        lists = (self.files, self.folders, self.deciding)
        files, folders, deciding = (items[_below(items.paths, folder)] for items in lists)
        return StampedTree(files, skipped, folders, deciding, self.looked_at_ns)


def _below(items: Sequence[Any], folder: str, path_of: Callable[[Any], str] = str) -> slice:
    if not folder:
        return slice(None)
    # "0" is the character after the slash.
    return slice(*(bisect_left(items, border, key=path_of) for border in (folder, f"{folder[:-1]}0")))


class TreeDifferences(NamedTuple):
    """All in which the disk differs from a stamped tree."""

    files: dict[str, FileStat]  # that are other ones now, in folders that list the same names
    folders: frozenset[str]  # to be listed again


def differences(root: str, stamps: StampedTree, most_bytes: int) -> TreeDifferences:
    """Look at all folders and files that have a stamp. A larger file than `most_bytes` is left to the walk.

    Raises OSError when the root cannot be entered, also for a link on the way.
    """
    descriptor = open_folder(root, TO_ENTER)
    try:
        # Without its slash: else a link in the place of a folder would be followed.
        names = [path[:-1] or "." for path in stamps.folders.paths]
        folders = {folder for folder, _ in _others(stamps.folders, names, descriptor)}
        folders.update(folder_of(path) for path, _ in _others(stamps.deciding, stamps.deciding.paths, descriptor))
        files: dict[str, FileStat] = {}
        for path, status in _others(stamps.files, stamps.files.paths, descriptor):
            if status is None or not stat.S_ISREG(status.st_mode) or status.st_size > most_bytes:
                folders.add(folder_of(path))
            else:
                files[path] = FileStat.of(path, status)
    finally:
        os.close(descriptor)
    return TreeDifferences(files, frozenset(folders))


def _others(stamps: StatColumns, places: Iterable[str], descriptor: int) -> Iterator[tuple[str, os.stat_result | None]]:
    """Yield what has another stamp, with its status now; None for what is gone. Nothing is called but what looks."""
    look = os.stat
    for (path, size, mtime_ns, ctime_ns, inode), place in zip(stamps.rows(), places, strict=True):
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
