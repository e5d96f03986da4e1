"""Ratings of answers: thumbs up or down with a comment, by readers, for administrators."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Query

from codefathom.server.answers.ratings import MOST_RATINGS, AnswerRating, RatedAnswer
from codefathom.server.requests.questions import readable_conversation
from codefathom.server.routes.routes_conversations import ConversationId
from codefathom.server.routes.routes_files import Offset
from codefathom.server.schemas.ask_schemas import RatedAnswerOut, RatedPlaceOut, RatingIn, RatingsOut, Verdict
from codefathom.server.state import CallerHere, ServerState
from codefathom.shapes import rest_shape
from codefathom.types import Rest

AnswerId: TypeAlias = Annotated[str, Path(max_length=100, examples=["0c4be1d2a7f8936155d0e3b1c2a49f70"])]
_RATING = "/conversations/{conversation_id}/ratings/{answer_id}"


def router(state: ServerState) -> APIRouter:
    """Return the routes of ratings."""
    routes = APIRouter(tags=["conversations"])

    @routes.put(_RATING, summary="Rate an answer: administrators can read it with the question", status_code=204)
    def rate(conversation_id: ConversationId, answer_id: AnswerId, body: RatingIn, caller: CallerHere) -> None:
        readable_conversation(state, caller, conversation_id)
        rating = AnswerRating(body.verdict, body.comment.strip())
        state.ratings.rate(conversation_id, answer_id, rating, caller.id, caller.name)

    @routes.delete(_RATING, summary="Take your rating of an answer back", status_code=204)
    def withdraw(conversation_id: ConversationId, answer_id: AnswerId, caller: CallerHere) -> None:
        readable_conversation(state, caller, conversation_id)
        state.ratings.withdraw(conversation_id, answer_id, caller.id)

    @routes.get("/ratings", summary="List the ratings of answers, the latest first")
    def ratings(
        verdict: Annotated[
            Verdict | None, Query(examples=["bad"], description="only ratings that say this; without it, all")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=MOST_RATINGS, examples=[100])] = 100,
        offset: Offset = 0,
    ) -> RatingsOut:
        state.conversations.forget_old()
        shown = state.ratings.listed(limit, offset, verdict)
        n_more = max(state.ratings.count(verdict) - offset - len(shown), 0)
        return RatingsOut(
            ratings=[_out(item) for item in shown],
            n_good=state.ratings.count("good"),
            n_bad=state.ratings.count("bad"),
            **rest_shape(Rest(n_more), offset, len(shown)),
        )

    return routes


def _out(item: RatedAnswer) -> RatedAnswerOut:
    details = item.details
    return RatedAnswerOut(
        verdict=item.rating.verdict,
        comment=item.rating.comment,
        by=item.by,
        at=item.at,
        question=item.question,
        answer=item.answer,
        asked_at=item.asked_at,
        projects=list(details.get("projects", ())),
        commits=details.get("commits", {}),
        citations=[RatedPlaceOut.model_validate(place) for place in details.get("citations", ())],
        confidence=details.get("confidence"),
        label=details.get("label", ""),
        model=details.get("model", ""),
        conversation_id=item.conversation_id,
        answer_id=str(details.get("answer_id", "")),
    )
