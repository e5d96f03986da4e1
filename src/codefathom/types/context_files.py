"""Files and excerpts for a prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

from codefathom.facts.reasons import Told


@dataclass(frozen=True, slots=True)
class Context:
    """Whole files for a prompt, most relevant first, under a budget."""

    query: str
    files: tuple[ContextFile, ...]
    n_tokens: int
    truncated: tuple[str, ...] = ()  # paths of files of which only a part fitted
    absent: tuple[str, ...] = ()  # paths of files of which nothing fitted
    problems: tuple[Told, ...] = ()  # what the search had to do without
    weak: bool = False  # most likely none of the files answers
    n_left_out: int = 0  # further files with hits, above the largest number of files
    n_left_out_is_exact: bool = True  # False: at least so many, and maybe more

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems in English, one sentence each."""
        return tuple(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class ContextFile:
    """One file, or its excerpts, in a context."""

    path: str
    text: str
    score: float
    reason: str
    spans: tuple[tuple[int, int], ...] = ()  # (start_line, end_line); empty when the file is whole
    symbols: tuple[str, ...] = field(default=())
