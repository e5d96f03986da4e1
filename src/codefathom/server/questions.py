"""From a question as a client puts it to an answer in the making."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import cast

from codefathom.asking import recent
from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.providers.base import Message
from codefathom.server.answer_events import Happening
from codefathom.server.answers import Asker, Asking
from codefathom.server.auth import Caller
from codefathom.server.conversations import Conversation, history
from codefathom.server.problems import NotFoundError
from codefathom.server.searching import Limits, chosen_projects, indexed
from codefathom.server.state import ServerState


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, of which projects, and in which conversation."""

    text: str
    projects: tuple[str, ...] = ()  # none: those of the conversation, else all
    agent: bool = False  # let the model look for itself
    limits: Limits = field(default_factory=Limits)
    pinned: tuple[str, ...] = ()
    history: tuple[Message, ...] = ()  # turns before, besides those of the conversation
    conversation_id: str = ""
    keep: bool = False  # begin a conversation where none is named


def begin(state: ServerState, caller: Caller, question: Question) -> Asking:
    """Begin to answer. Raises FathomError for what can be said before: an unknown project, no index, no question."""
    if not question.text.strip():
        raise UsageError("the question is empty", hint="ask for something, such as where orders are priced")
    conversation = None
    if question.conversation_id:
        conversation = conversation_of(state, caller, question.conversation_id)
    projects = chosen_projects(state, caller, question.projects or (conversation.projects if conversation else ()))
    where = question.limits.where()
    turns = (*(history(conversation) if conversation else ()), *question.history)
    project = _only(projects)
    with indexed(state, project, caller) as engine:
        turns = recent(turns, engine.settings)
    if conversation is None and question.keep:
        conversation = state.conversations.begin(projects, caller.name)

    def ask(engine: Engine) -> Iterator[Happening]:
        method = engine.investigate if question.agent else engine.ask_events
        return method(question.text, where=where, pinned=question.pinned, history=turns)

    asker = Asker(question.text, caller.name, conversation.id if conversation else "", projects)
    return state.answers.begin(asker, lambda: _opened(state, caller, project, ask))


def conversation_of(state: ServerState, caller: Caller, conversation_id: str) -> Conversation:
    """Return a conversation of the caller. Raises NotFoundError, also when it is about projects out of reach."""
    conversation = state.conversations.get(conversation_id, caller.name)
    if not all(map(caller.may_use, conversation.projects)):
        raise NotFoundError(f"no such conversation: {conversation_id!r}", hint="GET /conversations lists them")
    return conversation


def _only(projects: Sequence[str]) -> str:
    if len(projects) > 1:
        raise UsageError("a question goes to one project", hint=f"name one of {', '.join(projects)} as project_id")
    return projects[0]


@contextmanager
def _opened(
    state: ServerState, caller: Caller, project: str, ask: Callable[[Engine], Iterator[Happening]]
) -> Iterator[Iterator[Happening]]:
    """Give the events of an answer; at the end the model's call is ended, then the engine is given back."""
    with indexed(state, project, caller) as engine:
        events = cast("Generator[Happening, None, None]", ask(engine))
        with closing(events):
            yield events
