"""From an opened index and its settings to an agent: what it may use, its tools, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from codefathom.agent.loop import Briefing, Event, Final, Limits, Observed, run
from codefathom.agent.report import report
from codefathom.agent.tools import Place, Project, tools, usage
from codefathom.answer import extract
from codefathom.answer.prompting import language_of_question, prompt
from codefathom.answer.types import Answer, Prices, Source
from codefathom.errors import FathomError, SettingsError, UsageError
from codefathom.opening import Opened
from codefathom.providers.base import Message
from codefathom.roles import model_of
from codefathom.search.related import related
from codefathom.settings import Settings
from codefathom.texts import Texts, with_symbols
from codefathom.types import Level, SearchResult

Search = Callable[[str, Level, int], SearchResult]  # question, what a hit is, most hits
_MAX_EXCERPTS = 5


def investigate(
    question: str, opened: Opened, search: Search, history: Sequence[Message] = ()
) -> Iterator[Event | Answer]:
    """Let a model look for itself; yield what happens, the answer last; closing it ends the model's call.

    Raises UsageError for an empty question and SettingsError without a model. A model that fails is told in
    `Answer.failure`.
    """
    if not question.strip():
        raise UsageError("the question is empty", hint='such as fathom ask --agent "where are orders priced"')
    chosen = model_of("agent", opened)
    if chosen is None:
        raise SettingsError("an agent needs a language model", hint="set FATHOM_LLM__MODEL, such as ollama:qwen3:8b")
    limits = _limits(opened.place.settings, chosen.name)
    texts = Texts(opened)
    project = _project(texts, lambda question, level, limit: texts.of_hits(search(question, level, limit)))
    known = tools(project)
    listed = "\n".join(f"- {usage(tool.spec)}" for tool in known)
    system = prompt("agent", language_of_question(question), tools=listed, rounds=str(limits.rounds))
    seen: list[Place] = []
    for event in run(question, chosen, known, limits, Briefing(system, history=tuple(history), mask=texts.mask)):
        if isinstance(event, Observed):
            seen += event.places
        yield event
        if isinstance(event, Final):
            excerpts = partial(_excerpts, question, project)
            found = report(question, event, seen, texts.indexed, texts.on_disk, excerpts=excerpts)
            yield replace(
                with_symbols(found, texts.name_of),
                model="" if found.failure else chosen.name,
                generation=opened.catalog.generation,
                trace=event.stages,
                cost=limits.prices.cost(event.usage),
            )


def _excerpts(question: str, project: Project) -> Sequence[Source]:
    """Return what an answer without a model consists of."""
    try:
        return extract.excerpts(project.search(question, "chunk", _MAX_EXCERPTS).hits)
    except FathomError:  # that the model failed is what is to be said
        return ()


def _limits(settings: Settings, name: str) -> Limits:
    """Return what an agent may use. Raises SettingsError for a limit on a cost that cannot be known."""
    agent, prices = settings.agent, Prices(*settings.llm.prices_of(name))
    if agent.max_cost and not any(prices):
        raise SettingsError(
            f"agent.max_cost = {agent.max_cost} needs the prices of the model",
            hint=f"add {name}=SENT/RECEIVED to llm.prices, the prices of a million tokens",
        )
    return Limits(agent.rounds, agent.max_tokens, agent.max_seconds, settings.answer.max_tokens, agent.max_cost, prices)


def _project(texts: Texts, search: Search) -> Project:
    catalog = texts.opened.catalog
    return Project(
        search=search,
        text=lambda path: texts.indexed(path) or None,
        symbols=lambda name: [texts.of_symbol(found) for found in catalog.symbols(name)],
        related=lambda target: related(catalog, target),
        paths=lambda: [document.path for document in catalog.documents()],
    )
