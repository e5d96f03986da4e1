"""What the stages of an answer hand to each other, and what its caller gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from codefathom.providers.base import NO_USAGE, Usage

Label = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered excerpt that a model is shown. Lines count from 1, both ends included."""

    number: int
    path: str
    start_line: int
    end_line: int
    text: str
    symbol: str = ""
    score: float = 0.0
    reason: str = ""
    is_whole: bool = False  # the whole file


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that an answer names, found to be there."""

    path: str
    start_line: int
    end_line: int
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A citation that was removed from an answer."""

    text: str  # as the model wrote it
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer's text after its citations were checked."""

    text: str  # every citation in the form [path:start-end]
    citations: tuple[Citation, ...]  # each place once, in order of appearance
    dropped: tuple[Dropped, ...]

    @property
    def verified_share(self) -> float:
        """Share of the citations that were found to be right; 0.0 when there are none."""
        total = len(self.citations) + len(self.dropped)
        return len(self.citations) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage of an answer, for `--trace`."""

    stage: str
    milliseconds: float
    n_in: int
    n_out: int
    usage: Usage = NO_USAGE
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer whose citations were all looked up in the index and on the disk."""

    question: str
    text: str
    citations: tuple[Citation, ...]
    dropped: tuple[Dropped, ...]
    verified_share: float  # 0 to 1
    confidence: float  # 0 to 1
    label: Label
    model: str  # "" when the answer consists of excerpts
    usage: Usage
    sources: tuple[Source, ...]
    generation: int
    degraded: tuple[str, ...] = ()
    stale: bool = False
    trace: tuple[StageTrace, ...] = field(default=())
