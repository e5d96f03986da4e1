"""The commits that made the lines of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from codefathom.types.hits import NO_REST, CommitMark, Rest


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """What a commit made of some lines: before it with "-", after it with "+", the same on both sides with a blank."""

    commit: CommitMark
    path: str  # of the file then
    start_line: int  # after the change
    end_line: int
    lines: tuple[str, ...]
    has_marks: bool = False  # marks stand in the place of secrets

    @property
    def before(self) -> str:
        """The lines before the commit, "" where it added them."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "+")

    @property
    def after(self) -> str:
        """The lines after the commit, "" where it removed them."""
        return "\n".join(line[1:] for line in self.lines if line[0] != "-")


@dataclass(frozen=True, slots=True)
class FileOwner:
    """Somebody who has changed a file, with the number of commits."""

    name: str
    n_commits: int


@dataclass(frozen=True, slots=True)
class LineHistory:
    """The commits that made some lines, the latest first, and the owners of their file."""

    path: str
    start_line: int
    end_line: int
    steps: tuple[HistoryStep, ...]
    code_owners: tuple[str, ...] = ()  # that the file CODEOWNERS names
    changed_by: tuple[FileOwner, ...] = ()  # who changed the file most often, first
    offset: int = 0
    rest: Rest = NO_REST
    note: str = ""  # why there are no steps


class BlamedLines(NamedTuple):
    """Lines that follow each other, and the commit that all of them come from."""

    start_line: int
    end_line: int
    commit: CommitMark | None  # None: they are in no commit yet
