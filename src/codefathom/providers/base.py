"""Protocols of embedders, chat models and rerankers, and the values that they exchange."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Literal, NamedTuple, Protocol

from codefathom.errors import ProviderError
from codefathom.types.choices import Matrix

BYTES_PER_TOKEN = 3  # rather too many tokens than too few

Role = Literal["system", "user", "assistant", "tool"]
# Long runs of spaces are one token, and what a model thinks may not be counted.
_MAX_CHARS_PER_TOKEN = 64
_THINK, _THOUGHT = "<think>", "</think>"
_MAX_BLANK = 64  # characters of white space that are held back before and after what a model thinks
Finish = Literal["stop", "length", "tool_calls", "refused"]


class Embedder(Protocol):
    """Turns texts into unit vectors. Deterministic for one `name`."""

    @property
    def name(self) -> str:
        """Model and revision; stored with the index."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        ...

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"]) -> Matrix:
        """Return float32 unit rows, shape (len(texts), dimensions), in the order of `texts`.

        A text without any known token gives a zero row.
        """
        ...


class ToolSpec(NamedTuple):
    """A tool that a model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]  # JSON schema of an object


class ToolCall(NamedTuple):
    """A call that a model asks for. `arguments` is JSON text as the model wrote it: validate before use."""

    id: str
    name: str
    arguments: str


class Message(NamedTuple):
    """One turn of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()  # of an assistant
    tool_call_id: str = ""  # of a tool: the call that this answers


class Usage(NamedTuple):
    """Tokens, as the provider counted them; 0 where it does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: object) -> Usage:
        """Sum both counts."""
        if not isinstance(other, Usage):
            return NotImplemented
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


NO_USAGE = Usage()


class Delta(NamedTuple):
    """A piece of a reply as it streams in. `reasoning` is a thought of the model and no part of the text."""

    text: str = ""
    reasoning: str = ""


class Reply(NamedTuple):
    """A whole reply, the last item of every stream."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = NO_USAGE
    finish: Finish = "stop"
    model: str = ""


class Ask(NamedTuple):
    """A request to a chat model."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    schema: Mapping[str, Any] | None = None  # JSON schema that the text must follow, where the provider can enforce it
    temperature: float = 0.0
    max_tokens: int = 2_048  # of the reply


class ChatModel(Protocol):
    """Answers conversations. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Provider and model, such as "ollama:qwen2.5-coder:14b"."""
        ...

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """Yield the reply in pieces, then whole.

        Closing the iterator ends the call at once. Retries errors that may pass (429, 5xx, a lost connection) before
        the first piece, never after it. Raises ProviderError, with the remedy, when there is no reply.
        """
        ...


class Reranker(Protocol):
    """Grades how well texts answer a question."""

    @property
    def name(self) -> str:
        """Provider and model."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one score for each text, in their order; larger is better."""
        ...


class ThoughtFilter:
    """Separates the thoughts of a model, between tags at the very beginning of a reply, from the text of the reply."""

    def __init__(self) -> None:
        self._place: Literal["before", "inside", "after", "text"] = "before"
        self._held = ""  # what may be a part of a tag, or the white space around one

    def take(self, piece: str) -> Delta:
        """Take the next piece of the reply; return the text and thoughts that are certain by now."""
        self._held += piece
        if self._place == "before":
            self._begin()
        reasoning = self._thought() if self._place == "inside" else ""
        if self._place == "after":
            bare = self._held.lstrip()
            if bare or len(self._held) > _MAX_BLANK:
                self._place, self._held = "text", bare
        if self._place != "text":
            return Delta("", reasoning)
        text, self._held = self._held, ""
        return Delta(text, reasoning)

    def rest(self) -> Delta:
        """Return the text that was held back, at the end of a reply."""
        held, self._held = self._held, ""
        if self._place == "inside":
            return Delta("", held)
        return Delta(held) if self._place == "before" else Delta()

    def _begin(self) -> None:
        bare = self._held.lstrip()
        if bare.startswith(_THINK):
            self._place, self._held = "inside", bare.removeprefix(_THINK)
        elif not _THINK.startswith(bare) or len(self._held) > _MAX_BLANK:
            self._place = "text"

    def _thought(self) -> str:
        reasoning, end, text = self._held.partition(_THOUGHT)
        if end:
            self._place, self._held = "after", text
            return reasoning
        lengths = range(min(len(reasoning), len(_THOUGHT) - 1), -1, -1)
        n_held = next(length for length in lengths if reasoning.endswith(_THOUGHT[:length]))
        self._held = reasoning[len(reasoning) - n_held :]
        return reasoning[: len(reasoning) - n_held]


def bounded(pieces: Generator[Delta | Reply, None, None], ask: Ask, name: str) -> Iterator[Delta | Reply]:
    """Pass on a stream, and end it with ProviderError when it is far longer than the requested number of tokens."""
    left = ask.max_tokens * _MAX_CHARS_PER_TOKEN
    with closing(pieces):
        for item in pieces:
            left -= len(item.text) + len(item.reasoning) if isinstance(item, Delta) else 0
            if left < 0:
                raise ProviderError(
                    f"{name} did not stop after the {ask.max_tokens} tokens that were requested",
                    hint="check that the server supports max_tokens, or use another model",
                )
            yield item


def whole(model: ChatModel, ask: Ask) -> Reply:
    """Return the reply without its pieces. Raises ProviderError."""
    for item in model.stream(ask):
        if isinstance(item, Reply):
            return item
    raise AssertionError(f"{model.name} ended a stream without a reply")  # against the protocol
