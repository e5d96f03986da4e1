"""Folder → files worth reading, without reading any of them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from codefathom.errors import SourceError
from codefathom.source import ignore
from codefathom.source.changes import FileStat
from codefathom.source.ignore import BROUGHT_BACK, NO_RULE, DirectoryRules, Layer, Layers, Patterns
from codefathom.types import Skipped

__all__ = ["MAX_BYTES", "FileStat", "Scan", "ScanRules", "scan"]

# No file that a person wrote is larger: the largest among 24,000 files of 21 repositories has 0.4 MB.
MAX_BYTES = 4_000_000
_MAX_IGNORE_FILE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class ScanRules:
    """Which files of a folder count."""

    required_exts: tuple[str, ...] = ()  # ends of file names, in any case; empty: all files
    ignore: tuple[str, ...] = ()  # gitignore lines from the settings, relative to the root
    extra_ignore: tuple[str, ...] = ()  # gitignore lines from the command line; they have the last word
    follow_symlinks: bool = False  # never out of the root, and no file or folder twice
    max_bytes: int = MAX_BYTES
    include_generated: bool = False  # for `documents.read`: keep generated, minified and vendored files


@dataclass(frozen=True, slots=True)
class Scan:
    """The files of a folder, sorted by path, and what was left out for another reason than an ignore rule."""

    files: tuple[FileStat, ...]
    skipped: tuple[Skipped, ...]  # sorted; the path of a whole directory ends with "/"


class _Directory(NamedTuple):
    path: str  # relative to the root: "" or ends with "/"
    layers: Layers
    left_out_by: int  # rank of the layer that left it out, when it is entered all the same
    is_kept: bool  # brought back by name: do not ask what lies in it


def scan(root: str, rules: ScanRules = ScanRules()) -> Scan:
    """List the files under `root`; raises SourceError when `root` is no folder that can be read."""
    try:
        os.scandir(root).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise SourceError(f"cannot read the folder {root!r}: {reason}", hint="give an existing folder") from error
    walk = _Walk(os.path.realpath(root), rules)
    walk.run()
    return Scan(tuple(sorted(walk.files)), tuple(sorted(walk.skipped, key=lambda skipped: skipped.path)))


class _Walk:
    """One walk over one tree, without recursion: depth is limited by the file system only."""

    def __init__(self, root: str, rules: ScanRules) -> None:
        self.files: list[FileStat] = []
        self.skipped: list[Skipped] = []
        self._root = root
        self._rules = rules
        self._extensions = tuple(extension.lower() for extension in rules.required_exts)
        self._open = [_Directory("", _outer_layers(root, rules), NO_RULE, True)]
        # Followed after all else, so that what a link and a real path both lead to is listed under its real path.
        self._links: list[tuple[str, Layers, bool]] = []
        self._seen: set[str] = set()  # real paths; kept only when links are followed

    def run(self) -> None:
        while self._open or self._links:
            if self._open:
                self._enter(self._open.pop())
            else:
                self._links.sort(key=lambda link: link[0], reverse=True)
                self._follow(*self._links.pop())

    def _enter(self, directory: _Directory) -> None:
        if self._rules.follow_symlinks and not self._is_new(directory.path):
            return
        try:
            with os.scandir(os.path.join(self._root, directory.path)) as listing:
                entries = list(listing)
        except OSError:
            self._skip(directory.path, "unreadable")
            return
        names = [entry.name for entry in entries]
        if not directory.is_kept and (reason := ignore.mark(directory.path, names)):
            self._skip(directory.path, reason)
            return
        layers = self._with_ignore_files(directory, entries)
        matcher = DirectoryRules(layers, directory.path, directory.left_out_by)
        inside = directory._replace(layers=layers)
        for entry in entries:
            self._take(entry, inside, matcher, names)

    def _take(self, entry: os.DirEntry[str], inside: _Directory, matcher: DirectoryRules, siblings: list[str]) -> None:
        name = entry.name
        path = inside.path + name
        if name in ignore.NEVER:
            return
        if not name.isascii() and _is_undecodable(name):
            self._skip(path, "name is not UTF-8")
        elif entry.is_dir(follow_symlinks=False):
            self._take_directory(path + "/", inside, matcher.decide(name, True), siblings)
        elif self._extensions and not name.lower().endswith(self._extensions) and not entry.is_symlink():
            return
        else:
            decision = matcher.decide(name, False)
            if decision != BROUGHT_BACK and (decision >= 0 or inside.left_out_by >= 0):
                return
            if entry.is_file(follow_symlinks=False):
                self._add(path, entry)
            elif entry.is_symlink():
                self._take_link(path, inside.layers, decision == BROUGHT_BACK)
            else:
                self._skip(path, "not a regular file")

    def _take_directory(self, path: str, inside: _Directory, decision: int, siblings: list[str]) -> None:
        if decision == NO_RULE and inside.left_out_by >= 0:
            decision = inside.left_out_by
        name = path[len(inside.path) : -1]
        is_output = decision == NO_RULE and ignore.is_output(name, siblings, not inside.path)
        if is_output:
            decision = ignore.BUILT_IN
        if decision < 0:
            self._open.append(_Directory(path, inside.layers, NO_RULE, decision == BROUGHT_BACK))
        elif ignore.may_enter(inside.layers, path, decision):
            self._open.append(_Directory(path, inside.layers, decision, True))
        elif is_output:
            self._skip(path, "build output")

    def _take_link(self, path: str, layers: Layers, is_kept: bool) -> None:
        if self._rules.follow_symlinks:
            self._links.append((path, layers, is_kept))
        elif not self._extensions or path.lower().endswith(self._extensions):
            self._skip(path, "symlink")

    def _follow(self, path: str, layers: Layers, is_kept: bool) -> None:
        """Take what a link leads to, when that is inside the root and not listed yet."""
        target = os.path.realpath(os.path.join(self._root, path))
        if not os.path.lexists(target) or os.path.islink(target):
            self._skip(path, "broken symlink")
        elif os.path.commonpath((self._root, target)) != self._root:
            self._skip(path, "symlink out of the project")
        elif not ignore.NEVER.isdisjoint(target[len(self._root) :].split(os.sep)):
            return
        elif os.path.isdir(target):
            parent = path[: path.rfind("/") + 1]
            decision = DirectoryRules(layers, parent).decide(path[len(parent) :], True)
            if target in self._seen:
                self._skip(path, "symlink to a place already listed")
            elif decision < 0:
                self._open.append(_Directory(path + "/", layers, NO_RULE, is_kept))
        elif not self._extensions or path.lower().endswith(self._extensions):
            self._add(path, os.stat(target))

    def _add(self, path: str, entry: os.DirEntry[str] | os.stat_result) -> None:
        try:
            found = entry if isinstance(entry, os.stat_result) else entry.stat(follow_symlinks=False)
        except OSError:  # it went away since the directory was read
            self._skip(path, "unreadable")
            return
        if not stat.S_ISREG(found.st_mode):
            self._skip(path, "not a regular file")
        elif found.st_size > self._rules.max_bytes:
            self._skip(path, "oversized")
        elif self._rules.follow_symlinks and not self._is_new(path):
            self._skip(path, "symlink to a place already listed")
        else:
            self.files.append(FileStat(path, found.st_size, found.st_mtime_ns))

    def _is_new(self, path: str) -> bool:
        real = os.path.realpath(os.path.join(self._root, path))
        is_new = real not in self._seen
        self._seen.add(real)
        return is_new

    def _with_ignore_files(self, directory: _Directory, entries: list[os.DirEntry[str]]) -> Layers:
        layers = directory.layers
        found = {entry.name for entry in entries if entry.name in ignore.IGNORE_FILES}
        for name, rank in ignore.IGNORE_FILES.items() if found else ():
            # git does not follow a link here either.
            if name in found and (patterns := _patterns_of(os.path.join(self._root, directory.path, name))):
                layers = ignore.add_layer(layers, Layer(rank, patterns, base=directory.path))
        return layers

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skipped(path.encode("utf-8", "backslashreplace").decode(), reason))


def _is_undecodable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def _outer_layers(root: str, rules: ScanRules) -> Layers:
    layers: Layers = (Layer(ignore.BUILT_IN, _built_in()),)
    for layer in _git_layers(root):
        layers = ignore.add_layer(layers, layer)
    for rank, lines in ((ignore.SETTINGS, rules.ignore), (ignore.COMMAND_LINE, rules.extra_ignore)):
        if lines:
            layers = ignore.add_layer(layers, Layer(rank, Patterns(lines)))
    return layers


@cache
def _built_in() -> Patterns:
    return Patterns(ignore.BUILT_IN_PATTERNS)


def _git_layers(root: str) -> Iterator[Layer]:
    """The ignore files of the work tree that `root` lies in, outermost first; those below `root` come with the walk."""
    top = _work_tree(root)
    if top is None:
        return
    parts = os.path.relpath(root, top).split(os.sep) if top != root else []
    if patterns := _patterns_of(os.path.join(_git_directory(top), "info", "exclude")):
        yield Layer(ignore.GIT_EXCLUDE, patterns, above="".join(f"{part}/" for part in parts))
    for depth in range(len(parts)):
        file = os.path.join(top, *parts[:depth], ".gitignore")
        if patterns := _patterns_of(file):
            yield Layer(ignore.GITIGNORE, patterns, above="".join(f"{part}/" for part in parts[depth:]))


def _work_tree(root: str) -> str | None:
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _git_directory(top: str) -> str:
    """The directory with `info/`: in a linked work tree `.git` is a file that leads to it over two stations."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    own = os.path.join(top, _read_text(path).removeprefix("gitdir:").strip())
    return os.path.join(own, _read_text(os.path.join(own, "commondir")).strip())


def _patterns_of(path: str) -> Patterns | None:
    text = _read_text(path).removeprefix("\ufeff")
    patterns = Patterns(line.removesuffix("\r") for line in text.split("\n")) if text else None
    return patterns


def _read_text(path: str) -> str:
    try:
        # O_NONBLOCK: a named pipe would wait for a writer. O_NOFOLLOW: a link could lead anywhere.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            return file.read(_MAX_IGNORE_FILE_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
