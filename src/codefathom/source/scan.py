"""Folder → files worth reading, without reading any of them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import BinaryIO, Literal, NamedTuple, Protocol, runtime_checkable

from codefathom.errors import SourceError
from codefathom.facts import reasons as say
from codefathom.facts.languages import is_document
from codefathom.facts.paths import PACKAGE_FOLDERS
from codefathom.facts.reasons import Note
from codefathom.source import ignore
from codefathom.source.changes import FileStat, Scan
from codefathom.source.ignore import BROUGHT_BACK, NO_RULE, Layer, Layers, Patterns
from codefathom.source.size_limits import MAX_DOCUMENT_BYTES, MAX_WHOLE_FILE_BYTES, MOST_REVISION_FILES
from codefathom.source.work_tree import (
    has_own_checkout,
    linked_work_tree,
    read_text,
    shared_git_directory,
    work_tree,
)
from codefathom.system.real_paths import HAS_OPENAT, FolderChain, refuse_moved
from codefathom.types.skipped_files import Skipped

__all__ = ["FileStat", "FileTree", "FolderRules", "Scan", "ScanRules", "Walk", "folder_rules", "readable", "scan"]


class ScanRules(NamedTuple):
    """Which files of a folder count."""

    required_exts: tuple[str, ...] = ()  # ends of file names, in any case; empty: all files
    ignore: tuple[str, ...] = ()  # gitignore lines from the settings, relative to the root
    extra_ignore: tuple[str, ...] = ()  # gitignore lines from the command line; they have the last word
    follow_symlinks: bool = False  # never out of the root, and no file or folder twice
    max_bytes: int = MAX_WHOLE_FILE_BYTES
    include_generated: bool = False  # enter vendored directories too; `documents.read` has the same switch for files
    max_document_bytes: int = MAX_DOCUMENT_BYTES  # of PDF and Word files and notebooks
    most_revision_files: int = MOST_REVISION_FILES  # that a commit may list
    user_exclude: str = ""  # path of the file with the user's patterns for all repositories; empty: none


class AbsentError(OSError):
    """A file is listed, but its content is not on this machine."""


class FileTree(Protocol):
    """Files that do not lie in a folder, such as those of a revision. They are read as those of a folder are."""

    def scan(self, rules: ScanRules) -> Scan:
        """List the files that count."""
        ...

    def open(self, path: str) -> BinaryIO | None:
        """Open a file; None for what is no regular file. Raises OSError for one that cannot be read, or AbsentError."""
        ...

    def stat(self, path: str) -> FileStat | None:
        """Return size and stamp of a file, without reading it; None for what is no regular file."""
        ...


@runtime_checkable
class FixedTree(FileTree, Protocol):
    """Files that never change: those of another moment are another tree, with another `repr`."""

    @property
    def is_fixed(self) -> Literal[True]:
        """Always True."""
        ...


_ALL_FILES = ScanRules()
_BECAME_A_LINK = {errno.ELOOP, errno.ENOTDIR}  # since the folder above was listed


class Directory(NamedTuple):
    """A folder that a walk comes to, with the rules that lead there."""

    path: str  # relative to the root: "" or ends with "/"
    layers: Layers
    left_out_by: int  # rank of the layer that left it out, when it is entered all the same
    is_kept: bool  # brought back by name: do not ask what lies in it

    def decide(self, names: list[str], *, are_directories: bool) -> dict[str, int]:
        """Return, for each name that a rule speaks of, what `ignore.decide` says of it."""
        layers = ignore.stronger_than(self.layers, self.left_out_by)
        return ignore.decide(layers, self.path, names, are_directories=are_directories)


class FolderRules(NamedTuple):
    """The ignore rules that hold in one folder. They answer without a look at the disk."""

    directory: Directory
    is_left_out: bool = False  # because of a file in it, such as `pyvenv.cfg`

    def takes_file(self, name: str) -> bool:
        """Return True if no rule leaves out a file of this name."""
        decisions = self.directory.decide([name], are_directories=False)
        return not self.is_left_out and decisions.get(name, self.directory.left_out_by) < 0

    def may_enter(self, name: str) -> bool:
        """Return True if a scan may look into a folder of this name; what lies beside and in it can forbid it still."""
        decision = self.directory.decide([name], are_directories=True).get(name, self.directory.left_out_by)
        path = f"{self.directory.path}{name}/"
        return not self.is_left_out and (decision < 0 or ignore.may_enter(self.directory.layers, path, decision))


def scan(root: str | FileTree, rules: ScanRules = _ALL_FILES) -> Scan:
    """List the files under the real path `root`; no link is followed on the way to it.

    Raises SourceError when it is no folder that can be read, MovedError when it leads over a link.
    """
    return _walk(root, rules).outcome() if isinstance(root, str) else root.scan(rules)


def folder_rules(root: str, rules: ScanRules = _ALL_FILES) -> dict[str, FolderRules]:
    """Return the folders that a scan reads, with the rules in each; the key is "" for the root, or ends with "/".

    Raises SourceError as `scan` does.
    """
    return _walk(root, rules).folders


def _walk(root: str, rules: ScanRules) -> Walk:
    refuse_moved(root)
    walk = Walk(os.path.abspath(root), rules)
    with readable(root):
        walk.run()
    return walk


@contextmanager
def readable(root: str) -> Iterator[None]:
    """Raise SourceError where the block cannot read the root, MovedError where it leads over a link meanwhile."""
    try:
        yield
    except OSError as error:
        refuse_moved(root)  # in this moment
        reason = error.strerror or str(error)
        raise SourceError(f"cannot read the folder {root!r}: {reason}", hint="give an existing folder") from error


class Walk:
    """One walk over one folder, without recursion: depth is limited by the file system only.

    The methods without an underscore are all that differs for files that lie elsewhere than in a folder.
    """

    def __init__(self, root: str, rules: ScanRules) -> None:
        self.files: list[FileStat] = []
        self.skipped: list[Skipped] = []
        self.folders: dict[str, FolderRules] = {}
        self._root = root
        self._chain = FolderChain(root)
        self._follows = rules.follow_symlinks
        self._includes_vendored = rules.include_generated
        self._rules = rules
        self._extensions = tuple(extension.lower() for extension in rules.required_exts)
        self._open = [Directory("", self.outer_layers(rules), NO_RULE, True)]
        # Followed after all else, so that what a link and a real path both lead to is listed under its real path.
        self._links: list[tuple[str, Layers, bool]] = []
        self._seen: set[str] = set()  # real paths; kept only when links are followed
        self._shared: tuple[str, ...] | None = None  # see `_shared_directories`; few trees need them
        self._has_followed = False

    def run(self) -> None:
        """Walk through all folders, then along the links. Raises OSError when the root cannot be read."""
        with closing(self._chain):
            while self._open or self._links:
                if self._open:
                    self._enter(self._open.pop())
                else:
                    self._has_followed = True
                    self._links.sort(key=lambda link: link[0], reverse=True)
                    self._follow_symbolic_link(*self._links.pop())

    def outcome(self) -> Scan:
        """Return the files and the others, sorted."""
        return Scan(tuple(sorted(self.files)), tuple(sorted(self.skipped, key=lambda skipped: skipped.path)))

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder, which stays open until those of the next one. Raises OSError."""
        with os.scandir(self._place(folder)) as listing:
            return list(listing)

    def text(self, path: str) -> str:
        """Return the text of a file in the folder whose entries came last, "" where there is none.

        git does not follow a link here either.
        """
        folder, _, name = path.rpartition("/")
        if not HAS_OPENAT:
            return read_text(os.path.join(self._root, path))
        return read_text(name, self._chain.enter(self._real_folder(f"{folder}/" if folder else "")))

    def outer_layers(self, rules: ScanRules) -> Layers:
        """Return the rules that hold in the whole tree, from outside of it."""
        return with_rules(rules, _git_layers(self._root, rules.user_exclude))

    def _enter(self, directory: Directory) -> None:
        if self._follows and not self._is_new(directory.path):
            return
        try:
            entries = self.entries(directory.path)
        except OSError as error:
            if not directory.path:
                raise
            self._skip(directory.path, say.SYMLINK if error.errno in _BECAME_A_LINK else say.UNREADABLE)
            return
        names = [entry.name for entry in entries]
        reason = "" if directory.is_kept else ignore.mark(directory.path, names)
        if not reason and ".git" in names and directory.path and not directory.is_kept:
            reason = self._worktree(directory.path)
        if reason and not (reason == say.VENDORED and self._includes_vendored):
            if not ignore.may_enter(directory.layers, directory.path, ignore.BUILT_IN):
                self._skip(directory.path, reason)
                self.folders[directory.path] = FolderRules(directory, is_left_out=True)
                return
            directory = directory._replace(left_out_by=ignore.BUILT_IN)
        inside = directory._replace(layers=self._with_ignore_files(directory, names))
        self.folders[directory.path] = FolderRules(inside)
        folders: list[str] = []
        others: list[os.DirEntry[str]] = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                others.append(entry)
        if folders:
            self._take_folders(folders, inside, names)
        if others:
            self._take_files(others, inside)

    def _place(self, folder: str) -> int | str:
        return self._chain.enter(self._real_folder(folder)) if HAS_OPENAT else os.path.join(self._root, folder)

    def _real_folder(self, folder: str) -> str:
        """Return the path of a folder without links in it, below the root, "" or with a slash at its end."""
        if not self._has_followed:
            return folder
        real, top = os.path.join(os.path.realpath(os.path.join(self._root, folder)), ""), os.path.join(self._root, "")
        if not real.startswith(top):  # since it was listed
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), folder)
        return real[len(top) :]

    def _worktree(self, folder: str) -> str:
        """Return the reason to leave out a folder that is another checkout of a repository around it, else ""."""
        place = os.path.join(self._root, folder.rstrip("/"))
        linked = linked_work_tree(place, self.text(f"{folder}.git"))
        if linked is None:
            return ""
        parts, shared = folder.split("/")[:-2], self._shared_directories()
        around = [os.path.join(self._root, *parts[:depth], ".git") for depth in range(1, len(parts) + 1)]
        is_ours = any(
            linked.repository == repository
            or linked.repository.startswith(os.path.join(repository, "modules", ""))  # of a submodule
            or (repository in shared and linked.is_known_to(repository, f"{folder}.git"))
            for repository in (*around, *shared)
        )
        return say.WORKTREE if is_ours else ""

    def _shared_directories(self) -> tuple[str, ...]:
        """Return the directory of the repository around the root, as it is written and as it is resolved."""
        if self._shared is None:
            top = work_tree(self._root)
            has_files = top is not None and has_own_checkout(top)
            shared = os.path.normpath(shared_git_directory(top)) if top and has_files else ""
            self._shared = (shared, os.path.realpath(shared)) if shared else ()
        return self._shared

    def _take_folders(self, folders: list[str], inside: Directory, siblings: list[str]) -> None:
        decisions = inside.decide(folders, are_directories=True)
        for name in folders:
            decision = decisions.get(name, inside.left_out_by)
            path = f"{inside.path}{name}/"
            is_output = decision == NO_RULE and ignore.is_output(name, siblings, not inside.path)
            if is_output:
                decision = ignore.BUILT_IN
            if decision < 0:
                if name.isascii() or self._has_utf8_name(path):
                    self._open.append(Directory(path, inside.layers, NO_RULE, decision == BROUGHT_BACK))
            elif ignore.may_enter(inside.layers, path, decision):
                self._open.append(Directory(path, inside.layers, decision, True))
            elif is_output:
                self._skip(path, say.BUILD_OUTPUT)
            elif name in PACKAGE_FOLDERS:
                self._skip(path, say.VENDORED)

    def _take_files(self, entries: list[os.DirEntry[str]], inside: Directory) -> None:
        if ends := self._extensions:
            entries = [entry for entry in entries if entry.name.lower().endswith(ends) or entry.is_symlink()]
        decisions = inside.decide([entry.name for entry in entries], are_directories=False)
        for entry in entries:
            name = entry.name
            decision = decisions.get(name, inside.left_out_by)
            path = inside.path + name
            if decision >= 0 or not (name.isascii() or self._has_utf8_name(path)):
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:  # it went away since the directory was read
                self._skip(path, say.UNREADABLE)
                continue
            if stat.S_ISLNK(status.st_mode):
                self._take_link(path, inside.layers, decision == BROUGHT_BACK)
            elif reason := self.unfit(path, status):
                self._skip(path, reason)
            else:
                self.files.append(FileStat.of(path, status))

    def unfit(self, path: str, status: os.stat_result) -> str:
        """Return the kind of note that says why a file is left out by its kind or size, "" for one that counts."""
        if not stat.S_ISREG(status.st_mode):
            return say.NOT_REGULAR
        if status.st_size > (self._rules.max_document_bytes if is_document(path) else self._rules.max_bytes):
            return say.OVERSIZED
        return say.SYMLINK_LISTED if self._follows and not self._is_new(path) else ""

    def _take_link(self, path: str, layers: Layers, is_kept: bool) -> None:
        if self._follows:
            self._links.append((path, layers, is_kept))
        elif not self._extensions or path.lower().endswith(self._extensions):
            self._skip(path, say.SYMLINK)

    def _follow_symbolic_link(self, path: str, layers: Layers, is_kept: bool) -> None:
        """Follow a symbolic link: take the place that it leads to, if that is inside the root and not listed yet."""
        target = os.path.realpath(os.path.join(self._root, path))
        try:
            status = os.stat(target, follow_symlinks=False)
        except OSError:
            self._skip(path, say.BROKEN_SYMLINK)
            return
        if stat.S_ISLNK(status.st_mode):  # it leads to itself
            self._skip(path, say.BROKEN_SYMLINK)
        elif os.path.commonpath((self._root, target)) != self._root:
            self._skip(path, say.SYMLINK_OUTSIDE)
        elif not ignore.NEVER.isdisjoint(target[len(self._root) :].split(os.sep)):
            self._skip(path, say.SYMLINK)
        elif stat.S_ISDIR(status.st_mode):
            self._follow_to_folder(path, target, layers, is_kept)
        elif self._extensions and not path.lower().endswith(self._extensions):
            return
        elif reason := self.unfit(path, status):
            self._skip(path, reason)
        else:
            self.files.append(FileStat.of(path, status))

    def _follow_to_folder(self, path: str, target: str, layers: Layers, is_kept: bool) -> None:
        parent = path[: path.rfind("/") + 1]
        name = path[len(parent) :]
        if target in self._seen:
            self._skip(path, say.SYMLINK_LISTED)
        elif ignore.decide(layers, parent, [name], are_directories=True).get(name, NO_RULE) < 0:
            self._open.append(Directory(path + "/", layers, NO_RULE, is_kept))

    def _is_new(self, path: str) -> bool:
        """Return True if the walk meets this place for the first time, by its real path or over a link."""
        place = os.path.join(self._root, path.rstrip("/"))
        real = os.path.realpath(place) if self._has_followed else place.rstrip(os.sep)
        is_new = real not in self._seen
        self._seen.add(real)
        return is_new

    def _with_ignore_files(self, directory: Directory, names: list[str]) -> Layers:
        layers = directory.layers
        for name, rank in ignore.IGNORE_FILES.items():
            if name in names and (patterns := patterns_in(self.text(directory.path + name))):
                layers = ignore.add_layer(layers, Layer(rank, patterns, base=directory.path))
        return layers

    def _has_utf8_name(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            self._skip(path, say.NAME_NOT_UTF8)
            return False
        return True

    def _skip(self, path: str, kind: str) -> None:
        self.skipped.append(Skipped(path.encode("utf-8", "backslashreplace").decode(), Note(kind)))


def with_rules(rules: ScanRules, of_git: Iterable[Layer]) -> Layers:
    """Return layers of git together with those that are built in or come from the settings."""
    layers: Layers = (Layer(ignore.BUILT_IN, _built_in()),)
    for layer in of_git:
        layers = ignore.add_layer(layers, layer)
    for rank, lines in ((ignore.SETTINGS, rules.ignore), (ignore.COMMAND_LINE, rules.extra_ignore)):
        if lines:
            layers = ignore.add_layer(layers, Layer(rank, Patterns(lines)))
    return layers


@cache
def _built_in() -> Patterns:
    return Patterns(ignore.BUILT_IN_PATTERNS)


def _git_layers(root: str, user_exclude: str) -> Iterator[Layer]:
    """The ignore files of the work tree that `root` lies in, outermost first; those below `root` come with the walk."""
    top = work_tree(root)
    parts = os.path.relpath(root, top).split(os.sep) if top not in (None, root) else []
    yield from user_layer(user_exclude, "".join(f"{part}/" for part in parts))
    if top is None:
        return
    if patterns := _patterns_of(os.path.join(shared_git_directory(top), "info", "exclude")):
        yield Layer(ignore.GIT_EXCLUDE, patterns, above="".join(f"{part}/" for part in parts))
    for depth in range(len(parts)):
        file = os.path.join(top, *parts[:depth], ".gitignore")
        if patterns := _patterns_of(file):
            yield Layer(ignore.GITIGNORE, patterns, above="".join(f"{part}/" for part in parts[depth:]))


def user_layer(user_exclude: str, above: str) -> Iterator[Layer]:
    """Yield the layer of the user's own patterns for all repositories, if there are any."""
    if user_exclude and (patterns := _patterns_of(user_exclude)):
        yield Layer(ignore.USER_EXCLUDE, patterns, above=above)


def _patterns_of(path: str) -> Patterns | None:
    return patterns_in(read_text(path))


def patterns_in(text: str) -> Patterns | None:
    """Return the patterns in the text of an ignore file; None where there are none."""
    text = text.removeprefix("\ufeff")
    return Patterns(line.removesuffix("\r") for line in text.split("\n")) if text else None
