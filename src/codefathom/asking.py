"""From an opened index and its settings to what `answer` and `agent` take: plain values and functions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
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
from codefathom.errors import ProviderError, SettingsError, SourceError, UsageError, without_login
from codefathom.opening import Opened, Place, index_model
from codefathom.providers.base import Ask, ChatModel, Message, whole
from codefathom.search.related import related
from codefathom.settings import Settings
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
    count = counter(opened.place.settings.context.tokenizer_path)
    texts = _Texts(opened, request.documents)
    return _question(request, texts, count), _project(texts, search), models(opened), count


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
    texts = _Texts(opened)
    known = tools(_tools_project(texts, search))
    language = language_of_question(request.text)
    listed = "\n".join(f"- {usage(tool.spec)}" for tool in known)
    system = prompt("agent", language, tools=listed, rounds=str(limits.rounds))
    seen: list[Seen] = []
    for event in run(request.text, chosen, known, limits, Briefing(system, history=request.history)):
        if isinstance(event, Observed):
            seen += event.places
        yield event
        if isinstance(event, Final):
            found = report(request.text, event, seen, texts.indexed, texts.on_disk)
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


def _tools_project(texts: _Texts, search: Callable[[str, Level, int], SearchResult]) -> ToolsProject:
    catalog = texts.opened.catalog
    return ToolsProject(
        search=lambda question, level, limit: texts.of_hits(search(question, level, limit)),
        text=lambda path: texts.indexed(path) or None,
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


def _question(request: Request, texts: _Texts, count: CountTokens) -> Question:
    """Return the question within the limits of the settings. Raises UsageError and SourceError."""
    if not request.text.strip():
        raise UsageError("the question is empty", hint='such as fathom ask "where are orders priced"')
    settings = texts.opened.place.settings
    most = window(settings)
    max_input_tokens = settings.select.max_input_tokens or most
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
            max_input_tokens=max_input_tokens,
            count=count,
            sizes=sizes(budget.full),
        ),
        history=request.history,
        pinned=tuple(_pinned(request.pinned, texts)),
        filter_level=_filter_level(settings),
        n_sources=settings.rerank.top_n,
        max_tokens=settings.answer.max_tokens,
        least_confidence=settings.answer.least_confidence,
        in_line_order=not settings.context.disable_segment_reorder,
        max_input_tokens=max_input_tokens,
        prices=_prices(settings),
    )


def _filter_level(settings: Settings) -> int:
    """Return the level as set; what decides by itself lets a model select and judge where there is one."""
    level, llm = settings.select.filter_level, settings.llm
    return level if level >= 0 else int(bool(llm.of("select") or llm.of("judge")))


def model(opened: Opened, role: str) -> ChatModel | None:
    """Return the model of a role, None when none is configured."""
    name = opened.place.settings.llm.of(role)
    return opened.chat_model(name) if name else None


def _project(texts: _Texts, search: Callable[[str, int], SearchResult]) -> Project:
    """Return what an answer asks of this project."""
    return Project(
        search=lambda question, limit: texts.of_hits(search(question, limit)),
        text=texts.indexed,
        on_disk=texts.on_disk,
        related=lambda path: related(texts.opened.catalog, path),
        outline=lambda candidates: _outline(candidates, texts.opened),
    )


class _Texts:
    """The texts of a project and of given documents as models may see them.

    Secrets are taken out of whole documents before anything is cut: half a key may not look like one. Where nothing
    leaves the machine, texts stay as they are.
    """

    def __init__(self, opened: Opened, documents: Mapping[str, str] = MappingProxyType({})) -> None:
        self.opened = opened
        self.documents = documents
        self._mask = _mask(opened.place)
        self._indexed: dict[str, str] = {}

    def indexed(self, path: str) -> str:
        """Return the text of a document, "" when there is none."""
        if path not in self._indexed:
            self._indexed[path] = self._mask(self.documents.get(path) or self.opened.catalog.text(path))
        return self._indexed[path]

    def on_disk(self, path: str) -> str | None:
        """Return the text as it is now, None when it is gone."""
        text = self.documents[path] if path in self.documents else _on_disk(path, self.opened)
        return None if text is None else self._mask(text)

    def of_hits(self, result: SearchResult) -> SearchResult:
        """Return hits with the lines of these texts."""
        if self._mask is str:
            return result
        return replace(result, hits=tuple(replace(hit, chunk=self._of_chunk(hit.chunk)) for hit in result.hits))

    def _of_chunk(self, chunk: Chunk) -> Chunk:
        end = "\n" if chunk.text.endswith("\n") else ""
        return replace(chunk, text=lines_of(self.indexed(chunk.path), chunk.start_line, chunk.end_line) + end)


def _mask(place: Place) -> Callable[[str], str]:
    """Return what takes secrets out of a text that may leave the machine, else `str`."""
    if not place.settings.answer.mask_secrets or not _remote(_names(place).values(), place):
        return str
    from codefathom.source.secrets import mask

    return lambda text: mask(text).text


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
    names = {role: place.settings.llm.of(role) for role in ROLES} | {"index": index_model(place.settings)}
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


def _pinned(paths: Sequence[str], texts: _Texts) -> list[Material]:
    found = [Material(name, texts.indexed(name), reason="given") for name in texts.documents]
    for path in paths:
        if not texts.opened.catalog.text(path):
            raise SourceError(f"{path!r} is not in the index", hint="`fathom status --skipped` tells why")
        found.append(Material(path, texts.indexed(path), reason="pinned"))
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
