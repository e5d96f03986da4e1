"""Routes that answer questions: whole, as a stream, and by an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from codefathom.answer.answer_types import Answer
from codefathom.errors import SettingsError
from codefathom.providers.base import Message
from codefathom.question.question import Question
from codefathom.question.question_options import question_of as question_of_options
from codefathom.server.answers.answer_events import details_of
from codefathom.server.answers.answer_runs import AnswerError, AnswerTask
from codefathom.server.http.auth import Caller
from codefathom.server.http.event_responses import EventStream, ReadingHere, StreamReading, described
from codefathom.server.http.problem_json import RequestError
from codefathom.server.http.sse import follow
from codefathom.server.requests.asker_elsewhere import chosen_projects, indexed
from codefathom.server.requests.client_limits import Limits
from codefathom.server.requests.questions import ClientCall, OwnSettings, begin
from codefathom.server.routes.routes_search import scope_of
from codefathom.server.schemas.ask_schemas import AnswerOut, AskIn, FinalAnswerOut, FinalSourceOut, QueryIn
from codefathom.server.state import CallerHere, ServerState

AnswerId: TypeAlias = Annotated[str, Path(max_length=100, examples=["0c4be1d2a7f8936155d0e3b1c2a49f70"])]
_EXAMPLE = """\
id: 4be1.2
data: {"type": "sources", "data": [{"path": "shop/pricing.py", "module": "shop", "score": 0.93}]}

id: 4be1.4
data: {"type": "content", "data": "In `price_of` [shop/pricing.py:12-14]."}

id: 4be1.7
data: {"type": "done"}

