"""Headings of AsciiDoc, Org, LaTeX and Typst, which marks at the beginning of a line tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_MAX_LINE = 4_000


class _Marks(NamedTuple):
    """How a form of prose marks its headings; what lies between two lines of `fence` is no prose."""

    heading: re.Pattern[str]  # group 1: the mark; group 2: the title
    fence: re.Pattern[str]
    words: tuple[str, ...] = ()  # marks from the outermost to the innermost; else the length of a mark is its level


_LATEX = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_MARKS = {
    "asciidoc": _Marks(
        re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$"), re.compile(r"(?:-{4,}|\.{4,}|/{4,}|\+{4,}|```.*)[ \t]*$")
    ),
    "org": _Marks(
        re.compile(
            r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#\w\][ \t]+)?(\S.*?)(?:[ \t]+:[\w:@]+:)?[ \t]*$"
        ),
        re.compile(r"(?i)[ \t]*#\+(?:begin|end)_"),
    ),
    "latex": _Marks(
        re.compile(rf"[ \t]*\\({'|'.join(_LATEX)})\*?[ \t]*(?:\[[^\]]*\])?[ \t]*" r"\{((?:[^{}]|\{[^{}]*\})+)\}"),
        re.compile(r"[ \t]*\\(?:begin|end)\{(?:verbatim|lstlisting|minted|comment)\}"),
        _LATEX,
    ),
    "typst": _Marks(re.compile(r"(={1,6})[ \t]+(\S.*?)(?:[ \t]*<[\w:-]+>)?[ \t]*$"), re.compile(r"[ \t]*```")),
}
HEADED = frozenset({"html", *_MARKS})  # languages with headings that are not read as those of Markdown


def marked_headings(language: str, lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield line, level from 1 and title of each heading, with the markup in it."""
    marks = _MARKS[language]
    is_open = False
    for number, line in enumerate(lines, 1):
        if len(line) > _MAX_LINE:
            continue
        if marks.fence.match(line):
            is_open = not is_open
        elif not is_open and (heading := marks.heading.match(line)):
            yield number, marks.words.index(heading[1]) + 1 if marks.words else len(heading[1]), heading[2]
