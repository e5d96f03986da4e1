"""A conversation: the questions that belong together, with their answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ConversationTurn:
    """A question and its answer. `details` is the answer as clients see it, without its text."""

    question: str
    answer: str
    state: str  # "done", "stopped" when whoever asked has left, "failed"
    asked_at: float
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Questions that belong together. Times are seconds since the epoch."""

    id: str
    title: str
    projects: tuple[str, ...]
    owner: str  # id of the caller, "" where none is needed
    created_at: float
    changed_at: float
    shared_by: str | None = None  # name of the owner, who shares it with all who may see `scope`; None: it is private
    scope: frozenset[str] = frozenset()  # projects, also those that only one of its questions has named
    turns: tuple[ConversationTurn, ...] = ()  # of a list: none
