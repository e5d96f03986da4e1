"""From a question as a client puts it to an answer in the making."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import cast

from codefathom.answer.answer_types import Answer, OnStep
from codefathom.answer.ask import AnswerSources, Text
from codefathom.askers.joined import JoinedProjects
from codefathom.askers.joined_answers import failure_notes
from codefathom.config.settings import NOTHING, Settings
from codefathom.errors import FathomError, FirstRunError, StoppedError, UsageError
from codefathom.facts.reasons import NOT_ASKED, Note
from codefathom.project.answer_setup import recent
from codefathom.providers.base import NO_USAGE
from codefathom.question.question import Question
from codefathom.search.question.query import check_length, unwrap
from codefathom.server.answers.answer_events import AnswerRoots, EngineEvent
from codefathom.server.answers.answer_runs import AnswerTask, AskedBy
from codefathom.server.answers.cited_lines import CitedState, noted_lines
from codefathom.server.answers.conversation_record import Conversation
from codefathom.server.answers.conversations import history
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotFoundError, TryLaterError
from codefathom.server.projects.asked_projects import asked_projects, first_runs
from codefathom.server.projects.served_paths import served_places
from codefathom.server.requests.asker_elsewhere import AskerElsewhere, asker_for, indexed
from codefathom.server.requests.client_limits import Limits
from codefathom.server.requests.joined_askers import at_paths, no_project
from codefathom.server.searches.search_end import SearchEnd, SearchLease
from codefathom.server.state import ServerState
from codefathom.source.work_tree import commit_of


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What a client sets for one answer; None: as the settings say."""

    thorough: bool = False  # let the model choose and judge the sources first
    top_k: int | None = None  # candidates that are ranked
    max_tokens: int | None = None  # of what a model writes
    rounds: int | None = None  # of an agent

    def check(self, settings: Settings) -> None:
        """Raise UsageError for more rounds than the settings allow: each costs."""
        if self.rounds is not None and self.rounds > (most := settings.agent.rounds):
            raise UsageError(
                f"on this server an agent may work for {most} rounds, not {self.rounds}",
                hint=f"give max_iterations of at most {most}, or leave it out; the setting is agent.rounds",
            )

    def applied(self, settings: Settings) -> Settings:
        """Return settings with these values."""
        rerank, agent, answer = settings.rerank, settings.agent, settings.answer
        select = settings.select
        if self.thorough:
            select = select._replace(filter_level=2)
        if self.top_k is not None:
            rerank = rerank._replace(candidates=self.top_k, top_n=min(rerank.top_n, self.top_k))
        if self.rounds is not None:
            agent = agent._replace(rounds=self.rounds)
        if self.max_tokens is not None:
            answer = answer._replace(max_tokens=min(answer.max_tokens, self.max_tokens))
        return settings._replace(rerank=rerank, agent=agent, answer=answer, select=select)


@dataclass(frozen=True, slots=True)
class ClientCall:
    """Of whom a client asks a question in words, within which limits, and in which conversation.

    The question itself is a `Question`, whose turns come before it besides those of the conversation.
    """

    projects: tuple[str, ...] = ()  # none: those of the conversation, else all
    paths: tuple[str, ...] = ()  # instead of projects, see `served_places`
    limits: Limits = field(default_factory=Limits)
    own: OwnSettings = OwnSettings()
    conversation_id: str = ""
    keep: bool = False  # begin a conversation where none is named
    names_paths: bool = False  # with their project, also where only one is asked


