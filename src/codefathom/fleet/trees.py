"""The files of several repositories as one tree: the first part of a path is the name of the repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from codefathom.source.changes import FileStat, Scan
from codefathom.source.scan import FileTree, ScanRules


@dataclass(frozen=True, slots=True)
class ShardTree:
    """The files of a shard. They were listed before, by the rules of that time."""

    trees: Mapping[str, FileTree]  # by the name of the repository
    files: Sequence[FileStat] = ()

    def scan(self, rules: ScanRules) -> Scan:
        """Return the files that were listed."""
        return Scan(sorted(self.files), ())

    def open(self, path: str) -> BinaryIO | None:
        """Open a file; None for one that is not there. Raises OSError for one that cannot be read, or AbsentError."""
        name, _, own = path.partition("/")
        tree = self.trees.get(name)
        return None if tree is None or not own else tree.open(own)

    def stat(self, path: str) -> FileStat | None:
        """Return size and stamp of a file, without reading it; None for what is not a regular file."""
        name, _, own = path.partition("/")
        tree = self.trees.get(name)
        status = None if tree is None or not own else tree.stat(own)
        return None if status is None else status._replace(path=path)

    def __reduce__(self) -> tuple[type[ShardTree], tuple[Mapping[str, FileTree]]]:
        """Other processes only open files: they get no list of them."""
        return ShardTree, (self.trees,)


@dataclass(frozen=True, slots=True)
class FleetFiles:
    """The files of a fleet, or of a shard, in the place of those of a folder."""

    name: str
    shown: ShardTree
    has_times: bool = False  # the stamps of files from git are made of their contents

    def tree(self, below: str = "") -> ShardTree:
        """Return the files, or those of one repository."""
        if below in ("", "."):
            return self.shown
        return replace(self.shown, files=[file for file in self.shown.files if file.path.startswith(f"{below}/")])
