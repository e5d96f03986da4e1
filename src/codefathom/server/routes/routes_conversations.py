"""Routes of conversations that the server keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Query, status
from fastapi.responses import PlainTextResponse

from codefathom.server.answers.answer_runs import AnswerTask
from codefathom.server.answers.conversations import MOST_LISTED, Conversation, markdown
from codefathom.server.requests.asker_elsewhere import chosen_projects
from codefathom.server.requests.questions import conversation_of
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.ask_schemas import (
    AnsweringOut,
    ConversationIn,
    ConversationOut,
    ConversationsOut,
    TitleIn,
)
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import rest_shape
from codefathom.types import Rest

ConversationId: TypeAlias = Annotated[str, Path(max_length=100, examples=["5f0c9e1b7a3d2c48"])]
_MARKDOWN: dict[int | str, dict[str, Any]] = {
    200: {"description": "A document", "content": {"text/markdown": {"example": "# Prices\n\n## where?\n"}}}
}


class MarkdownResponse(PlainTextResponse):
    """A document."""

    media_type = "text/markdown"


def router(state: ServerState) -> APIRouter:
    """Return the routes of conversations."""
    routes = APIRouter(prefix="/conversations", tags=["conversations"])
    _add_all(routes, state)
    _add_one(routes, state)
    return routes


def _add_all(routes: APIRouter, state: ServerState) -> None:
    @routes.get("", summary="List your conversations, the latest first")
    def conversations(
        caller: CallerHere,
        project_id: Annotated[str, Query(description="Only conversations about this project", examples=["shop"])] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_LISTED, examples=[50])] = 50,
        offset: Offset = 0,
    ) -> ConversationsOut:
        conversations = state.conversations.listed(caller.id, project=project_id)
        visible = [item for item in conversations if all(map(caller.may_use, item.projects))]
        shown = visible[offset : offset + limit]
        return ConversationsOut(
            conversations=[_conversation_out(item, state.answers.running(item.id, caller.id)) for item in shown],
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
        return _conversation_out(conversation_of(state, caller, conversation_id), answering)

    @routes.patch("/{conversation_id}", summary="Give a conversation another title")
    def rename(conversation_id: ConversationId, body: TitleIn, caller: CallerHere) -> ConversationOut:
        conversation_of(state, caller, conversation_id)
        return ConversationOut.model_validate(state.conversations.rename(conversation_id, body.title, caller.id))

    @routes.delete("/{conversation_id}", summary="Delete a conversation", status_code=status.HTTP_204_NO_CONTENT)
    def delete(conversation_id: ConversationId, caller: CallerHere) -> None:
        conversation_of(state, caller, conversation_id)
        state.conversations.delete(conversation_id, caller.id)

    @routes.get(
        "/{conversation_id}/export",
        summary="Export a conversation as Markdown",
        response_class=MarkdownResponse,
        responses=_MARKDOWN,
    )
    def export(conversation_id: ConversationId, caller: CallerHere) -> MarkdownResponse:
        text = markdown(conversation_of(state, caller, conversation_id))
        headers = {"content-disposition": f'attachment; filename="{conversation_id}.md"'}
        return MarkdownResponse(text, headers=headers)


def _conversation_out(conversation: Conversation, answering: Iterable[AnswerTask]) -> ConversationOut:
    written = [
        AnsweringOut(
            answer_id=task.id,
            question=task.asker.question,
            is_agent=task.asker.is_agent,
            asked_at=task.asker.asked_at,
        )
        for task in answering
    ]
    return ConversationOut.model_validate(conversation).model_copy(update={"answering": written})
