"""A unified diff, as `git diff` and `diff -u` write it → the files and lines that it changes. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from codefathom.errors import UsageError

MOST_CHARS = 20_000_000
MOST_FILES = 5_000

_MOST_PATH_CHARS = 4_096  # what systems allow
_NO_FILE = "/dev/null"
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_HEADER = re.compile(r'diff --git ("(?:[^"\\]|\\.)*"|\S.*?) ("(?:[^"\\]|\\.)*"|\S.*)$')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SIDE = re.compile(r"^[abciow]/")  # of `diff.mnemonicPrefix` as well
_REMEDY = "write it with `git diff` or `diff -u`, and do not edit it"


class Hunk(NamedTuple):
    """Neighbouring lines of a file, before and after."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]  # each begins with " ", "-" or "+"

    def side(self, mark: str) -> list[str]:
        """Return the lines before ("-") or after ("+")."""
        return [line[1:] for line in self.lines if line[0] in (" ", mark)]


class FileDiff(NamedTuple):
    """The changes of one file."""

    old_path: str  # "" for a new file
    new_path: str  # "" for a removed one
    hunks: tuple[Hunk, ...]
    is_binary: bool = False

    @property
    def path(self) -> str:
        """The present path, of a removed file the last one."""
        return self.new_path or self.old_path


def read_diff(text: str) -> tuple[FileDiff, ...]:
    """Return the files of a diff. Raises UsageError for what is no diff, with the line, and for one that is too large.

    Text before the first file, such as the message of a commit, does not count.
    """
    if len(text) > MOST_CHARS:
        raise UsageError(
            f"the diff has {len(text)} characters, and {MOST_CHARS} are the most", hint="give it in parts, by folder"
        )
    reader = _Reader(text.split("\n"))
    reader.read()
    if not reader.files and text.strip():
        raise UsageError("this is not a unified diff: no line begins a file or a hunk", hint=_REMEDY)
    if len(reader.files) > MOST_FILES:
        raise UsageError(
            f"the diff has {len(reader.files)} files, and {MOST_FILES} are the most", hint="give it in parts, by folder"
        )
    return tuple(reader.files)


def other_side(text: str, file: FileDiff, *, backwards: bool = False) -> str | None:
    """Return a text after the change, or `backwards` before it; None when it has other lines than the diff says."""
    before, after = ("+", "-") if backwards else ("-", "+")
    lines = text.split("\n")
    result: list[str] = []
    done = 0
    for hunk in file.hunks:
        start = hunk.new_start if backwards else hunk.old_start
        old_lines = hunk.side(before)
        start -= bool(old_lines)  # without lines on this side the number is that of the line above
        if start < done or list(map(_plain, lines[start : start + len(old_lines)])) != list(map(_plain, old_lines)):
            return None
        result += lines[done:start] + hunk.side(after)
        done = start + len(old_lines)
    return "\n".join(result + lines[done:])


def _plain(line: str) -> str:
    return line.rstrip("\r")


