"""The files that the commits of a history changed: by the names in their trees, no content is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice

from codefathom.errors import SourceError
from codefathom.source.revisions.commits import CommitTree, ListedCommit, commits_of
from codefathom.source.revisions.git_program import answer, start_git, zero_ended

_AT_ONCE = 500  # commits; their hashes fit into a pipe, so that nobody waits for the other
_MOST_FILES = 2_000  # of a commit; what follows is passed by
_MOST_CHANGES = (
    5_000_000  # of all commits together, 40 MB: a small repository can say that each commit changes all files
)
_WORDS = ("diff-tree", "--stdin", "--root", "-r", "--no-renames", "--name-status", "-z", "--ignore-submodules=all")
_HASH = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\n?")


@lru_cache(maxsize=2)
def changed_files(tree: CommitTree) -> Mapping[str, Sequence[str]]:
    """Return the paths that each commit changed, by the path of its document; a merge changed none of its own.

    Paths are relative to the project. Raises SourceError, also where these are too many.
    """
    commits = iter(commits_of(tree).values())
    changed: dict[str, Sequence[str]] = {}
    names: dict[bytes, str] = {}
    n_changes = 0
    while part := list(islice(commits, _AT_ONCE)):
        of_part = _changed(tree, part, names)
        n_changes += sum(map(len, of_part.values()))
        if n_changes > _MOST_CHANGES:
            raise SourceError(
                f"the commits in {tree.folder!r} change more than {_MOST_CHANGES:,} files",
                hint="leave out the filters for files, or name one file with `fathom history`",
            )
        changed |= of_part
    return changed


def _changed(tree: CommitTree, commits: Sequence[ListedCommit], names: dict[bytes, str]) -> Mapping[str, Sequence[str]]:
    """Return the paths of some commits; `names` has each path once, however many commits change it."""
    below = (f"--relative={tree.prefix}",) if tree.prefix else ()
    path_of = {commit.id.encode(): commit.path for commit in commits}
    changed: dict[str, list[str]] = {}
    with start_git(tree.folder, *_WORDS, *below) as process, answer(process, tree.folder):
        assert process.stdin is not None and process.stdout is not None  # pipes
        process.stdin.write(b"".join(b"%b\n" % commit.id.encode() for commit in commits))
        process.stdin.close()
        parts = zero_ended(process.stdout)
        files: list[str] = []
        for part in parts:  # the hash of a commit, then for each file a letter and its path
            if _HASH.fullmatch(part):
                files = changed.setdefault(path_of.get(part.strip(), ""), [])
                continue
            path = next(parts, b"")
            if len(files) < _MOST_FILES:
                files.append(names.setdefault(path, path.decode("utf-8", "surrogateescape")))
    if process.returncode:
        raise SourceError(
            f"git cannot list the files that commits in {tree.folder!r} changed",
            hint="run `git fsck` there to see more, or leave out the filters for files",
        )
    return changed
