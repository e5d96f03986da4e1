"""The text of a file → the types that its values are declared or made with, by patterns. Pure.

This is no type inference: what is assigned from a call, or narrowed by a condition, has no type here. Each declaration
has its line, so that the reader can choose those of the scope that it asks about.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

# A name begins where a word begins, so that a long word is read once, and not from each of its letters on.
_NAME = r"(?<![\w$])(?P<name>[\w$]+)"
_TYPE = r"(?P<type>(?:\w+(?:\.|::)){0,5}[A-Z]\w*)"
_MADE = r"(?P<made>(?:\w+(?:\.|::)){0,5}[A-Z]\w*)"
_BEFORE = r"(?<![\w.$])"
# `x: T`, as most of the younger languages have it, with what may stand before the type there.
_WITH_COLON = rf"{_NAME}\s*[?!]?:\s*(?:&\s*|\*\s*)?(?:'\w+\s+)?(?:(?:mut|dyn|impl|inout|any|some)\s+)*{_TYPE}"
# `T x`, where a value, a parameter, a field or a property is declared.
_TYPE_FIRST = rf"{_BEFORE}{_TYPE}(?:<[^;(){{}}=]*>)?\??\s+{_NAME}\s*(?=[=;,):{{]|\bin\b)"
_NEW = rf"{_NAME}\s*=\s*new\s+{_MADE}"
_LET = rf"\b(?:let|val|var)\s+(?:mut\s+)?{_NAME}\s*=\s*(?:new\s+)?"

_PATTERNS: Mapping[str, Sequence[str]] = {
    "python": (
        rf"{_NAME}\s*:\s*[\"']?(?:(?:Optional|Type|type)\[)?{_TYPE}",
        rf"{_NAME}\s*=\s*(?:await\s+)?{_MADE}\(",
        rf"\bwith\s+{_TYPE}\(.*\)\s+as\s+{_NAME}",
    ),
    "typescript": (_WITH_COLON, _NEW),
    "javascript": (_NEW,),
    "go": (
        r"\b(?P<name>\w+)\s*:?=\s*&?(?P<made>(?:\w+\.)?[A-Za-z]\w*)\{",
        r"\b(?P<name>\w+)\s*:?=\s*new\((?P<made>[\w.]+)\)",
        r"\b(?P<name>\w+)\s+\*?(?P<type>(?:\w+\.)?[A-Za-z]\w*)\s*(?=[,)])",
        r"^\s*(?:var\s+)?(?P<name>\w+)\s+\*?(?P<type>(?:\w+\.)?[A-Za-z]\w*)\s*(?:`|//|$)",
    ),
    "java": (_TYPE_FIRST, _NEW.replace("made", "type")),  # what is made may be a class of its own, without a name
    "csharp": (_TYPE_FIRST, _NEW),
    "kotlin": (_WITH_COLON, rf"{_LET}{_MADE}\s*[(<]"),
    "scala": (_WITH_COLON, rf"{_LET}{_MADE}\s*[(\[]"),
    "swift": (_WITH_COLON, rf"{_LET}{_MADE}\("),
    "rust": (
        _WITH_COLON,
        rf"{_WITH_COLON.partition('(?P<type>')[0]}(?:Box|Arc|Rc)<(?:dyn\s+)?{_TYPE}",
        rf"{_LET}{_MADE}(?:::(?:new|default|with_\w+|from_\w+)\(|\s*\{{)",
    ),
}
_ALIASES = {"tsx": "typescript", "vue": "typescript", "svelte": "typescript", "jsx": "javascript"}
_EXPRESSIONS = {
    language: [re.compile(pattern, re.MULTILINE) for pattern in patterns] for language, patterns in _PATTERNS.items()
}
# Not the name of a type of which anything is known.
_OPEN = frozenset(
    {"Any", "Object", "Self", "Union", "None", "Unknown", "AnyObject", "Optional", "Option", "Box", "Arc"}
)
_MOST_CHARS = 500_000  # of a file, and of a line; a longer one was made by a program
_MOST_LINE_CHARS = 300


class DeclaredType(NamedTuple):
    """The type of a value, as a line declares it."""

    line: int
    name: str  # of the type, without what stands before it
    is_made: bool  # the value is of this very type, not of one below it


def declared_types(text: str, language: str, name: str = "") -> Mapping[str, Sequence[DeclaredType]]:
    """Return by the name of a value or field the types that a file declares for it; a parameter of a type is none.

    With a name, only lines that contain it are read: those of this name are all there, those of others are not.
    """
    expressions = _EXPRESSIONS.get(_ALIASES.get(language, language), ())
    types: dict[str, list[DeclaredType]] = defaultdict(list)
    if len(text) <= _MOST_CHARS:
        lines = _lines_with(name, text) if name else enumerate(text.split("\n"), start=1)
        for number, line in lines if expressions else ():
            for own, declared in _in_line(line, number, expressions):
                types[own].append(declared)
    return types


def _lines_with(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that contain a name, and not only as a part of a longer one, each with its number."""
    if len(name) > _MOST_LINE_CHARS:
        return
    number, counted, place = 1, 0, text.find(name)
    while place >= 0:
        start = text.rfind("\n", 0, place) + 1
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        number, counted = number + text.count("\n", counted, start), start
        # A long line is not read: only there could a name that repeats itself be compared for long.
        if end - start <= _MOST_LINE_CHARS and _stands(name, line := text[start:end]):
            yield number, line
        place = text.find(name, end)


def _stands(name: str, line: str) -> bool:
    """Return True if a name stands in a line alone; behind a sign, any end may be one."""
    has_end, place = _is_letter(name[-1]), line.find(name)
    while place >= 0:
        after = line[place + len(name) : place + len(name) + 1]
        if not (place and _is_letter(line[place - 1])) and not (has_end and after and _is_letter(after)):
            return True
        place = line.find(name, place + 1)
    return False


def _is_letter(sign: str) -> bool:
    """Return True for a sign that an expression calls a letter, a digit or a line below."""
    return sign.isalnum() or sign == "_"


def _in_line(line: str, number: int, expressions: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, DeclaredType]]:
    if len(line) > _MOST_LINE_CHARS:
        return
    for expression in expressions:
        for match in expression.finditer(line):
            groups = match.groupdict()
            made = groups.get("made")
            last = re.split(r"\.|::", made or groups["type"])[-1]
            if len(last) > 1 and last not in _OPEN:
                yield groups["name"], DeclaredType(number, last, bool(made))
