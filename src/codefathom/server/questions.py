"""From a question as a client puts it to an answer in the making."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from typing import cast

from codefathom.asking import recent
from codefathom.errors import UsageError
from codefathom.providers.base import Message
from codefathom.server.answer_events import Happening
from codefathom.server.answers import Asker, Asking
from codefathom.server.auth import Caller
from codefathom.server.conversations import Conversation, history
from codefathom.server.problems import NotFoundError, NotIndexedError
from codefathom.server.searching import Limits, chosen_projects, indexed
from codefathom.server.several import ask_several
from codefathom.server.state import ServerState
from codefathom.server.stopping import ServedEngine


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
    named = question.projects or (conversation.projects if conversation else ())
    projects = chosen_projects(state, caller, named)
    if not named:
        projects = _with_index(state, caller, projects)
    where = question.limits.where()
    turns = (*(history(conversation) if conversation else ()), *question.history)
    if question.agent and len(projects) > 1:
        raise UsageError("an agent looks into one project", hint=f"name one of {', '.join(projects)} as project_id")
    with _engines(state, caller, projects) as engines:
        turns = recent(turns, engines[projects[0]].settings)
    if conversation is None and question.keep:
        conversation = state.conversations.begin(projects, caller.name)

    def ask(engines: Mapping[str, ServedEngine]) -> Iterator[Happening]:
        if len(engines) > 1:
            return ask_several(engines, question.text, where, question.pinned, turns)
        engine = engines[projects[0]]
        method = engine.investigate if question.agent else engine.ask_events
        return method(question.text, where=where, pinned=question.pinned, history=turns)

    asker = Asker(question.text, caller.name, conversation.id if conversation else "", projects)
    return state.answers.begin(asker, lambda: _opened(state, caller, projects, ask))


def conversation_of(state: ServerState, caller: Caller, conversation_id: str) -> Conversation:
    """Return a conversation of the caller. Raises NotFoundError, also when it is about projects out of reach."""
    conversation = state.conversations.get(conversation_id, caller.name)
    if not all(map(caller.may_use, conversation.projects)):
        raise NotFoundError(f"no such conversation: {conversation_id!r}", hint="GET /conversations lists them")
    return conversation


def _with_index(state: ServerState, caller: Caller, projects: Sequence[str]) -> tuple[str, ...]:
    """Return the projects that can be asked: who names none means these. Raises NotIndexedError when there is none."""
    found, error = [], None
    for project in projects:
        try:
            with indexed(state, project, caller):
                found.append(project)
        except NotIndexedError as problem:
            error = error or problem
    if error is not None and not found:
        raise error
    return tuple(found)


@contextmanager
def _engines(state: ServerState, caller: Caller, projects: Sequence[str]) -> Iterator[Mapping[str, ServedEngine]]:
    """Give the engines of projects that have an index. Raises NotFoundError and NotIndexedError."""
    with ExitStack() as stack:
        opened = {project: stack.enter_context(indexed(state, project, caller)) for project in projects}
        yield {project: engine for project, engine in opened.items() if isinstance(engine, ServedEngine)}


@contextmanager
def _opened(
    state: ServerState,
    caller: Caller,
    projects: Sequence[str],
    ask: Callable[[Mapping[str, ServedEngine]], Iterator[Happening]],
) -> Iterator[Iterator[Happening]]:
    """Give the events of an answer; at the end the model's call is ended, then the engines are given back."""
    with _engines(state, caller, projects) as engines:
        events = cast("Generator[Happening, None, None]", ask(engines))
        with closing(events):
            yield events
