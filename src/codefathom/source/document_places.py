"""Places in a text that was taken out of a document: page, heading or paragraph, cell. Pure.

The text itself has them, as lines that begin each page, section or cell; no other line of it looks like one of these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from codefathom.facts import reasons as say
from codefathom.facts.languages import is_extracted, language_of, marks_of
from codefathom.facts.reasons import Note
from codefathom.types import Hit

_MARKS = {
    "pages": re.compile(r"^\[page (?P<number>[0-9]+)\]$", re.MULTILINE),
    "cells": re.compile(r"^\[cell (?P<number>[0-9]+): (?P<kind>[a-z0-9_]+)\]$", re.MULTILINE),
    "headings": re.compile(r"^(?P<level>#{1,9}) (?P<title>.+)$", re.MULTILINE),
}
_NAMES = {"pages": (say.PAGE, say.PAGES), "cells": (say.CELL, say.CELLS)}  # of one, and of several
_MAX_TITLE = 80


class Mark(NamedTuple):
    """A line that begins a page, a section or a cell."""

    line: int
    label: str  # number of a page or cell, title of a section
    kind: str = ""  # language of a cell
    level: int = 0  # of a heading


def page_line(number: int) -> str:
    """Return the line that begins a page."""
    return f"[page {number}]"


def cell_line(number: int, kind: str) -> str:
    """Return the line that begins a cell, or its output."""
    return f"[cell {number}: {kind}]"


def heading_line(level: int, title: str) -> str:
    """Return the line that begins a section."""
    return f"{'#' * level} {title}"


def unmarked(language: str, line: str) -> str:
    """Return a line of the content; one that looks like a mark is indented."""
    return f" {line}" if line[:1] in ("[", "#") and _MARKS[marks_of(language)].match(line) else line


def marks(language: str, text: str) -> list[Mark]:
    """Return all marks of a text in order."""
    listed = []
    form = marks_of(language)
    line, counted = 1, 0
    for match in _MARKS[form].finditer(text) if form else ():
        line += text.count("\n", counted, match.start())
        counted = match.start()
        groups = match.groupdict()
        label = groups.get("number") or groups["title"]
        listed.append(Mark(line, label, groups.get("kind", ""), len(groups.get("level", ""))))
    return listed


class Places:
    """The places of one question; the marks of each document are looked for once."""

    def __init__(self, text_of: Callable[[str], str]) -> None:
        """`text_of` gives the text of a document by its path."""
        self._text_of = text_of
        self._marks: dict[str, list[Mark]] = {}

    def of(self, path: str, start_line: int, end_line: int = 0) -> Note | None:
        """Return the place of some lines, such as "page 3" or 'heading "Limits"'; None in a file that is a text."""
        if not is_extracted(path):
            return None
        language = language_of(path)
        if path not in self._marks:
            self._marks[path] = marks(language, self._text_of(path))
        above = [mark for mark in self._marks[path] if mark.line <= max(start_line, end_line)]
        at_start = [mark for mark in above if mark.line <= start_line]
        form = marks_of(language)
        if form == "headings":
            heading = {"title": _short(at_start[-1].label)} if at_start else {}
            return Note(say.HEADING, heading) if heading else Note(say.PARAGRAPH, {"number": (start_line + 1) // 2})
        if not above:
            return None
        one, several = _NAMES[form]
        first, last = (at_start or above)[-1 if at_start else 0].label, above[-1].label
        return Note(one, {"number": first}) if first == last else Note(several, {"first": first, "last": last})

    def with_places(self, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """Return hits with the place of the line to look at first."""
        return tuple(
            replace(hit, document_place=self.of(hit.chunk.path, hit.line or hit.chunk.start_line)) for hit in hits
        )


def _short(title: str) -> str:
    return title if len(title) <= _MAX_TITLE else f"{title[:_MAX_TITLE]}…"
