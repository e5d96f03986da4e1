"""A conversation → its final answer: by schema, else read tolerantly, else repaired once, else the text as it is.

A source that the model was never shown is dropped and counted, and nothing takes its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from codefathom.agent.tools import ShownLines
from codefathom.answer.answer_types import Citation, Dropped, Label
from codefathom.answer.budget import merged
from codefathom.errors import ProviderError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Ask, ChatModel, Delta, Message, Reply
from codefathom.text.loose_json import objects_in

LABELS: tuple[Label, ...] = ("low", "medium", "high")
MAX_TOKENS = 4_096
_MAX_LINE = 9_999_999
_MAX_WRITTEN = 200  # characters that are kept of what is no source

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "confidence": {"type": "string", "enum": list(LABELS)},
        "sources": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "start_line": {"type": "integer"},
                    "end_line": {"type": "integer"},
                },
                "required": ["path", "start_line", "end_line"],
                "additionalProperties": False,
            },
        },
        "reasoning": {"type": "string"},
    },
    "required": ["answer", "confidence", "sources", "reasoning"],
    "additionalProperties": False,
}
DEMAND = (
    "Answer the question now, from what you have seen; no tool can be called any more. Write one JSON object and "
    'nothing else: {"answer": text in the language of the question, "confidence": "high", "medium" or "low", '
    '"sources": [{"path", "start_line", "end_line"}] with only lines that you were shown, "reasoning": how they lead '
    "to the answer}. Say in the answer what you did not find."
)
_REPAIR = "That cannot be used: {problem}. Write the whole JSON object again, shorter if it was cut, and nothing else."


@dataclass(frozen=True, slots=True)
class FinalAnswer:
    """The result of an agent. Every source lies in lines that it was shown."""

    answer: str  # "" when the model failed before it gave one
    confidence: Label
    named: tuple[Citation | Dropped, ...]  # the sources in the order of the reply
    reasoning: str = ""
    problem: str = ""  # the reason why the reply did not follow the schema

    @property
    def sources(self) -> tuple[Citation, ...]:
        """The sources that hold, each once."""
        return tuple(dict.fromkeys(item for item in self.named if isinstance(item, Citation)))

    @property
    def dropped(self) -> tuple[Dropped, ...]:
        """The sources that it named, but was never shown."""
        return tuple(item for item in self.named if isinstance(item, Dropped))


Trace = Sequence[Sequence[ShownLines]]  # the lines of each observation, oldest first


def stream_final(
    model: ChatModel, messages: Sequence[Message], trace: Trace, demand: str = DEMAND, max_tokens: int = MAX_TOKENS
) -> Generator[Delta, None, FinalAnswer]:
    """Yield the pieces of the final answer and return it.

    When the last message is an answer of the model, nothing more is asked of it if that follows the schema already.
    Raises ProviderError when there is neither an answer nor a reply, and when the answer is empty.
    """
    draft = messages[-1].content if messages and messages[-1].role == "assistant" else ""
    parsed, text = _parsed(draft), draft
    talk = [*messages, Message("user", demand)]
    for _ in range(2):
        if not parsed.problem:
            break
        try:
            reply = yield from replied(model, Ask(tuple(talk), schema=SCHEMA, max_tokens=max_tokens))
        except ProviderError:
            if not text.strip():
                raise
            break
        parsed, text = _parsed(reply.text), draft or reply.text or text
        talk += [Message("assistant", reply.text), Message("user", _REPAIR.format(problem=parsed.problem))]
    answer = _answer(parsed, text, trace)
    if not answer.answer:
        raise ProviderError(f"{model.name} gave an empty answer", hint="ask again, or use another model")
    return answer


def replied(model: ChatModel, ask: Ask) -> Generator[Delta, None, Reply]:
    """Yield the pieces of a reply and return it whole. Closing this, or leaving it by an error, ends the call."""
    stream = model.stream(ask)
    try:
        for item in stream:
            if isinstance(item, Reply):
                return item
            yield item
    finally:
        close = getattr(stream, "close", None)  # an iterator need not have one
        if close is not None:
            close()
    raise AssertionError(f"{model.name} ended a stream without a reply")  # against the protocol


# ---- reading a reply


class _Parsed(NamedTuple):
    """The fields of a reply, and its problem."""

    fields: Mapping[str, Any]
    problem: str


def _parsed(text: str) -> _Parsed:
    objects = [value for value in objects_in(text) if "answer" in value]
    if not objects:
        return _Parsed({}, "there is no JSON object with an answer in it")
    fields = objects[-1]
    problems = []
    if not isinstance(fields["answer"], str) or not fields["answer"].strip():
        problems.append("answer must be a text that is not empty")
    if _label(fields.get("confidence")) is None:
        problems.append(f"confidence must be one of {', '.join(LABELS)}")
    if not isinstance(fields.get("sources"), list):
        problems.append("sources must be a list")
    return _Parsed(fields, "; ".join(problems))


def _label(value: object) -> Label | None:
    """Return a confidence as its label; a share from 0 to 1 is understood too."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return LABELS[min(int(value * len(LABELS)), len(LABELS) - 1)]
    word = value.strip().lower() if isinstance(value, str) else ""
    return next((label for label in LABELS if label == word), None)


