"""A walk that notes the stamps of all that it lists, and takes over what an earlier one has noted of unchanged folders.

A tree is stamped only where the disk keeps the times of its folders, and where no link is followed. The rules from
outside of the root are not among what is noted: they are named by `outer_rules`.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence

from codefathom.source.changes import FileStat
from codefathom.source.ignore import IGNORE_FILES, NO_RULE, Layers
from codefathom.source.scan import Directory, ScanRules, Walk, readable
from codefathom.source.stamped_tree import StampedTree, StatColumns, TreeDifferences, differences, folder_of
from codefathom.source.work_tree import outer_ignore_files, read_text, work_tree
from codefathom.system.mounts import keeps_folder_times
from codefathom.system.real_paths import HAS_OPENAT, refuse_moved


def walk_stamped(root: str, rules: ScanRules) -> StampedTree | None:
    """List the files under a real path; None where stamps would not show each change. Raises as `scan` does."""
    if rules.follow_symlinks or not HAS_OPENAT or not keeps_folder_times(root):
        return None
    return _walked(root, rules, None)


def walk_again(root: str, rules: ScanRules, stamps: StampedTree) -> StampedTree | None:
    """Return a stamped tree as it is now, the same object when nothing has changed; None as `walk_stamped` does.

    Raises as `scan` does.
    """
    refuse_moved(root)
    looked_at_ns = time.time_ns()
    with readable(root):
        changes = differences(root, stamps, min(rules.max_bytes, rules.max_document_bytes))
    if not changes.files and not changes.folders:
        return stamps
    now = stamps._replace(files=stamps.files.with_stamps(changes.files.values()), looked_at_ns=looked_at_ns)
    if not changes.folders:
        return now
    # Another disk may have come to the place of the root: then its folder is another one.
    return _walked(root, rules, _Reused(now, changes)) if keeps_folder_times(root) else None


def outer_rules(root: str, user_exclude: str) -> tuple[str, ...]:
    """Return the work tree that a root lies in, and the ignore files outside of the root with their texts."""
    files = filter(None, (*outer_ignore_files(root), user_exclude))
    return (work_tree(root) or "", *(text for file in files for text in (file, read_text(file))))


def _walked(root: str, rules: ScanRules, reused: _Reused | None) -> StampedTree:
    refuse_moved(root)
    looked_at_ns = time.time_ns() if reused is None else reused.stamps.looked_at_ns
    walk = _NotingWalk(os.path.abspath(root), rules, reused)
    with readable(root):
        walk.run()
    return walk.stamps(looked_at_ns)


class _Reused:
    """What stays of a stamped tree: all below a folder in which nothing is to be listed again."""

    def __init__(self, stamps: StampedTree, changes: TreeDifferences) -> None:
        self.stamps = stamps
        self._folders = set(stamps.folders.paths)
        self._ignore_files: dict[str, list[FileStat]] = {}
        for item in filter(lambda item: _is_ignore_file(item.path), stamps.deciding):
            self._ignore_files.setdefault(folder_of(item.path), []).append(item)
        self._ruled_anew: tuple[str, ...] = ()
        self._listed = {""}
        for path in changes.folders:
            folder = path
            while folder not in self._listed:  # also all above it: their rules hold in it
                self._listed.add(folder)
                folder = folder_of(folder)

    def below(self, folder: str) -> StampedTree | None:
        """Return the stamps of a folder and of all below it; None where some of that is to be listed again."""
        if folder in self._listed or folder not in self._folders or folder.startswith(self._ruled_anew):
            return None
        return self.stamps.below(folder)

    def compare_rules(self, folder: str, ignore_files: Sequence[FileStat]) -> None:
        """Forget all below a folder whose ignore files are others than they were."""
        if sorted(ignore_files) != self._ignore_files.get(folder, []):
            self._ruled_anew = (*self._ruled_anew, folder)


def _is_ignore_file(path: str) -> bool:
    return path.rpartition("/")[2] in IGNORE_FILES


class _NotingWalk(Walk):
    """A walk that notes a stamp before it looks: what changes meanwhile has another one."""

    def __init__(self, root: str, rules: ScanRules, reused: _Reused | None) -> None:
        super().__init__(root, rules)
        self._reused = reused
        self._noted: list[FileStat] = []  # of folders
        self._deciding: list[FileStat] = []
        self._unsettled: set[str] = set()  # folders that are always listed again
        self._device = -1

    def stamps(self, looked_at_ns: int) -> StampedTree:
        """Return what the walk has found."""
        noted = (item._replace(ctime_ns=-1) if item.path in self._unsettled else item for item in self._noted)
        files, skipped = self.outcome()
        folders, deciding = (StatColumns.of(sorted(items)) for items in (noted, self._deciding))
        return StampedTree(StatColumns.of(files), skipped, folders, deciding, looked_at_ns)

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Note the stamp of a folder, and return its entries. Raises OSError."""
        status = os.fstat(self._chain.enter(folder))
        if not folder:
            self._device = status.st_dev
        if status.st_dev != self._device:  # another disk, of whose kind nothing is known
            self._unsettled.add(folder)
        self._noted.append(FileStat.of(folder, status))
        return super().entries(folder)

    def text(self, path: str) -> str:
        """Return the text of an ignore file, which is noted, or of a link of git, which leads to other files."""
        folder = folder_of(path)
        try:
            status = os.stat(path[len(folder) :], dir_fd=self._chain.enter(folder), follow_symlinks=False)
        except OSError:
            self._unsettled.add(folder)
            return super().text(path)
        if _is_ignore_file(path):
            self._deciding.append(FileStat.of(path, status))
        elif not stat.S_ISDIR(status.st_mode):
            self._unsettled.add(folder)
        return super().text(path)

    def unfit(self, path: str, status: os.stat_result) -> str:
        """Return the reason for which a file is left out, "" for one that counts."""
        reason = super().unfit(path, status)
        if reason == "oversized":
            self._deciding.append(FileStat.of(path, status))
        return reason

    def _enter(self, directory: Directory) -> None:
        if directory.path and (directory.is_kept or directory.left_out_by != NO_RULE):
            self._unsettled.add(directory.path)  # what is read of it depends on more than its own rules
            stamps = None
        else:
            stamps = None if self._reused is None else self._reused.below(directory.path)
        if stamps is None:
            super()._enter(directory)
            return
        self.files.extend(stamps.files)
        self.skipped.extend(stamps.skipped)
        self._noted.extend(stamps.folders)
        self._deciding.extend(stamps.deciding)

    def _with_ignore_files(self, directory: Directory, names: list[str]) -> Layers:
        n_before = len(self._deciding)
        layers = super()._with_ignore_files(directory, names)
        if self._reused is not None:
            self._reused.compare_rules(directory.path, self._deciding[n_before:])
        return layers

    def _skip(self, path: str, reason: str) -> None:
        if reason == "unreadable" or (reason == "symlink" and path.endswith("/")):  # at this moment
            self._unsettled.add(folder_of(path))
        super()._skip(path, reason)
