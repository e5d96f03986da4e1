"""From an opened index and its settings to what `answer` takes: plain values and functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple, TypeVar, cast

from codefathom.answer.answer_types import Answer, AnswerRequest, ignore_step
from codefathom.answer.ask import AnswerSources, Text, ask
from codefathom.answer.budget import NameOf, Shares, shares, sizes
from codefathom.answer.prompting import latest
from codefathom.answer.stages.answer_run import AnswerProject, AnswerQuestion, Models
from codefathom.answer.stages.gather import PrintedForm, gather, materials
from codefathom.answer.stages.judge import JudgeOptions
from codefathom.answer.stages.select import OutlineFile
from codefathom.answer.tokens import counter
from codefathom.config.settings import ContextSettings, Settings
from codefathom.config.windows import answer_window, check_room, filter_level, window
from codefathom.errors import DamagedError, UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, Told
from codefathom.project.damage import damage_of, reading
from codefathom.project.opened_asker import OpenedAsker
from codefathom.project.opening import OpenedProject
from codefathom.project.originals import Lines
from codefathom.project.roles import model_of
from codefathom.project.texts import Texts, naming, with_symbols
from codefathom.providers.base import Message
from codefathom.question.asker import Asker, Readable, result_of
from codefathom.question.extents import MOST_HITS, check_count
from codefathom.question.question import Question
from codefathom.search.question.query import check_length
from codefathom.search.verdict import handed_on, note_of
from codefathom.types import Context, RelatedResult, SearchResult

_Step = TypeVar("_Step")

# Hits asked for, for each file of a context: several lie in one file.
HITS_PER_FILE = 4
_MOST_FILES = MOST_HITS // HITS_PER_FILE
# A project of no more files is shown to the selecting model as a whole.
_SMALL_PROJECT = 400
_SHELL = "PowerShell" if os.name == "nt" else "a POSIX shell"


class AnswerSetup(NamedTuple):
    """The arguments of `answer.ask.ask`."""

    question: AnswerQuestion
    project: AnswerProject
    models: Models


def prepare(request: AnswerRequest, texts: Texts, search: Callable[[str, int], SearchResult]) -> AnswerSetup:
    """Return the arguments of `answer.ask.ask`. Raises UsageError, SourceError and SettingsError."""
    return AnswerSetup(_question(request, texts), _project(texts, search), models(texts.asker))


def texts_for(request: AnswerRequest, asker: Readable, *, hides_secrets: bool = False) -> Texts:
    """Return the texts of a project, with the documents of a request, as its answer may show them."""
    return Texts(asker, request.documents, for_agent=request.for_agent, hides_secrets=hides_secrets)


def written(
    setup: AnswerSetup, problems: Callable[[], Sequence[Told]] = tuple
) -> Iterator[AnswerSources | Text | Answer]:
    """Yield the sources, the answer in checked pieces, and the whole answer last; closing it ends the model's call.

    `problems` are asked for at the end. A model that fails is told in `Answer.failure`.
    """
    for event in ask(*setup):
        if isinstance(event, Answer):
            named = with_symbols(event, setup.project.name_of, setup.project.on_disk)
            yield replace(named, problems=tuple(dict.fromkeys((*named.problems, *problems()))))
        else:
            yield event


def with_damage(opened: OpenedProject, events: Iterator[_Step | Answer]) -> Iterator[_Step | Answer]:
    """Pass on the events of an answer; the answer itself says what of the index is damaged."""
    with reading(opened), closing(cast("Generator[_Step | Answer]", events)):
        for event in events:
            if isinstance(event, Answer):
                yield replace(event, problems=tuple(dict.fromkeys((*event.problems, *damage_of(opened)))))
            else:
                yield event


class ContextSize(NamedTuple):
    """The most files and tokens of a context, and the format whose tokens count."""

    max_files: int
    max_tokens: int
    format_name: str


def size_of(question: Question, settings: ContextSettings) -> ContextSize:
    """Return the size of a context that a question means, as the settings say where it says nothing."""
    if question.max_files is not None:
        check_count("max_files", question.max_files, _MOST_FILES)
    n_files, n_tokens = question.max_files or settings.max_files, question.max_tokens or settings.window
    return ContextSize(n_files, n_tokens, question.format_name)


def request_of(question: Question) -> AnswerRequest:
    """Return what is asked of an answer in words."""
    return AnswerRequest(
        question.text,
        question.where,
        question.pinned,
        dict(question.documents),
        question.history,
        commits=question.commits,
        anyway=question.anyway,
        on_step=question.on_step or ignore_step,
        as_command=question.as_command,
        dry_run=question.dry_run,
        for_agent=question.for_agent,
    )


def question_of(request: str | AnswerRequest, *, as_agent: bool = False) -> Question:
    """Return a request for an answer in words as a question."""
    if isinstance(request, str):
        return Question(request, "ask", as_agent=as_agent)
    return Question(
        request.text,
        "ask",
        where=request.where,
        pinned=request.pinned,
        documents=tuple(request.documents.items()),
        history=request.history,
        commits=request.commits,
        anyway=request.anyway,
        on_step=request.on_step,
        as_command=request.as_command,
        dry_run=request.dry_run,
        for_agent=request.for_agent,
        as_agent=as_agent,
    )


def for_prompt(result: SearchResult, *, anyway: bool) -> SearchResult:
    """Return a result with the hits that a prompt may rest on, with `anyway` all; a note says where it is weak."""
    kept = result if anyway else handed_on(result)
    note = note_of(result, anyway=anyway) if result.hits else result.advice
    return replace(kept, problems=(*result.problems, *([note] if note else [])))


def context(opened: OpenedProject, result: SearchResult, size: ContextSize) -> Context:
    """Return the files of a prompt within a window of tokens."""
    return packed(opened.place.settings, result, size, Lines(opened).text_now, naming(OpenedAsker(opened)))


def packed(
    settings: Settings, result: SearchResult, size: ContextSize, text: Callable[[str], str | None], name_of: NameOf
) -> Context:
    """Return the files of a result, whole while they fit, else their lines; `text` and `name_of` know them by path.

    `text` gives a file as it is now, None for one that is gone.
    """
    n_files = len({hit.chunk.path for hit in result.hits})
    result, texts = _as_now(result, text, size.max_files)
    files = materials(result, lambda path: texts[path])
    # Nothing is kept back: the window is all that this context may take.
    full = shares(size.max_tokens, settings.context.full_text_ratio, 0.0).full
    form = PrintedForm(size.format_name, counter(settings.context.tokenizer_path))
    gathered = gather(result.query, files, Shares(full, size.max_tokens - full), form, name_of)
    return replace(
        gathered,
        problems=result.problems,
        weak=result.weak,
        n_left_out=n_files - len({hit.chunk.path for hit in result.hits}),
        n_left_out_is_exact=not result.rest,
    )


def _as_now(
    result: SearchResult, text: Callable[[str], str | None], most: int
) -> tuple[SearchResult, Mapping[str, str]]:
    """Return the hits in the first files that are there, and their texts; what has changed is said of the result."""
    texts: dict[str, str] = {}
    gone: list[str] = []
    for path in dict.fromkeys(hit.chunk.path for hit in result.hits):
        if len(texts) == most:
            break
        now = text(path)
        if now is None:
            gone.append(path)
        else:
            texts[path] = now
    moved = sorted({hit.chunk.path for hit in result.hits if hit.stale and hit.chunk.path in texts})
    notes = [Note(say.GONE, {"path": path}) for path in gone]
    notes += [Note(say.CHANGED, {"path": path}) for path in moved]
    hits = tuple(hit for hit in result.hits if hit.chunk.path in texts)
    return replace(result, hits=hits, problems=(*result.problems, *notes)), texts


def models(asker: Readable) -> Models:
    """Return the models of the answering roles; none where none is configured."""
    return Models(*(model_of(role, asker.settings, asker.chat_model) for role in Models._fields))


def recent(history: Sequence[Message], settings: Settings) -> tuple[Message, ...]:
    """Return the latest turns that half of the window takes; the first of them is a question."""
    kept = latest(history, answer_window(settings) // 2, counter(settings.context.tokenizer_path))
    while kept and kept[0].role != "user":
        del kept[0]
    return tuple(kept)


def _question(request: AnswerRequest, texts: Texts) -> AnswerQuestion:
    """Return the question within the limits of the settings. Raises UsageError and SourceError."""
    if not request.text.strip():
        raise UsageError("the question is empty", hint='such as fathom ask "where are orders priced"')
    check_length(request.text)
    settings = texts.asker.settings
    check_room(settings)
    most, count = answer_window(settings), counter(settings.context.tokenizer_path)
    max_input_tokens = settings.select.max_input_tokens or window(settings)
    # What was said takes its part of the window, but never so much that no source fits.
    room = max(most - sum(count(message.content) for message in request.history), most // 2)
    budget = shares(room, settings.context.full_text_ratio, settings.context.segment_ratio)
    return AnswerQuestion(
        text=request.text,
        budget=budget,
        judging=JudgeOptions(
            threshold=settings.judge.relevance_threshold,
            doc_threshold=settings.judge.doc_relevance,
            workers=settings.judge.workers,
            hint=settings.answer.filter_hint,
            max_input_tokens=max_input_tokens,
            count=count,
            sizes=sizes(budget.full),
            is_one_by_one=settings.context.disable_auto_window,
        ),
        history=request.history,
        pinned=texts.pinned(request.pinned),
        filter_level=filter_level(settings),
        n_sources=settings.rerank.top_n,
        max_tokens=settings.answer.max_tokens,
        least_confidence=settings.answer.least_confidence,
        anyway=request.anyway,
        shell=_SHELL if request.as_command else "",
        dry_run=request.dry_run,
        in_line_order=not settings.context.disable_segment_reorder,
        count=count,
        max_input_tokens=max_input_tokens,
        prices_of=settings.llm.prices_of,
        mask=texts.recorded,
        on_step=request.on_step,
    )


def _project(texts: Texts, search: Callable[[str, int], SearchResult]) -> AnswerProject:
    """Return the project as the stages of an answer see it."""
    return AnswerProject(
        search=lambda question, limit: texts.of_hits(search(question, limit)),
        text=texts.indexed,
        on_disk=texts.on_disk,
        name_of=texts.name_of,
        related=lambda path: near(texts.asker, path),
        outline=lambda candidates: _outline(candidates, texts.asker),
    )


def near(asker: Asker, target: str) -> RelatedResult:
    """Return the connections of a file or symbol; those of a damaged index are not known."""
    try:
        return cast(RelatedResult, result_of(asker, Question(target, "related")))
    except DamagedError:  # the answer tells it
        return RelatedResult(target, (), ())


def _outline(candidates: Sequence[str], asker: Asker) -> list[OutlineFile]:
    documents = [file.path for file in result_of(asker, Question("", "files")).files]
    paths = documents if len(documents) <= _SMALL_PROJECT else candidates
    outlines = result_of(asker, Question(kind="outlines", files=tuple(paths), with_purposes=True))
    return [OutlineFile(path, tuple(one.qualified_name for one in symbols), why) for path, symbols, why in outlines]
