"""Filters of a question to the commits, such as `author:`, `changed:`, `--dir` and `@path`: which may answer it.

A condition on files means the commits that changed a file that fulfils it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from codefathom.errors import UsageError
from codefathom.facts.languages import language_of
from codefathom.question.question import Question
from codefathom.search.filter.filter_options import glob_expression, is_glob
from codefathom.search.question.query import Query
from codefathom.source.revisions.changed_files import changed_files
from codefathom.source.revisions.commits import FOLDER, CommitHistory, commits_of
from codefathom.stores.conditions import combine, field_named, matches, path_fields
from codefathom.types import Filter, FilterGroup, Where

_MARK = re.compile(r'(?<!\S)(?P<minus>-?)(?P<field>author|changed):(?P<value>"[^"\n]*"|\S*)', re.IGNORECASE)
_PASTED = 5  # line ends, as `parse_query` has it: no mark is read in such a text
_SPAN = re.compile(r"(?P<count>\d{1,4})(?P<unit>[dwmy])", re.IGNORECASE)
_LAST_YEAR = 9998  # the first moment behind it can be written, too
_MOST_DAYS = 700_000  # no moment is before the year 1
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}
_DAY = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d))?(?:-(?P<day>\d\d))?")
_FORMS = (
    "write a day, month or year (changed:2026-11-01, changed:2026-11), from one to another "
    "(changed:2026-01-01..2026-02-01), changed:>2026-11-01, changed:<2026-11-01, or a time until now (changed:7d, "
    "changed:2w, changed:3m, changed:1y)"
)


_OF_FILES = frozenset({"path", "dir", "name", "ext", "language", "module", "sub_module", "is_test"})


def with_commit_filters(question: Question, history: CommitHistory) -> Question:
    """Return a question whose marks have become its filter. Raises UsageError for a value that is none."""
    if question.text.strip().count("\n") >= _PASTED:
        return question
    marks = list(_MARK.finditer(question.text))
    if not marks:
        return question
    where = [_condition(mark["field"].lower(), mark["value"].strip('"'), mark["minus"], history) for mark in marks]
    text = " ".join(_MARK.sub("", question.text).split())
    if not text:
        raise UsageError(
            "the question has only filters", hint="add what the commits are about, such as: retry limit author:ann"
        )
    return replace(question, text=text, where=combine(question.where, *where))


def of_commits(where: Where | None, history: CommitHistory) -> Where | None:
    """Return a condition on files as one on the commits that changed such files. Raises SourceError."""
    if where is None:
        return None
    if _is_of_files(where):
        return _that_changed(where, history)
    if isinstance(where, Filter):
        return where
    inner = (of_commits(item, history) for item in where.filters)
    return replace(where, filters=tuple(item for item in inner if item is not None))


def query_of_commits(query: Query, history: CommitHistory) -> Query:
    """Return a query whose marks on files, such as `@src/`, choose the commits that changed these."""
    paths = [path for path in query.paths if not path.startswith(FOLDER)]
    if not paths:
        return query._replace(where=of_commits(query.where, history))
    marked = FilterGroup("OR", tuple(map(_marked, paths)))
    where = of_commits(combine(query.where, marked), history)
    return query._replace(paths=tuple(path for path in query.paths if path.startswith(FOLDER)), where=where)


def _is_of_files(where: Where) -> bool:
    """Return True for a condition that the path of a file decides, and that names no commit itself."""
    if isinstance(where, FilterGroup):
        return bool(where.filters) and all(map(_is_of_files, where.filters))
    values = where.value if isinstance(where.value, tuple) else (where.value,)
    names_commit = any(str(value).startswith(FOLDER) for value in values)
    return field_named(where.field).name in _OF_FILES and not names_commit


def _that_changed(where: Where, history: CommitHistory) -> Where:
    changed = changed_files(history.tree())
    files = {path for paths in changed.values() for path in paths}
    chosen = {path for path in files if matches(where, _record(path))}
    return _one_of([commit for commit, paths in changed.items() if not chosen.isdisjoint(paths)])


def _record(path: str) -> Mapping[str, object]:
    return {**path_fields(path), "path": path, "language": language_of(path)}


def _marked(path: str) -> Where:
    """Return the condition that `@path` means: this path, one that ends with it, or all below it."""
    inner = path.strip("/")
    if is_glob(inner):
        return Filter("path", "regex", glob_expression(path))
    ends = (Filter("path", "eq", inner), Filter("path", "ends_with", f"/{inner}"))
    return FilterGroup("OR", (*ends, Filter("path", "starts_with", f"{inner}/")))


def _one_of(commits: Sequence[str]) -> Where:
    return Filter("path", "in_cased", tuple(commits))


def _condition(field: str, value: str, minus: str, history: CommitHistory) -> Where:
    where = _by(value, history) if field == "author" else _changed(value)
    return FilterGroup("NOT", (where,)) if minus else where


def _by(name: str, history: CommitHistory) -> Where:
    """Return the condition that a commit has this in the name of its author."""
    if not name.strip():
        hint = 'write a part of it behind the colon, such as author:ann or author:"Ann Bee"'
        raise UsageError("author: needs a name", hint=hint)
    part = name.casefold()
    return _one_of([path for path, commit in commits_of(history.tree()).items() if part in commit.author.casefold()])


def _changed(value: str) -> Where:
    """Return the condition that a commit was made at a time."""
    if span := _SPAN.fullmatch(value):
        since = datetime.now(UTC) - timedelta(days=min(int(span["count"]) * _DAYS[span["unit"].lower()], _MOST_DAYS))
        return Filter("modified", "gte", since.isoformat())
    begin, dots, end = value.partition("..")
    if dots:
        return FilterGroup("AND", (_from(begin, value), _until(end, value)))
    if value.startswith((">", "<")):
        day = value.lstrip("<>=")
        return _from(day, value) if value[0] == ">" else Filter("modified", "lt", _first(day, value).isoformat())
    return FilterGroup("AND", (_from(value, value), _until(value, value)))


def _from(day: str, value: str) -> Where:
    return Filter("modified", "gte", _first(day, value).isoformat())


def _until(day: str, value: str) -> Where:
    """Return the condition that a time lies in a day, month or year, or before."""
    first = _first(day, value)
    length = len(day.split("-"))
    days = {1: 366, 2: 31, 3: 1}[length]  # and back to the first day of what comes behind
    behind = first + timedelta(days=days)
    behind = behind.replace(day=1) if length < 3 else behind
    return Filter("modified", "lt", (behind.replace(month=1) if length == 1 else behind).isoformat())


def _first(day: str, value: str) -> datetime:
    """Return the first moment of a day, month or year. Raises UsageError."""
    match = _DAY.fullmatch(day)
    year, month, of_month = match.groups() if match else ("", "", "")
    try:
        if int(year) > _LAST_YEAR:
            raise ValueError(day)
        return datetime(int(year), int(month or 1), int(of_month or 1), tzinfo=UTC)
    except ValueError as error:
        raise UsageError(f"changed: cannot be {value[:80]!r}", hint=_FORMS) from error
