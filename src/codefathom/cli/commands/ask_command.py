"""`fathom ask`: the answer while it is written, then its sources; or only the sources."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, cast

from codefathom.agent.loop import Event, ToolObservation, ToolUse
from codefathom.answer.answer_types import Answer, OnStep, Source
from codefathom.answer.ask import AnswerSources, Text
from codefathom.answer.budget import CountTokens, shown
from codefathom.answer.context_formats import context_file
from codefathom.answer.tokens import counter
from codefathom.askers.joined import JoinedProjects
from codefathom.cli.aliases import NO_MODEL as NOT_JUDGED
from codefathom.cli.display.answer_notes import command_text, sources_text, stages_text, trust_text
from codefathom.cli.display.output import Style, complain
from codefathom.cli.extra_documents import documents
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import inside_project, where
from codefathom.cli.options import AskOptions
from codefathom.cli.token_budget import ItemList, write_items
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.errors import SourceError, UsageError
from codefathom.facts.reasons import NO_MODEL, NOT_FOUND, Note
from codefathom.providers.base import Message
from codefathom.question.question import Question
from codefathom.search.question.query import unwrap
from codefathom.shapes import answer_shape, to_json, trace_shape
from codefathom.text.printable import show_text
from codefathom.types import Context, Where

Events: TypeAlias = Iterator[AnswerSources | Text | Event | Answer]
SUCCESS, NO_RESULT, ERROR = 0, 1, 2
_NOT_FOR_AGENTS = ("contexts_only", "dry_run")
_NOT_FOR_COMMANDS = ("contexts_only", "agent")
_OF_ANSWERS = ("explain", "trace", "dry_run")
_WHY = {
    "agent": "an agent searches for its sources itself, and nobody knows how often",
    "contexts_only": "no answer is written, so there are no stages to show and no cost to tell",
    "shell": "a shell command is written in one call, from the hits of the search",
}


_LEVEL = "select.filter_level"
_THOROUGH = 2
_OF_RAG = {_LEVEL: -1, "rerank.top_n": Settings().context.max_files}  # defaults of `--rag`


class QuestionInputs(NamedTuple):
    """The filter, files and texts that the options add to a question, or to each question of a conversation."""

    where: Where | None
    pinned: tuple[str, ...]
    documents: Mapping[str, str]
    agent: bool
    anyway: bool
    on_step: OnStep
    as_command: bool = False
    commits: bool = False
    dry_run: bool = False


def choose_level(options: AskOptions, face: Face) -> None:
    """Let `--thorough`, and `--rag` where nothing else is set, choose stages and sources. Raises UsageError."""
    if options.thorough:
        if _LEVEL in face.common.overrides:
            raise UsageError(
                "--thorough and --filter-level cannot be used together",
                hint="remove one of them",
            )
        face.override(_LEVEL, _THOROUGH)
    elif options.rag:
        chosen = face.settings().origins
        for key, value in _OF_RAG.items():
            if key not in chosen:
                face.override(key, value)


def unwrapped(options: AskOptions) -> AskOptions:
    """Return the options with the question inside a JSON query. Raises UsageError for contradicting options."""
    question, only_contexts = unwrap(options.query)
    options = options._replace(query=question, contexts_only=options.contexts_only or only_contexts)
    refuse_contradictions(options)
    return options


def refuse_contradictions(options: AskOptions) -> None:
    """Raise UsageError for options that exclude each other."""
    _refuse(options, "agent", _NOT_FOR_AGENTS)
    _refuse(options, "contexts_only", _OF_ANSWERS)
    _refuse(options, "shell", _NOT_FOR_COMMANDS)


def _refuse(options: AskOptions, chosen: str, others: Iterable[str]) -> None:
    conflicting = next((name for name in others if getattr(options, name)), "") if getattr(options, chosen) else ""
    if conflicting:
        first, second = (f"--{name.replace('_', '-')}" for name in (chosen, conflicting))
        raise UsageError(f"{first} and {second} cannot be used together", hint=f"remove one of them: {_WHY[chosen]}")


def contexts(options: AskOptions, face: Face) -> Context:
    """Return the sources of an answer that is not written: the answering model is not asked."""
    with (
        face.open_chosen(options) as engine,
        closing(ask_events(options.query, question_inputs(options, engine, face), engine)) as events,
    ):
        face.note_indexing()
        sources = next(events)
        assert isinstance(sources, AnswerSources)  # the protocol of ask_events
        settings = engine.settings
    llm = settings.llm
    if settings.select.filter_level >= 1 and not (llm.of("select") or llm.of("judge")):
        face.note(NOT_JUDGED)
    return _context_of(options.query, sources, counter(settings.context.tokenizer_path))


def _context_of(query: str, selection: AnswerSources, count: CountTokens) -> Context:
    """Return the sources of an answer as a context, file by file, in the order in which a model is shown them."""
    by_path: dict[str, list[Source]] = {}
    for source in selection.sources:
        by_path.setdefault(source.path, []).append(source)
    files = tuple(map(context_file, by_path.values()))
    n_tokens = sum(count(shown(source)) for source in selection.sources)
    cut = tuple(file.path for file in files if file.spans)
    return Context(query, files, n_tokens, cut, selection.left_out, selection.problems, selection.weak)


def run(options: AskOptions, face: Face) -> int:
    """Answer one question. Return 1 without a source, 2 when the model failed."""
    check_trace(options.trace)
    with face.open_chosen(options) as engine:
        inputs = question_inputs(options, engine, face)
        answer = show(ask_events(options.query, inputs, engine), face, waits=bool(options.max_tokens))
    if options.max_tokens:
        write_items(answer_parts(answer, options, face, to_json), options.max_tokens, face)
    elif face.common.json:
        face.write(to_json({**answer_shape(answer), **face.of_paths}))
    conclude(answer, options, face)
    if options.trace:
        write_trace(json.dumps(trace_shape(answer.trace), indent=2), options.trace, "w")
    if answer.failure:
        return ERROR
    if answer.expected:
        return SUCCESS
    return SUCCESS if answer.sources and Note(NOT_FOUND) not in answer.problems else NO_RESULT


def question_inputs(options: AskOptions, engine: Engine | JoinedProjects, face: Face) -> QuestionInputs:
    """Read the files, pages and filters that the options name. Raises UsageError and SourceError."""
    return QuestionInputs(
        where(options, engine.folder),
        tuple(inside_project(path, engine.folder) if engine.folder else path for path in options.pin),
        dict(documents(options.doc, options.url, face)),
        options.agent,
        bool(options.values.get("anyway")),
        face.step,
        options.shell,
        bool(options.values.get("commits")),
        options.dry_run,
    )


def ask_events(
    question: str, inputs: QuestionInputs, engine: Engine | JoinedProjects, history: Sequence[Message] = ()
) -> Generator[AnswerSources | Text | Event | Answer, None, None]:
    """Yield the events of an answer, the answer last; closing it ends the call of the model."""
    asks = Question(
        question,
        "ask",
        where=inputs.where,
        pinned=inputs.pinned,
        documents=tuple(inputs.documents.items()),
        history=tuple(history),
        commits=inputs.commits,
        or_commits=not history,
        anyway=inputs.anyway,
        on_step=inputs.on_step,
        as_command=inputs.as_command,
        dry_run=inputs.dry_run,
        as_agent=inputs.agent,
    )
    events: Events = engine.answer(asks)
    return cast("Generator[AnswerSources | Text | Event | Answer, None, None]", events)


def answer_parts(answer: Answer, options: AskOptions, face: Face, as_json: Callable[[dict[str, Any]], str]) -> ItemList:
    """Return the lines of an answer, and then its sources, as one list; citations stand with their sources."""
    lines = show_text(answer.text).splitlines(keepends=True)

    def text(n: int, style: Style) -> str:
        sources = answer.sources[: max(n - len(lines), 0)]
        paths = {source.path for source in sources}
        citations = tuple(citation for citation in answer.citations if citation.path in paths)
        part = replace(answer, text="".join(lines[:n]), sources=sources, citations=citations)
        if n < len(lines) + len(answer.sources):
            part = replace(part, dropped=())
        if face.common.json:
            n_left_out = len(lines) + len(answer.sources) - n
            return as_json({**answer_shape(part), **face.of_paths, "n_left_out": n_left_out})
        return f"{part.text}{_ending(part, options, style)}" if n else ""

    return ItemList(len(lines) + len(answer.sources), text, "lines and sources")


def _ending(answer: Answer, options: AskOptions, style: Style) -> str:
    """Return the end of the output after the text of an answer: its line end, and the list of its sources."""
    sources = sources_text(answer, style) if answer.model and not options.shell else ""
    return ("" if not answer.text or answer.text.endswith("\n") else "\n") + sources


def show(events: Events, face: Face, *, waits: bool = False) -> Answer:
    """Write the pieces of a text as they come, unless all waits for the answer, and return the answer.

    The steps of an agent go to stderr.
    """
    face.note_indexing()  # done when the first event is asked for
    is_streamed = False
    waits = waits or face.common.json
    for event in events:
        if isinstance(event, Text) and not waits:
            is_streamed = True
            face.write(show_text(event.text))
            face.flush()
        elif isinstance(event, ToolUse):
            face.note(f"{event.name} {event.arguments}")
        elif isinstance(event, ToolObservation) and event.is_error:
            face.note(event.text)
        elif isinstance(event, Answer):
            if not (is_streamed or waits):
                face.write(show_text(event.text))
            return event
    raise AssertionError("an answer ended without its last event")  # against the protocol of ask_events


def conclude(answer: Answer, options: AskOptions, face: Face, reported: Collection[str] = ()) -> None:
    """List the sources after the text; note on stderr its problems, except those `reported`, and its confidence."""
    if not (face.common.json or options.max_tokens):
        face.write(_ending(answer, options, face.style))
    hidden = {*reported, answer.failure}  # a failure comes last, as an error
    face.notes(problem for problem in answer.problems if str(problem) not in hidden)
    if answer.model:
        face.note(command_text(answer) if options.shell else trust_text(answer))
    elif Note(NO_MODEL) in answer.problems and str(Note(NO_MODEL)) not in reported:
        face.note(
            "for a written answer, set FATHOM_LLM__MODEL, for example to ollama:qwen2.5-coder:14b or openai:gpt-5-mini"
        )
    if not (answer.sources or answer.expected):
        face.note(f"nothing found for {answer.question!r}")
    if options.explain:
        face.note("the stages of this answer", f"{stages_text(answer.trace)}\n")
    if answer.failure:
        complain(answer.failure, answer.hint)


def check_trace(path: str) -> None:
    """Raise SourceError when a trace cannot be written: better before the answer than after it."""
    if path:
        write_trace("", path, "a")


def write_trace(text: str, path: str, mode: str) -> None:
    """Write or append a text and a line end; nothing for an empty one. Raises SourceError."""
    try:
        with open(path, mode, encoding="utf-8") as file:
            file.write(f"{text}\n" if text else "")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise SourceError(f"cannot write {path!r}: {reason}", hint="choose a file that can be written") from error
