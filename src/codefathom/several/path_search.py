"""One question to files and folders, wherever they lie: routes say to which projects they belong."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import NamedTuple, Self

from codefathom.config.configuration import ROUTES
from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnWait
from codefathom.errors import FathomError, UsageError
from codefathom.project.location import locate, user_tables
from codefathom.search.federation import ProjectHit, merge
from codefathom.several.joined import each_searched
from codefathom.several.loose_files import USUAL_BUDGET, LooseBudget, LooseProject, choose
from codefathom.several.path_scopes import PathResolver
from codefathom.several.routes import PathRoute, RoutedFolder, routes_of
from codefathom.types import Hit, Level, Mode, SearchResult, Skipped, Where

_OF_NONE = "files"  # the name under which files of no project are listed


class PathSearchResult(NamedTuple):
    """The hits in some files and folders, best first, and what each of their projects said."""

    hits: tuple[ProjectHit, ...]
    results: Mapping[str, SearchResult]  # by project; "files" has what belongs to none
    failed: Mapping[str, FathomError]
    roots: Mapping[str, str]  # absolute path of each project's folder
    left_out: tuple[Skipped, ...]  # absolute paths, such as what a budget did not allow

    def path_of(self, item: ProjectHit) -> str:
        """Return the absolute path of a hit."""
        return f"{self.roots[item.project_id].rstrip('/')}/{item.hit.chunk.path}"

    def in_place(self, item: ProjectHit) -> Hit:
        """Return a hit with its absolute path."""
        chunk = item.hit.chunk
        return replace(item.hit, chunk=replace(chunk, id=f"{item.project_id}:{chunk.id}", path=self.path_of(item)))


class _Part(NamedTuple):
    """A project, and the places in it that are searched; none: all of it."""

    engine: Engine
    files: tuple[str, ...]


def user_routes() -> tuple[PathRoute, ...]:
    """Return the rules in the user's settings file. Raises SettingsError."""
    tables, path = user_tables(ROUTES)
    return () if tables is None else routes_of(tables, path)


class PathSearch:
    """Files and folders that are searched, with the projects that they belong to. Safe to ask from several threads."""

    def __init__(
        self,
        parts: Mapping[str, _Part],
        unopened: Mapping[str, FathomError],
        loose: LooseProject | None,
        left_out: Sequence[Skipped],
    ) -> None:
        """Take opened projects; `open` makes them."""
        self._parts = dict(parts)
        self._unopened = dict(unopened)
        self._loose = loose
        self._left_out = tuple(left_out)

    @classmethod
    def open(
        cls,
        paths: Sequence[str],
        routes: Sequence[PathRoute] | None = None,
        *,
        within: Sequence[str] = (),
        budget: LooseBudget = USUAL_BUDGET,
        settings_of: Callable[[str], Settings] | None = None,
        on_wait: OnWait = lambda _: None,
    ) -> Self:
        """Split paths by routes, without any by those of the user's settings file, and open the projects.

        With `within`, nothing exists that does not lie in one of these folders. Files of no project are searched as far
        as `budget` allows. A project that cannot be opened is told with the hits. Raises UsageError for no path, one
        that does not exist, one that leads out of a project, and folders without any file; SettingsError for wrong
        routes.
        """
        resolver = PathResolver(user_routes() if routes is None else routes, within)
        scopes = resolver.scopes(paths)
        choice = choose(scopes.loose, budget, lambda path: resolver.project_of(path) is not None)
        names = _names(scopes.projects)
        left_out = (*scopes.left_out, *choice.left_out)
        parts: dict[str, _Part] = {}
        unopened: dict[str, FathomError] = {}
        for name, folder in names.items():
            try:
                parts[name] = _Part(_opened(folder, settings_of, on_wait), scopes.projects[folder])
            except FathomError as error:
                unopened[name] = error
        if not choice.files and not names:
            why = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
            raise UsageError(f"nothing can be searched in {', '.join(map(repr, paths))}{why}", hint="name other paths")
        loose = LooseProject(choice.files, settings_of, budget, on_wait) if choice.files else None
        if loose is not None:
            parts[_free_name(_OF_NONE, names)] = _Part(loose.engine, ())
        return cls(parts, unopened, loose, left_out)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        level: Level | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
    ) -> PathSearchResult:
        """Return the best places; see `Engine.search` and, for their order, `search.federation.merge`.

        Files that are named are taken into the index of their project first, if they have changed. Equal files of two
        projects are listed once. Raises UsageError for an empty question, and the first error if every project fails.
        """
        results, failed = each_searched(
            lambda part, question: part.engine.search(
                question, limit=limit, level=level, mode=mode, where=where, min_score=min_score, files=part.files
            ),
            self._parts,
            query,
        )
        if not results:
            raise next(iter({**failed, **self._unopened}.values()))
        most = limit or max(self._parts[name].engine.settings.search.limit for name in results)
        roots = {name: part.engine.root.replace(os.sep, "/") for name, part in self._parts.items()}
        left_out = (*self._left_out, *(self._loose.left_out() if self._loose else ()))
        return PathSearchResult(merge(results, most), results, {**self._unopened, **failed}, roots, left_out)

    def close(self) -> None:
        """Close the projects, and forget the files that belong to none."""
        for part in self._parts.values():
            with suppress(FathomError):
                part.engine.close()
        if self._loose is not None:
            self._loose.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _opened(folder: RoutedFolder, settings_of: Callable[[str], Settings] | None, on_wait: OnWait) -> Engine:
    """Open the project of a route, whose root is exactly what the route says. Raises FathomError."""
    settings = settings_of(folder.root) if settings_of else None
    if folder.index_dir:
        settings = settings or locate(folder.root, is_root=True).settings
        settings = settings._replace(index=settings.index._replace(dir=folder.index_dir))
    return Engine.open(folder.root, settings=settings, on_wait=on_wait, is_root=True)


def _names(folders: Mapping[RoutedFolder, object]) -> dict[str, RoutedFolder]:
    """Return a name of its own for each project."""
    names: dict[str, RoutedFolder] = {}
    for folder in folders:
        names[_free_name(folder.project, names)] = folder
    return names


def _free_name(name: str, taken: Mapping[str, object]) -> str:
    return next(candidate for candidate in _candidates(name) if candidate not in taken)


def _candidates(name: str) -> Iterator[str]:
    yield name
    number = 1
    while True:
        number += 1
        yield f"{name}-{number}"
