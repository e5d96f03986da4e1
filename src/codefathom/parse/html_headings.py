"""Headings of an HTML page, by the lines of its source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

# One pass over the tags that matter: whatever stands between them, the time grows with the length of the page alone.
_TAG = re.compile(r"<!--|-->|<(/?)(script|style|title|h([1-6]))\b[^<>]*>", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]*>")
_OF_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}|<[?%][^<>]*>")  # a program puts something else there
_MAX_NAME = 200
_MAX_TITLE_CHARS = 2_000  # with its tags


class HtmlHeading(NamedTuple):
    """A heading, and the line on which its tag begins."""

    line: int
    level: int
    name: str


def html_headings(text: str) -> list[HtmlHeading]:
    """Return the headings in order, at most one for each line; where none is of level 1, the title comes first."""
    headings: list[HtmlHeading] = []
    title = ""
    line, counted = 1, 0
    for start, level, content in _titles(text):
        name = _visible(content)
        if not name:
            continue
        if not level:
            title = title or name
            continue
        line += text.count("\n", counted, start)
        counted = start
        if not headings or headings[-1].line < line:
            headings.append(HtmlHeading(line, level, name))
    has_top = any(heading.level == 1 for heading in headings)
    is_free = not headings or headings[0].line > 1
    return [HtmlHeading(1, 1, title), *headings] if title and not has_top and is_free else headings


def _titles(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield place, level and source of each heading; the level of the title is 0."""
    begin = None  # the tag of the heading, or the comment, script or style, that the pass is in
    for tag in _TAG.finditer(text):
        if begin is None:
            begin = tag if tag[0] != "-->" and not tag[1] else None
        elif begin[2] is None:  # a comment
            begin = None if tag[0] == "-->" else begin
        elif tag[2] is not None and tag[2].lower() == begin[2].lower() and tag[1]:
            if (begin[3] or begin[2].lower() == "title") and tag.start() - begin.end() <= _MAX_TITLE_CHARS:
                yield begin.start(), int(begin[3] or 0), text[begin.end() : tag.start()]
            begin = None
        elif begin[3] and tag[3] and not tag[1]:  # the end of the heading before is missing
            begin = tag


def _visible(source: str) -> str:
    return " ".join(unescape(_ANY_TAG.sub(" ", _OF_TEMPLATE.sub(" ", source))).split())[:_MAX_NAME]
