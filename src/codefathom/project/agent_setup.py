"""From an opened index and its settings to an agent: what it may use, its tools, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from codefathom.agent.loop import AgentLimits, Briefing, Event, Final, ToolObservation, run
from codefathom.agent.report import report, shown_sources
from codefathom.agent.streamed import StreamedAnswer
from codefathom.agent.tools import ShownLines, Tool, ToolProject, tools, usage
from codefathom.answer.answer_types import Answer, AnswerRequest, Source
from codefathom.answer.ask import AnswerSources, Text
from codefathom.answer.budget import Material, NameOf, merged, pack, shares, shown
from codefathom.answer.cite import texts_now
from codefathom.answer.prompting import fenced, language_of_question, prompt
from codefathom.answer.stages import extract
from codefathom.answer.stages.answer_run import AnswerProject
from codefathom.answer.stream import ending
from codefathom.answer.tokens import counter
from codefathom.config.settings import Settings
from codefathom.config.windows import window
from codefathom.errors import FathomError, SettingsError, UsageError
from codefathom.project.answer_setup import near, prepare, texts_for, written
from codefathom.project.roles import model_of
from codefathom.project.texts import Texts, with_symbols
from codefathom.providers.base import ChatModel, Delta
from codefathom.question.asker import Readable, result_of
from codefathom.question.question import Question
from codefathom.search.question.query import check_length
from codefathom.types import FoundSymbol, LevelName, RelatedResult, SearchResult

Search = Callable[[str, LevelName, int], SearchResult]  # question, what a hit is, most hits
_MAX_EXCERPTS = 5
_MOST_SYMBOLS = 10_000  # of one name

# Of the window, for what is given with the question: the rest is for what the tools show.
_GIVEN_PARTS = 2
_PART = "The tools show only a part of the project that was chosen for this question, {n_files} files."


@dataclass(frozen=True, slots=True)
class AgentProject:
    """The project that an agent works on, or several, whose paths then begin with their names. Functions take paths."""

    settings: Settings
    model: ChatModel
    tools: ToolProject
    text: Callable[[str], str]  # the indexed text, "" when there is none
    on_disk: Callable[[str], str | None]  # the present text, comparable with it
    name_of: NameOf
    pinned: tuple[Material, ...]
    recorded: Callable[[str], str]  # a text as a record of an answer may hold it
    generation: int
    note: str = ""  # what the model is told about it


def answered(
    request: AnswerRequest,
    asker: Readable,
    look: Search,
    *,
    as_agent: bool,
    kept: Callable[[AnswerProject], AnswerProject] = lambda project: project,
) -> Iterator[Event | AnswerSources | Text | Answer]:
    """Return the events of an answer, or with `as_agent` of what an agent does; a damaged index is told.

    What is wrong with the request is raised at once, not with the first event. `kept` leaves out of the project what
    the answer must not rest on.
    """
    texts = texts_for(request, asker)
    if as_agent:
        return _told(investigate(request, project_of(request, texts, look)), texts)
    setup = prepare(request, texts, lambda query, limit: look(query, "chunk", limit))
    return written(setup._replace(project=kept(setup.project)), lambda: texts.problems)


def _told(events: Iterator[Event | Text | Answer], texts: Texts) -> Iterator[Event | Text | Answer]:
    """Pass on the events of an agent; its answer says what of the index is damaged."""
    with closing(cast("Generator[Event | Text | Answer]", events)):
        for event in events:
            if isinstance(event, Answer):
                yield replace(event, problems=tuple(dict.fromkeys((*event.problems, *texts.problems))))
            else:
                yield event


def project_of(request: AnswerRequest, texts: Texts, search: Search) -> AgentProject:
    """Return a project as the tools see it: pinned texts, and the indexed files that pass the filter.

    Raises UsageError for an empty question, SourceError for a path that is not indexed, and SettingsError without a
    model.
    """
    if not request.text.strip():
        raise UsageError("the question is empty", hint='such as fathom ask --agent "where are orders priced"')
    check_length(request.text)
    asker = texts.asker
    chosen = model_of("agent", asker.settings, asker.chat_model)
    if chosen is None:
        raise SettingsError("an agent needs a language model", hint="set FATHOM_LLM__MODEL, such as ollama:qwen3:8b")
    return AgentProject(
        asker.settings,
        chosen,
        _visible(texts, search, request),
        texts.indexed,
        texts.on_disk,
        texts.name_of,
        texts.pinned(request.pinned),
        texts.recorded,
        asker.generation,
    )


def investigate(request: AnswerRequest, project: AgentProject) -> Iterator[Event | Text | Answer]:
    """Let a model look for itself; yield what happens, its answer word by word, and the answer whole last.

    Closing it ends the model's call. A model that fails is told in `Answer.failure`.
    """
    question = request.text
    limits = _limits(project.settings, project.model.name)
    toolbox = tools(project.tools)
    briefing = _briefing(project, request, toolbox, limits)
    seen = list(briefing.places)
    streamed = StreamedAnswer(
        lambda: shown_sources(seen, project.text), lambda sources: texts_now(sources, project.on_disk)
    )
    for event in run(question, project.model, toolbox, limits, briefing):
        if isinstance(event, ToolObservation):
            seen += event.places
        yield event
        if isinstance(event, Delta):
            yield from map(Text, streamed.feed(event.text))
        if isinstance(event, Final):
            excerpts = partial(_excerpts, question, project.tools)
            answer = report(question, event, seen, project.text, project.on_disk, excerpts=excerpts)
            yield from _rest(streamed, answer)
            yield replace(
                with_symbols(answer, project.name_of, project.on_disk),
                model="" if answer.failure else project.model.name,
                generation=project.generation,
                trace=event.stages,
                cost=limits.prices.cost(event.usage),
                problems=(*answer.problems, *_unread(project.pinned, seen)),
            )


def _rest(streamed: StreamedAnswer, answer: Answer) -> Iterator[Text]:
    """Yield the text that was not shown yet; where a model wrote its answer again, the second one below the first."""
    rest = answer.text.removeprefix(streamed.text)
    if not answer.text.startswith(streamed.text):
        yield from map(Text, streamed.finish())
        rest = ending(streamed.text) + answer.text
    if rest:
        yield Text(rest)


def _briefing(project: AgentProject, request: AnswerRequest, toolbox: Sequence[Tool], limits: AgentLimits) -> Briefing:
    """Return the messages before the question: the task, the turns before, and the pinned texts."""
    listed = "\n".join(f"- {usage(tool.spec)}" for tool in toolbox)
    system = prompt("agent", language_of_question(request.text), tools=listed, rounds=str(limits.rounds))
    settings = project.settings
    context = settings.context
    budget = shares(window(settings) // _GIVEN_PARTS, context.full_text_ratio, context.segment_ratio)
    sources = pack(project.pinned, budget, counter(context.tokenizer_path), project.name_of).sources
    # Without their numbers: those of an agent's answer count what it lists itself.
    pinned = "\n".join(shown(source).removeprefix(f"[{source.number}] ") for source in sources)
    parts = [_PART.format(n_files=len(project.tools.paths()))] if request.where is not None else []
    parts += [project.note] if project.note else []
    parts += [fenced(pinned, "what is given with the question")] if sources else []
    return Briefing(
        system,
        history=request.history,
        material="\n\n".join(parts),
        places=tuple(ShownLines(item.path, item.start_line, item.end_line, item.symbol) for item in sources),
        mask=project.recorded,
        on_step=request.on_step,
    )


def _unread(pinned: Sequence[Material], seen: Sequence[ShownLines]) -> Iterator[str]:
    """Say of which given texts the model has not seen every line."""
    for item in pinned:
        n_lines = item.text.removesuffix("\n").count("\n") + 1
        spans = [(place.start_line, place.end_line) for place in seen if place.path == item.path]
        if merged(spans, n_lines) != [(1, n_lines)]:
            yield f"{item.path} was not read whole: the model was shown {'only parts' if spans else 'nothing'} of it"


def _excerpts(question: str, project: ToolProject) -> Sequence[Source]:
    """Return the excerpts of an answer without a model."""
    try:
        return extract.excerpts(project.search(question, "chunk", _MAX_EXCERPTS).hits)
    except FathomError:  # that the model failed is what is to be said
        return ()


def _limits(settings: Settings, name: str) -> AgentLimits:
    """Return the limits of an agent. Raises SettingsError for a limit of cost where the prices are not known."""
    agent, prices = settings.agent, settings.llm.prices_of(name)
    if agent.max_cost and not any(prices):
        raise SettingsError(
            f"agent.max_cost = {agent.max_cost} needs the prices of the model",
            hint=f"add {name}=SENT/RECEIVED to llm.prices, the prices of a million tokens",
        )
    return AgentLimits(
        agent.rounds, agent.max_tokens, agent.max_seconds, settings.answer.max_tokens, agent.max_cost, prices
    )


def _visible(texts: Texts, search: Search, request: AnswerRequest) -> ToolProject:
    paths = list(dict.fromkeys([*texts.files_of(request.pinned), *texts.paths(request.where)]))
    visible = frozenset(paths)

    def of_symbols(name: str) -> list[FoundSymbol]:
        named = result_of(texts.asker, Question(name, "symbols", limit=_MOST_SYMBOLS)).symbols
        return [texts.of_symbol(symbol) for symbol in named if symbol.path in visible]

    def near_visible(target: str) -> RelatedResult:
        result = near(texts.asker, target)
        return replace(result, edges=tuple(edge for edge in result.edges if edge.path in visible))

    return ToolProject(
        search=lambda question, level, limit: texts.of_hits(search(question, level, limit)),
        text=lambda path: (texts.indexed(path) or None) if path in visible else None,
        symbols=of_symbols,
        related=near_visible,
        paths=lambda: paths,
    )