def _answer(parsed: _Parsed, text: str, trace: Trace) -> FinalAnswer:
    """Return the answer of a reply, or if it cannot be used, the text itself, with low confidence."""
    fields = parsed.fields
    text_of_answer = fields.get("answer")
    is_usable = isinstance(text_of_answer, str) and bool(text_of_answer.strip())
    label = (_label(fields.get("confidence")) if is_usable else None) or "low"
    # Text that is no answer of the asked form has no sources but those that stand in it.
    listed = fields.get("sources") if is_usable else None
    named = _checked(listed if isinstance(listed, list) else [], trace)
    if not any(isinstance(item, Citation) for item in named):
        label = min(label, "medium" if any(trace) else "low", key=LABELS.index)
    reasoning = fields.get("reasoning")
    answer = text_of_answer if isinstance(text_of_answer, str) and is_usable else _salvaged(text)
    return FinalAnswer(
        _clean(answer), label, named, _clean(reasoning if isinstance(reasoning, str) else ""), parsed.problem
    )


def _salvaged(text: str) -> str:
    """Return the answer inside JSON that broke off, or that is all but right, or the text itself."""
    whole = [value["answer"] for value in objects_in(text) if isinstance(value.get("answer"), str)]
    if whole:
        return str(whole[-1])
    match = re.match(r'\s*(?:```\w*\s*)?\{\s*"answer"\s*:\s*"((?:[^"\\]|\\[^u]|\\u[0-9a-fA-F]{4})*)', text, re.DOTALL)
    if not match:
        return text
    fields = next(objects_in(f'{{"answer": "{match[1]}"}}'), {})
    return str(fields.get("answer", text))


def _clean(text: str) -> str:
    # JSON can write half a surrogate pair, which no file or terminal takes.
    return text.encode("utf-8", "replace").decode("utf-8").strip()


# ---- sources


def _checked(named: Sequence[object], trace: Trace) -> tuple[Citation | Dropped, ...]:
    """Return each source as a citation where it lies in lines that were shown, and else as dropped."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for place in (place for places in trace for place in places):
        spans.setdefault(place.path, []).append((place.start_line, place.end_line))
    shown = {path: merged(lines, _MAX_LINE) for path, lines in spans.items()}
    return tuple(_source(item, shown) for item in named)


def _source(item: object, shown: Mapping[str, Sequence[tuple[int, int]]]) -> Citation | Dropped:
    """Return a source as a citation, or as dropped, with the reason."""
    place = _place(item)
    if place is None:
        written = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        return Dropped(_clean(written[:_MAX_WRITTEN]), Note(say.NAMES_NO_LINES))
    written = _clean(f"{place.path[:_MAX_WRITTEN]}:{place.start_line}-{place.end_line}")
    name = place.path.strip().removeprefix("./")
    paths = [name] if name in shown else [path for path in shown if path.endswith(f"/{name}")]
    if len(paths) != 1:
        return Dropped(written, Note(say.SEVERAL_FILES if paths else say.NO_SUCH_PATH))
    inside = any(start <= place.start_line <= place.end_line <= end for start, end in shown[paths[0]])
    if not inside:
        return Dropped(written, Note(say.NOT_SHOWN))
    return Citation(paths[0], place.start_line, place.end_line)


def _place(item: object) -> ShownLines | None:
    """Return the place that a model means by an object, or by a text such as "src/app.py:3-9"."""
    if isinstance(item, str):
        match = re.fullmatch(r"\[?`?(.+?):L?([0-9]{1,7})(?:\s*[-–]\s*L?([0-9]{1,7}))?`?\]?", item.strip())
        return ShownLines(match[1], int(match[2]), int(match[3] or match[2])) if match else None
    if not isinstance(item, Mapping):
        return None
    path, start = item.get("path", item.get("file_path")), _line(item.get("start_line"))
    end = start if item.get("end_line") is None else _line(item["end_line"])
    return ShownLines(path, start, end) if isinstance(path, str) and path and start and end else None


def _line(value: object) -> int:
    """Return a line number, 0 when it is none."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,7}", value.strip()):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
