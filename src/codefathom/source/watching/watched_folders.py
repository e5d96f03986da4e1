"""The folders of a project that are watched, and what an event in one of them means. No file is opened for that."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Literal, NamedTuple

from codefathom.source.ignore import NEVER, changes_rules
from codefathom.source.scan import FolderRules, ScanRules, folder_rules
from codefathom.source.work_tree import outer_ignore_files


class Effect(IntEnum):
    """The part of the work that an event makes necessary; each includes those before it."""

    NOTHING = 0
    FILES = 1  # the index may be behind
    FOLDERS = 2  # other folders may have to be watched, too


class FileEvent(NamedTuple):
    """A change that the system has reported."""

    path: str  # absolute
    kind: Literal["added", "changed", "removed"]


class OwnPlaces(NamedTuple):
    """Files of ours, in or around a project."""

    folders: tuple[str, ...] = ()  # absolute; a run of ours writes there, and starts no other run by that
    rule_files: tuple[str, ...] = ()  # names at the root; they hold rules that are read elsewhere


class WatchedFolders:
    """The folders that a scan reads at one moment, each with its rules."""

    def __init__(self, root: str, rules: ScanRules, own: OwnPlaces) -> None:
        """Walk over the tree. Raises SourceError when the root cannot be read."""
        self._root = os.path.realpath(root)
        self._beginning = os.path.join(self._root, "")
        self._extensions = tuple(extension.lower() for extension in rules.required_exts)
        self._follows = rules.follow_symlinks
        self._rule_files = own.rule_files
        self._own_folders = tuple(os.path.realpath(folder) for folder in own.folders)
        self._folders = folder_rules(root, rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WatchedFolders) and self._folders.keys() == other._folders.keys()

    __hash__ = None  # type: ignore[assignment]  # compared by what may change

    def paths(self) -> list[str]:
        """Return the absolute paths of the folders, the root first."""
        return [os.path.join(self._root, *path.split("/")[:-1]) for path in sorted(self._folders)]

    def effect(self, event: FileEvent) -> Effect:
        """Return the effect of an event, by the rules and at most one look at the kind of the place."""
        if event.path == self._root:
            return Effect.FOLDERS
        if not event.path.startswith(self._beginning) or self._is_own(event.path):
            return Effect.NOTHING
        path = event.path[len(self._beginning) :].replace(os.sep, "/")
        parent, _, name = path.rpartition("/")
        rules = self._folders.get(f"{parent}/" if parent else "")
        is_rule = changes_rules(name) or path in self._rule_files or (bool(parent) and _marks_worktree(name, event))
        if rules is None or (name in NEVER and not is_rule):
            return Effect.NOTHING
        if is_rule:
            return Effect.FOLDERS
        if f"{path}/" in self._folders:  # a changed one: its permissions
            return Effect.FILES if event.kind == "changed" else Effect.FOLDERS
        return self._effect_of_removal(rules, name) if event.kind == "removed" else self._effect_at(rules, event.path)

    def _is_own(self, path: str) -> bool:
        return any(path == own or path.startswith(os.path.join(own, "")) for own in self._own_folders)

    def _effect_of_removal(self, rules: FolderRules, name: str) -> Effect:
        if self._follows and rules.takes_file(name):  # it may have been a link to a folder
            return Effect.FOLDERS
        return Effect.FILES if self._takes(rules, name) else Effect.NOTHING

    def _effect_at(self, rules: FolderRules, path: str) -> Effect:
        """Return the effect of a place that is new or has changed."""
        name = os.path.basename(path)
        try:
            kind = os.lstat(path).st_mode
        except (OSError, ValueError):  # it has gone again
            return self._effect_of_removal(rules, name)
        if stat.S_ISDIR(kind):
            return Effect.FOLDERS if rules.may_enter(name) else Effect.NOTHING
        if stat.S_ISLNK(kind) and self._follows:
            return Effect.FOLDERS if rules.takes_file(name) or rules.may_enter(name) else Effect.NOTHING
        return Effect.FILES if self._takes(rules, name) else Effect.NOTHING

    def _takes(self, rules: FolderRules, name: str) -> bool:
        return rules.takes_file(name) and (not self._extensions or name.lower().endswith(self._extensions))


def _marks_worktree(name: str, event: FileEvent) -> bool:
    """Return True where a folder may have become a linked worktree of the repository, or is none any more."""
    return name == ".git" and event.kind != "changed"


class OuterStamps(NamedTuple):
    """The root and the ignore files outside of it, as they are at one moment. No event tells of these."""

    root: tuple[int, int]  # device and number; another folder may have come in its place
    files: tuple[tuple[str, int, int], ...]  # path, time stamp, size
    user_exclude: str = ""  # as in `ScanRules`: the user's configuration may name another file


def outer_stamps(root: str, user_exclude: str = "") -> OuterStamps | None:
    """Return the stamps, None when the root is gone. `user_exclude` is as in `ScanRules`."""
    try:
        status = os.stat(root)
    except OSError:
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return OuterStamps(
        (status.st_dev, status.st_ino), tuple(_stamps((*outer_ignore_files(root), user_exclude))), user_exclude
    )


def _stamps(paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            continue
        yield path, status.st_mtime_ns, status.st_size
