"""The question, project and models of an answer, and one run of it: its stages and problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codefathom.answer.answer_types import OnStep, ignore_step
from codefathom.answer.budget import CountTokens, Material, NameOf, Shares
from codefathom.answer.record import PricesOf, Record
from codefathom.answer.stages.judge import JudgeOptions
from codefathom.answer.stages.select import OutlineFile
from codefathom.answer.tokens import estimate
from codefathom.facts.reasons import Told
from codefathom.providers.base import ChatModel, Message
from codefathom.types import NO_PRICES, RelatedResult, SearchResult


@dataclass(frozen=True, slots=True)
class AnswerProject:
    """The functions of a project that an answer needs."""

    search: Callable[[str, int], SearchResult]  # question, most hits → hits that are chunks
    text: Callable[[str], str]  # path → the indexed text, "" when there is none
    on_disk: Callable[[str], str | None]  # path → the text as it is now, None when the file is gone
    name_of: NameOf
    related: Callable[[str], RelatedResult]  # path → what it imports and what imports it
    outline: Callable[[Sequence[str]], Sequence[OutlineFile]]  # candidates → these, or all files of a small project


class Models(NamedTuple):
    """The model of each role; None: that stage is left out."""

    answer: ChatModel | None = None
    select: ChatModel | None = None
    judge: ChatModel | None = None
    excerpt: ChatModel | None = None


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The question, with the limits for its answer."""

    text: str
    budget: Shares
    judging: JudgeOptions
    history: tuple[Message, ...] = ()
    pinned: tuple[Material, ...] = ()  # never judged away, only budgeted
    filter_level: int = 0  # 0: as found; 1: selected and judged by a model; 2: with related files
    n_sources: int = 8
    max_tokens: int = 2_048
    least_confidence: float = 0.02
    anyway: bool = False  # answer also where most likely nothing here does
    dry_run: bool = False  # no model is asked; the answer says what it would cost
    shell: str = ""  # the shell for which one command is wanted instead of a text
    in_line_order: bool = True
    count: CountTokens = estimate
    max_input_tokens: int = 32_000  # of one call of the selecting or excerpting model
    prices_of: PricesOf = lambda _: NO_PRICES
    mask: Callable[[str], str] = str  # masks in a trace the secrets that are masked for remote models
    on_step: OnStep = ignore_step


@dataclass(slots=True)
class AnswerRun:
    """The state of one answer while its stages run."""

    question: AnswerQuestion
    project: AnswerProject
    models: Models
    record: Record
    support: float = 0.0  # confidence of a judge, or of the user who pinned them, in the sources; 0 to 1
    by_itself: str = ""  # the question as a model rewrites it, complete without its conversation
    degraded: list[Told] = field(default_factory=list)

    def say(self, phase: str, text: str) -> None:
        """Tell whoever waits what the answer is at."""
        self.record.say(phase, text)

    def add_degraded(self, *problems: Told | None) -> None:
        """Keep notes on limitations of the answer; empty ones are left out."""
        self.degraded += [problem for problem in problems if problem]
