"""What an answer is made from, and the course of one question: its stages, what they used, and what went wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from codefathom.answer.budget import Material, NameOf, Shares
from codefathom.answer.judge import JudgeOptions
from codefathom.answer.record import Recorded
from codefathom.answer.select import Listed
from codefathom.answer.types import MAX_CALLS, NO_PRICES, ModelCall, Prices, StageTrace, traced
from codefathom.providers.base import NO_USAGE, ChatModel, Message, Usage
from codefathom.types import RelatedResult, SearchResult


@dataclass(frozen=True, slots=True)
class Project:
    """What an answer asks of a project."""

    search: Callable[[str, int], SearchResult]  # question, most hits → hits that are chunks
    text: Callable[[str], str]  # path → the indexed text, "" when there is none
    on_disk: Callable[[str], str | None]  # path → the text as it is now, None when the file is gone
    name_of: NameOf
    related: Callable[[str], RelatedResult]  # path → what it imports and what imports it
    outline: Callable[[Sequence[str]], Sequence[Listed]]  # candidates → these, or all files of a small project


class Models(NamedTuple):
    """The model of each role; None: that stage is left out."""

    answer: ChatModel | None = None
    select: ChatModel | None = None
    judge: ChatModel | None = None
    excerpt: ChatModel | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked and within which limits."""

    text: str
    budget: Shares
    judging: JudgeOptions
    history: tuple[Message, ...] = ()
    queries: tuple[str, ...] = ()  # further searches, made of the question and its history
    pinned: tuple[Material, ...] = ()  # never judged away, only budgeted
    filter_level: int = 0  # 0: as found; 1: selected and judged by a model; 2: with related files
    n_sources: int = 8
    max_tokens: int = 2_048
    least_confidence: float = 0.2
    in_line_order: bool = True
    max_input_tokens: int = 32_000  # of one call of the selecting or excerpting model
    prices: Prices = NO_PRICES
    mask: Callable[[str], str] = str  # takes out of a trace what is taken out of what leaves the machine


@dataclass(slots=True)
class Course:
    """One question on its way: what happened so far."""

    question: Question
    project: Project
    models: Models
    support: float = 0.0  # how much a judge, or the asker, thinks of the sources; 0 to 1
    by_itself: str = ""  # the question without its conversation, as a model writes it
    trace: list[StageTrace] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    usage: Usage = NO_USAGE

    @contextmanager
    def stage(self, name: str, given: Sequence[str]) -> Iterator[Stage]:
        """Time a stage and keep what it was given, what models were asked in it, and what it says of itself."""
        started = time.perf_counter()
        mask = self.question.mask
        stage = Stage(mask)
        yield stage
        usage = stage.usage
        self.trace.append(
            StageTrace(
                stage=name,
                milliseconds=(time.perf_counter() - started) * 1000,
                n_in=len(given),
                n_out=stage.n_out,
                usage=usage,
                detail=stage.detail,
                input=traced(map(mask, given)),
                output=traced(map(mask, stage.output)),
                cost=self.question.prices.cost(usage),
                calls=tuple(stage.calls[:MAX_CALLS]),
                n_calls=len(stage.calls),
            )
        )
        self.usage += usage

    def lack(self, *problems: str) -> None:
        """Keep what the answer has to say about itself."""
        self.degraded += filter(None, problems)


@dataclass(slots=True)
class Stage:
    """What a stage says of itself while it runs."""

    mask: Callable[[str], str] = str
    n_out: int = 0
    detail: str = ""
    output: Sequence[str] = ()
    _models: list[Recorded] = field(default_factory=list)

    def recorded(self, model: ChatModel) -> ChatModel:
        """Return the model as this stage may ask it: every call is kept."""
        self._models.append(Recorded(model, self.mask))
        return self._models[-1]

    @property
    def calls(self) -> list[ModelCall]:
        """What models were asked so far."""
        return [call for model in self._models for call in model.calls]

    @property
    def usage(self) -> Usage:
        """The tokens of all calls."""
        return sum((call.usage for call in self.calls), NO_USAGE)
