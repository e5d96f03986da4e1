"""One question to several projects: they are asked at the same time, and a project that fails stops no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnProgress, OnWait
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import ProjectHit, merge
from codefathom.several.project_list import ProjectList
from codefathom.types import FoundSymbol, Level, Mode, SearchResult, Where

_MOST_AT_ONCE = 8
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


class Federation:
    """Opened projects, by name. Safe to ask from several threads."""

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

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        level: Level | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
    ) -> FederatedSearch:
        """Return the best places in all projects; see `Engine.search`.

        Scores of two projects cannot be compared: hits are put together by their rank in their own project and by how
        far that project's result can be trusted. Equal files of two projects are listed once. Raises the error of the
        first project if all of them fail.
        """
        results, failed = self._outcomes(
            lambda engine: engine.search(query, limit=limit, level=level, mode=mode, where=where, min_score=min_score)
        )
        most = limit or max(self.engines[name].settings.search.limit for name in results)
        return FederatedSearch(merge(results, most), results, failed)

    def symbols(self, query: str = "", *, kind: str = "", limit: int = 50) -> FederatedSymbols:
        """Return symbols by name, at most `limit` of each project; see `Engine.symbols`."""
        answers, failed = self._outcomes(lambda engine: engine.symbols(query, kind=kind, limit=limit))
        pairs = tuple((name, symbol) for name, symbols in answers.items() for symbol in symbols)
        return FederatedSymbols(pairs, failed)

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

        def outcome(engine: Engine) -> _T | FathomError:
            try:
                return ask(engine)
            except FathomError as error:
                return error

        with ThreadPoolExecutor(max(min(_MOST_AT_ONCE, len(self.engines)), 1)) as pool:
            outcomes = dict(zip(self.engines, pool.map(outcome, self.engines.values()), strict=True))
        failed = self._unopened | {name: item for name, item in outcomes.items() if isinstance(item, FathomError)}
        answers = {name: item for name, item in outcomes.items() if not isinstance(item, FathomError)}
        if not answers:
            raise next(iter(failed.values()))
        return answers, failed
