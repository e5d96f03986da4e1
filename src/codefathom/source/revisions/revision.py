"""The name of a revision → the commit that it names in a repository."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.errors import SourceError, UsageError
from codefathom.source.revisions.git_program import output_of_git
from codefathom.source.revisions.git_tree import GitTree

_MOST_CHARS = 1_000
_MOST_NAME_CHARS = 200
# What git allows in the name of a branch or tag, but for signs at its beginning that are options or steps.
_NAME = re.compile(r"\w(?:(?!\.\.|@\{|//)[^\s\x00-\x20\x7f~^:?*\[\\])*")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_BRANCHES = ("refs/heads/", "refs/remotes/")


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision of a repository: a branch, which may move, or one commit."""

    name: str  # as the user wrote it
    folder: str  # in the repository
    store: str  # the folder of git that all work trees of the repository share
    prefix: str  # path of `folder` in the repository: "" or ends with "/"
    target: str  # full name of a branch, else the hash of a commit

    @property
    def has_times(self) -> bool:
        """False: the stamps are made of the contents."""
        return False

    @property
    def key(self) -> str:
        """The identity of what is indexed: equal for two names of one commit."""
        return f"{self.store}\0{self.prefix}\0{self.target}"

    def tree(self, below: str = "") -> GitTree:
        """Return the files as they are now, of the whole project or `below` a folder of it. Raises SourceError."""
        inside = "" if below in ("", ".") else f"{below.replace(os.sep, '/')}/"
        is_branch = self.target.startswith(_BRANCHES)
        commit = _commit(self.folder, self.target, self.name) if is_branch else self.target
        return GitTree(self.folder, commit, self.prefix + inside)


def checked_name(name: str) -> str:
    """Return the name of a branch, tag or commit that somebody else has given, "" for none.

    Raises UsageError for all else that git understands, such as a range, a step or a time.
    """
    is_name = len(name) <= _MOST_NAME_CHARS and name.isprintable() and _NAME.fullmatch(name)
    if name and (not is_name or name.endswith((".", "/", ".lock"))):
        raise UsageError(
            f"{name[:80]!r} is not the name of a branch, tag or commit", hint="examples are main, v1.2 and 3f2a91c"
        )
    return name


def checked_range(written: str) -> str:
    """Return revisions that somebody else has named, as `A..B`, `A...B` or `A`; see `revisions_of_range`.

    Raises UsageError where an end is not the name of a branch, tag or commit.
    """
    old, _, new = written.partition("..")
    for name in (old, new.removeprefix(".")):
        checked_name(name)
    return written


def is_commit(name: str) -> bool:
    """Return True for the whole hash of a commit."""
    return _COMMIT.fullmatch(name) is not None


def revision(folder: str, name: str) -> Revision:
    """Find a revision in the repository around a folder.

    Raises UsageError for what cannot be a name, SourceError where there is no such repository or revision.
    """
    if not name.isprintable() or name.startswith("-") or not 0 < len(name) <= _MOST_CHARS:
        raise UsageError(f"{name[:80]!r} is not the name of a revision", hint="examples are main, v1.2 and 3f2a91c")
    prefix = output_of_git(folder, "rev-parse", "--show-prefix").split("\n")[0]
    commit = _commit(folder, name, name)
    return Revision(name, folder, store_of(folder), prefix, _branch(folder, name) or commit)


def store_of(folder: str) -> str:
    """Return the folder in which git keeps the objects of the repository around a folder. Raises SourceError."""
    place = output_of_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return os.path.realpath(place.split("\n")[0])


def _commit(folder: str, name: str, shown: str) -> str:
    try:
        return output_of_git(folder, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").strip()
    except SourceError as error:
        if "Needed a single revision" not in str(error):
            raise
        raise SourceError(
            f"there is no revision {shown!r} in {folder!r}",
            hint="`git branch --all` and `git tag` list names; a hash must be that of a commit which is here",
        ) from error


def _branch(folder: str, name: str) -> str:
    full = output_of_git(folder, "rev-parse", "--verify", "--symbolic-full-name", "--end-of-options", name).strip()
    return full if full.startswith(_BRANCHES) else ""


class RevisionRange(NamedTuple):
    """Two revisions; without a new one, the files as they are."""

    old: Revision
    new: Revision | None


def revisions_of_range(folder: str, written: str) -> RevisionRange:
    """Return the ends of `A..B`; `A...B` begins where both parted, a missing end is HEAD, and `A` has one end only.

    Raises UsageError for what cannot be a name, SourceError where there is no such revision.
    """
    old, mark, new = written.partition("..")
    if not mark:
        return RevisionRange(revision(folder, written), None)
    ends = RevisionRange(revision(folder, old or "HEAD"), revision(folder, new.removeprefix(".") or "HEAD"))
    if not new.startswith("."):
        return ends
    return RevisionRange(_parting(folder, ends, written), ends.new)


def _parting(folder: str, ends: RevisionRange, written: str) -> Revision:
    """Return the last commit that two revisions have in common."""
    assert ends.new is not None
    names = f"{_commit(folder, ends.old.name, written)}...{_commit(folder, ends.new.name, written)}"
    excluded = [line for line in output_of_git(folder, "rev-parse", names).split("\n") if line.startswith("^")]
    if not excluded:
        raise SourceError(f"the revisions of {written!r} have no commit in common", hint="use two dots, not three")
    return revision(folder, excluded[0][1:])
