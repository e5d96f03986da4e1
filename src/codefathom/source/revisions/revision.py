"""The name of a revision → the commit that it names in a repository."""

from __future__ import annotations

import os
from dataclasses import dataclass

from codefathom.errors import SourceError, UsageError
from codefathom.source.revisions.git_program import output_of_git
from codefathom.source.revisions.git_tree import GitTree

_MOST_CHARS = 1_000
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
    def key(self) -> str:
        """The identity of what is indexed: equal for two names of one commit."""
        return f"{self.store}\0{self.prefix}\0{self.target}"

    def tree(self, below: str = "") -> GitTree:
        """Return the files as they are now, of the whole project or `below` a folder of it. Raises SourceError."""
        inside = "" if below in ("", ".") else f"{below.replace(os.sep, '/')}/"
        is_branch = self.target.startswith(_BRANCHES)
        commit = _commit(self.folder, self.target, self.name) if is_branch else self.target
        return GitTree(self.folder, commit, self.prefix + inside)


def revision(folder: str, name: str) -> Revision:
    """Find a revision in the repository around a folder.

    Raises UsageError for what cannot be a name, SourceError where there is no such repository or revision.
    """
    if not name.isprintable() or name.startswith("-") or not 0 < len(name) <= _MOST_CHARS:
        raise UsageError(f"{name[:80]!r} is not the name of a revision", hint="examples are main, v1.2 and 3f2a91c")
    places = output_of_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix")
    store, prefix = (*places.split("\n"), "")[:2]
    commit = _commit(folder, name, name)
    return Revision(name, folder, os.path.realpath(store), prefix, _branch(folder, name) or commit)


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
