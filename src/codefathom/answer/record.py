"""The record of an answer, for its trace: its stages, with the prompts and replies of models in them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from codefathom.answer.answer_types import (
    AnswerStep,
    ModelCall,
    OnStep,
    StageTrace,
    TracedMessage,
    ignore_step,
    traced,
    with_hint,
)
from codefathom.errors import FathomError
from codefathom.providers.base import NO_USAGE, Ask, ChatModel, Delta, Message, Reply, ToolCall, Usage
from codefathom.telemetry import span
from codefathom.types import NO_PRICES, Prices

# A prompt is mostly sources, which its beginning shows; the question stands at its end.
_MAX_BEGINNING, _MAX_END = 6_000, 2_000
_MAX_MESSAGES = 20
_MAX_CALLS = 100  # of a stage
_SILENT_S = 5.0  # whoever waits for a model is told of it again and again
_ENDED = "the call was ended before the reply was whole"

PricesOf = Callable[[str], Prices]  # name of a model → what it costs


class Record:
    """The stages so far."""

    def __init__(
        self,
        mask: Callable[[str], str] = str,
        prices_of: PricesOf = lambda _: NO_PRICES,
        clock: Callable[[], float] = time.perf_counter,
        on_step: OnStep = ignore_step,
    ) -> None:
        self.stages: list[StageTrace] = []
        self._mask = mask
        self._prices_of = prices_of
        self._clock = clock
        self._on_step = on_step

    @contextmanager
    def stage(self, name: str, inputs: Sequence[str]) -> Iterator[Stage]:
        """Time a stage and keep what it was given, what models were asked in it, and what it says of itself."""
        started = self._clock()
        stage = Stage(self._mask, self._on_step)
        # Not current: the stages of an answer are interrupted, each time it gives a piece of it away.
        with span(f"answer: {name}", is_current=False, n_in=len(inputs)):
            yield stage
        calls = stage.calls
        self.stages.append(
            StageTrace(
                stage=name,
                milliseconds=(self._clock() - started) * 1000,
                n_in=len(inputs),
                n_out=len(stage.output) if stage.n_out is None else stage.n_out,
                usage=sum((call.usage for call in calls), NO_USAGE),
                detail=stage.detail,
                input=traced(map(self._mask, inputs)),
                output=traced(map(self._mask, stage.output)),
                cost=_sum([self._prices_of(call.model).cost(call.usage) for call in calls if any(call.usage)]),
                calls=tuple(calls[:_MAX_CALLS]),
                n_calls=len(calls),
            )
        )

    def say(self, phase: str, text: str) -> None:
        """Tell whoever waits what the answer is at."""
        self._on_step(AnswerStep(phase, text))

    @property
    def usage(self) -> Usage:
        """The tokens of all stages."""
        return sum((stage.usage for stage in self.stages), NO_USAGE)

    @property
    def cost(self) -> float | None:
        """The cost of all stages; None if no token was counted, or the price of a model is not known."""
        return _sum([stage.cost for stage in self.stages if any(stage.usage)])


def _sum(costs: Sequence[float | None]) -> float | None:
    amounts = [cost for cost in costs if cost is not None]
    return round(sum(amounts), 9) if amounts and len(amounts) == len(costs) else None


@dataclass(slots=True)
class Stage:
    """The record of one stage, which the stage fills in while it runs."""

    mask: Callable[[str], str] = str
    on_step: OnStep = ignore_step
    n_out: int | None = None  # None: as much as `output` lists
    detail: str = ""
    output: Sequence[str] = ()
    _models: list[RecordingModel] = field(default_factory=list)

    def recorded(self, model: ChatModel) -> ChatModel:
        """Return the model as this stage may ask it: every call is kept."""
        self._models.append(RecordingModel(model, self.mask, self.on_step))
        return self._models[-1]

    @property
    def calls(self) -> list[ModelCall]:
        """The calls of models so far."""
        return [call for model in self._models for call in model.calls]


class RecordingModel:
    """A model that keeps every call, masked and shortened. As safe to use from several threads as the model is."""

    def __init__(self, model: ChatModel, mask: Callable[[str], str] = str, on_step: OnStep = ignore_step) -> None:
        self._model = model
        self._on_step = on_step
        self._mask = mask
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
            with (
                span(f"chat {self.name}", is_current=False, model=self.name) as call,
                _silence_told(self.name, self._on_step) as hear,
            ):
                for item in self._model.stream(ask):
                    hear()
                    if isinstance(item, Reply):
                        reply, problem = item, ""
                        call.note(input_tokens=item.usage.prompt_tokens, output_tokens=item.usage.completion_tokens)
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
            prompt = tuple(self._traced_message(message) for message in _some(ask.messages))
            self.calls.append(ModelCall(self.name, prompt, self._shortened(text), took_ms, usage, problem))

    def _traced_message(self, message: Message) -> TracedMessage:
        return TracedMessage(message.role, self._shortened(_written(message.content, message.tool_calls)))

    def _shortened(self, text: str) -> str:
        """Mask first: half a key may not look like one."""
        text = self._mask(text)
        n_lost = len(text) - _MAX_BEGINNING - _MAX_END
        if n_lost <= 0:
            return text
        return f"{text[:_MAX_BEGINNING]}\n… {n_lost} characters …\n{text[-_MAX_END:]}"


def _some(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the first message, which holds the rules, and the latest ones."""
    return messages if len(messages) <= _MAX_MESSAGES else [messages[0], *messages[1 - _MAX_MESSAGES :]]


def _written(text: str, calls: Sequence[ToolCall]) -> str:
    return "\n".join(filter(None, [text, *(f"{call.name} {call.arguments}" for call in calls)]))


@contextmanager
def _silence_told(name: str, on_step: OnStep) -> Iterator[Callable[[], None]]:
    """Tell every few seconds that the model is silent, until the first piece of its reply or the end of the block."""
    is_heard, lock = Event(), Lock()

    def tell() -> None:
        seconds = 0.0
        while not is_heard.wait(_SILENT_S):
            seconds += _SILENT_S
            with lock:  # nothing is told after the first piece
                if not is_heard.is_set():
                    on_step(AnswerStep("waiting", f"{name} has not answered for {seconds:.0f} s"))

    def hear() -> None:
        with lock:
            is_heard.set()

    Thread(target=tell, name="silence", daemon=True).start()
    try:
        yield hear
    finally:
        hear()
