"""Routes of conversations that the server keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Path, Query, Response, status
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, PlainTextResponse

from codefathom.config.settings import NOTHING
from codefathom.server.answers.answer_runs import AnswerTask
from codefathom.server.answers.cited_lines import CitedLines, LinesState, cited_of, state_of
from codefathom.server.answers.conversation_export import html, markdown
from codefathom.server.answers.conversation_record import Conversation
from codefathom.server.answers.conversations import MOST_LISTED
from codefathom.server.answers.ratings import AnswerRating
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotFoundError, NotIndexedError
from codefathom.server.requests.asker_elsewhere import asker_for, chosen_projects
from codefathom.server.requests.questions import conversation_of, may_read, readable_conversation
from codefathom.server.requests.turns import in_turn
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.ask_schemas import (
    AnsweringOut,
    CitedLinesOut,
    CitedStateOut,
    ConversationChangesIn,
    ConversationIn,
    ConversationOut,
    ConversationsOut,
    RatingOut,
)
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import CallerHere, ClientHere, ServerState
from codefathom.shapes import rest_shape
from codefathom.types import Rest

ConversationId: TypeAlias = Annotated[str, Path(max_length=100, examples=["5f0c9e1b7a3d2c48"])]
_MOST_COMPARED = 200  # cited lines of a conversation; each is one short look at a file
_EXPORTED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A document",
        "content": {
            "text/markdown": {"example": "# Prices\n\n## where?\n"},
            "text/html": {"example": "<!doctype html>\n<title>Prices</title>\n"},
        },
    }
}


class MarkdownResponse(PlainTextResponse):
    """A document."""

    media_type = "text/markdown"


def router(state: ServerState) -> APIRouter:
    """Return the routes of conversations."""
    routes = APIRouter(prefix="/conversations", tags=["conversations"])
    _add_all(routes, state)
    _add_one(routes, state)
    _add_reading(routes, state)
    return routes


def _add_all(routes: APIRouter, state: ServerState) -> None:
    @routes.get("", summary="List your conversations, the latest first")
    def conversations(
        caller: CallerHere,
        project_id: Annotated[str, Query(description="Only conversations about this project", examples=["shop"])] = "",
        shared: Annotated[
            bool, Query(description="the conversations that you and others share, instead of yours", examples=[False])
        ] = False,
        limit: Annotated[int, Query(ge=1, le=MOST_LISTED, examples=[50])] = 50,
        offset: Offset = 0,
    ) -> ConversationsOut:
        visible = _shared(state, caller, project_id) if shared else _own(state, caller, project_id)
        shown = visible[offset : offset + limit]
        running = state.answers.running
        return ConversationsOut(
            conversations=[_conversation_out(item, caller, running(item.id, caller.id)) for item in shown],
            **rest_shape(Rest(max(len(visible) - offset - limit, 0)), offset, len(shown)),
        )

    @routes.post("", summary="Begin a conversation", status_code=status.HTTP_201_CREATED)
    def begin(body: ConversationIn, caller: CallerHere) -> ConversationOut:
        projects = chosen_projects(state, caller, body.project_ids)
        return ConversationOut.model_validate(state.conversations.begin(projects, caller.id, body.title))


def _add_one(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/{conversation_id}", summary="Show a conversation with its questions and answers")
    def show(conversation_id: ConversationId, caller: CallerHere) -> ConversationOut:
        # Looked at first: an answer that ends in this moment is in both and not in neither.
        answering = state.answers.running(conversation_id, caller.id)
        conversation = readable_conversation(state, caller, conversation_id)
        ratings = state.ratings.of_reader(conversation_id, caller.id)
        return _conversation_out(conversation, caller, answering, ratings)

    @routes.patch("/{conversation_id}", summary="Give a conversation another title, or share it")
    def change(conversation_id: ConversationId, body: ConversationChangesIn, caller: CallerHere) -> ConversationOut:
        conversation = conversation_of(state, caller, conversation_id)
        if body.title is not None:
            conversation = state.conversations.rename(conversation_id, body.title, caller.id)
        if body.shared is not None:
            name = (caller.name or "somebody") if body.shared else None
            conversation = state.conversations.share(conversation_id, name, caller.id)
        return _conversation_out(conversation, caller, ())

    @routes.delete("/{conversation_id}", summary="Delete a conversation", status_code=status.HTTP_204_NO_CONTENT)
    def delete(conversation_id: ConversationId, caller: CallerHere) -> None:
        conversation_of(state, caller, conversation_id)
        state.conversations.delete(conversation_id, caller.id)

    @routes.get(
        "/{conversation_id}/export",
        summary="Export a conversation as Markdown or HTML",
        response_class=MarkdownResponse,
        responses=_EXPORTED,
    )
    def export(
        conversation_id: ConversationId,
        caller: CallerHere,
        format: Annotated[  # noqa: A002
            Literal["markdown", "html"],
            Query(examples=["html"], description="html: one file that loads nothing and has no script"),
        ] = "markdown",
    ) -> Response:
        conversation = readable_conversation(state, caller, conversation_id)
        ending = "html" if format == "html" else "md"
        headers = {"content-disposition": f'attachment; filename="{conversation_id}.{ending}"'}
        if format == "html":
            return HTMLResponse(html(conversation), headers=headers)
        return MarkdownResponse(markdown(conversation), headers=headers)


def _add_reading(routes: APIRouter, state: ServerState) -> None:
    @routes.get("/{conversation_id}/cited", summary="Show which cited lines have changed since they were cited")
    async def cited(conversation_id: ConversationId, client: ClientHere) -> CitedStateOut:
        conversation = await run_in_threadpool(readable_conversation, state, client.caller, conversation_id)
        return await in_turn(state, *client, lambda lease: _compared(state, client.caller, conversation, lease))


def _compared(state: ServerState, caller: Caller, conversation: Conversation, lease: SearchLease) -> CitedStateOut:
    """Compare the lines that are cited last: a project is opened once for all of its lines."""
    all_cited = [
        (str(turn.details.get("answer_id", "")), lines)
        for turn in reversed(conversation.turns)
        for lines in cited_of(turn.details)
    ]
    compared = all_cited[:_MOST_COMPARED]
    states: dict[CitedLines, LinesState] = {}
    for project_id in {lines.project_id for _, lines in compared}:
        with suppress(NotFoundError, NotIndexedError), asker_for(state, project_id, caller, lease) as asker:
            own = {lines for _, lines in compared if lines.project_id == project_id}
            states |= {lines: state_of(asker, lines) for lines in own}
    shown = [
        CitedLinesOut(
            answer_id=answer_id,
            project_id=lines.project_id,
            path=lines.path,
            start_line=lines.start_line,
            end_line=lines.end_line,
            state=states.get(lines, "unknown"),
        )
        for answer_id, lines in compared
    ]
    return CitedStateOut(lines=shown, n_left_out=len(all_cited) - len(compared))


def _own(state: ServerState, caller: Caller, project_id: str) -> list[Conversation]:
    conversations = state.conversations.listed(caller.id, project=project_id)
    return [item for item in conversations if all(map(caller.may_use, item.scope))]


def _shared(state: ServerState, caller: Caller, project_id: str) -> list[Conversation]:
    shared = (item for item in state.conversations.shared() if not project_id or project_id in item.scope)
    return [item for item in shared if may_read(state, caller, item)]


def _conversation_out(
    conversation: Conversation,
    caller: Caller,
    answering: Iterable[AnswerTask],
    ratings: Mapping[str, AnswerRating] = NOTHING,
) -> ConversationOut:
    written = [
        AnsweringOut(
            answer_id=task.id,
            question=task.asker.question,
            is_agent=task.asker.is_agent,
            asked_at=task.asker.asked_at,
        )
        for task in answering
    ]
    update = {"answering": written, "is_own": conversation.owner == caller.id}
    shown = ConversationOut.model_validate(conversation).model_copy(update=update)
    for turn in shown.turns:
        rating = ratings.get(str(turn.details.get("answer_id", "")))
        turn.rating = RatingOut.model_validate(rating) if rating else None
        turn.details = {name: value for name, value in turn.details.items() if name != "cited"}
    return shown
