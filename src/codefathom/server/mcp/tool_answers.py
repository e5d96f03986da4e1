"""The tool `ask` over HTTP: an answer that begins, is counted and ends as one of /ask."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from anyio import CancelScope, to_thread

from codefathom.errors import FathomError
from codefathom.facts.remedies import for_agents_over_http
from codefathom.mcp.agent_masks import AgentMasks, masked_text
from codefathom.mcp.tool_arguments import most_tokens, named, switch, text_of, texts
from codefathom.mcp.tool_calls import ToolResult
from codefathom.mcp.tool_results import answer_result, refusal_result
from codefathom.question.question import Question
from codefathom.server.answers.answer_runs import AnswerError, AnswerTask
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import RequestError
from codefathom.server.http.sse import events_after
from codefathom.server.mcp.served_projects import resolve_projects
from codefathom.server.requests.questions import ClientCall, begin
from codefathom.server.state import ServerState

# How far it is, of how much if that is known, and with what.
Report: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]


def has_model(state: ServerState, caller: Caller) -> bool:
    """Return True if a model answers questions to a project that the caller may see."""
    for project in state.projects.listed(caller):
        with suppress(FathomError):  # the list of projects tells it
            if state.projects.settings_of(project).llm.of("answer"):
                return True
    return False


async def answered(state: ServerState, caller: Caller, arguments: Mapping[str, Any], report: Report) -> ToolResult:
    """Return the answer to a question; a mistake, and a server that writes too many answers, are results, too.

    Each step is told. When this is cancelled, the call of the model ends.
    """
    try:
        arguments = named("ask", arguments)
        most = most_tokens(arguments)
        commits = switch(arguments, "commits")
        question = Question(text_of(arguments, "question"), "ask", commits=commits, or_commits=True, for_agent=True)
        call = _call(state, caller, arguments)
        with CancelScope(shield=True):  # one that has begun has to have a reader
            task = await to_thread.run_sync(begin, state, caller, question, call)
            task.attach()
        try:
            await _follow(task, report)
        finally:
            task.detach()
        if task.problem is not None:
            raise AnswerError(task.problem)
        if task.answer is None:
            raise RequestError("the answer was stopped", hint="ask the question again")
        masks = AgentMasks(shows=not _masks_secrets(state, call.projects))
        answer = masks.answer(task.answer)
        return masks.noted(answer_result(answer, masks.room(most)))
    except FathomError as error:
        return refusal_result(error, for_agents_over_http)


def _call(state: ServerState, caller: Caller, arguments: Mapping[str, Any]) -> ClientCall:
    visible = state.projects.listed(caller)
    projects = resolve_projects(texts(arguments, "projects"), visible)
    names = tuple(project.id for project in projects)
    return ClientCall(names, names_paths=len(visible) > 1)


def _masks_secrets(state: ServerState, names: Sequence[str]) -> bool:
    projects = [state.projects.get(name) for name in names]
    return any(state.projects.settings_of(project).mcp.secrets == "mask" for project in projects)


async def _follow(task: AnswerTask, report: Report) -> None:
    """Tell the steps of an answer until it is whole."""
    n_steps = 0
    async for event in events_after(task.channel):
        if event is not None and event.type == "status":
            n_steps += 1
            step = json.loads(event.data)
            await report(n_steps, None, masked_text(step.get("detail") or step["phase"]))
