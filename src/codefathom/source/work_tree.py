"""The places of git around a folder. Nothing here follows a link, or believes what it reads."""

from __future__ import annotations

import os
import re
import time
from typing import NamedTuple

from codefathom.source.size_limits import MAX_IGNORE_FILE_BYTES
from codefathom.system.real_paths import NOT_THROUGH_LINKS, TO_READ, regular_file


def work_tree(root: str) -> str | None:
    """Return the work tree of git that a folder lies in, None where there is none."""
    folder = root
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def shared_git_directory(top: str) -> str:
    """Return the directory with `info/`: in a linked work tree `.git` is a file that leads to it over two stations."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    own = own_git_directory(top)
    return os.path.join(own, read_text(os.path.join(own, "commondir")).strip())


def own_git_directory(top: str) -> str:
    """Return the directory with the `index` of this work tree."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    return os.path.join(top, read_text(path).removeprefix("gitdir:").strip())


def has_own_checkout(top: str) -> bool:
    """Return True if a repository has checked out files beside `.git`; a bare one keeps its work trees in folders."""
    return os.path.exists(os.path.join(own_git_directory(top), "index"))


class LinkedWorkTree(NamedTuple):
    """A folder with another checkout of a repository, as its `.git` file says, which may say anything."""

    repository: str  # its directory
    name: str

    def is_known_to(self, repository: str, end: str) -> bool:
        """Return True if a repository lists this work tree at a place with this end.

        A repository that was moved, or is seen in a container, has other paths than those in these files.
        """
        place = read_text(os.path.join(repository, "worktrees", self.name, "gitdir")).strip()
        return place.replace(os.sep, "/").endswith(f"/{end}")


def linked_work_tree(folder: str, text: str) -> LinkedWorkTree | None:
    """Return the meaning of the text of a `.git` file; None for that of a submodule, and for any other text.

    Nothing that it names is looked at.
    """
    own = text.removeprefix("gitdir:").strip()
    if own == text or "\n" in own or "\0" in own:
        return None
    directory, name = os.path.split(os.path.normpath(os.path.join(folder, own)))
    repository, kind = os.path.split(directory)
    return LinkedWorkTree(repository, name) if kind == "worktrees" else None


def commit_of(root: str) -> str:
    """Return the commit of the work tree around a folder, as `.git/HEAD` says; "" where none can be read."""
    top = work_tree(root)
    if top is None:
        return ""
    own, shared = own_git_directory(top), shared_git_directory(top)
    head = read_text(os.path.join(own, "HEAD")).strip()
    name = head.removeprefix("ref: ")
    if name != head:
        head = _commit_named(name, own, shared)
    return head if _COMMIT.fullmatch(head) else ""


def branch_of(root: str) -> str:
    """Return the branch that is checked out around a folder, as `.git/HEAD` says; "" where there is none."""
    top = work_tree(root)
    head = "" if top is None else read_text(os.path.join(own_git_directory(top), "HEAD")).strip()
    name = head.removeprefix("ref: refs/heads/")
    return name if name != head and name.isprintable() and len(name) <= _LONGEST_BRANCH else ""


_LONGEST_BRANCH = 255
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def _commit_named(name: str, *directories: str) -> str:
    if not re.fullmatch(r"refs/[\w./-]+", name) or ".." in name:
        return ""
    for directory in directories:
        commit = read_text(os.path.join(directory, *name.split("/"))).strip()
        packed = (line.partition(" ") for line in read_text(os.path.join(directory, "packed-refs")).splitlines())
        commit = commit or next((number for number, _, one in packed if one == name), "")
        if commit:
            return commit
    return ""


def outer_ignore_files(root: str) -> tuple[str, ...]:
    """Return the paths of the ignore files outside of a folder that hold for it, also of those that do not exist."""
    top = work_tree(root)
    if top is None:
        return ()
    parts = os.path.relpath(root, top).split(os.sep) if top != root else []
    above = (os.path.join(top, *parts[:depth], ".gitignore") for depth in range(len(parts)))
    return (os.path.join(shared_git_directory(top), "info", "exclude"), *above)


def is_locked(root: str, most_s: float) -> bool:
    """Return True if git is writing the work tree around a folder, for no longer than `most_s` seconds."""
    top = work_tree(root)
    if top is None:
        return False
    try:
        written_s = os.lstat(os.path.join(own_git_directory(top), "index.lock")).st_mtime
    except (OSError, ValueError):
        return False
    return abs(time.time() - written_s) < most_s


def read_text(path: str, folder: int | None = None) -> str:
    """Return the text of a small file, "" for all that cannot be read or is none.

    The path may be relative to an opened folder.
    """
    try:
        file = regular_file(os.open(path, TO_READ | NOT_THROUGH_LINKS, dir_fd=folder))
        if file is None:
            return ""
        with file:
            return file.read(MAX_IGNORE_FILE_BYTES).decode("utf-8", "surrogateescape")
    except (OSError, ValueError):  # a path that a file names may hold any character
        return ""
