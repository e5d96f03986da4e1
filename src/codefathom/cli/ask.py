"""`fathom ask`: the answer as it is written, then what it rests on; or only what it would rest on."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import cast

from codefathom.agent.loop import Call, Event, Observed
from codefathom.answer.ask import NO_MODEL, NOT_FOUND, Found, Text
from codefathom.answer.tokens import counter
from codefathom.answer.types import Answer, StageTrace
from codefathom.cli.aliases import NO_MODEL as NOT_JUDGED
from codefathom.cli.contexts import context_of
from codefathom.cli.face import Face
from codefathom.cli.filters import inside_project, where
from codefathom.cli.options import AskOptions
from codefathom.cli.render import safe
from codefathom.cli.shapes import answer_shape, to_json
from codefathom.engine import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.search.query import unwrap
from codefathom.types import Context

FOUND, NOTHING = 0, 1
STDIN = "-"
_NOT_FOR_AGENTS = ("contexts_only", "pin", "doc", "url", "dir", "lang", "kind", "filter")
_OF_ANSWERS = ("explain", "trace")
_WHY = {"agent": "an agent looks for itself", "contexts_only": "stages are told with an answer"}


def unwrapped(options: AskOptions) -> AskOptions:
    """Return the options with the question that a JSON query holds. Raises UsageError for what does not go together."""
    question, only_contexts = unwrap(options.query)
    options = options._replace(query=question, contexts_only=options.contexts_only or only_contexts)
    _refuse(options, "agent", _NOT_FOR_AGENTS)
    _refuse(options, "contexts_only", _OF_ANSWERS)
    return options


def _refuse(options: AskOptions, chosen: str, others: Iterable[str]) -> None:
    given = next((name for name in others if getattr(options, name)), "") if getattr(options, chosen) else ""
    if given:
        one, other = (f"--{name.replace('_', '-')}" for name in (chosen, given))
        raise UsageError(f"{one} and {other} do not go together", hint=f"leave one of them out: {_WHY[chosen]}")


def contexts(options: AskOptions, face: Face) -> Context:
    """Return the sources of an answer that is not written: the answering model is not asked."""
    with face.open() as engine, closing(cast("Generator[Found | Text | Answer]", _asked(options, engine))) as events:
        found = next(events)
        assert isinstance(found, Found)  # the protocol of ask_events
        settings = engine.settings
    llm = settings.llm
    if settings.select.filter_level >= 1 and not (llm.of("select") or llm.of("judge")):
        face.note(NOT_JUDGED)
    face.notes(found.degraded)
    return context_of(options.query, found, counter(settings.context.tokenizer_path))


def run(options: AskOptions, face: Face) -> int:
    """Answer one question. 1 when nothing was found."""
    with face.open() as engine:
        events = engine.investigate(options.query) if options.agent else _asked(options, engine)
        answer = show(events, face)
    conclude(answer, face)
    if options.explain:
        face.note(f"the stages of this answer\n{stages_text(answer.trace)}")
    if options.trace:
        _write_trace(answer, options.trace)
    return FOUND if answer.sources and NOT_FOUND not in answer.degraded else NOTHING


def _asked(options: AskOptions, engine: Engine) -> Iterator[Found | Text | Answer]:
    return engine.ask_events(
        options.query,
        where=where(options, engine.root),
        pinned=[inside_project(path, engine.root) for path in options.pin],
        documents=dict(documents(options.doc, options.url)),
    )


def show(events: Iterator[Found | Text | Event | Answer], face: Face) -> Answer:
    """Write the pieces as they come; as JSON, the whole at the end. What an agent does is said on stderr."""
    is_streamed = False
    for event in events:
        if isinstance(event, Found):
            face.note_indexing()
        elif isinstance(event, Text) and not face.common.json:
            is_streamed = True
            face.write(safe(event.text))
            face.flush()
        elif isinstance(event, Call):
            face.note(f"{event.name} {event.arguments}")
        elif isinstance(event, Observed) and event.is_error:
            face.note(event.text)
        elif isinstance(event, Answer):
            if face.common.json:
                face.write(to_json(answer_shape(event)))
            elif not is_streamed:
                face.write(safe(event.text))
            return event
    raise AssertionError("an answer ended without its last event")  # against the protocol of ask_events


def conclude(answer: Answer, face: Face) -> None:
    """Say on stderr what the answer lacks and how far to trust it."""
    if not face.common.json:
        face.write("" if answer.text.endswith("\n") else "\n")
    face.notes(answer.degraded)
    if answer.model:
        n_verified, n_dropped = len(answer.citations), len(answer.dropped)
        confidence = f"confidence {answer.label} ({answer.confidence:.2f})"
        tokens = f", {sum(answer.usage)} tokens" if sum(answer.usage) else ""
        verified = f"{n_verified} of {n_verified + n_dropped} citations verified"
        cost = "" if answer.cost is None else f", cost {_money(answer.cost)}"
        face.note(f"{confidence}, {verified}, {answer.model}{tokens}{cost}")
    elif NO_MODEL in answer.degraded:
        face.note("for answers in words: set FATHOM_LLM__MODEL, such as ollama:qwen2.5-coder:14b or openai:gpt-5-mini")


def stages_text(trace: Sequence[StageTrace]) -> str:
    """Return the stages as a table."""
    head = ("stage", "ms", "in", "out", "tokens", "cost", "detail")
    rows = [head, *map(_cells, trace)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return "\n".join(_aligned(row, widths) for row in rows)


def _cells(stage: StageTrace) -> tuple[str, ...]:
    tokens = f"{stage.usage.prompt_tokens}+{stage.usage.completion_tokens}" if any(stage.usage) else ""
    cost = "" if stage.cost is None else _money(stage.cost)
    numbers = (f"{stage.milliseconds:.0f}", str(stage.n_in), str(stage.n_out), tokens, cost)
    return (safe(stage.stage), *numbers, safe(" ".join(stage.detail.split())))


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:], strict=True)]
    return "  ".join(["", row[0].ljust(widths[0]), *cells, row[-1]]).rstrip()


def _money(cost: float) -> str:
    return "<0.0001" if 0 < cost < 0.0001 else f"{cost:.4f}"


def documents(paths: Iterable[str], urls: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts given with --doc and --url, by name. Raises SourceError."""
    for path in paths:
        if path == STDIN:
            yield "stdin", sys.stdin.read()
            continue
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                yield path, file.read()
        except OSError as error:
            raise SourceError(f"cannot read {path!r}: {error.strerror}", hint="give a file, or - for stdin") from error
    if not urls:
        return
    from codefathom.source.web import fetch, name_of  # with all that speaks to other machines

    for url in dict.fromkeys(urls):
        yield name_of(url), fetch(url)


def _write_trace(answer: Answer, path: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump([asdict(stage) | {"usage": stage.usage._asdict()} for stage in answer.trace], file, indent=2)
    except OSError as error:
        raise SourceError(f"cannot write {path!r}: {error.strerror}", hint="give a file that can be written") from error
