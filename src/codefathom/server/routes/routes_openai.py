"""Routes that behave like OpenAI's: any client of it can ask a project as if it were a model.

The sources stand beside the text and not in it: in `sources` of an answer, and of one chunk of a stream.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from codefathom.answer.answer_types import Answer
from codefathom.answer.tokens import estimate
from codefathom.errors import UsageError
from codefathom.providers.base import Message
from codefathom.question.question import Question
from codefathom.server.answers.answer_events import details_of
from codefathom.server.answers.answer_runs import AnswerTask
from codefathom.server.http.error_responses import openai_error
from codefathom.server.http.event_responses import MEDIA_TYPE, EventStream
from codefathom.server.http.problem_json import problem
from codefathom.server.http.sse import HEARTBEAT, events_after
from codefathom.server.requests.questions import ClientCall, OwnSettings, begin
from codefathom.server.routes.routes_ask import whole
from codefathom.server.schemas.openai_schemas import (
    CompletionIn,
    CompletionOut,
    ErrorOut,
    MessageIn,
    ModelOut,
    ModelsOut,
    chunk,
)
from codefathom.server.state import CallerHere, ServerState

_AGENT = ":agent"
_OF_SERVER = 500  # an error in a stream has no status of its own
_NOT_PASSED_ON = "system messages are not passed on: the server has its own"
_EXAMPLE = """\
data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "In `price_of` …"}}]}

data: [DONE]

"""
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": CompletionOut,
        "description": "The answer; with `stream`, in chunks",
        "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EXAMPLE}},
    }
}

_ERROR: dict[str, Any] = {"model": ErrorOut, "description": "The request failed; the message says why"}


def router(state: ServerState) -> APIRouter:
    """Return the routes below /v1."""
    routes = APIRouter(prefix="/v1", tags=["openai"], responses={"4XX": _ERROR, "5XX": _ERROR})

    @routes.get("/models", summary="List projects that can be asked, each as a model and as an agent")
    def models(caller: CallerHere) -> ModelsOut:
        projects = [
            project for project in state.projects.listed(caller) if state.projects.summary(project, caller).is_usable
        ]
        return ModelsOut(
            data=[
                ModelOut(id=project.id + kind, created=int(project.added_at))
                for project in projects
                for kind in ("", _AGENT)
            ]
        )

    @routes.post("/chat/completions", summary="Answer the last message", response_model=None, responses=_RESPONSES)
    async def completions(body: CompletionIn, caller: CallerHere, request: Request) -> CompletionOut | Response:
        task = request.state.answer = await run_in_threadpool(begin, state, caller, question_of(body), call_of(body))
        if body.stream:
            task.attach()
            has_usage = body.stream_options is not None and body.stream_options.include_usage
            return EventStream(_chunks(task, body, has_usage=has_usage), task.detach)
        return _completion(task, await whole(task, request), body)

    return routes


def question_of(body: CompletionIn) -> Question:
    """Return the question in the last message. Raises UsageError for a message that is not from the user."""
    *before, last = body.messages
    if last.role != "user":
        raise UsageError(
            f"the last message has the role {last.role!r}", hint="the last message must have the role 'user'"
        )
    return Question(
        last.text,
        "ask",
        as_agent=body.model.endswith(_AGENT),
        history=tuple(
            Message("user" if message.role == "user" else "assistant", message.text)
            for message in before
            if message.role in {"user", "assistant"} and message.text
        ),
    )


def call_of(body: CompletionIn) -> ClientCall:
    """Return the project that the name of the model means, and the limit of what is written."""
    return ClientCall((body.model.removesuffix(_AGENT),), own=OwnSettings(max_tokens=body.limit))


def _completion(task: AnswerTask, answer: Answer, body: CompletionIn) -> CompletionOut:
    details = details_of(answer, task.asker.projects, task.asker.is_joined)
    finish = _finish(body.limit, answer)
    return CompletionOut.model_validate(
        {
            "id": _id(task),
            "created": int(time.time()),
            "model": body.model,
            "choices": [{"message": {"content": answer.text}, "finish_reason": finish}],
            "usage": _usage(details["usage"]),
            "sources": details["sources"],
            "citations": details["citations"],
            "confidence": answer.confidence,
            "degraded": [*answer.degraded, *_lacks(body.messages)],
        }
    )


def _lacks(messages: Sequence[MessageIn]) -> list[str]:
    return [_NOT_PASSED_ON] if any(message.role in {"system", "developer"} for message in messages) else []


def _usage(counted: dict[str, int]) -> dict[str, int]:
    sent, received = counted["prompt_tokens"], counted["completion_tokens"]
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}


def _id(task: AnswerTask) -> str:
    return f"chatcmpl-{task.id}"


def _finish(limit: int | None, answer: Answer | None) -> str:
    """Return the reason why an answer ended: at the limit of the request, or by itself."""
    if limit is None or answer is None:
        return "stop"
    # An agent has written much besides its answer, and excerpts were written by nobody.
    n_calls = sum(stage.n_calls for stage in answer.trace)
    n_written = answer.usage.completion_tokens if n_calls == 1 else estimate(answer.text)
    return "length" if n_written >= limit else "stop"


async def _chunks(task: AnswerTask, body: CompletionIn, *, has_usage: bool) -> AsyncIterator[bytes]:
    head = (_id(task), int(time.time()), body.model)
    yield _line(chunk(*head, {"role": "assistant", "content": ""}))
    usage, failed = {"prompt_tokens": 0, "completion_tokens": 0}, False
    async for event in events_after(task.channel):
        if event is None:
            yield HEARTBEAT
        elif event.type == "content":
            yield _line(chunk(*head, {"content": json.loads(event.data)}))
        elif event.type == "sources":
            yield _line(chunk(*head, {}, sources=json.loads(event.data)))
        elif event.type == "usage":
            usage = json.loads(event.data)
        elif event.type == "error":
            failed = True
            trouble = json.loads(event.data)
            failure = problem(_OF_SERVER, trouble["detail"], trouble["code"], trouble["hint"])
            yield _line(openai_error(failure))
    if not failed or task.answer is not None:
        finish = _finish(body.limit, task.answer)
        yield _line(chunk(*head, {}, finish_reason=finish))
    if has_usage:
        yield _line({**chunk(*head, {}), "choices": [], "usage": _usage(usage)})
    yield b"data: [DONE]\n\n"


def _line(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode("utf-8", "replace")