class _Reader:
    """Reads the lines of a diff from top to bottom."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0
        self.files: list[FileDiff] = []
        self._begin()

    def _begin(self, old: str = "", new: str = "") -> None:
        self._old, self._new = old, new
        self._hunks: list[Hunk] = []
        self._is_binary = False
        self._is_open = bool(old or new)

    def read(self) -> None:
        """Read all files."""
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip("\r")
            match = _HEADER.match(line)
            if match:
                self._end()
                self._begin(_path(match[1]), _path(match[2]))
            elif line.startswith("--- ") and self._next().startswith("+++ "):
                self._paths(line)
                continue
            elif line.startswith("@@@"):
                raise self._broken("it is the diff of a merge, with more than two sides")
            elif self._is_open:
                self._part(line)
                continue
            self._at += 1
        self._end()

    def _next(self) -> str:
        return self._lines[self._at + 1].rstrip("\r") if self._at + 1 < len(self._lines) else ""

    def _paths(self, line: str) -> None:
        """Take the paths of the lines `---` and `+++`; without a line of git before them they begin a file."""
        if self._hunks or not self._is_open:
            self._end()
            self._begin()
        self._old, self._new = _path(_without_time(line[4:])), _path(_without_time(self._next()[4:]))
        self._is_open = True
        self._at += 2

    def _part(self, line: str) -> None:
        self._at += 1
        for start, take in _LINES_OF_GIT.items():
            if line.startswith(start):
                take(self, line.removeprefix(start))
                return
        if line.startswith("@@"):
            self._hunk(line)

    def _hunk(self, line: str) -> None:
        match = _HUNK.match(line)
        if match is None:
            raise self._broken(f"{line[:80]!r} is not a line of a hunk")
        old, new = (int(match[n]) if match[n] is not None else 1 for n in (2, 4))
        first = self._at
        while (old > 0 or new > 0) and self._at < len(self._lines):
            mark = self._lines[self._at][:1] or " "  # some programs cut the space of an empty line
            if mark not in " -+\\":
                break
            old -= mark in " -"
            new -= mark in " +"
            self._at += 1
        if old or new:
            raise self._broken("a hunk has fewer or more lines than its first line says")
        lines = (part if part.rstrip("\r") else " " for part in self._lines[first : self._at])
        self._hunks.append(Hunk(int(match[1]), int(match[3]), tuple(part for part in lines if part[0] != "\\")))

    def set_old(self, path: str) -> None:
        """Take the path before a renaming; "" for a new file."""
        self._old = path

    def set_new(self, path: str) -> None:
        """Take the path after a renaming; "" for a removed file."""
        self._new = path

    def set_binary(self) -> None:
        """Take note that the file is no text."""
        self._is_binary = True

    def _end(self) -> None:
        if self._is_open:
            hunks = sorted(self._hunks, key=lambda hunk: hunk.old_start)
            self.files.append(FileDiff(self._old, self._new, tuple(hunks), self._is_binary))
        self._is_open = False

    def _broken(self, reason: str) -> UsageError:
        return UsageError(f"the diff is broken at line {self._at}: {reason}", hint=_REMEDY)


_LINES_OF_GIT: dict[str, Callable[[_Reader, str], None]] = {
    "rename from ": lambda reader, rest: reader.set_old(_unquoted(rest)),
    "rename to ": lambda reader, rest: reader.set_new(_unquoted(rest)),
    "copy from ": lambda reader, _: reader.set_old(""),
    "new file mode ": lambda reader, _: reader.set_old(""),
    "deleted file mode ": lambda reader, _: reader.set_new(""),
    "Binary files ": lambda reader, _: reader.set_binary(),
    "GIT binary patch": lambda reader, _: reader.set_binary(),
}


def _without_time(name: str) -> str:
    """Return a name without the time that `diff -u` writes behind a tab."""
    return name if name.startswith('"') else name.partition("\t")[0].rstrip()


def _path(name: str) -> str:
    """Return a path without the mark of its side. Raises UsageError for one that leaves the project."""
    written = _unquoted(name)
    path = "" if written == _NO_FILE else _SIDE.sub("", written, count=1)
    if path.startswith("/") or ".." in path.split("/") or "\0" in path or len(path) > _MOST_PATH_CHARS:
        raise UsageError(f"the diff names {path[:200]!r}, which is not a path inside a project", hint=_REMEDY)
    return path.removeprefix("./")


def _unquoted(name: str) -> str:
    """Return a name as it is; git quotes those with unusual characters, byte by byte."""
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    data = bytearray()
    end = 1
    for match in _ESCAPE.finditer(name, 1, len(name) - 1):
        data += name[end : match.start()].encode("utf-8", "surrogateescape")
        code = match[1]
        data += bytes([int(code, 8) & 255]) if code.isdigit() else _LETTERS.get(code, code).encode()
        end = match.end()
    data += name[end:-1].encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")
