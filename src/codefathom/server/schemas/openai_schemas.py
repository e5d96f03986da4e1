"""The JSON of the routes that behave like OpenAI's, with the sources beside the text."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from codefathom.server.schemas.ask_schemas import CitationOut, SourceOut
from codefathom.server.schemas.search_schemas import BoundedBody, Out, Sentence, Sound


class _Lenient(BoundedBody):
    """A body of which other clients send more than is needed here."""

    model_config = ConfigDict(extra="ignore", str_max_length=100_000)


class PartIn(_Lenient):
    """A part of a message."""

    type: str = Field(examples=["text"])
    text: str = Field(default="", examples=["where are orders priced?"])


class MessageIn(_Lenient):
    """A message; the last one is the question, system messages are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool"] = Field(examples=["user"])
    content: str | list[PartIn] | None = Field(examples=["where are orders priced?"])

    @property
    def text(self) -> str:
        """The text of all parts."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class StreamOptionsIn(_Lenient):
    """The options of a stream."""

    include_usage: bool = Field(default=False, examples=[True])


class CompletionIn(_Lenient):
    """A conversation to continue; settings of the model are those of the server."""

    model: str = Field(examples=["shop"], description="the id of a project, or `shop:agent` for its agent")
    messages: list[MessageIn] = Field(min_length=1, max_length=500)
    stream: bool = Field(default=False, examples=[False])
    stream_options: StreamOptionsIn | None = None
    max_tokens: int | None = Field(
        default=None, ge=1, examples=[500], description="most tokens that a model writes, up to answer.max_tokens"
    )
    max_completion_tokens: int | None = Field(
        default=None, ge=1, examples=[None], description="the same under its newer name"
    )
    n: int = Field(default=1, ge=1, le=1, examples=[1])

    @property
    def limit(self) -> int | None:
        """The most tokens of the answer; the smaller value where both names are used."""
        return min((value for value in (self.max_tokens, self.max_completion_tokens) if value), default=None)


class ErrorDetails(Out):
    """An error as clients of OpenAI read it."""

    message: str = Field(examples=["no project is called 'shop' (GET /v1/models lists them)"])
    type: str = Field(examples=["invalid_request_error"])
    param: str | None = Field(examples=[None])
    code: str = Field(examples=["not_found"])


class ErrorOut(Out):
    """The envelope of an error."""

    error: ErrorDetails


class ModelOut(Out):
    """A project as a model."""

    id: str = Field(examples=["shop"])
    object: Literal["model"] = "model"
    created: int = Field(examples=[1764000000])
    owned_by: str = Field(default="codefathom", examples=["codefathom"])


class ModelsOut(Out):
    """The names that a request can use as model."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


class CompletionMessageOut(Out):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: Sound = Field(examples=["In `price_of` [shop/pricing.py:12-14]."])


class ChoiceOut(Out):
    """The only choice there is."""

    index: int = 0
    message: CompletionMessageOut
    finish_reason: str = Field(default="stop", examples=["stop"])


class CompletionUsageOut(Out):
    """Tokens, as the provider counted them."""

    prompt_tokens: int = Field(examples=[2100])
    completion_tokens: int = Field(examples=[180])
    total_tokens: int = Field(examples=[2280])


class CompletionOut(Out):
    """An answer in the form of OpenAI, with its sources."""

    id: str = Field(examples=["chatcmpl-9f0e4c"])
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(examples=[1764000000])
    model: str = Field(examples=["shop"])
    choices: list[ChoiceOut]
    usage: CompletionUsageOut
    sources: list[SourceOut]
    citations: list[CitationOut]
    confidence: float = Field(examples=[0.8])
    degraded: list[Sentence] = Field(examples=[[]])


def chunk(completion_id: str, created: int, model: str, delta: dict[str, Any], **rest: Any) -> dict[str, Any]:
    """Return a piece of a streamed answer."""
    finish = rest.pop("finish_reason", None)
    return {
        "id": completion_id,
        "object": "chat.completion.chunk",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **rest,
    }
