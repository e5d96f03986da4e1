"""The commits that made some lines, followed through moves and renames: `git log -L`, which reads objects only.

No filter, textconv, external diff, mailmap, note or signature program is used. What it reads and how long it takes is
bounded; a partial clone, which lacks old contents, is refused.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from typing import NamedTuple

from codefathom.errors import SourceError
from codefathom.source.revisions.commits import pull_request_of
from codefathom.source.revisions.git_program import answer, output_of_git, start_git
from codefathom.source.revisions.git_tree import GitTree, is_partial
from codefathom.types import CommitMark

_MOST_BYTES = 20_000_000
_MOST_COMMITS = 1_000
_MOST_COUNTED = 10_000  # commits of a file whose authors are counted
_MOST_LINES = 50_000  # of a file that is compared with its last commit
_LOG = (
    *("log", "-p", "-M", "--no-color", "--no-ext-diff", "--no-textconv", "--no-mailmap", "--no-notes"),
    *("--no-show-signature", "--no-decorate", "--ignore-submodules=all", f"-O{os.devnull}", "--encoding=UTF-8"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--date=format:%Y-%m-%d", f"--max-count={_MOST_COMMITS}"),
)
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")


class LineChange(NamedTuple):
    """What a commit made of some lines: those before with "-", those after with "+", the others with a blank."""

    commit: CommitMark
    path: str  # of the file then, from the top of the repository
    start_line: int  # after the change
    end_line: int
    lines: tuple[str, ...]


def line_changes(tree: GitTree, path: str, start_line: int, end_line: int) -> list[LineChange]:
    """Return the changes of lines of a file of a commit, the latest first. Raises SourceError."""
    if is_partial(tree.folder):
        raise SourceError(
            "this is a partial clone, which lacks older contents of files",
            hint="run `git fetch --refetch --no-filter` to have the whole history",
        )
    mark = os.urandom(16).hex()
    lines = f"-L{start_line},{end_line}:{tree.prefix}{path}"
    top = output_of_git(tree.folder, "rev-parse", "--show-cdup").strip()
    folder = os.path.normpath(os.path.join(tree.folder, top)) if top else tree.folder
    words = (*_LOG, f"--format={mark}%n%H%n%an%n%ad%n%s", lines, "--end-of-options", tree.commit)
    with start_git(folder, *words) as process, answer(process, folder):
        assert process.stdout is not None  # a pipe
        output = process.stdout.read(_MOST_BYTES)
        process.kill()
    text = output.decode("utf-8", "replace").replace("\0", "")
    changes = (_change(part.split("\n")) for part in text.split(f"{mark}\n")[1:])
    return [change for change in changes if change is not None]


def _change(lines: Sequence[str]) -> LineChange | None:
    """Return the change of one commit; None where it was cut off."""
    if len(lines) < 5:
        return None
    commit, author, date, subject, *rest = lines
    path = next((line[len("+++ b/") :] for line in rest if line.startswith("+++ b/")), "")
    hunks = [place for place, line in enumerate(rest) if _HUNK.match(line)]
    if not hunks:
        return None
    match = _HUNK.match(rest[hunks[0]])
    assert match is not None
    start, count = int(match["start"]), int(match["count"] or "1")
    body = tuple(line for line in rest[hunks[0] + 1 :] if line[:1] in ("+", "-", " "))
    mark = CommitMark(commit, date, author, subject, pull_request_of(subject))
    return LineChange(mark, path, start, start + max(count - 1, 0), body)


def committed_lines(tree: GitTree, path: str, text: str, start_line: int, end_line: int) -> tuple[int, int] | None:
    """Return where lines of today stand in the last commit; None where it does not have them. Raises SourceError."""
    old = None
    with suppress(OSError):
        old = tree.open(path)
    if old is None:
        return None
    before = old.read().decode("utf-8", "replace").splitlines()
    now = text.splitlines()
    if before == now:
        return start_line, end_line
    if max(len(before), len(now)) > _MOST_LINES:
        return (start_line, min(end_line, len(before))) if start_line <= len(before) else None
    places = list(_places(before, now, start_line, end_line))
    return (min(places), max(places)) if places else None


def _places(before: Sequence[str], now: Sequence[str], start_line: int, end_line: int) -> Iterator[int]:
    """Yield the lines before that became some of the lines now; of rewritten ones those that they replaced."""
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, before, now).get_opcodes():
        first, last = max(j1, start_line - 1), min(j2, end_line)
        if first >= last:
            continue
        if kind == "equal":
            yield from (i1 + first - j1 + 1, i1 + last - j1)
        elif kind == "replace":
            yield from (i1 + 1, i2)


class Owner(NamedTuple):
    """Somebody who has changed a file, with the number of commits."""

    name: str
    n_commits: int


def owners(tree: GitTree, path: str, most: int = 3) -> tuple[Owner, ...]:
    """Return who changed a file most often under its present name. Raises SourceError."""
    words = ("rev-list", f"--max-count={_MOST_COUNTED}", "--no-commit-header", "--format=%an", "--end-of-options")
    names = output_of_git(tree.folder, *words, tree.commit, "--", f":(top,literal){tree.prefix}{path}")
    counts = Counter(names.encode("utf-8", "surrogateescape").decode("utf-8", "replace").splitlines())
    return tuple(Owner(name, n) for name, n in counts.most_common(most))
