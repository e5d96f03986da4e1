"""A place as people, tools and links write it, such as `a.py:10-20` or `a.py#L10` → its path and lines. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

# a.py:10, a.py:10:5, a.py:10-20, a.py:L10-L20, a.py#L10, a.py#L10-L20, a.py#L10C5-L20C1. Each part is bounded, so that
# a long word is read once.
_PLACE = (
    r"(?s)(?P<path>.+?)(?:#L|:L?)(?P<start>\d{1,9})(?:[:C]\d{1,9}){0,3}(?:[-\u2013]L?(?P<end>\d{1,9})(?:C\d{1,9})?)?"
)


class Place(NamedTuple):
    """A path, and lines where some were named with it."""

    path: str
    start_line: int = 0
    end_line: int = 0


def place_of(text: str) -> Place:
    """Return the place that one word names. A column in it is dropped."""
    match = re.fullmatch(_PLACE, text)
    return Place(match["path"], int(match["start"]), int(match["end"] or 0)) if match else Place(text)