def begin(state: ServerState, caller: Caller, question: Question, call: ClientCall) -> AnswerTask:
    """Begin to answer. Raises FathomError for what can be said before: an unknown project, no index, no question."""
    text, only_contexts = _checked(question)
    conversation = None
    if call.conversation_id:
        conversation = conversation_of(state, caller, call.conversation_id)
    places = served_places(state.projects, state.config, caller, call.paths) if call.paths else None
    if places is None:
        named = call.projects or (conversation.projects if conversation else ())
        projects, left_out = _projects(state, caller, named)
    elif not places.projects and not places.unserved and not places.loose:
        raise no_project(places)
    else:
        projects, left_out = _usable(state, caller, tuple(places.projects), places.unserved, bool(places.loose))
    turns = (*(history(conversation) if conversation else ()), *question.history)
    lease = SearchLease(SearchEnd(), inf)
    with _askers(state, caller, projects, lease) as askers:
        # The folders of loose files are not known yet.
        where = call.limits.where_in(askers.values() if places is None or not places.loose else ())
        first = askers[projects[0]].settings if projects else state.projects.settings_outside()
    call.own.check(first)
    turns = recent(turns, first)
    if question.dry_run:
        conversation = None  # nothing is said in it
    elif conversation is None and call.keep:
        conversation = state.conversations.begin(projects, caller.id, text)

    def answered(source: AskerElsewhere | JoinedProjects, on_step: OnStep) -> Iterator[EngineEvent]:
        if places is not None and isinstance(source, JoinedProjects):
            yield AnswerRoots(source.roots)
        events: Iterator[EngineEvent] = source.answer(
            replace(question, text=text, where=where, history=tuple(turns), on_step=on_step)
        )
        # What paths leave out is told by the projects themselves.
        events = _noted(events, left_out) if left_out and places is None else events
        events = _contexts(text, events) if only_contexts else events
        events = _with_cited(state, source, events, asker) if conversation else events
        with closing(cast("Generator[EngineEvent, None, None]", events)):
            yield from events

    is_joined = places is not None or len(projects) > 1 or call.names_paths
    names = (*projects, *([places.loose_name] if places is not None and places.loose else []))
    asker = AskedBy(text, caller.id, conversation.id if conversation else "", names, question.as_agent, is_joined)

    @contextmanager
    def source() -> Iterator[AskerElsewhere | JoinedProjects]:
        if places is not None:
            with at_paths(state, caller, places, lease, call.own.applied) as projects_there:
                yield projects_there.joined
            return
        with _askers(state, caller, projects, lease, call.own.applied) as chosen:
            yield JoinedProjects(chosen, here=None) if is_joined else chosen[projects[0]]

    try:
        return state.answers.begin(asker, lambda on_step: _opened(source, lambda opened: answered(opened, on_step)))
    except TryLaterError:
        if not call.conversation_id and asker.conversation_id:  # nothing was said in the one just begun
            state.conversations.delete(asker.conversation_id, caller.id)
        raise


def _checked(question: Question) -> tuple[str, bool]:
    """Return the words of a question, and True for its sources alone. Raises UsageError."""
    check_length(question.text)
    text, only_contexts = unwrap(question.text)
    if not text.strip():
        raise UsageError("the question is empty", hint="ask a question, such as: where are orders priced?")
    if question.as_agent and only_contexts:
        raise UsageError("an agent always writes an answer", hint="do not set only_contexts")
    if question.as_agent and question.dry_run:
        raise UsageError("nobody knows how often an agent will ask its model", hint="do not set dry_run")
    return text, only_contexts


def conversation_of(state: ServerState, caller: Caller, conversation_id: str) -> Conversation:
    """Return a conversation of the caller. Raises NotFoundError, also when it is about projects out of reach."""
    conversation = state.conversations.get(conversation_id, caller.id)
    if not all(map(caller.may_use, conversation.scope)):
        raise NotFoundError(f"no such conversation: {conversation_id!r}", hint="GET /conversations lists them")
    return conversation


def readable_conversation(state: ServerState, caller: Caller, conversation_id: str) -> Conversation:
    """Return a conversation of the caller, or one that somebody shares. Raises NotFoundError.

    The same error for one that is not there, is not shared, or is about a project that the caller may not see.
    """
    try:
        return conversation_of(state, caller, conversation_id)
    except NotFoundError:
        conversation = state.conversations.get_shared(conversation_id)
        if not may_read(state, caller, conversation):
            raise
        return conversation


def may_read(state: ServerState, caller: Caller, shared: Conversation) -> bool:
    """Return True if a caller sees all that was asked in a shared conversation; what is gone, nobody sees.

    Of a fleet all repositories count: nobody has noted which ones an answer has read.
    """
    return all(state.projects.sees_all(project_id, caller) for project_id in shared.scope)


