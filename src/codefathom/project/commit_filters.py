"""`author:` and `changed:` in a question to the commits: which commits may answer it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from codefathom.errors import UsageError
from codefathom.question.question import Question
from codefathom.stores.conditions import combine
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


def with_commit_filters(question: Question) -> Question:
    """Return a question whose marks have become its filter. Raises UsageError for a value that is none."""
    if question.text.strip().count("\n") >= _PASTED:
        return question
    marks = list(_MARK.finditer(question.text))
    if not marks:
        return question
    where = [_condition(mark["field"].lower(), mark["value"].strip('"'), mark["minus"]) for mark in marks]
    text = " ".join(_MARK.sub("", question.text).split())
    if not text:
        raise UsageError(
            "the question has only filters", hint="add what the commits are about, such as: retry limit author:ann"
        )
    return replace(question, text=text, where=combine(question.where, *where))


def _condition(field: str, value: str, minus: str) -> Where:
    where = _by(value) if field == "author" else _changed(value)
    return FilterGroup("NOT", (where,)) if minus else where


def _by(name: str) -> Where:
    """Return the condition that a part of the name of the author stands in the head of a commit."""
    if not name.strip():
        hint = 'write a part of it behind the colon, such as author:ann or author:"Ann Bee"'
        raise UsageError("author: needs a name", hint=hint)
    return Filter("text", "regex", rf"\A[^\n]*\ncommit \w+\nauthor [^\n]*{re.escape(name)}[^\n]*, \d{{4}}-")


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
