"""Routes of conversations that the server keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path, Query, status
from fastapi.responses import PlainTextResponse

from codefathom.server.answers.answer_runs import AnswerTask
from codefathom.server.answers.conversations import MOST_LISTED, Conversation, markdown
from codefathom.server.http.auth import Caller
from codefathom.server.requests.asker_elsewhere import chosen_projects
from codefathom.server.requests.questions import conversation_of, may_read, readable_conversation
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.ask_schemas import (
    AnsweringOut,
    ConversationChangesIn,
    ConversationIn,
    ConversationOut,
    ConversationsOut,
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
        return _conversation_out(readable_conversation(state, caller, conversation_id), caller, answering)

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
        summary="Export a conversation as Markdown",
        response_class=MarkdownResponse,
        responses=_MARKDOWN,
    )
    def export(conversation_id: ConversationId, caller: CallerHere) -> MarkdownResponse:
        text = markdown(readable_conversation(state, caller, conversation_id))
        headers = {"content-disposition": f'attachment; filename="{conversation_id}.md"'}
        return MarkdownResponse(text, headers=headers)


def _own(state: ServerState, caller: Caller, project_id: str) -> list[Conversation]:
    conversations = state.conversations.listed(caller.id, project=project_id)
    return [item for item in conversations if all(map(caller.may_use, item.projects))]


def _shared(state: ServerState, caller: Caller, project_id: str) -> list[Conversation]:
    shared = (item for item in state.conversations.shared() if not project_id or project_id in item.scope)
    return [item for item in shared if may_read(state, caller, item)]


def _conversation_out(conversation: Conversation, caller: Caller, answering: Iterable[AnswerTask]) -> ConversationOut:
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
    return ConversationOut.model_validate(conversation).model_copy(update=update)