def _projects(state: ServerState, caller: Caller, named: Sequence[str]) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return those of the projects of a question that can be asked, and a note on each of the others.

    Raises NotFoundError where all are unknown, and the error of the first project when none can be asked.
    """
    projects, unknown = asked_projects(state.projects, caller, named)
    return _usable(state, caller, projects, unknown)


def _usable(
    state: ServerState,
    caller: Caller,
    projects: Sequence[str],
    failed: Mapping[str, FathomError] = NOTHING,
    may_be_none: bool = False,
) -> tuple[tuple[str, ...], tuple[Note, ...]]:
    """Return those of these projects that can be asked, and a note on each of the others.

    Raises the error of the first when none can be asked, unless there may be none.
    """
    usable: list[str] = []
    errors: dict[str, FathomError] = dict(failed)
    waiting = first_runs(state.projects, caller, projects)
    for project in projects:
        try:
            with indexed(state, project, caller):
                if project not in waiting:
                    usable.append(project)
        except FathomError as error:
            errors[project] = error
    if not usable and not may_be_none:
        raise next(iter(errors.values()))
    errors |= waiting
    return tuple(usable), tuple(_left_out(project, error) for project, error in errors.items())


def _left_out(project: str, error: FathomError) -> Note:
    if isinstance(error, FirstRunError):
        return failure_notes({project: error})[0]
    return Note(NOT_ASKED, {"project": project, "error": str(error)})


def _noted(events: Iterator[EngineEvent], notes: Sequence[Note]) -> Iterator[EngineEvent]:
    """Pass on the events of an answer, with notes on what it lacks."""
    with closing(cast("Generator[EngineEvent, None, None]", events)):
        for event in events:
            if isinstance(event, AnswerSources):
                yield event._replace(problems=(*notes, *event.problems))
            elif isinstance(event, Answer):
                yield replace(event, problems=(*notes, *event.problems))
            else:
                yield event


def _with_cited(
    state: ServerState, source: AskerElsewhere | JoinedProjects, events: Iterator[EngineEvent], asker: AskedBy
) -> Iterator[EngineEvent]:
    """Pass on the events of an answer, and then what the cited lines are now."""
    answer = None
    with closing(cast("Generator[EngineEvent, None, None]", events)):
        for event in events:
            yield event
            answer = event if isinstance(event, Answer) else answer
    if answer is None:
        return

    def owner_of(path: str) -> tuple[str, str]:
        project, _, file = path.partition("/") if asker.is_joined else (asker.projects[0], "", path)
        return project, file

    places = [(citation.path, citation.start_line, citation.end_line) for citation in answer.citations]
    roots = {project.id: project.root for project in state.projects.listed() if project.id in asker.projects}
    commits = {name: commit for name, root in roots.items() if (commit := commit_of(root))}
    try:
        lines = tuple(noted_lines(source, places, owner_of))
    except StoppedError:
        raise
    except FathomError:  # such as a search that takes too long: the answer is whole without it
        lines = ()
    yield CitedState(lines, commits)


def _contexts(question: str, events: Iterator[EngineEvent]) -> Iterator[EngineEvent]:
    """Yield the sources of an answer as JSON instead of the answer; the answering model is not called."""
    with closing(cast("Generator[EngineEvent, None, None]", events)):
        selection = next(events)
    assert isinstance(selection, AnswerSources)  # what events of an answer begin with
    yield selection
    listed = [
        {"path": source.path, "start_line": source.start_line, "end_line": source.end_line, "source_code": source.text}
        for source in selection.sources
    ]
    text = json.dumps(listed, ensure_ascii=False)
    yield Text(text)
    yield Answer(
        question,
        text,
        (),
        (),
        0.0,
        0.0,
        "low",
        "",
        NO_USAGE,
        selection.sources,
        0,
        selection.problems,
        weak=selection.weak,
    )


@contextmanager
def _askers(
    state: ServerState,
    caller: Caller,
    projects: Sequence[str],
    lease: SearchLease,
    change: Callable[[Settings], Settings] | None = None,
) -> Iterator[Mapping[str, AskerElsewhere]]:
    """Give projects that have an index, with changed settings. Raises NotFoundError and NotIndexedError."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(asker_for(state, name, caller, lease, change)) for name in projects}


@contextmanager
def _opened(
    source: Callable[[], AbstractContextManager[AskerElsewhere | JoinedProjects]],
    ask: Callable[[AskerElsewhere | JoinedProjects], Iterator[EngineEvent]],
) -> Iterator[Iterator[EngineEvent]]:
    """Give the events of an answer; at the end the model's call is ended, then the engines are given back."""
    with source() as opened:
        events = cast("Generator[EngineEvent, None, None]", ask(opened))
        with closing(events):
            yield events