"""
_STREAMED = described(_EXAMPLE)


def router(state: ServerState) -> APIRouter:
    """Return the routes that answer questions."""
    routes = APIRouter(tags=["answers"])
    _add_answering(routes, state)
    _add_agent(routes, state)
    _add_running(routes, state)
    return routes


def _add_answering(routes: APIRouter, state: ServerState) -> None:
    @routes.post("/ask", summary="Answer a question")
    async def ask(body: AskIn, caller: CallerHere, request: Request) -> AnswerOut:
        task = request.state.answer = await run_in_threadpool(begin, state, caller, question_of(body), call_of(body))
        return answer_out(task, await whole(task, request))

    @routes.post(
        "/ask/stream",
        summary="Answer a question, as a stream of events",
        response_class=EventStream,
        responses=_STREAMED,
    )
    def ask_stream(body: AskIn, caller: CallerHere, reading: ReadingHere, request: Request) -> Response:
        return _stream(_begun(state, caller, (question_of(body), call_of(body)), reading, request), reading)


def _add_agent(routes: APIRouter, state: ServerState) -> None:
    @routes.post(
        "/ask/agent",
        summary="Let the model search the project itself, as a stream with each step",
        response_class=EventStream,
        responses=_STREAMED,
    )
    def ask_agent(body: AskIn, caller: CallerHere, reading: ReadingHere, request: Request) -> Response:
        question = replace(question_of(body), as_agent=True)
        return _stream(_begun(state, caller, (question, call_of(body)), reading, request), reading)

    @routes.post("/query", summary="Let the model search the project itself, and return its final answer")
    async def query(body: QueryIn, caller: CallerHere, request: Request) -> FinalAnswerOut:
        projects = (body.project_id,) if body.project_id else ()
        own = OwnSettings(rounds=body.max_iterations)
        await run_in_threadpool(_check_model, state, caller, projects, body.model)
        question, call = Question(body.question, "ask", as_agent=True), ClientCall(projects, own=own)
        task = request.state.answer = await run_in_threadpool(begin, state, caller, question, call)
        return _final(await whole(task, request))


def _add_running(routes: APIRouter, state: ServerState) -> None:
    @routes.get(
        "/answers/{answer_id}/events",
        summary="Continue to read an answer",
        response_class=EventStream,
        responses=_STREAMED,
    )
    def events(answer_id: AnswerId, caller: CallerHere, reading: ReadingHere) -> Response:
        return _stream(state.answers.find(answer_id, caller.id), reading)

    @routes.post("/answers/{answer_id}/stop", summary="Stop an answer that is being written", status_code=204)
    def stop(answer_id: AnswerId, caller: CallerHere) -> None:
        state.answers.find(answer_id, caller.id).stop()


def question_of(body: AskIn) -> Question:
    """Return the question in the body of a request."""
    history = tuple(Message(turn.role, turn.content) for turn in body.history)
    question = question_of_options("ask", body.query, body.values)
    or_commits = not history  # what a follow-up means is not in its words alone
    return replace(question, pinned=tuple(body.pinned), history=history, or_commits=or_commits, dry_run=body.dry_run)


def call_of(body: AskIn) -> ClientCall:
    """Return whom the body of a request asks, and within which limits."""
    scope = scope_of(body)
    own = OwnSettings(thorough=body.thorough, top_k=body.top_k)
    return ClientCall(scope.names, scope.paths, Limits(body.values), own, body.conversation_id, body.keep)


async def whole(task: AnswerTask, request: Request) -> Answer:
    """Wait for an answer, without a thread; a client that leaves stops it. Raises RequestError for one that failed."""
    task.attach()
    written = asyncio.create_task(_drained(task))
    left = asyncio.create_task(_left(request))
    try:
        await asyncio.wait((written, left), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (written, left):
            waiting.cancel()
        task.detach()
    if task.problem is not None:
        raise AnswerError(task.problem)
    if task.answer is None:
        raise RequestError("the answer was stopped", hint="ask the question again")
    return task.answer


async def _left(request: Request) -> None:
    # The body is read: what comes now is that the client leaves.
    await request.receive()


async def _drained(task: AnswerTask) -> None:
    async for _ in follow(task.channel):
        pass


def answer_out(task: AnswerTask, answer: Answer) -> AnswerOut:
    """Return an answer as clients see it."""
    asker = task.asker
    shape: dict[str, Any] = {
        "question": asker.question,
        "answer": answer.text,
        **details_of(answer, asker.projects, asker.is_joined, task.roots),
        "projects": asker.projects,
        "answer_id": task.id,
        "conversation_id": asker.conversation_id,
    }
    return AnswerOut.model_validate(shape)


def _begun(
    state: ServerState, caller: Caller, call: tuple[Question, ClientCall], reading: StreamReading, request: Request
) -> AnswerTask:
    """Return the answer that the client was reading, or a new one."""
    answer_id = reading.last_event_id.strip().rpartition(".")[0]
    if answer_id:
        return state.answers.find(answer_id, caller.id)
    task: AnswerTask = begin(state, caller, *call)
    request.state.answer = task
    return task


def _stream(task: AnswerTask, reading: StreamReading) -> EventStream:
    task.attach()
    after = task.channel.place(reading.last_event_id) or 0
    return EventStream(follow(task.channel, after, form=reading.form), task.detach)


def _check_model(state: ServerState, caller: Caller, projects: tuple[str, ...], model: str) -> None:
    """Raise SettingsError for a model that the settings do not name: a client must not say where text is sent."""
    for project in chosen_projects(state, caller, projects)[:1]:
        with indexed(state, project, caller) as engine:
            own_model = engine.settings.llm.of("agent")
    if model and model not in {own_model, own_model.partition(":")[2]}:
        raise SettingsError(
            f"{model!r} is not the model of this server", hint="leave the model out, or change llm.agent"
        )


def _final(answer: Answer) -> FinalAnswerOut:
    places = [FinalSourceOut.model_validate(place) for place in (answer.citations or answer.sources)]
    n_named = len(answer.citations) + len(answer.dropped)
    reasoning = answer.failure or f"{len(answer.citations)} of {n_named} citations were verified"
    return FinalAnswerOut(answer=answer.text, confidence=answer.label, sources=places, reasoning=reasoning)
