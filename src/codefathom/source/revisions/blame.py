"""The commit that each line of a file comes from: `git blame` of a commit, which reads objects only.

No filter, textconv, mailmap, list of ignored commits or signature program of a repository is used; the lines and the
bytes that are read are bounded. A partial clone, which lacks old contents, is refused.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from codefathom.errors import SourceError
from codefathom.source.revisions.commits import pull_request_of
from codefathom.source.revisions.git_program import answer, start_git
from codefathom.source.revisions.git_tree import GitTree, is_partial
from codefathom.types import CommitMark

_MOST_COMPARED = 50_000  # lines of a file that is compared with its last commit
_MOST_BYTES = 50_000_000
_DEEPEST = 20  # parts of parts that are compared
_HEAD = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")
_BLAME = (
    *("-c", f"mailmap.file={os.devnull}", "-c", "mailmap.blob=", "blame", "--porcelain", "--no-textconv"),
    "--ignore-revs-file=",  # forgets those of the settings
)
_MARKS = (
    *("log", "--no-color", "--no-mailmap", "--no-notes", "--no-show-signature", "--no-decorate", "--no-patch"),
    *("--encoding=UTF-8", "--date=format:%Y-%m-%d", "--format=%H%x00%an%x00%ad%x00%s"),
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
    words = (*_MARKS, "--no-walk=unsorted", "--stdin")
    with start_git(tree.folder, *words) as process, answer(process, tree.folder):
        output, _ = process.communicate("".join(f"{commit}\n" for commit in sorted(set(commits))).encode())
    return {mark.commit: mark for mark in _marks(output)}


def latest_commits(tree: GitTree, limit: int) -> tuple[CommitMark, ...]:
    """Return the latest commits up to that of a tree which changed its folder, the newest first. Raises SourceError."""
    # Merges repeat what their commits say. Names are compared below a folder only, and no content is read.
    below = ("--", f":(top,literal){tree.prefix}") if tree.prefix else ()
    words = (*_MARKS, "--no-merges", f"--max-count={limit}", "--end-of-options", tree.commit, *below)
    with start_git(tree.folder, *words) as process, answer(process, tree.folder):
        output, _ = process.communicate()
    if process.returncode:
        raise SourceError("git cannot list the commits of this project", hint="run `git fsck` in its repository")
    return tuple(_marks(output))


def _marks(output: bytes) -> Iterator[CommitMark]:
    for row in output.decode("utf-8", "replace").split("\n"):
        parts = row.split("\0")
        if len(parts) == 4:
            commit, author, date, subject = parts
            yield CommitMark(commit, date, author, subject, pull_request_of(subject))


def committed_places(tree: GitTree, path: str, now: bytes, start_line: int, end_line: int) -> Mapping[int, int]:
    """Return lines of today with the lines of the last commit that they are; lines that it lacks are left out.

    Raises SourceError for a changed file that is too long to be compared.
    """
    committed = tree.stat(path)
    if committed is not None and committed.size > _MOST_BYTES:
        raise SourceError(
            f"{path!r} has {committed.size:,} bytes in its last commit, which is too long to be compared",
            hint="commit the change to see who wrote its lines",
        )
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
    pairs = ((new + 1, old + 1) for old, new in kept_lines(before, after))
    return {line: place for line, place in pairs if start_line <= line <= last}


def kept_lines(before: Sequence[Hashable], after: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the places of lines that are in both texts in the same order: before and after, each counted from 0.

    Parts between lines that are there only once are compared by themselves (patience diff). A text of many equal lines
    takes as long as any other of its length; a search for the longest parts would take its square, or more.
    """
    parts = [(0, len(before), 0, len(after), _DEEPEST)]
    while parts:
        old, old_end, new, new_end, depth = parts.pop()
        while old < old_end and new < new_end and before[old] == after[new]:
            yield old, new
            old, new = old + 1, new + 1
        while old < old_end and new < new_end and before[old_end - 1] == after[new_end - 1]:
            old_end, new_end = old_end - 1, new_end - 1
            yield old_end, new_end
        anchors = _anchors(before, after, range(old, old_end), range(new, new_end)) if depth else []
        if anchors:
            edges = [(old, new), *anchors, (old_end, new_end)]
            parts += [(a, a_end, b, b_end, depth - 1) for (a, b), (a_end, b_end) in pairwise(edges)]


def _anchors(before: Sequence[Hashable], after: Sequence[Hashable], old: range, new: range) -> list[tuple[int, int]]:
    """Return the most places, in order, of lines that are in both parts, and only once in each."""
    n_old, n_new = Counter(before[place] for place in old), Counter(after[place] for place in new)
    place_of = {after[place]: place for place in new if n_new[after[place]] == 1}
    pairs = [
        (place, place_of[before[place]]) for place in old if n_old[before[place]] == 1 and before[place] in place_of
    ]
    # The longest rising row of the places after: of each length the row with the lowest end is kept.
    ends: list[int] = []
    rows: list[int] = []  # which pair each of these rows ends with
    earlier: list[int] = []  # which pair is before each pair in its row
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        earlier.append(rows[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        rows[length : length + 1] = [number]
    longest: list[tuple[int, int]] = []
    number = rows[-1] if rows else -1
    while number >= 0:
        longest.append(pairs[number])
        number = earlier[number]
    return longest[::-1]


def _rows(data: bytes) -> list[bytes]:
    """Return the lines of a file as git counts them; the line ends of another system are no change."""
    rows = [row.removesuffix(b"\r") for row in data.split(b"\n")]
    return rows[:-1] if rows[-1] == b"" else rows
