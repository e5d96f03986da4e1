"""What a test is called and what it calls: the title asks for the function that is tested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from codefathom.providers.local.bundled import parts_of

_MOST_LINES = 25
# it("…"), test "…" do, @test "…", then def test_…, func Test…, fun `…`, void ShouldThrow…
_TITLE = re.compile(
    r"^\s*(?:it|test|specify|scenario|@test|It)\b\s*\(?\s*[\"'`](?P<said>[^\"'`]{8,160})[\"'`]"
    r"|\b(?:def|fn|func|fun|function|void|Task)\s+(?:`(?P<quoted>[^`]{8,160})`"
    r"|(?P<named>[tT]est\w{4,80}|\w*(?:[sS]hould|_when_|When)\w{3,60}))"
)
_CALL = re.compile(r"([A-Za-z_]\w{2,})[?!]?\s*[(<]|\.([A-Za-z_]\w{2,})\b")
_NOISE = {"test", "tests", "should", "it", "that"}


class Case(NamedTuple):
    """The title of a test in words, and the names that are called in it, in order."""

    title: str
    called: tuple[str, ...]


def cases_of(text: str) -> Iterator[Case]:
    """Yield the tests of a file."""
    lines = text.split("\n")
    starts = [(number, title) for number, line in enumerate(lines) if (title := _title(line))]
    for (start, title), (end, _) in pairwise([*starts, (len(lines), "")]):
        body = "\n".join(lines[start + 1 : min(end, start + 1 + _MOST_LINES)])
        called = dict.fromkeys(match[1] or match[2] for match in _CALL.finditer(body))
        if len(title.split()) > 2:
            yield Case(title, tuple(called))


def _title(line: str) -> str:
    match = _TITLE.search(line)
    if not match:
        return ""
    if match["named"]:
        return " ".join(part for part in parts_of(match["named"]) if part not in _NOISE)
    return str(match["said"] or match["quoted"]).strip()


def matched(tests: Sequence[Case], is_known: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Yield a title with the called name that has most words of it; of several, the one that the fewest tests call."""
    often = Counter(name for test in tests for name in test.called)
    for test in tests:
        words = {word.lower() for word in test.title.split()} - _NOISE
        shared = {name: len(words.intersection(parts_of(name))) for name in test.called if is_known(name)}
        best = max(shared, key=lambda name: (shared[name], -often[name]), default="")
        if best and shared[best]:
            yield test.title, best
