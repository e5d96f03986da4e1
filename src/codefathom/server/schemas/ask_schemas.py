"""The JSON of questions, answers and conversations."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import AliasChoices, Field

from codefathom.compat.argument_names import REQUEST_KEYS
from codefathom.search.question.query import MAX_QUESTION
from codefathom.server.schemas.search_schemas import (
    AnyPaths,
    In,
    Out,
    PageOut,
    Parts,
    QuestionIn,
    Roots,
    Sentence,
    Sound,
    with_options,
)

Verdict: TypeAlias = Literal["good", "bad"]  # of a reader on an answer
MAX_COMMENT = 2_000  # characters


class TurnIn(In):
    """An earlier message."""

    role: Literal["user", "assistant"] = Field(examples=["user"])
    content: str = Field(examples=["where are orders priced?"])


@with_options("ask")
class AskIn(QuestionIn):
    """A question for a written answer."""

    project_ids: list[str] = Field(default=[], max_length=100, examples=[["shop"]])
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=1_000,
        examples=[50],
        description="number of candidates that are ranked, and maximum number of sources; "
        "default: rerank.candidates and rerank.top_n",
    )
    thorough: bool = Field(
        default=False,
        examples=[False],
        description="let the language model choose and judge the sources first, in many calls",
    )
    dry_run: bool = Field(
        default=False,
        examples=[False],
        description="ask no language model: `expected` says how many calls and tokens the answer would take",
    )
    pinned: list[str] = Field(
        default=[], max_length=100, examples=[[]], description="paths of files that must be among the sources"
    )
    history: list[TurnIn] = Field(default=[], max_length=200, examples=[[]])
    conversation_id: str = Field(
        default="", max_length=64, examples=[""], description="the conversation that this question continues"
    )
    keep: bool = Field(default=False, examples=[True], description="begin a conversation that the server stores")
    paths: AnyPaths = ()


class QueryIn(In):
    """A question for the agent."""

    question: str = Field(
        min_length=1,
        max_length=MAX_QUESTION,
        examples=["how is an order priced?"],
        validation_alias=AliasChoices("question", *REQUEST_KEYS["question"]),
    )
    project_id: str | None = Field(default=None, max_length=200, examples=["shop"])
    model: str = Field(
        default="",
        max_length=200,
        examples=[""],
        description="if present, it must be the model of the settings: llm.agent or llm.model",
    )
    max_iterations: int | None = Field(
        default=None, ge=1, le=100, examples=[6], description="maximum number of rounds; at most agent.rounds"
    )


class SourceOut(Out):
    """A numbered excerpt, a source of an answer."""

    id: Sound = Field(examples=["shop/pricing.py:12-30"])
    number: int = Field(examples=[1])
    path: Sound = Field(examples=["shop/pricing.py"], description="path as the answer cites it")
    project_id: str = Field(examples=["shop"])
    file: Sound = Field(examples=["shop/pricing.py"], description="path in the project")
    module: Sound = Field(examples=["shop"])
    score: float = Field(examples=[0.93])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[30])
    symbol: Sound = Field(default="", examples=["price_of"])
    reason: Sound = Field(default="", examples=["defines price_of"])
    place: Sound = Field(
        default="", examples=["page 3"], description="page, heading or cell, in a document that has such"
    )
    place_parts: Parts


class CitationOut(Out):
    """A place that the answer names and that was verified."""

    path: Sound = Field(examples=["shop/pricing.py"])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])
    symbol: Sound = Field(default="", examples=["price_of"])
    place: Sound = Field(
        default="", examples=["page 3"], description="page, heading or cell, in a document that has such"
    )
    place_parts: Parts


class DroppedOut(Out):
    """A citation that was removed from the answer."""

    text: Sound = Field(examples=["[shop/nowhere.py:1-2]"])
    reason: Sentence = Field(examples=["no source has this path"])
    reason_parts: Parts


class UsageOut(Out):
    """Tokens, as the provider counted them."""

    prompt_tokens: int = Field(examples=[2100])
    completion_tokens: int = Field(examples=[180])


class ClaimsOut(Out):
    """The sentences of an answer that say something, and those of them that name a place that was checked."""

    n: int = Field(examples=[1])
    n_checked: int = Field(examples=[1])


class ExpectedCostOut(Out):
    """The cost of an answer, as far as its search can tell."""

    n_calls: int = Field(examples=[21], description="calls of language models")
    n_tokens: int = Field(examples=[216_000], description="tokens of these calls")
    cost: float | None = Field(
        default=None, examples=[0.4], description="by the price of the prompt; null where no price is set"
    )


class AnswerOut(Out):
    """An answer, every citation checked."""

    question: Sound = Field(examples=["where are orders priced?"])
    answer: Sound = Field(examples=["In `price_of` [shop/pricing.py:12-14]."])
    citations: list[CitationOut]
    verified_share: float = Field(examples=[1.0])
    claims: ClaimsOut
    dropped_citations: list[DroppedOut] = Field(examples=[[]])
    confidence: float = Field(examples=[0.8])
    label: str = Field(examples=["high"], description="high, medium or low")
    weak: bool = Field(default=False, examples=[False], description="True if most likely nothing in the index answers")
    model: str = Field(examples=["ollama:qwen2.5-coder:14b"], description="empty for an answer of excerpts")
    usage: UsageOut
    cost: float | None = None
    sources: list[SourceOut]
    degraded: list[Sentence] = Field(examples=[[]], description="problems of this answer, one sentence each")
    degraded_parts: Parts
    stale: bool = Field(examples=[False])
    generation: int = Field(examples=[12])
    expected: ExpectedCostOut | None = Field(default=None, description="of a dry run, which asks no language model")
    error: Sound = Field(default="", description="the reason why the model's answer is not complete")
    projects: list[str] = Field(examples=[["shop"]])
    roots: Roots = Field(default={})
    answer_id: str = Field(examples=["9f0e4c"])
    conversation_id: str = Field(default="", examples=[""])


class FinalSourceOut(Out):
    """A source of the final answer."""

    path: Sound = Field(examples=["shop/pricing.py"])
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[30])
    symbol: Sound = Field(default="", examples=["price_of"])


class FinalAnswerOut(Out):
    """The agent's answer."""

    answer: Sound = Field(examples=["In `price_of` [shop/pricing.py:12-14]."])
    confidence: Literal["high", "medium", "low"] = Field(examples=["high"])
    sources: list[FinalSourceOut]
    reasoning: Sound = Field(default="", examples=["2 of 2 citations were verified"])


