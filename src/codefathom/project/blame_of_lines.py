"""Who wrote some lines of an indexed file: the commit that each of them comes from."""

from __future__ import annotations

from codefathom.errors import SourceError, UsageError
from codefathom.project.history_of_lines import last_commit
from codefathom.project.opening import OpenedProject
from codefathom.question.extents import MOST_BLAMED_LINES
from codefathom.source.origin import origin_of
from codefathom.source.revisions.blame import commit_marks, committed_places, line_commits
from codefathom.source.secrets import blank
from codefathom.types import BlamedLines, CommitMark


def blame(opened: OpenedProject, path: str, start_line: int, end_line: int) -> tuple[BlamedLines, ...]:
    """Return the lines of a file in order, those that follow each other and come from one commit together.

    Lines that are in no commit yet have none. Raises SourceError for a path that is not in the index and where there is
    no repository, and UsageError for more lines than are shown at once.
    """
    if end_line - start_line >= MOST_BLAMED_LINES:
        raise UsageError(
            f"{end_line - start_line + 1} lines are too many at once", hint=f"ask for at most {MOST_BLAMED_LINES} lines"
        )
    if opened.catalog.document(path) is None:
        raise SourceError(f"there is no file {path!r} in the index", hint="give the path of an indexed file")
    data = origin_of(opened.recipe.tree, opened.recipe.rules, opened.catalog).content(path)
    if data is None:
        raise SourceError(f"{path!r} cannot be read", hint="`fathom index` tells why it is left out")
    tree, shown = last_commit(opened, path)
    own_path = path.removeprefix(shown)
    last = min(end_line, data.count(b"\n") + (data[-1:] not in (b"", b"\n")))
    places = committed_places(tree, own_path, data, start_line, last)
    commits = line_commits(tree, own_path, tuple(places.values()))
    marks = {name: _masked(mark) for name, mark in commit_marks(tree, commits.values()).items()}
    parts: list[BlamedLines] = []
    for line in range(start_line, last + 1):
        mark = marks.get(commits.get(places.get(line, 0), ""))
        if parts and parts[-1].commit == mark:
            parts[-1] = parts[-1]._replace(end_line=line)
        else:
            parts.append(BlamedLines(line, line, mark))
    return tuple(parts)


def _masked(mark: CommitMark) -> CommitMark:
    return mark._replace(author=blank(mark.author), subject=blank(mark.subject))
