"""The pattern language of gitignore, and many patterns matched at once. Pure.

git matches bytes: `?` takes one byte of a letter that has two. So patterns and names are compared as bytes written in
Latin-1 (see `as_bytes`), which is the text itself for ASCII names. Names, suffixes and plain paths, nearly all patterns
there are, are looked up in dictionaries; only the rest becomes regular expressions, which are slow to compile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

_FullMatch = Callable[[str], "re.Match[str] | None"]
_SPECIAL = frozenset("*?[\\")
_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": lambda char: char.isalnum(),
    "alpha": lambda char: char.isalpha(),
    "blank": lambda char: char in " \t",
    "cntrl": lambda char: ord(char) < 32 or ord(char) == 127,
    "digit": lambda char: char.isdigit(),
    "graph": lambda char: 33 <= ord(char) < 127,
    "lower": lambda char: char.islower(),
    "print": lambda char: 32 <= ord(char) < 127,
    "punct": lambda char: 33 <= ord(char) < 127 and not char.isalnum(),
    "space": lambda char: char in " \t\n\v\f\r",
    "upper": lambda char: char.isupper(),
    "xdigit": lambda char: char in "0123456789abcdefABCDEF",
}


class IgnoreRule(NamedTuple):
    """One line of an ignore file."""

    body: str  # without "!", leading and trailing slash, as bytes in Latin-1
    negated: bool
    only_directories: bool
    by_name: bool  # no slash inside: compared with the last part of a path


def as_bytes(text: str) -> str:
    """Write the UTF-8 bytes of a text as Latin-1, so that one character is one byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


def parse_line(line: str) -> IgnoreRule | None:
    """Read one line without its line end; None for comments and blank lines."""
    text = _trim(as_bytes(line).partition("\0")[0])
    if not text or text[0] == "#":
        return None
    negated = text[0] == "!"
    body = text[negated:]
    only_directories = body.endswith("/")
    if only_directories:
        body = body[:-1]
    by_name = "/" not in body
    return IgnoreRule(body.removeprefix("/"), negated, only_directories, by_name)


def _trim(text: str) -> str:
    """Cut trailing spaces, except one that follows a backslash."""
    if not text.endswith(" "):
        return text
    end = index = 0
    while index < len(text):
        is_blank = text[index] == " "
        index += 2 if text[index] == "\\" else 1
        if not is_blank:
            end = index
    return text[:end]


def literal_start(body: str) -> str:
    """The part of a pattern before its first wildcard."""
    return body[: next((index for index, char in enumerate(body) if char in _SPECIAL), len(body))]


class Globs:
    """The rules for one kind of entry, files or directories. Of several that match, the highest code counts."""

    __slots__ = ("_by_name", "_by_path", "_name_codes", "_names", "_path_codes", "_paths", "_suffix_codes", "_suffixes")

    def __init__(self, rules: Sequence[tuple[int, IgnoreRule]]) -> None:
        """`rules` are pairs of code and rule, codes ascending."""
        self._names: dict[str, int] = {}
        self._paths: dict[str, dict[str, int]] = {}  # directory → name → code
        self._suffix_codes: dict[str, int] = {}
        by_name: list[tuple[int, str]] = []
        by_path: list[tuple[int, str]] = []
        for code, rule in rules:
            if not _SPECIAL.intersection(rule.body):
                parent, slash, name = rule.body.rpartition("/")
                (self._names if rule.by_name else self._paths.setdefault(parent + slash, {}))[name] = code
            elif rule.by_name and rule.body[0] == "*" and not _SPECIAL.intersection(rule.body[1:]):
                self._suffix_codes[rule.body[1:]] = code
            elif expression := translate(rule.body):
                (by_name if rule.by_name else by_path).append((code, expression))
        self._suffixes = tuple(self._suffix_codes)
        self._by_name, self._name_codes = _joined(by_name)
        self._by_path, self._path_codes = _joined(by_path)

    @property
    def is_empty(self) -> bool:
        """True if there is no rule."""
        return not (self._names or self._paths or self._suffixes or self._by_name or self._by_path)

    def matches(self, names: Collection[str], directory: str) -> dict[str, int]:
        """Give the names that a rule matches, with its code; `directory`, where they lie, is "" or ends with "/"."""
        code_of = {name: self._names[name] for name in self._names.keys() & names}
        here = self._paths.get(directory, _NONE)
        hits = [(name, here[name]) for name in here.keys() & names]
        if suffixes := self._suffixes:
            hits += [(name, self._by_suffix(name)) for name in names if name.endswith(suffixes)]
        if match := self._by_name:
            codes = self._name_codes
            hits += [(name, codes[hit.lastindex - 1]) for name in names if (hit := match(name)) and hit.lastindex]
        if match := self._by_path:
            codes = self._path_codes
            hits += [
                (name, codes[hit.lastindex - 1]) for name in names if (hit := match(directory + name)) and hit.lastindex
            ]
        for name, code in hits:
            code_of[name] = max(code, code_of.get(name, -1))
        return code_of

    def _by_suffix(self, name: str) -> int:
        return max(code for suffix, code in self._suffix_codes.items() if name.endswith(suffix))


