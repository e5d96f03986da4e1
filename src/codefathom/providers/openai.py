"""Chat by the protocol of OpenAI, which vLLM, LM Studio, llama.cpp and most clouds speak too."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, cast

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Delta, Finish, Message, Reply, ThoughtFilter, ToolCall, Usage, bounded
from codefathom.providers.events import WRONG_SHAPE, Events, plain
from codefathom.providers.http import Http, StatusError

_MAX_BODY = 1 << 24  # characters of a reply that is not streamed
_REASONING = ("gpt-5", "o1", "o3", "o4")
_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "refused",
}
# What strict schemas do not know.
_LOOSE = frozenset(
    {"allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties"}
)


class OpenAIChat:
    """A chat model behind /chat/completions."""

    def __init__(self, model: str, http: Http, name: str = "") -> None:
        self._model = model
        self._http = http
        self._events = Events(name or f"openai:{model}", http.sayable)
        # Reasoning models count the tokens of their thoughts too, and take no temperature. Others that do so
        # are recognised when the server refuses a request.
        self._is_reasoning = model.startswith(_REASONING)
        self._refused: frozenset[str] = frozenset()  # names of extras that the server does not take

    @property
    def name(self) -> str:
        """Provider and model, and an address of their own."""
        return self._events.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`."""
        return bounded(self._stream(ask), ask, self.name)

    def _stream(self, ask: Ask) -> Generator[Delta | Reply, None, None]:
        gathered = _Gathered()
        lines = self._lines(ask)
        for line in lines:
            # Lines that begin with a colon keep the connection alive; others carry events that we do not know.
            data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
            if data == "[DONE]":
                break
            if data:
                yield from self._taken(gathered, data)
            elif line.lstrip().startswith("{") and not gathered.is_begun:
                yield from self._whole(gathered, chain([line], lines))
        yield from gathered.rest()
        reply = gathered.reply()
        if reply is None:
            raise self._events.broken_off()
        yield reply

    def _whole(self, gathered: _Gathered, lines: Iterator[str]) -> Iterator[Delta]:
        """Yield the text of a reply that was not streamed. Raises ProviderError if it is not a reply."""
        body = ""
        for line in lines:
            body += f"{line}\n"
            if len(body) > _MAX_BODY:
                raise ProviderError(f"{self.name} did not stop after {_MAX_BODY} characters", hint="ask again")
        yield from self._taken(gathered, body)
        if not gathered.end():
            words = self._http.sayable(body)
            raise ProviderError(f"{self.name} sent something that is not a reply: {words!r}", hint="check llm.base_url")

    def _taken(self, gathered: _Gathered, data: str) -> Iterator[Delta]:
        """Yield the new text of an event. Raises ProviderError if it is not an event, or reports an error."""
        event = self._events.read(data)
        try:
            yield from gathered.take(event)
        except WRONG_SHAPE as error:
            raise self._events.wrong(data) from error

    def _lines(self, ask: Ask) -> Iterator[str]:
        """Send the request; extras that the server refuses (usage, schemas) are left out in the next attempt."""
        refused: StatusError | None = None
        extras = deque(_extras(ask.schema, self._refused))
        tried: list[str] = []
        while extras:
            body = _body(self._model, ask, is_reasoning=self._is_reasoning)
            lines = self._http.lines("/chat/completions", {**body, **extras[0].fields})
            try:
                first = next(lines, None)
            except StatusError as error:
                said = error.said
                if error.status not in {400, 422} or "context" in said:
                    raise
                refused = refused or error
                if not self._is_reasoning and ("max_tokens" in said or "temperature" in said):
                    self._is_reasoning = True
                else:
                    tried.append(extras.popleft().name)
                continue
            # Where not even the usage may be asked for, nothing is known of the formats that went with it.
            self._refused |= {_USAGE} if _USAGE in tried else set(tried)
            if first is not None:
                yield first
            yield from lines
            return
        assert refused is not None  # the last request was refused too
        raise refused


class _Extra(NamedTuple):
    """Fields that are added to a request if the server accepts them."""

    name: str
    fields: Mapping[str, Any]


_USAGE = "usage"


def _extras(schema: Mapping[str, Any] | None, refused: Collection[str]) -> Iterator[_Extra]:
    """Yield extras for a request, the best first, and an empty one last; refused ones are left out."""
    usage = {} if _USAGE in refused else {"stream_options": {"include_usage": True}}
    if schema is not None:
        named = {"name": "reply", "schema": schema, "strict": schema.get("type") == "object" and _is_strict(schema)}
        formats = ({"type": "json_schema", "json_schema": named}, {"type": "json_object"})
        extras = (_Extra(str(form["type"]), {**usage, "response_format": form}) for form in formats)
        yield from (extra for extra in extras if extra.name not in refused)
    if usage:
        yield _Extra(_USAGE, usage)
    yield _Extra("nothing", {})


