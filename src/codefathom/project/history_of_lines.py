"""The history of lines or of a symbol: the commits that made them, with the texts, and the owners of the file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from codefathom.errors import SourceError, UsageError
from codefathom.project.opening import OpenedProject
from codefathom.project.originals import Lines
from codefathom.question.extents import limit_of
from codefathom.question.question import Question
from codefathom.source import ignore
from codefathom.source.ignore import Layer
from codefathom.source.masks import MASK
from codefathom.source.revisions.blame import latest_commits
from codefathom.source.revisions.git_tree import GitTree
from codefathom.source.revisions.line_history import LineChange, committed_lines, line_changes, owners
from codefathom.source.revisions.revision import Revision, revision
from codefathom.source.scan import patterns_in
from codefathom.source.secrets import blank
from codefathom.source.size_limits import MAX_IGNORE_FILE_BYTES
from codefathom.source.work_tree import read_text, work_tree
from codefathom.text.written_place import Place, place_of
from codefathom.types import CommitMark, FileOwner, FoundSymbol, HistoryStep, LineHistory, Rest

_MOST_NAMED = 5  # symbols of one name that an error lists
_OWNER_FILES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS")


def line_history(opened: OpenedProject, question: Question) -> LineHistory:
    """Return the commits that made the lines or the symbol that a question names, the latest first.

    Raises UsageError for a name of no symbol or of several, SourceError for a path that is not in the index, and where
    there is no repository.
    """
    limit = limit_of(question)
    if question.since and not _is_day(question.since):
        raise UsageError(f"{question.since!r} is not a day", hint="give a day such as 2026-11-01")
    place = _place(opened, question.text)
    commits = last_commit(opened, place.path)
    steps, problem = _steps(opened, commits, place)
    chosen = [step for step in steps if _is_chosen(step, question)]
    page = tuple(chosen[question.offset : question.offset + limit])
    own_path = place.path.removeprefix(commits.shown)
    changed_by = tuple(FileOwner(owner.name, owner.n_commits) for owner in owners(commits.tree, own_path))
    return LineHistory(
        place.path,
        place.start_line,
        place.end_line,
        page,
        code_owners=code_owners(opened.recipe.root, commits, own_path),
        changed_by=tuple(replace(owner, name=blank(owner.name)) for owner in changed_by),
        offset=question.offset,
        rest=Rest(max(len(chosen) - question.offset - len(page), 0)),
        note=problem,
    )


def _steps(opened: OpenedProject, commits: Commits, place: Place) -> tuple[Sequence[HistoryStep], str]:
    """Return the changes of lines, and a sentence where no commit has them."""
    lines_now = Lines(opened)
    text = lines_now.text_now(place.path) or lines_now.text(place.path)
    path = place.path.removeprefix(commits.shown)
    lines = committed_lines(commits.tree, path, text, place.start_line, place.end_line)
    if lines is None:
        return (), "these lines are in no commit yet"
    return [_masked(change, commits) for change in line_changes(commits.tree, path, *lines)], ""


def _place(opened: OpenedProject, written: str) -> Place:
    """Return the place that is meant, with its first and last line."""
    if written.startswith("@@"):
        return _place_of_symbol(opened, written[2:])
    is_path = opened.catalog.documents_at({written}) != []
    place = Place(written) if is_path else place_of(written)
    documents = opened.catalog.documents_at({place.path})
    if not documents:
        raise SourceError(
            f"there is no file {place.path!r} in the index",
            hint="give a path in the project with lines, such as src/a.py:10-20, or @@NAME of a symbol",
        )
    last = max(documents[0].n_lines, 1)
    start = max(place.start_line, 1)
    if start > last:
        raise UsageError(f"{place.path!r} has {last} lines, not {start}", hint=f"give lines from 1 to {last}")
    return Place(place.path, start, min(place.end_line or (start if place.start_line else last), last))


def _place_of_symbol(opened: OpenedProject, name: str) -> Place:
    symbols = opened.catalog.symbols_named(name)
    exact = [item for item in symbols if name in (item.symbol.qualified_name, item.symbol.name)] or symbols
    if not exact:
        raise UsageError(f"there is no symbol {name!r}", hint="`fathom symbols` lists all symbols")
    if len(exact) > 1:
        listed = ", ".join(map(_written, exact[:_MOST_NAMED]))
        raise UsageError(f"{len(exact)} symbols are named {name!r}", hint=f"name the lines of one: {listed}")
    (item,) = exact
    return Place(item.path, item.symbol.start_line, item.symbol.end_line)


def _written(item: FoundSymbol) -> str:
    return f"{item.path}:{item.symbol.start_line}-{item.symbol.end_line}"


class Commits(NamedTuple):
    """The files of a commit, up to which a history is followed."""

    tree: GitTree
    shown: str  # what a project puts before the paths of the tree: "" or, in a fleet, the repository with "/"


def last_commit(opened: OpenedProject, path: str = "") -> Commits:
    """Return the last commit of a project, its revision, or that of the repository of a path in a fleet.

    Raises SourceError without a repository.
    """
    shown, own = opened.repository_of(path)
    if shown and not isinstance(own, GitTree):
        raise SourceError(
            f"{shown.rstrip('/')!r} is a folder without commits in this fleet",
            hint="only the files of a git repository have a history",
        )
    if isinstance(own, GitTree):
        return Commits(own, shown)
    chosen = opened.place.revision
    files = chosen if isinstance(chosen, Revision) else revision(opened.recipe.root, "HEAD")
    return Commits(files.tree(), "")


def recent_commits(opened: OpenedProject, limit: int) -> tuple[CommitMark, ...]:
    """Return the latest commits that changed files of a project, the newest first. Raises SourceError."""
    marks = latest_commits(last_commit(opened).tree, limit)
    return tuple(mark._replace(author=blank(mark.author), subject=blank(mark.subject)) for mark in marks)


def _masked(change: LineChange, commits: Commits) -> HistoryStep:
    """Return a change with masks in the place of secrets, as the index has them in files."""
    path = commits.shown + change.path.removeprefix(commits.tree.prefix)
    text = "\n".join(line[1:] for line in change.lines)
    masked = blank(text, path).split("\n")
    lines = tuple(f"{line[:1]}{shown}" for line, shown in zip(change.lines, masked, strict=False))
    mark = change.commit
    commit = CommitMark(mark.commit, mark.date, blank(mark.author), blank(mark.subject), mark.pull_request)
    return HistoryStep(commit, path, change.start_line, change.end_line, lines, has_marks=MASK in "".join(masked))


def _is_day(text: str) -> bool:
    with suppress(ValueError):
        return date.fromisoformat(text).isoformat() == text
    return False


def _is_chosen(step: HistoryStep, question: Question) -> bool:
    is_late = step.commit.date >= question.since
    return is_late and question.author.casefold() in step.commit.author.casefold()


def code_owners(root: str, commits: Commits, path: str) -> tuple[str, ...]:
    """Return the owners that CODEOWNERS names for a path in a tree: its last rule counts."""
    if commits.shown:
        text = next(filter(None, (_committed_text(commits.tree, name) for name in _OWNER_FILES)), "")
    else:
        top = work_tree(root) or root
        text = next(filter(None, (read_text(os.path.join(top, name)) for name in _OWNER_FILES)), "")
    return _named_owners(text, commits.tree.prefix + path)


def _committed_text(tree: GitTree, path: str) -> str:
    """Return the text of a small file of a repository, of whose top this is the tree; "" for none."""
    file = None
    with suppress(OSError):
        file = tree.open(path)
    return "" if file is None else file.read(MAX_IGNORE_FILE_BYTES).decode("utf-8", "surrogateescape")


def _named_owners(text: str, path: str) -> tuple[str, ...]:
    named: tuple[str, ...] = ()
    for pattern, names in _rules(text):
        if _fits(pattern, path):
            named = names
    return named


def _rules(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words and not words[0].startswith(("[", "^[", "!")):
            yield words[0], tuple(words[1:])


def _fits(pattern: str, path: str) -> bool:
    patterns = patterns_in(pattern)
    if patterns is None:
        return False
    layers = (Layer(ignore.GITIGNORE, patterns),)
    parts = path.split("/")
    for depth, name in enumerate(parts):
        folder = "".join(f"{part}/" for part in parts[:depth])
        decided = ignore.decide(layers, folder, [name], are_directories=depth < len(parts) - 1)
        if decided.get(name, ignore.NO_RULE) >= 0:
            return True
    return False
