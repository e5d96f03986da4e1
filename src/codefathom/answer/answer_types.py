"""The values of an answer: those that its stages pass on, and the answer that a caller gets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from codefathom.answer.claims import NO_CLAIMS, Claims, claims
from codefathom.errors import FathomError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.providers.base import NO_USAGE, Message, Usage
from codefathom.text.printable import show_name
from codefathom.types import Where

Label = Literal["high", "medium", "low"]
_HIGH, _MEDIUM = 0.66, 0.33
_LEAST_VERIFIED, _MOST_DOUBTED = 0.9, 0.6
_MAX_TRACED = 100
_MAX_TRACED_CHARACTERS = 2_000


class AnswerStep(NamedTuple):
    """The present work of an answer, for whoever waits for it."""

    phase: str  # plan: what the answer will cost; search, rewrite, select, judge, excerpts, answer; waiting: no reply
    text: str


OnStep = Callable[[AnswerStep], None]  # may be called from another thread


def ignore_step(_: AnswerStep) -> None:
    """Do nothing."""


class AnswerRequest(NamedTuple):
    """A question to be answered in words, with everything that goes with it."""

    text: str
    where: Where | None = None  # filter that the sources pass; the tools of an agent show only files with such lines
    pinned: tuple[str, ...] = ()  # paths that are among the sources in any case
    documents: Mapping[str, str] = {}  # further texts by name, such as a file outside the project
    history: tuple[Message, ...] = ()  # the turns before
    commits: bool = False  # from the commits of the project instead of its files
    anyway: bool = False  # answer also where most likely nothing here does
    on_step: OnStep = ignore_step
    as_command: bool = False  # one shell command instead of a text; nothing runs it
    dry_run: bool = False  # no model is asked: the answer says what it would cost
    for_agent: bool = False  # whose model reads the answer: no secret goes into it, as `mcp.secrets` says


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
    is_part: bool = False  # a part of one long line
    document_place: Note | None = None  # page, heading or cell; None in a file that is a text

    @property
    def place(self) -> str:
        """Page, heading or cell, such as "page 3"; "" in a file that is a text."""
        return str(self.document_place or "")


@dataclass(frozen=True, slots=True)
class Citation:
    """A place that an answer names, and that was verified."""

    path: str
    start_line: int
    end_line: int
    symbol: str = ""
    document_place: Note | None = None  # page, heading or cell; None in a file that is a text

    @property
    def place(self) -> str:
        """Page, heading or cell, such as "page 3"; "" in a file that is a text."""
        return str(self.document_place or "")

    @property
    def shown(self) -> str:
        """The place as it stands in the text of an answer."""
        return f"[{show_name(self.path)}:{self.start_line}-{self.end_line}]"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A citation that was removed from an answer."""

    text: str  # as the model wrote it
    why: Note

    @property
    def reason(self) -> str:
        """The reason in English."""
        return str(self.why)


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer's text after its citations were checked."""

    text: str  # every citation in the form [path:start-end]
    citations: tuple[Citation, ...]  # each place once, in order of appearance
    dropped: tuple[Dropped, ...]

    @property
    def verified_share(self) -> float:
        """Share of the citations that hold; 0.0 if there are none."""
        total = len(self.citations) + len(self.dropped)
        return len(self.citations) / total if total else 0.0

    @property
    def problem(self) -> Note | None:
        """The defect of a model's answer, None if it cites and every citation holds."""
        if self.dropped:
            several = Note(say.CITATIONS_REMOVED, {"count": len(self.dropped)})
            return several if len(self.dropped) > 1 else Note(say.CITATION_REMOVED)
        if self.citations or not self.text.strip():
            return None
        return Note(say.CITES_NOTHING)

    def followed_by(self, other: Checked) -> Checked:
        """Return both texts as one."""
        citations = tuple(dict.fromkeys((*self.citations, *other.citations)))
        return Checked(self.text + other.text, citations, self.dropped + other.dropped)

    @property
    def claims(self) -> Claims:
        """The sentences of the text, and those of them that name a place that holds."""
        return claims(self.text, {citation.shown for citation in self.citations})

    def confidence(self, of_sources: float) -> float:
        """Return the confidence in a model's answer: that of its sources, lowered for what no checked place bears out.

        It is not high where more than one in ten citations does not hold.
        """
        lowered = of_sources * (0.1 + 0.9 * min(self.verified_share, self.claims.share))
        return min(lowered, _MOST_DOUBTED) if self.dropped and self.verified_share < _LEAST_VERIFIED else lowered


NOTHING_WRITTEN = Checked("", (), ())


class ExpectedCost(NamedTuple):
    """The cost of an answer, as far as its search can tell: calls of models, and what these are sent and may write."""

    n_calls: int
    n_tokens: int
    cost: float | None = None  # None: the prices are not known, or the models have different ones

    def __str__(self) -> str:
        if not self.n_calls:
            return "this answer asks no model"
        calls = "1 call" if self.n_calls == 1 else f"{self.n_calls:,} calls"
        price = f", cost {self.cost:.4f}" if self.cost else ""
        return f"this answer takes about {calls} of models and {self.n_tokens:,} tokens{price}"


def label_of(confidence: float) -> Label:
    """Return a confidence in a word."""
    return "high" if confidence >= _HIGH else "medium" if confidence >= _MEDIUM else "low"


@dataclass(frozen=True, slots=True)
class TracedMessage:
    """A message of a prompt, as a trace keeps it."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The prompt and the reply of one call: masked as it was sent, long texts without their middle."""

    model: str
    prompt: tuple[TracedMessage, ...]  # of many messages the first and the latest
    reply: str  # as far as it came, with the tools that it calls
    milliseconds: float
    usage: Usage = NO_USAGE
    problem: str = ""  # the reason why the reply is not whole


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage of an answer, for `--trace` and `--explain`."""

    stage: str
    milliseconds: float
    n_in: int
    n_out: int
    usage: Usage = NO_USAGE
    detail: str = ""
    input: tuple[str, ...] = ()  # such as queries, or paths
    output: tuple[str, ...] = ()  # such as paths with their grades, or the reply of a model
    cost: float | None = None  # None: the price of a model is not known, or no token was counted
    calls: tuple[ModelCall, ...] = ()  # of models, the first of them
    n_calls: int = 0


def with_hint(error: FathomError) -> str:
    """Return the message of an error with its remedy."""
    return f"{error}; {error.hint}" if error.hint else str(error)


def traced(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts as a trace keeps them: not too many, and none too long."""
    iterator = iter(texts)
    kept = [
        text if len(text) <= _MAX_TRACED_CHARACTERS else f"{text[:_MAX_TRACED_CHARACTERS]}…"
        for text in islice(iterator, _MAX_TRACED)
    ]
    n_more = sum(1 for _ in iterator)
    return (*kept, f"… and {n_more} more") if n_more else tuple(kept)


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
    problems: tuple[Told, ...] = ()
    stale: bool = False
    trace: tuple[StageTrace, ...] = field(default=())
    cost: float | None = None  # of the tokens that providers counted; None: these or the prices are not known
    failure: str = ""  # the reason why the model gave no whole answer; `degraded` has it too, and excerpts follow
    hint: str = ""  # the remedy for a failure
    claims: Claims = NO_CLAIMS  # its sentences, and those of them that name a checked place
    weak: bool = False  # most likely nothing here answers the question
    expected: ExpectedCost | None = None  # of a dry run; the text says it in words

    @property
    def degraded(self) -> tuple[str, ...]:
        """The problems in English, one sentence each."""
        return tuple(map(str, self.problems))
