"""From an opened index and its settings to what `answer` and `agent` take: plain values and functions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from codefathom.agent.loop import Briefing, Event, Final, Limits, Observed, run
from codefathom.agent.report import report
from codefathom.agent.tools import Place as Seen
from codefathom.agent.tools import Project as ToolsProject
from codefathom.agent.tools import tools, usage
from codefathom.answer.ask import Found, Text, ask
from codefathom.answer.budget import CountTokens, Material, Shares, lines_of, shares, sizes
from codefathom.answer.course import Models, Project, Question
from codefathom.answer.gather import gather, materials
from codefathom.answer.judge import JudgeOptions
from codefathom.answer.prompting import language_of_question, prompt
from codefathom.answer.select import Listed
from codefathom.answer.tokens import counter
from codefathom.answer.types import Answer, Citation, Prices
from codefathom.errors import ProviderError, SettingsError, SourceError, UsageError
from codefathom.opening import Opened, Place, index_model
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.search.related import related
from codefathom.settings import Settings, without_login
from codefathom.source.changes import FileStat
from codefathom.source.documents import read
from codefathom.types import Check, Chunk, Context, Document, Level, SearchResult

# Each may have a model of its own.
ROLES = ("answer", "select", "judge", "excerpt", "agent")
# Hits asked for, for each file of a context: several lie in one file.
HITS_PER_FILE = 4
# A model that does not say how much it takes gets no more than small local ones do.
_SMALL_WINDOW = 24_000
# A project of no more files is shown to the selecting model as a whole.
_SMALL_PROJECT = 400


class Request(NamedTuple):
    """A question as a face puts it."""

    text: str
    history: tuple[Message, ...] = ()
    pinned: tuple[str, ...] = ()  # paths in the project
    documents: Mapping[str, str] = {}  # further texts by name, such as a file outside the project


def prepare(
    request: Request, opened: Opened, search: Callable[[str, int], SearchResult]
) -> tuple[Question, Project, Models, CountTokens]:
    """Return what `answer.ask.ask` takes. Raises UsageError, SourceError and SettingsError."""
    settings = opened.place.settings
    count = counter(settings.context.tokenizer_path)
    question = _question(request, opened, count)
    return question, _project(opened, search, request.documents), models(opened), count


def answer(
    request: Request, opened: Opened, search: Callable[[str, int], SearchResult]
) -> Iterator[Found | Text | Answer]:
    """Yield the sources, the answer in checked pieces, and the whole answer last; closing it ends the model's call.

    Raises UsageError, SourceError, SettingsError, and ProviderError when the model cannot be reached.
    """
    for event in ask(*prepare(request, opened, search)):
        yield _with_symbols(event, opened) if isinstance(event, Answer) else event


def _with_symbols(answer: Answer, opened: Opened) -> Answer:
    """Name the definition that each citation lies in, or that begins in it."""
    return replace(answer, citations=tuple(replace(item, symbol=_symbol_of(item, opened)) for item in answer.citations))


def _symbol_of(place: Citation, opened: Opened) -> str:
    symbols = opened.catalog.symbols_of(place.path)  # outer before inner
    around = [item for item in symbols if item.start_line <= place.start_line and place.end_line <= item.end_line]
    inside = [item for item in symbols if place.start_line <= item.start_line <= place.end_line]
    return next((item.qualified_name for item in (*around[::-1], *inside)), "")


def investigate(
    request: Request, opened: Opened, search: Callable[[str, Level, int], SearchResult]
) -> Iterator[Event | Answer]:
    """Let a model look for itself; yield what happens, the answer last. Raises SettingsError without a model."""
    chosen = model(opened, "agent")
    if chosen is None:
        raise SettingsError("an agent needs a language model", hint="set FATHOM_LLM__MODEL, such as ollama:qwen3:8b")
    limits = _limits(opened.place.settings)
    known = tools(_tools_project(opened, search))
    language = language_of_question(request.text)
    listed = "\n".join(f"- {usage(tool.spec)}" for tool in known)
    system = prompt("agent", language, tools=listed, rounds=str(limits.rounds))
    seen: list[Seen] = []
    hidden = _hidden(opened)
    text_of = cache(lambda path: hidden(opened.catalog.text(path)))
    for event in run(request.text, chosen, known, limits, Briefing(system, history=request.history)):
        if isinstance(event, Observed):
            seen += event.places
        yield event
        if isinstance(event, Final):
            found = report(request.text, event, seen, text_of, lambda path: _as_shown(_on_disk(path, opened), hidden))
            yield replace(
                _with_symbols(found, opened),
                model=chosen.name,
                generation=opened.catalog.generation,
                trace=event.stages,
                cost=limits.prices.cost(event.usage),
            )


def _limits(settings: Settings) -> Limits:
    """Return what an agent may use. Raises SettingsError for a limit on a cost that cannot be known."""
    agent, prices = settings.agent, _prices(settings)
    if agent.max_cost and not any(prices):
        raise SettingsError(
            f"agent.max_cost = {agent.max_cost} needs the prices of the model",
            hint="set llm.prompt_price and llm.completion_price, the prices of a million tokens",
        )
    return Limits(agent.rounds, agent.max_tokens, agent.max_seconds, settings.answer.max_tokens, agent.max_cost, prices)


def _prices(settings: Settings) -> Prices:
    return Prices(settings.llm.prompt_price, settings.llm.completion_price)


def _tools_project(opened: Opened, search: Callable[[str, Level, int], SearchResult]) -> ToolsProject:
    catalog, hidden = opened.catalog, _hidden(opened)
    text_of = cache(lambda path: hidden(catalog.text(path)))
    return ToolsProject(
        search=lambda question, level, limit: _as_in(search(question, level, limit), text_of, hidden),
        text=lambda path: text_of(path) or None,
        symbols=catalog.symbols,
        related=lambda target: related(catalog, target),
        paths=lambda: [document.path for document in catalog.documents()],
    )


def context(opened: Opened, result: SearchResult, max_files: int, max_tokens: int) -> Context:
    """Return the files of a prompt within a window of tokens."""
    settings = opened.place.settings.context
    found = materials(result, opened.catalog.text)[:max_files]
    # Nothing is kept back: the window is all that this context may take.
    full = shares(max_tokens, settings.full_text_ratio, 0.0).full
    return gather(result.query, found, Shares(full, max_tokens - full, 0), counter(settings.tokenizer_path))


def models(opened: Opened) -> Models:
    """Return the models of the answering roles; none where none is configured."""
    return Models(*(model(opened, role) for role in Models._fields))


def window(settings: Settings) -> int:
    """Return the tokens of a context: as set, but no more than the model takes unless that is switched off."""
    if settings.context.disable_auto_window:
        return settings.context.window
    room = settings.llm.window - settings.answer.max_tokens if settings.llm.window else _SMALL_WINDOW
    return max(min(settings.context.window, room), 1)


def recent(history: Sequence[Message], settings: Settings) -> tuple[Message, ...]:
    """Return the latest turns that half of the window takes; the first of them is a question."""
    count = counter(settings.context.tokenizer_path)
    left = window(settings) // 2
    kept: list[Message] = []
    for message in reversed(history):
        left -= count(message.content)
        if left < 0:
            break
        kept.insert(0, message)
    while kept and kept[0].role != "user":
        del kept[0]
    return tuple(kept)


def _question(request: Request, opened: Opened, count: CountTokens) -> Question:
    """Return the question within the limits of the settings. Raises UsageError and SourceError."""
    if not request.text.strip():
        raise UsageError("the question is empty", hint='such as fathom ask "where are orders priced"')
    settings = opened.place.settings
    most = window(settings)
    # What was said takes its part of the window, but never so much that no source fits.
    room = max(most - sum(count(message.content) for message in request.history), most // 2)
    budget = shares(room, settings.context.full_text_ratio, settings.context.segment_ratio)
    return Question(
        text=request.text,
        budget=budget,
        judging=JudgeOptions(
            threshold=settings.judge.relevance_threshold,
            doc_threshold=settings.judge.doc_relevance,
            workers=settings.judge.workers,
            hint=settings.answer.filter_hint,
            max_input_tokens=settings.select.max_input_tokens or most,
            count=count,
            sizes=sizes(budget.full),
        ),
        history=request.history,
        pinned=tuple(_pinned(request, opened)),
        filter_level=_filter_level(settings),
        n_sources=settings.rerank.top_n,
        max_tokens=settings.answer.max_tokens,
        least_confidence=settings.answer.least_confidence,
        in_line_order=not settings.context.disable_segment_reorder,
        max_input_tokens=settings.select.max_input_tokens or most,
        prices=_prices(settings),
    )


def _filter_level(settings: Settings) -> int:
    """Return the level as set; what decides by itself lets a model select and judge where there is one."""
    level, llm = settings.select.filter_level, settings.llm
    return level if level >= 0 else int(bool(llm.model or llm.select or llm.judge))


def model(opened: Opened, role: str) -> ChatModel | None:
    """Return the model of a role, None when none is configured."""
    llm = opened.place.settings.llm
    name = getattr(llm, role) or llm.model
    return opened.chat_model(name) if name else None


def _project(opened: Opened, search: Callable[[str, int], SearchResult], documents: Mapping[str, str]) -> Project:
    """Return what an answer asks of this project."""
    catalog = opened.catalog
    hidden = _hidden(opened)
    text_of = cache(lambda path: hidden(documents.get(path) or catalog.text(path)))
    return Project(
        search=lambda question, limit: _as_in(search(question, limit), text_of, hidden),
        text=text_of,
        on_disk=lambda path: _as_shown(documents[path] if path in documents else _on_disk(path, opened), hidden),
        related=lambda path: related(catalog, path),
        outline=lambda candidates: _outline(candidates, opened),
    )


def _hidden(opened: Opened) -> Callable[[str], str]:
    """Return what takes secrets out of a whole document before it is cut: half a key may not look like one.

    Where nothing leaves the machine, texts stay as they are.
    """
    place = opened.place
    if not place.settings.answer.mask_secrets or not _remote(_names(place).values(), place):
        return str
    from codefathom.source.secrets import mask

    return lambda text: mask(text).text


def _as_shown(text: str | None, hidden: Callable[[str], str]) -> str | None:
    return None if text is None else hidden(text)


def _as_in(result: SearchResult, text_of: Callable[[str], str], hidden: Callable[[str], str]) -> SearchResult:
    """Return the hits with the lines of the documents that a model may see."""
    if hidden is str:
        return result
    return replace(result, hits=tuple(replace(hit, chunk=_shown(hit.chunk, text_of)) for hit in result.hits))


def _shown(chunk: Chunk, text_of: Callable[[str], str]) -> Chunk:
    end = "\n" if chunk.text.endswith("\n") else ""
    return replace(chunk, text=lines_of(text_of(chunk.path), chunk.start_line, chunk.end_line) + end)


def leaving(place: Place) -> str:
    """Say in one sentence what leaves this machine, and to where."""
    names = _names(place)
    embed = place.settings.embed.model
    asked = _remote((name for role, name in names.items() if role != "index"), place)
    indexing = _remote((names.get("index", ""),), place)
    embedding = "" if embed == "bundled" else _remote((embed,), place, section="embed")
    secrets = "secrets masked" if place.settings.answer.mask_secrets else "secrets included"
    parts = [f"questions and the excerpts they need go to {asked}, {secrets}"] if asked else []
    parts += [f"text of indexed files goes to {indexing}, secrets masked"] if indexing else []
    parts += [f"all indexed text and every query go to {embedding}, {secrets}"] if embedding else []
    nothing = "the language models run on it" if names else "no language model is configured"
    return "; ".join(parts) or f"nothing leaves this machine: {nothing}"


def _names(place: Place) -> dict[str, str]:
    """Return the models that are asked, by role."""
    llm = place.settings.llm
    names = {role: getattr(llm, role) or llm.model for role in ROLES} | {"index": index_model(place.settings)}
    return {role: name for role, name in names.items() if name}


def _remote(names: Iterable[str], place: Place, *, section: str = "llm") -> str:
    """Return those of the models that are on other machines, and where."""
    if not any(names := list(names)):
        return ""
    from codefathom.chatting import named  # with all that speaks to other machines

    chosen = {named(name, place.settings, place.variables, section=section) for name in names if name}
    places = {f"{one.provider}:{one.model} at {without_login(one.base_url)}" for one in chosen if one.is_remote}
    return ", ".join(sorted(places))


def check_models(place: Place) -> tuple[Check, ...]:
    """Ask the model of each role for one word."""
    by_name: dict[str, list[str]] = {}
    for role, name in _names(place).items():
        by_name.setdefault(name, []).append(role)
    if not by_name:
        return (Check("language models", True, "none is configured; answers consist of excerpts"),)
    checks = [_check_model(place, name, roles) for name, roles in by_name.items()]
    return (*checks, Check("what leaves", True, leaving(place)))


def _check_model(place: Place, name: str, roles: Sequence[str]) -> Check:
    from codefathom.chatting import chat_model

    started = time.perf_counter()
    label = f"model for {', '.join(roles)}"
    try:
        reply = whole(
            chat_model(name, place.settings, place.variables), Ask([Message("user", "Say OK.")], max_tokens=16)
        )
    except (ProviderError, SettingsError) as error:
        return Check(label, False, f"{name}: {error}", error.hint)
    took_s = time.perf_counter() - started
    return Check(label, True, f"{name} answered in {took_s:.1f} s" + (f" as {reply.model}" if reply.model else ""))


def _pinned(request: Request, opened: Opened) -> list[Material]:
    hidden = _hidden(opened)
    found = [Material(name, hidden(text), reason="given") for name, text in request.documents.items()]
    for path in request.pinned:
        text = opened.catalog.text(path)
        if not text:
            raise SourceError(f"{path!r} is not in the index", hint="`fathom status --skipped` tells why")
        found.append(Material(path, hidden(text), reason="pinned"))
    return found


def _on_disk(path: str, opened: Opened) -> str | None:
    """Read a file as the index would; None when it is gone, or no longer a text."""
    recipe = opened.recipe
    if not os.path.isfile(os.path.join(recipe.root, path)):
        return None
    document = read(recipe.root, FileStat(path, 0, 0), include_generated=True)
    return document.text if isinstance(document, Document) else None


def _outline(candidates: Sequence[str], opened: Opened) -> list[Listed]:
    documents = [document.path for document in opened.catalog.documents()]
    paths = documents if len(documents) <= _SMALL_PROJECT else list(candidates)
    purposes = opened.purposes(paths)
    return [
        Listed(path, tuple(symbol.qualified_name for symbol in opened.catalog.symbols_of(path)), purposes.get(path, ""))
        for path in paths
    ]