def _is_strict(schema: object) -> bool:
    """Return True if OpenAI accepts a schema as strict: every object closed, with all properties required."""
    if not isinstance(schema, Mapping):
        return isinstance(schema, bool) or schema is None
    if not _LOOSE.isdisjoint(schema):
        return False
    properties = schema.get("properties", {})
    types = schema.get("type", "object" if "properties" in schema else "")
    if types == "object" or (isinstance(types, list) and "object" in types):
        is_closed = schema.get("additionalProperties") is False
        if not is_closed or set(schema.get("required", ())) != set(properties):
            return False
    inner = [*properties.values(), *schema.get("anyOf", ())]
    inner += [part for name in ("$defs", "definitions") for part in schema.get(name, {}).values()]
    return all(map(_is_strict, [*inner, schema.get("items")]))


def _body(model: str, ask: Ask, *, is_reasoning: bool) -> dict[str, Any]:
    limits = {"temperature": ask.temperature, "max_tokens": ask.max_tokens}
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in ask.messages],
        "stream": True,
        **({"max_completion_tokens": ask.max_tokens} if is_reasoning else limits),
    }
    if ask.tools:
        body["tools"] = [{"type": "function", "function": tool._asdict()} for tool in ask.tools]
    return body


def _message(message: Message) -> dict[str, Any]:
    shape: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        shape["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        shape["tool_call_id"] = message.tool_call_id
    return shape


class _Gathered:
    """The pieces of one reply."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._calls: list[_Call] = []
        self._usage = Usage()
        self._finish = ""
        self._model = ""
        self._is_refusal = False
        self.is_begun = False
        self._thoughts = ThoughtFilter()

    def take(self, event: Mapping[str, Any]) -> Iterator[Delta]:
        """Take one event and yield its new text."""
        self._model = plain(event.get("model")) or self._model
        if isinstance(usage := event.get("usage"), Mapping):
            self._usage = Usage(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        for choice in (event.get("choices") or [])[:1]:
            self.is_begun = True
            self._finish = plain(choice.get("finish_reason")) or self._finish
            delta = choice.get("delta") or choice.get("message") or {}
            self._take_calls(delta.get("tool_calls") or [])
            refusal = delta.get("refusal") or ""
            self._is_refusal = self._is_refusal or bool(refusal)
            text, thought = self._thoughts.take(_text(delta.get("content")))
            reasoning = delta.get("reasoning_content") or delta.get("reasoning") or ""
            yield from self._emit(text + refusal, (reasoning if isinstance(reasoning, str) else "") + thought)

    def rest(self) -> Iterator[Delta]:
        """Yield the text that was held back, at the end of the reply."""
        yield from self._emit(*self._thoughts.rest())

    def end(self) -> bool:
        """End a reply that came in one piece, perhaps without a finish reason. Return True if there is a reply."""
        self._finish = self._finish or "stop"
        return self.is_begun

    def _emit(self, text: str, reasoning: str) -> Iterator[Delta]:
        if text or reasoning:
            self._texts.append(text)
            yield Delta(text, reasoning)

    def _take_calls(self, fragments: Sequence[Mapping[str, Any]]) -> None:
        for place, fragment in enumerate(fragments):
            function = fragment.get("function") or {}
            index = fragment.get("index")
            call = self._call(index if isinstance(index, int) else place, plain(fragment.get("id")))
            call.name += function.get("name") or ""
            arguments = function.get("arguments") or ""
            call.arguments += arguments if isinstance(arguments, str) else json.dumps(arguments)

    def _call(self, index: int, id_: str) -> _Call:
        """Return the call that a fragment belongs to. Some servers give all calls one index, and each its own id."""
        same = [call for call in self._calls if call.index == index]
        for call in same:
            if id_ and call.id == id_:
                return call
        if same and not (id_ and same[-1].id):
            same[-1].id = same[-1].id or id_
            return same[-1]
        self._calls.append(_Call(index, id_))
        return self._calls[-1]

    def reply(self) -> Reply | None:
        """Return the whole reply, None when the stream ended before its end."""
        if not self._finish:
            return None
        calls = tuple(
            ToolCall(call.id or f"call_{place}", call.name, call.arguments or "{}")
            for place, call in enumerate(sorted(self._calls, key=lambda call: call.index))
        )
        finish = "refused" if self._is_refusal else _FINISH.get(self._finish, "stop")
        if calls and finish == "stop":  # so say several servers of calls too
            finish = "tool_calls"
        return Reply("".join(self._texts), calls, self._usage, finish, self._model)


@dataclass(slots=True)
class _Call:
    """A call of a tool, as far as it has come in."""

    index: int
    id: str
    name: str = ""
    arguments: str = ""


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """Return the text of a message, which some servers send as a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return cast(str, content or "")