class ConversationIn(In):
    """A conversation to begin."""

    project_ids: list[str] = Field(default=[], max_length=100, examples=[["shop"]])
    title: str = Field(default="", max_length=1_000, examples=["Prices"])


class ConversationChangesIn(In):
    """What to change of a conversation; what is left out stays."""

    title: str | None = Field(default=None, min_length=1, max_length=1_000, examples=["Prices"])
    shared: bool | None = Field(
        default=None,
        examples=[True],
        description="true: everybody who may see all of its projects can read it; false: only you",
    )


class RatingIn(In):
    """What you think of an answer."""

    verdict: Verdict = Field(examples=["good"], description="good or bad")
    comment: str = Field(
        default="", max_length=MAX_COMMENT, examples=["It names the right function."], description="what is good or bad"
    )


class RatingOut(Out):
    """What a reader thinks of an answer."""

    verdict: Verdict = Field(examples=["good"], description="good or bad")
    comment: Sound = Field(default="", examples=["It names the right function."], description="in the reader's words")


class TurnOut(Out):
    """A question and its answer."""

    question: Sound = Field(examples=["where are orders priced?"])
    answer: Sound = Field(examples=["In `price_of` [shop/pricing.py:12-14]."])
    state: str = Field(examples=["done"], description="done, stopped or failed")
    asked_at: float = Field(examples=[1764000000.0])
    details: dict[str, Any] = Field(examples=[{"confidence": 0.8}], description="the answer without its text")
    rating: RatingOut | None = Field(default=None, description="what you think of the answer; null: you have not said")


