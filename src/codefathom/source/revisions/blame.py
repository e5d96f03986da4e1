"""The commit that each line of a file comes from: `git blame` of a commit, which reads objects only.

No filter, textconv, mailmap, list of ignored commits or signature program of a repository is used; the lines and the
bytes that are read are bounded. A partial clone, which lacks old contents, is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher

from codefathom.errors import SourceError
from codefathom.source.revisions.commits import pull_request_of
from codefathom.source.revisions.git_program import answer, start_git
from codefathom.source.revisions.git_tree import GitTree, is_partial
from codefathom.types import CommitMark

_MOST_COMPARED = 50_000  # lines of a file that is compared with its last commit
_MOST_BYTES = 50_000_000
_HEAD = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
_BLAME = (
    *("-c", f"mailmap.file={os.devnull}", "-c", "mailmap.blob=", "blame", "--porcelain", "--no-textconv"),
    "--ignore-revs-file=",  # forgets those of the settings
)
_MARKS = (
    *("log", "--no-walk=unsorted", "--stdin", "--no-color", "--no-mailmap", "--no-notes", "--no-show-signature"),
    *("--no-decorate", "--encoding=UTF-8", "--date=format:%Y-%m-%d", "--format=%H%x00%an%x00%ad%x00%s"),
)


def line_commits(tree: GitTree, path: str, lines: Sequence[int]) -> Mapping[int, str]:
    """Return the hash of the commit that each of these lines of a file of a commit comes from. Raises SourceError."""
    if not lines:
        return {}
    if is_partial(tree.folder):
        raise SourceError(
            "this is a partial clone, which lacks older contents of files",
            hint="run `git fetch --refetch --no-filter` to have the whole history",
        )
    part = f"-L{min(lines)},{max(lines)}"
    words = (*_BLAME, part, tree.commit, "--", path)
    with start_git(tree.folder, *words) as process, answer(process, tree.folder):
        assert process.stdout is not None  # a pipe
        output = process.stdout.read(_MOST_BYTES)
        if len(output) == _MOST_BYTES:
            process.kill()
        elif process.wait():
            raise SourceError(
                f"git cannot tell who wrote the lines of {path!r}",
                hint="run `git fsck`, and look at blame.ignoreRevsFile in the settings of the repository",
            )
    commits, chosen = {}, set(lines)
    # A line of the file begins with a tab, so that none looks like the head of a line.
    for row in output.split(b"\n"):
        match = _HEAD.fullmatch(row)
        if match and int(match[3]) in chosen:
            commits[int(match[3])] = match[1].decode()
    return commits


def commit_marks(tree: GitTree, commits: Iterable[str]) -> Mapping[str, CommitMark]:
    """Return author, day and subject of commits by their hashes. Raises SourceError."""
    with start_git(tree.folder, *_MARKS) as process, answer(process, tree.folder):
        output, _ = process.communicate("".join(f"{commit}\n" for commit in sorted(set(commits))).encode())
    rows = (row.split("\0") for row in output.decode("utf-8", "replace").split("\n"))
    return {
        row[0]: CommitMark(row[0], row[2], row[1], row[3], pull_request_of(row[3])) for row in rows if len(row) == 4
    }


def committed_places(tree: GitTree, path: str, now: bytes, start_line: int, end_line: int) -> Mapping[int, int]:
    """Return lines of today with the lines of the last commit that they are; lines that it lacks are left out.

    Raises SourceError for a changed file that is too long to be compared.
    """
    old = None
    with suppress(OSError):
        old = tree.open(path)
    if old is None:
        return {}
    before, after = _rows(old.read()), _rows(now)
    last = min(end_line, len(after))
    if before == after:
        return {line: line for line in range(start_line, last + 1)}
    if max(len(before), len(after)) > _MOST_COMPARED:
        raise SourceError(
            f"{path!r} has changed since its last commit, and has more than {_MOST_COMPARED:,} lines",
            hint="commit the change to see who wrote its lines",
        )
    blocks = SequenceMatcher(None, before, after).get_matching_blocks()
    pairs = ((b + step + 1, a + step + 1) for a, b, size in blocks for step in range(size))
    return {line: place for line, place in pairs if start_line <= line <= last}


def _rows(data: bytes) -> list[bytes]:
    """Return the lines of a file as git counts them; the line ends of another system are no change."""
    rows = [row.removesuffix(b"\r") for row in data.split(b"\n")]
    return rows[:-1] if rows[-1] == b"" else rows
