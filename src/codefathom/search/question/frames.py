"""The places that a stack trace, an error message or a diff names; of a trace, where it happened first. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

MAX_FRAMES = 30
# Python: File "a/b.py", line 3. Others: a/b.js:3:5, (B.java:3), a/b.cs:line 3, a/b.php on line 3, a/b.php(3); in a link
# .../blob/main/a/b.py#L3-L9.
# Each run of characters of a path is read once: the path is all of it, with a drive of Windows before it, or none.
# Compiled by `re` when first needed: few questions hold a trace, and a search should not wait for it.
_FRAME = (
    r'File "(?P<python>[^"\n]+)", line (?P<python_line>\d{1,9})(?!\d)'
    r'|(?P<path>(?:(?!File ")[\w./\\@+~<>-])++)(?:(?=(?::line |:| on line |\(|#L)(?P<line>\d{1,9})(?!\d)))?'
)
_ENDING = r"\.[A-Za-z]\w{0,9}\Z"
_DRIVE = r"(?<![A-Za-z])[A-Za-z]:\Z"  # and not the end of `https:`
_PYTHON = "Traceback (most recent call last)"
# A unified diff: the file as it is now, then the first line of each part of it that changed.
_DIFF = r"^\+\+\+ (?:b/)?(?P<path>[^\t\n]+)|^@@ -\d{1,9}(?:,\d{1,9})? \+(?P<line>\d{1,9})(?:,\d{1,9})? @@"
_UNCHANGED_BEFORE = 3  # lines that stand before a change


class Frame(NamedTuple):
    """One place of a trace, as it is written there."""

    path: str  # with "/", often of another machine
    line: int


class FrameChunk(NamedTuple):
    """A chunk that a trace names."""

    value: float  # 1 for the innermost place
    line: int


def frames(text: str) -> list[Frame]:
    """Return the places that a text names with their lines, each once; Python writes the innermost last."""
    places = list(dict.fromkeys([*_places_of_diff(text), *_places(text)]))
    if _PYTHON in text:
        places.reverse()
    return places[:MAX_FRAMES]


def _places(text: str) -> Iterator[Frame]:
    expression = re.compile(_FRAME)
    start = 0
    while match := expression.search(text, start):
        start = match.end()
        if match["python"]:
            yield Frame(match["python"].replace("\\", "/"), int(match["python_line"]))
        elif match["line"] and re.search(_ENDING, match["path"]):
            start = match.end("line")
            drive = re.search(_DRIVE, text[max(match.start() - 3, 0) : match.start()])
            yield Frame(((drive[0] if drive else "") + match["path"]).replace("\\", "/"), int(match["line"]))


def _places_of_diff(text: str) -> Iterator[Frame]:
    path = ""
    for match in re.finditer(_DIFF, text, re.MULTILINE) if "\n@@ -" in text else ():
        if match["path"]:
            path = match["path"].strip().replace("\\", "/")
        elif path:
            line = int(match["line"])
            yield Frame(path, line + _UNCHANGED_BEFORE if line > 1 else max(line, 1))


def same_place(written: str, path: str) -> int:
    """Return the number of last parts that a written path shares with a document's; 0 when the file names differ."""
    n_same = 0
    for one, other in zip(reversed(written.split("/")), reversed(path.split("/")), strict=False):
        if one != other:
            break
        n_same += 1
    return n_same
