"""What models are asked and what comes back, kept for the trace of an answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from codefathom.answer.types import ModelCall, Said, with_hint
from codefathom.errors import FathomError
from codefathom.providers.base import NO_USAGE, Ask, ChatModel, Delta, Message, Reply, ToolCall

# A prompt is mostly sources, which its beginning shows; the question stands at its end.
_MAX_BEGINNING, _MAX_END = 6_000, 2_000
_MAX_MESSAGES = 20
_ENDED = "the call was ended before the reply was whole"


class Recorded:
    """A model that keeps every call, masked and shortened. As safe to use from several threads as the model is."""

    def __init__(self, model: ChatModel, mask: Callable[[str], str] = str) -> None:
        self._model = model
        self.mask = mask
        self.calls: list[ModelCall] = []  # in the order in which they ended

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._model.name

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        """See `ChatModel`."""
        started = time.perf_counter()
        pieces: list[str] = []
        reply: Reply | None = None
        problem = _ENDED
        try:
            for item in self._model.stream(ask):
                if isinstance(item, Reply):
                    reply, problem = item, ""
                else:
                    pieces.append(item.text)
                yield item
        except FathomError as error:
            problem = with_hint(error)
            raise
        finally:
            text = _written(reply.text, reply.tool_calls) if reply else "".join(pieces)
            usage = reply.usage if reply else NO_USAGE
            took_ms = (time.perf_counter() - started) * 1000
            prompt = tuple(self._said(message) for message in _some(ask.messages))
            self.calls.append(ModelCall(self.name, prompt, self._kept(text), took_ms, usage, problem))

    def taken(self) -> list[ModelCall]:
        """Return the calls so far and begin anew."""
        taken, self.calls = self.calls, []
        return taken

    def _said(self, message: Message) -> Said:
        return Said(message.role, self._kept(_written(message.content, message.tool_calls)))

    def _kept(self, text: str) -> str:
        """Mask first: half a key may not look like one."""
        text = self.mask(text)
        n_lost = len(text) - _MAX_BEGINNING - _MAX_END
        if n_lost <= 0:
            return text
        return f"{text[:_MAX_BEGINNING]}\n… {n_lost} characters …\n{text[-_MAX_END:]}"


def _some(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the first message, which holds the rules, and the latest ones."""
    return messages if len(messages) <= _MAX_MESSAGES else [messages[0], *messages[1 - _MAX_MESSAGES :]]


def _written(text: str, calls: Sequence[ToolCall]) -> str:
    return "\n".join(filter(None, [text, *(f"{call.name} {call.arguments}" for call in calls)]))
