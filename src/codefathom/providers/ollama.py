"""Chat by Ollama's own protocol: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Delta, Finish, Message, Reply, Thoughts, ToolCall, Usage, bounded
from codefathom.providers.http import Http

_BYTES_PER_TOKEN = 3  # rather too many tokens than too few
_OWN_WINDOW, _LARGEST_WINDOW = 4_096, 131_072
_FINISH: Mapping[str, Finish] = {"stop": "stop", "length": "length"}


class OllamaChat:
    """A chat model behind /api/chat."""

    def __init__(self, model: str, http: Http, name: str = "") -> None:
        self._model = model
        self._http = http
        self._name = name or f"ollama:{model}"

    @property
    def name(self) -> str:
        """Provider and model, and an address of their own."""
        return self._name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`."""
        return bounded(self._stream(ask), ask, self.name)

    def _stream(self, ask: Ask) -> Generator[Delta | Reply, None, None]:
        texts: list[str] = []
        calls: list[ToolCall] = []
        thoughts = Thoughts()
        for line in self._http.lines("/api/chat", _body(self._model, ask)):
            if not line.strip():
                continue
            event = self._object(line)
            try:
                message = event.get("message") or {}
                text, reasoning = str(message.get("content") or ""), str(message.get("thinking") or "")
                calls += [_call(call, len(calls) + place) for place, call in enumerate(message.get("tool_calls") or [])]
                usage = Usage(int(event.get("prompt_eval_count") or 0), int(event.get("eval_count") or 0))
            except (AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
                raise self._no_event(line) from error
            # Where the server does not tell thoughts from text, the model's tags do.
            is_done, found = bool(event.get("done")), thoughts.take(text)
            for piece in (Delta(found.text, reasoning + found.reasoning), *([thoughts.rest()] if is_done else [])):
                if any(piece):
                    texts.append(piece.text)
                    yield piece
            if is_done:
                finish = "tool_calls" if calls else _FINISH.get(event.get("done_reason") or "stop", "stop")
                yield Reply("".join(texts), tuple(calls), usage, finish, event.get("model") or "")
                return
        raise ProviderError(f"{self.name} broke off in the middle of a reply", hint="ask again")

    def _object(self, line: str) -> Mapping[str, Any]:
        """Return what a line holds. Raises ProviderError when it is no event, or tells of an error."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as error:
            said = self._http.sayable(line)
            raise ProviderError(f"{self.name} sent what is no JSON: {said!r}", hint="ask again") from error
        if not isinstance(event, Mapping):
            raise self._no_event(line)
        if event.get("error"):
            said, hint = self._http.sayable(str(event["error"])), f"`ollama pull {self._model}` if it is not there yet"
            raise ProviderError(f"{self.name} failed: {said}", hint=hint)
        return event

    def _no_event(self, line: str) -> ProviderError:
        return ProviderError(f"{self.name} sent what is no event: {self._http.sayable(line)!r}", hint="ask again")


def _body(model: str, ask: Ask) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": list(_messages(ask.messages)),
        "stream": True,
        "options": {"temperature": ask.temperature, "num_predict": ask.max_tokens, **_window(ask)},
    }
    if ask.tools:
        body["tools"] = [{"type": "function", "function": tool._asdict()} for tool in ask.tools]
    if ask.schema is not None:
        body["format"] = ask.schema
    return body


def _window(ask: Ask) -> dict[str, int]:
    """Ask for a window that holds prompt and reply; beyond its own, Ollama cuts the prompt and does not say so."""
    n_bytes = sum(len(message.content.encode("utf-8", "replace")) for message in ask.messages)
    needed = n_bytes // _BYTES_PER_TOKEN + ask.max_tokens
    if needed <= _OWN_WINDOW:
        return {}
    return {"num_ctx": min(1 << (needed - 1).bit_length(), _LARGEST_WINDOW)}


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
        return json.loads(text)
    except (ValueError, RecursionError):  # what a model wrote and nobody could read goes back to it as it is
        return {"text": text}


def _call(call: Mapping[str, Any], place: int) -> ToolCall:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return ToolCall(call.get("id") or f"call_{place}", function.get("name") or "", text)
