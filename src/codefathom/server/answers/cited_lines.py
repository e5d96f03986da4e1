"""The lines that an answer cites: their digests when it was written, and whether they are still the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, TypeAlias

from codefathom.errors import SourceError, UsageError
from codefathom.question.asker import Asker, result_of
from codefathom.question.question import Question
from codefathom.types import FileLines

MOST_CITED = 50  # of one answer; each is one short look at a file
# same; changed: other text stands there, also where lines were added above; gone: the file or the lines are not there.
LinesState: TypeAlias = Literal["same", "changed", "gone"]


class CitedLines(NamedTuple):
    """Lines that an answer cites, in the file of a project."""

    project_id: str
    path: str  # in the project
    start_line: int
    end_line: int
    digest: str


class CitedState(NamedTuple):
    """What an answer rests on, at the time when it was written: the last event of an answer that is kept."""

    lines: tuple[CitedLines, ...]
    commits: Mapping[str, str]  # of each project that is a work tree of git

    def as_json(self) -> dict[str, Any]:
        """Return it as a conversation stores it."""
        return {"cited": [lines._asdict() for lines in self.lines], "commits": dict(self.commits)}


def cited_of(details: Mapping[str, Any]) -> tuple[CitedLines, ...]:
    """Return the cited lines that a conversation stores; none of an answer of an earlier version of the server."""
    return tuple(CitedLines(**lines) for lines in details.get("cited", ()))


def noted_lines(
    asker: Asker, places: Sequence[tuple[str, int, int]], owner_of: Callable[[str], tuple[str, str]]
) -> Iterator[CitedLines]:
    """Yield the lines at places, each with the digest of its text; places that cannot be read are left out.

    `owner_of` returns the project of a path, and the path in it.
    """
    for path, start_line, end_line in places[:MOST_CITED]:
        digest = digest_at(asker, path, start_line, end_line)
        if digest:
            yield CitedLines(*owner_of(path), start_line, end_line, digest)


def state_of(asker: Asker, lines: CitedLines) -> LinesState:
    """Return whether lines in a project are as they were."""
    digest = digest_at(asker, lines.path, lines.start_line, lines.end_line)
    return "gone" if not digest else "same" if digest == lines.digest else "changed"


def digest_at(asker: Asker, path: str, start_line: int, end_line: int) -> str:
    """Return the digest of lines as they are now; "" where they cannot be read."""
    # From the first line on is what a place such as `a.py:10-20` says better.
    question = Question(path, "lines", start_line=start_line if start_line > 1 else 0, end_line=end_line)
    try:
        excerpt: FileLines = result_of(asker, question)
    except (SourceError, UsageError):
        return ""
    return blake2b(excerpt.text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
