"""Chat by Ollama's own protocol: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from codefathom.providers.base import (
    BYTES_PER_TOKEN,
    Ask,
    Delta,
    Finish,
    Message,
    Reply,
    ThoughtFilter,
    ToolCall,
    Usage,
    bounded,
)
from codefathom.providers.events import WRONG_SHAPE, Events, plain
from codefathom.providers.http import Http
from codefathom.text.foreign_json import read_json

_OWN_WINDOW, _LARGEST_WINDOW = 4_096, 131_072
_FINISH: Mapping[str, Finish] = {"stop": "stop", "length": "length"}


class OllamaChat:
    """A chat model behind /api/chat."""

    def __init__(self, model: str, http: Http, name: str = "", window: int = 0) -> None:
        """Take the tokens of the largest planned call: a server that gets another window loads the model again."""
        self._model = model
        self._window = window
        self._http = http
        self._events = Events(
            name or f"ollama:{model}", http.sayable, hint=f"`ollama pull {model}` if it is not there yet"
        )

    @property
    def name(self) -> str:
        """Provider and model, and an address of their own."""
        return self._events.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`."""
        return bounded(self._stream(ask), ask, self.name)

    def _stream(self, ask: Ask) -> Generator[Delta | Reply, None, None]:
        texts: list[str] = []
        calls: list[ToolCall] = []
        thoughts = ThoughtFilter()
        for line in self._http.lines("/api/chat", self._body(ask)):
            if not line.strip():
                continue
            event = self._events.read(line)
            try:
                message = event.get("message") or {}
                text, reasoning = str(message.get("content") or ""), str(message.get("thinking") or "")
                calls += [_call(call, len(calls) + place) for place, call in enumerate(message.get("tool_calls") or [])]
                usage = Usage(int(event.get("prompt_eval_count") or 0), int(event.get("eval_count") or 0))
            except WRONG_SHAPE as error:
                raise self._events.wrong(line) from error
            # Where the server does not tell thoughts from text, the model's tags do.
            is_done, delta = bool(event.get("done")), thoughts.take(text)
            for piece in (Delta(delta.text, reasoning + delta.reasoning), *([thoughts.rest()] if is_done else [])):
                if any(piece):
                    texts.append(piece.text)
                    yield piece
            if is_done:
                finish = "tool_calls" if calls else _FINISH.get(plain(event.get("done_reason")), "stop")
                yield Reply("".join(texts), tuple(calls), usage, finish, plain(event.get("model")))
                return
        raise self._events.broken_off()

    def _body(self, ask: Ask) -> dict[str, Any]:
        # It never becomes smaller: each change costs the time in which the server loads the model.
        self._window = max(self._window, _needed(ask))
        window = min(1 << (self._window - 1).bit_length(), _LARGEST_WINDOW)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": list(_messages(ask.messages)),
            "stream": True,
            "options": {
                "temperature": ask.temperature,
                "num_predict": ask.max_tokens,
                **({"num_ctx": window} if window > _OWN_WINDOW else {}),
            },
        }
        if ask.tools:
            body["tools"] = [{"type": "function", "function": tool._asdict()} for tool in ask.tools]
        if ask.schema is not None:
            body["format"] = ask.schema
        return body


def _needed(ask: Ask) -> int:
    """Return the tokens of prompt and reply; beyond its own window, Ollama cuts the prompt and does not say so."""
    n_bytes = sum(len(message.content.encode("utf-8", "replace")) for message in ask.messages)
    return n_bytes // BYTES_PER_TOKEN + ask.max_tokens


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield the messages as Ollama takes them: a result says which tool gave it, and not which call asked for it."""
    names: dict[str, str] = {}
    for message in messages:
        shape: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            names |= {call.id: call.name for call in message.tool_calls}
            shape["tool_calls"] = [
                {"function": {"name": call.name, "arguments": _arguments(call.arguments)}}
                for call in message.tool_calls
            ]
        if message.role == "tool" and message.tool_call_id in names:
            shape["tool_name"] = names[message.tool_call_id]
        yield shape


def _arguments(text: str) -> Any:
    try:
        return read_json(text)
    except ValueError:  # what a model wrote and nobody could read goes back to it as it is
        return {"text": text}


def _call(call: Mapping[str, Any], place: int) -> ToolCall:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(plain(call.get("id")) or f"call_{place}", plain(function.get("name")), text)
