"""What a reader sees of an output: lines of files, and where in the output they stand. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from evals.metrics import Found


class Shown(NamedTuple):
    """A line of a file, or a file that is only named, and the number of characters until it has been read."""

    place: Found
    end: int


def of_search_text(text: str) -> Iterator[Shown]:
    """Yield the numbered lines below the places of `fathom search`."""
    path, end = "", 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if number := re.match(r"[ >] +(\d+)(?:  |$)", line):
            yield Shown(Found(path, int(number[1]), int(number[1])), end)
        elif head := re.match(r"(\S.*?):\d+-\d+", line):
            path = head[1]


def of_tool_text(text: str) -> Iterator[Shown]:
    """Yield the numbered lines below the places and files of the MCP tool."""
    path, end = "", 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        if head := re.match(r"\d+\. (\S.*?):\d+-\d+|also in (\S.*)", line):
            path = head[1] or head[2]
        elif number := re.match(r"(\d+):", line):
            yield Shown(Found(path, int(number[1]), int(number[1])), end)


def of_json(text: str, key: str, content: str, lines_of: Callable[[Any], Iterable[tuple[int, str]]]) -> Iterator[Shown]:
    """Yield the lines of the items in a list of JSON.

    `content` is the key of an item's text; `lines_of` returns number and text of each of its lines.
    """
    end = 0
    is_ascii = text.isascii()
    for item in json.loads(text).get(key, ()):
        dumped = json.dumps(item.get(content, ""), ensure_ascii=is_ascii)
        if begins := re.compile(f'"{content}": ?{re.escape(dumped)}').search(text, end):
            end = begins.end() - len(dumped) + 1
        for number, line in lines_of(item):
            written = json.dumps(line, ensure_ascii=is_ascii)[1:-1]
            end = text.index(written, end) + len(written)
            yield Shown(Found(item.get("path") or item["file_path"], number, number), end)


def consecutive(start: int, content: str) -> Iterable[tuple[int, str]]:
    """Return the lines of a text with their numbers."""
    return enumerate(content.split("\n"), start)


def numbered(content: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in which each begins with its number."""
    for line in content.split("\n"):
        if number := re.match(r"(\d+):", line):
            yield int(number[1]), line


def of_ripgrep(text: str) -> Iterator[Shown]:
    """Yield the lines of `rg --null`; with `--files-with-matches` the files alone."""
    end = 0
    for line in text.splitlines(keepends=True):
        end += len(line)
        path, mark, rest = line.partition("\0")
        if mark and not rest.strip("\n"):
            yield Shown(Found(path), end)
        elif number := re.match(r"\d+", rest):
            yield Shown(Found(path, int(number[0]), int(number[0])), end)
