"""One table in a TOML file, added to its text or taken out of it; every other byte stays. Pure.

A table is added at the end, behind an empty line. A file that was made for it has no such line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codefathom.hosts.json_edits import Entry, FormError
from codefathom.text.printable import escape_toml

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# What decides whether a line begins outside of all values: strings, comments and brackets.
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*+"|\'[^\'\n]*+\'|#[^\n]*+|[\[\]{}\n]', re.DOTALL
)


def entry_in(text: str, key: str, name: str) -> Any:
    """Return the table of this name in the table of this key, None without one. Raises FormError."""
    holder = _read(text).get(key, {})
    if not isinstance(holder, dict):
        raise FormError(f'"{key}" holds no table')
    return holder.get(name)


def created(key: str, name: str, entry: Entry) -> str:
    """Return the text of a new file."""
    return _table(key, name, entry, "\n") + "\n"


def with_entry(text: str, key: str, name: str, entry: Entry) -> str:
    """Return the text with a table at its end; one of the same name is taken out first. Raises FormError."""
    if entry_in(text, key, name) is not None:
        rest = without_entry(text, key, name)
        if rest is None:
            return created(key, name, entry)
        text = rest
    before = _read(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    table = _table(key, name, entry, newline)
    is_ended = not text or text.endswith("\n")
    result = f"{text}{newline}{table}{newline}" if is_ended else f"{text}{newline}{newline}{table}"
    return _proved(result, {**before, key: {**before.get(key, {}), name: dict(entry)}})


def without_entry(text: str, key: str, name: str) -> str | None:
    """Return the text without a table and those inside it; None where that is the whole file. Raises FormError.

    A text that holds no such table comes back as it is.
    """
    entry = entry_in(text, key, name)
    if entry is None:
        return text
    if text in (created(key, name, entry), created(key, name, entry).replace("\n", "\r\n")):
        return None
    data = _read(text)
    rest = {other: value for other, value in data[key].items() if other != name}
    lines = _LINE.findall(text)
    removed = {number for span in _spans(lines, (key, name)) for number in span}
    left = [line for number, line in enumerate(lines) if number not in removed]
    if len(lines) - 1 in removed and left and not lines[-1].endswith("\n"):
        left[-1] = left[-1].removesuffix("\n").removesuffix("\r")
    return _proved("".join(left), {**data, key: rest}, may_lack=key)


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormError(str(error)) from error


def _table(key: str, name: str, entry: Entry, newline: str) -> str:
    return newline.join([f"[{key}.{name}]", *(f"{field} = {_shown(value)}" for field, value in entry.items())])


def _shown(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return f'"{escape_toml(value)}"'
    return f"[{', '.join(map(_shown, value))}]"


def _spans(lines: Sequence[str], path: tuple[str, ...]) -> Iterator[range]:
    """Yield the lines of each table at a path or below: from its header, and an empty line before, to its last key."""
    outside = _outside("".join(lines))
    headers = [number for number in outside if lines[number].lstrip(" \t").startswith("[") and _path(lines[number])]
    for header, following in zip(headers, [*headers[1:], len(lines)], strict=True):
        if _path(lines[header])[: len(path)] == path:
            last = max(n for n in range(header, following) if n == header or _has_key(lines[n]))
            yield range(header - 1 if header and not lines[header - 1].strip() else header, last + 1)


def _outside(text: str) -> list[int]:
    """Return the numbers of the lines that begin outside of strings and lists."""
    numbers, number, depth = [0], 0, 0
    for token in _TOKEN.finditer(text):
        number += token[0].count("\n")
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and not depth:
            numbers.append(number)
    return [number for number in numbers if number < text.count("\n") + (not text.endswith("\n"))]


def _has_key(line: str) -> bool:
    return not line.lstrip().startswith("#") and bool(line.strip())


def _path(line: str) -> tuple[str, ...]:
    """Return the names in the header of a table; none for another line."""
    try:
        inner: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    names = []
    while isinstance(inner, Mapping) and inner:
        [(name, inner)] = inner.items()
        names.append(name)
    return tuple(names)


def _proved(text: str, expected: Mapping[str, Any], *, may_lack: str = "") -> str:
    """Return the text if it holds what is expected, and nothing else. Raises FormError."""
    data = _read(text)
    if may_lack:  # a table with nothing in it, which only the header of another has made
        data, expected = _without_empty(data, may_lack), _without_empty(expected, may_lack)
    if data != expected:
        raise FormError("its form is not understood")
    return text


def _without_empty(data: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != key or value}