class AnsweringOut(Out):
    """An answer that is being written."""

    answer_id: str = Field(
        examples=["0c4be1d2a7f8936155d0e3b1c2a49f70"], description="id for /answers/{answer_id}/events"
    )
    question: Sound = Field(examples=["and with a discount?"])
    is_agent: bool = Field(default=False, examples=[False])
    asked_at: float = Field(examples=[1764000000.0])


class ConversationOut(Out):
    """Questions that belong together; a list of conversations leaves the questions out."""

    id: str = Field(examples=["5f0c9e1b7a3d2c48"])
    title: Sound = Field(examples=["where are orders priced?"])
    projects: list[str] = Field(examples=[["shop"]])
    created_at: float = Field(examples=[1764000000.0])
    changed_at: float = Field(examples=[1764000001.0])
    turns: list[TurnOut] = Field(default=[], examples=[[]])
    answering: list[AnsweringOut] = Field(default=[], examples=[[]], description="answers that are being written now")
    shared_by: Sound | None = Field(
        default=None,
        examples=["ada@example.org"],
        description="name of the owner who shares it with everybody who may see its projects; null: it is private",
    )
    is_own: bool = Field(
        default=True, examples=[True], description="false: somebody else shares it, and you can only read it"
    )


class ConversationsOut(PageOut):
    """Conversations, the one that was used last first."""

    conversations: list[ConversationOut]


class CitedLinesOut(Out):
    """Lines that an answer of a conversation cites, and whether they are as they were then."""

    answer_id: str = Field(examples=["9f0e4c"])
    project_id: str = Field(examples=["shop"])
    path: Sound = Field(examples=["shop/pricing.py"], description="path in the project")
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])
    state: Literal["same", "changed", "gone", "unknown"] = Field(
        examples=["changed"],
        description="same; changed: other text stands there, also where lines were added above it; gone: the file or "
        "the lines are not there any more; unknown: the project cannot be read now",
    )


class CitedStateOut(Out):
    """The cited lines of a conversation, those of the latest answer first."""

    lines: list[CitedLinesOut] = Field(description="cited lines; answers of earlier versions of the server have none")
    n_left_out: int = Field(examples=[0], description="cited lines of earlier answers that were not compared")


class RatedPlaceOut(Out):
    """A place that a rated answer cites."""

    path: Sound = Field(examples=["shop/pricing.py"], description="path as the answer cites it")
    start_line: int = Field(examples=[12])
    end_line: int = Field(examples=[14])


class RatedAnswerOut(Out):
    """A rating, with the question and the answer that it is about."""

    verdict: Verdict = Field(examples=["good"], description="good or bad")
    comment: Sound = Field(examples=["It names the right function."], description="in the reader's words")
    by: Sound = Field(examples=["ada@example.org"], description="name of the reader; empty if the server needs none")
    at: float = Field(examples=[1764000000.0], description="time of the rating, in seconds since 1970")
    question: Sound = Field(examples=["where are orders priced?"])
    answer: Sound = Field(examples=["In `price_of` [shop/pricing.py:12-14]."])
    asked_at: float = Field(examples=[1764000000.0])
    projects: list[str] = Field(examples=[["shop"]], description="projects that were asked")
    commits: dict[str, str] = Field(
        examples=[{"shop": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d"}],
        description="commit of each of these projects at the time of the answer, if it is a work tree of git",
    )
    citations: list[RatedPlaceOut] = Field(examples=[[]])
    confidence: float | None = Field(examples=[0.8])
    label: str = Field(examples=["high"], description="high, medium or low; empty for an answer that failed")
    model: str = Field(examples=["ollama:qwen2.5-coder:14b"], description="empty for an answer of excerpts")
    conversation_id: str = Field(examples=["5f0c9e1b7a3d2c48"])
    answer_id: str = Field(examples=["9f0e4c"])


class RatingsOut(PageOut):
    """Ratings of answers, the latest first."""

    ratings: list[RatedAnswerOut] = Field(description="ratings of all readers")
    n_good: int = Field(examples=[12], description="ratings that say good, on all pages")
    n_bad: int = Field(examples=[3], description="ratings that say bad, on all pages")