_NONE: dict[str, int] = {}


def _joined(expressions: list[tuple[int, str]]) -> tuple[_FullMatch | None, tuple[int, ...]]:
    """One expression for all, the strongest first: its group tells which one matched."""
    if not expressions:
        return None, ()
    expressions = expressions[::-1]
    whole = "|".join(f"({expression})" for _, expression in expressions)
    return re.compile(whole, re.DOTALL).fullmatch, tuple(code for code, _ in expressions)


_STAR = "[^/]*"  # any part of one name
_FOLDERS = "(?:.*/)?"  # "**/": no directory, or several
_ALL = ".*"  # "**" at the end


class _Run(NamedTuple):
    """A wildcard and what must follow it, up to the next one."""

    wildcard: str
    fixed: str


def translate(body: str) -> str | None:
    """The regular expression of a pattern; None when it can match nothing, as with an open bracket.

    Only the last wildcard of a name, and the last "**", may be tried again elsewhere: for the others the leftmost place
    is as good as any. Without that, a hostile pattern such as `*a*a*a*a*b` takes minutes.
    """
    start = literal_start(body)
    runs = _runs(body[len(start) :])
    if runs is None:
        return None
    expression = re.escape(start) + runs[0].fixed
    crossing = [index for index, run in enumerate(runs) if run.wildcard in (_FOLDERS, _ALL)]
    last_crossing = crossing[-1] if crossing else 0
    open_group = False
    for index, run in enumerate(runs[1:], 1):
        if index in crossing:
            expression += ")" * open_group
            open_group = index != last_crossing
            expression += ("(?>" if open_group else "") + run.wildcard + ("?" if open_group else "") + run.fixed
        else:
            is_last = index == len(runs) - 1
            expression += run.wildcard + run.fixed if is_last else f"(?>{run.wildcard}?{run.fixed})"
    return expression


def _runs(glob: str) -> list[_Run] | None:
    runs = [_Run("", "")]
    index = 0
    while index < len(glob):
        if glob[index] == "*":
            wildcard, index = _wildcard(glob, index)
            runs.append(_Run(wildcard, ""))
            continue
        fixed, index = _one(glob, index)
        if fixed is None:
            return None
        runs[-1] = _Run(runs[-1].wildcard, runs[-1].fixed + fixed)
    return runs


def _wildcard(glob: str, start: int) -> tuple[str, int]:
    end = start
    while glob[end : end + 1] == "*":
        end += 1
    # "**" counts only between slashes. git has compared the part before the first wildcard by then and sees the rest
    # alone, so "a**/b" at the start of that rest counts as well.
    at_border = start == 0 or glob[start - 1] == "/"
    if end - start == 1 or not at_border:
        return _STAR, end
    if glob[end : end + 1] == "/":
        return _FOLDERS, end + 1
    return (_ALL if end == len(glob) or glob.startswith("\\/", end) else _STAR), end


def _one(glob: str, index: int) -> tuple[str | None, int]:
    """The expression for the one byte at `index`, and where the next one starts."""
    char = glob[index]
    if char == "?":
        return "[^/]", index + 1
    if char == "[":
        return _bracket(glob, index + 1)
    if char == "\\":
        index += 1
        if index == len(glob):
            return None, index
        char = glob[index]
    return re.escape(char), index + 1


def _bracket(glob: str, index: int) -> tuple[str | None, int]:
    negated = glob[index : index + 1] in ("!", "^") and index < len(glob)
    index += negated
    members: set[int] = set()
    previous = ""  # start of a possible range
    first = True
    while first or glob[index : index + 1] != "]":
        first = False
        char = glob[index : index + 1]
        if char == "[" and glob[index + 1 : index + 2] == ":":
            end = glob.find("]", index + 2)
            if end < 0:
                return None, end
            if glob[end - 1] == ":" and end - 1 >= index + 2:
                belongs = _CLASSES.get(glob[index + 2 : end - 1])
                if belongs is None:
                    return None, end
                members.update(code for code in range(128) if belongs(chr(code)))
                previous, index = "", end + 1
                continue
        is_range = char == "-" and previous and glob[index + 1 : index + 2] not in ("", "]")
        if is_range:
            index += 1
            char = glob[index]
        if char == "\\":
            index += 1
            char = glob[index : index + 1]
        if not char:
            return None, index
        members.update(range(ord(previous), ord(char) + 1) if is_range else (ord(char),))
        previous = "" if is_range else char
        index += 1
    if negated:
        members = set(range(256)) - members
    members.discard(ord("/"))
    return ("".join(["[", *(f"\\x{code:02x}" for code in sorted(members)), "]"]) if members else None), index + 1
