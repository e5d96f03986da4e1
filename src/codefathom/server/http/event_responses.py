"""Streams of events as HTTP answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Header, Query, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from codefathom.server.http.sse import Form

MEDIA_TYPE = "text/event-stream"


class EventStream(StreamingResponse):
    """An answer that goes on until its events end or the client leaves, which is then told."""

    media_type = MEDIA_TYPE

    def __init__(
        self, pieces: AsyncIterator[bytes], on_left: Callable[[], None] = lambda: None, status_code: int = 200
    ) -> None:
        # Some proxies would wait for the end before they pass anything on.
        super().__init__(pieces, status_code, headers={"x-accel-buffering": "no"})
        self._on_left = on_left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_left()


@dataclass(frozen=True, slots=True)
class StreamReading:
    """The way a client reads a stream."""

    form: Form
    last_event_id: str  # after which it goes on, "" for from now on
    takes_events: bool  # no stream when not


async def _reading(
    request: Request, form: _FormGiven = "document", last_event_id: _LastEventIdGiven = ""
) -> StreamReading:
    """Return the way a request reads a stream; a client gets a stream unless it accepts JSON only."""
    accepted = request.headers.get("accept", "*/*").lower()
    return StreamReading(form, last_event_id, MEDIA_TYPE in accepted or "application/json" not in accepted)


_FormGiven: TypeAlias = Annotated[
    Form,
    Query(
        alias="events",
        description="`document`: each message is `data: {type, data}`. `typed`: the type is the name of the event",
        examples=["document"],
    ),
]
_LastEventIdGiven: TypeAlias = Annotated[
    str,
    Header(alias="Last-Event-ID", description="Continue after the message with this id", max_length=200, examples=[""]),
]
# As type of a parameter: `reading: ReadingHere` is how the client wants to read.
ReadingHere: TypeAlias = Annotated[StreamReading, Depends(_reading)]


def described(example: str) -> dict[int | str, dict[str, Any]]:
    """Return the description of a stream for OpenAPI."""
    content = {MEDIA_TYPE: {"schema": {"type": "string"}, "example": example}}
    return {200: {"description": "A stream of events", "content": content}}
