"""One question to several projects: they are asked at the same time, and a project that fails stops no other."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self, TypeVar, cast

from codefathom.agent.loop import Event
from codefathom.answer.answer_types import Answer, AnswerRequest
from codefathom.answer.ask import AnswerSources, Text
from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.errors import FathomError, UsageError
from codefathom.project.answer_setup import HITS_PER_FILE, ContextSize, kept_short
from codefathom.search.federation import ProjectHit, merge
from codefathom.several.joined import as_one, ask_several, context, each_searched
from codefathom.several.joined_agent import investigate_several
from codefathom.several.project_list import ProjectList
from codefathom.several.side_by_side import outcomes
from codefathom.types import Context, FoundSymbol, Level, Mode, RelatedResult, SearchResult, Where

_T = TypeVar("_T")


class FederatedSearch(NamedTuple):
    """The hits of several projects, best first, and what each of them said."""

    hits: tuple[ProjectHit, ...]
    results: Mapping[str, SearchResult]  # by project
    failed: Mapping[str, FathomError]


class FederatedSymbols(NamedTuple):
    """The symbols of several projects, in the order of the projects."""

    symbols: tuple[tuple[str, FoundSymbol], ...]  # project and symbol
    failed: Mapping[str, FathomError]


class FederatedRelated(NamedTuple):
    """Connections of a file or symbol, in each project that has it."""

    results: Mapping[str, RelatedResult]
    failed: Mapping[str, FathomError]


class Federation:
    """Opened projects, by name. Safe to ask from several threads."""

    folder = ""  # paths begin with the name of a project, not with a folder

    def __init__(self, engines: Mapping[str, Engine], unopened: Mapping[str, FathomError] | None = None) -> None:
        """Take opened projects, and the errors of those that could not be opened."""
        self.engines = dict(engines)
        self._unopened = dict(unopened or {})

    @classmethod
    def open(
        cls,
        names: Sequence[str] = (),
        *,
        is_all: bool = False,
        settings_of: Callable[[str], Settings] | None = None,
        on_progress: OnProgress | None = None,
        on_wait: OnWait = lambda _: None,
    ) -> Self:
        """Open projects by the names, groups or folders that `fathom projects` knows; with `is_all`, all that have one.

        `settings_of` gives the settings for a root, by default those of its files and the environment. A project that
        cannot be opened is told with the answers. Raises UsageError for a name that means nothing.
        """
        chosen = ProjectList().chosen(names, is_all=is_all)
        if not chosen:
            raise UsageError("no project is named", hint="name projects, or ask all of them")
        engines: dict[str, Engine] = {}
        unopened: dict[str, FathomError] = {}
        for item in chosen:
            try:
                settings = settings_of(item.root) if settings_of else None
                engines[item.name] = Engine.open(item.root, settings=settings, on_progress=on_progress, on_wait=on_wait)
            except FathomError as error:
                unopened[item.name] = error
        return cls(engines, unopened)

    @property
    def settings(self) -> Settings:
        """The settings of the first project, which hold for an answer. Raises its error if none could be opened."""
        return self._first().settings

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        level: Level | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
        files: Sequence[str] = (),
    ) -> FederatedSearch:
        """Return the best places in all projects; see `Engine.search`.

        With `files`, only the projects that hold these files and folders are asked; a path begins with the name of its
        project, or is one of the disk. Raises UsageError for one that lies in none of them.
        Hits are ordered by score where the projects have the same model, else by rank; see `search.federation.merge`.
        Equal files of two projects are listed once. Raises the error of the first project if all of them fail.
        """
        owners = self._owners(files)

        def look(engine: Engine, question: str) -> SearchResult:
            own = owners.get(engine.root, ())
            return engine.search(
                question, limit=limit, level=level, mode=mode, where=where, min_score=min_score, files=own
            )

        results, failed = self._searched(query, look, set(owners))
        most = limit or max(self.engines[name].settings.search.limit for name in results)
        return FederatedSearch(merge(results, most), results, failed)

    def symbols(self, query: str = "", *, path: str = "", kind: str = "", limit: int = 50) -> FederatedSymbols:
        """Return symbols by name, at most `limit` of each project; see `Engine.symbols`."""
        answers, failed = self._outcomes(lambda engine: engine.symbols(query, path=path, kind=kind, limit=limit))
        pairs = tuple((name, symbol) for name, symbols in answers.items() for symbol in symbols)
        return FederatedSymbols(pairs, failed)

    def related(self, target: str, *, depth: int = 1, limit: int = 200) -> FederatedRelated:
        """Return the connections of a file or symbol in each project that has it; see `Engine.related`.

        A path may begin with the name of a project; then only that one is asked.
        """
        name, _, rest = target.partition("/")
        if rest and name in self.engines:
            return FederatedRelated({name: self.engines[name].related(rest, depth=depth, limit=limit)}, {})
        return FederatedRelated(*self._outcomes(lambda engine: engine.related(target, depth=depth, limit=limit)))

    def context(
        self,
        query: str,
        *,
        max_files: int | None = None,
        max_tokens: int | None = None,
        where: Where | None = None,
        format_name: str = "files",
        anyway: bool = False,
    ) -> Context:
        """Return the files of all projects that a prompt needs; see `Engine.context`. Paths begin with the project.

        Limits that are not given are those of the first project.
        """
        first = self.settings.context
        size = ContextSize(max_files or first.max_files, max_tokens or first.window, format_name)
        limit = HITS_PER_FILE * size.max_files
        results, failed = self._searched(
            query, lambda engine, question: engine.search(question, limit=limit, level="chunk", where=where)
        )
        result = as_one(results, failed, limit)
        return context(self.engines, result if anyway else kept_short(result), size)

    def ask(self, request: str | AnswerRequest) -> Answer:
        """Return one answer from all projects. See `ask_events`."""
        *_, answer = self.ask_events(request)
        return cast("Answer", answer)

    def ask_events(self, request: str | AnswerRequest) -> Iterator[AnswerSources | Text | Answer]:
        """Yield the sources, the text and the answer as `Engine.ask_events` does. Paths begin with the project.

        Settings and models are those of the first project.
        """
        request = AnswerRequest(request) if isinstance(request, str) else request
        self._first()
        return ask_several(self.engines, request, self._unopened)

    def investigate(self, request: str | AnswerRequest) -> Iterator[Event | Text | Answer]:
        """Let the model of the first project look in all of them; see `Engine.investigate`."""
        request = AnswerRequest(request) if isinstance(request, str) else request
        self._first()
        return investigate_several(self.engines, request, self._unopened)

    def close(self) -> None:
        """Close the projects."""
        for engine in self.engines.values():
            with suppress(FathomError):
                engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _outcomes(self, ask: Callable[[Engine], _T]) -> tuple[dict[str, _T], dict[str, FathomError]]:
        """Ask each project, and return answers and errors by project. Raises the first error if there is no answer."""

        return self._answered(*outcomes(ask, self.engines))

    def _searched(
        self, query: str, search: Callable[[Engine, str], SearchResult], roots: Collection[str] = ()
    ) -> tuple[dict[str, SearchResult], dict[str, FathomError]]:
        """Search each project that the question is for, of those with one of these roots, if any.

        Raises the first error if there is no result.
        """
        engines = {name: engine for name, engine in self.engines.items() if not roots or engine.root in roots}
        return self._answered(*each_searched(search, engines, query))

    def _owners(self, files: Sequence[str]) -> dict[str, list[str]]:
        """Return the roots of the projects that hold these files, each with the paths of its own.

        A path that is there on the disk counts before one that begins with the name of a project.
        """
        owners: dict[str, list[str]] = defaultdict(list)
        for path in files:
            place = os.path.abspath(path)
            root = self._root_around(place)
            name, _, rest = path.partition("/")
            if name in self.engines and not (root and os.path.lexists(place)):
                owners[self.engines[name].root].append(rest or ".")
            elif name in self._unopened:
                raise self._unopened[name]
            elif root:
                owners[root].append(place)
            else:
                raise UsageError(
                    f"{path!r} lies in none of these projects", hint="begin the path with the name of its project"
                )
        return owners

    def _root_around(self, place: str) -> str:
        """Return the root of the innermost project that a path of the disk lies in; "" without one."""
        roots = [root for one in self.engines.values() if f"{place}/".startswith(os.path.join(root := one.root, ""))]
        return max(roots, key=len, default="")

    def _answered(
        self, answers: dict[str, _T], failed: dict[str, FathomError]
    ) -> tuple[dict[str, _T], dict[str, FathomError]]:
        failed = self._unopened | failed
        if not answers:
            raise next(iter(failed.values()))
        return answers, failed

    def _first(self) -> Engine:
        """Return the first project. Raises the error of the first if none could be opened."""
        if not self.engines:
            raise next(iter(self._unopened.values()))
        return next(iter(self.engines.values()))
