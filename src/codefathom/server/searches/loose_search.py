"""A search in files of no project, or an index of them, as the process of a search makes it: nothing of it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from codefathom.askers.loose_files import USUAL_BUDGET, LooseChoice, LooseProject, choose, loose_place, not_indexed
from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import PathRoute, RoutedFolder
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.types import SearchResult, Skipped


@dataclass(frozen=True, slots=True)
class LooseTask:
    """One search in files and folders that belong to no project; what belongs to one is passed by."""

    places: tuple[str, ...]  # absolute, resolved
    routes: tuple[PathRoute, ...]
    apart: tuple[str, ...]  # roots of projects, and folders of the server
    settings: Settings
    query: str
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Engine.search`
    limit_s: float = 0.0  # after which the process is to end
    is_traced: bool = False  # the stages are told too


@dataclass(frozen=True, slots=True)
class LooseIndexTask:
    """An index of files and folders that belong to no project, in a folder of whoever asks, who removes it."""

    places: tuple[str, ...]  # absolute, resolved
    routes: tuple[PathRoute, ...]
    apart: tuple[str, ...]  # roots of projects, and folders of the server
    settings: Settings
    folder: str
    limit_s: float = 0.0  # after which the process is to end
    is_traced: bool = False  # the stages are told too


class LooseIndex(NamedTuple):
    """The files that were indexed, with absolute paths, and those that were not."""

    files: tuple[str, ...]  # none: there is no index
    left_out: tuple[Skipped, ...]


class PlacedResult(NamedTuple):
    """The result of a search, and where its paths begin."""

    result: SearchResult | None  # None: there is no such file
    root: str  # absolute path of the folder
    left_out: tuple[Skipped, ...]  # with absolute paths


def search_loose(task: LooseTask) -> PlacedResult:
    """Search within the usual budget of files and bytes, in an index that is removed at once. Raises FathomError."""
    choice = _choice(task)
    if not choice.files:
        return PlacedResult(None, "", choice.left_out)
    with closing(LooseProject(choice.files, lambda _: _in_one_process(task.settings), USUAL_BUDGET)) as project:
        result = project.engine.search(task.query, **task.options)
        left_out = (*choice.left_out, *project.left_out())
        return PlacedResult(replace(result, generation=0), project.root.replace("\\", "/"), left_out)


def index_loose(task: LooseIndexTask) -> LooseIndex:
    """Index as many of these files as the usual budget allows. Raises FathomError."""
    choice = _choice(task)
    if not choice.files:
        return LooseIndex((), choice.left_out)
    place = loose_place(task.folder, choice.files, _in_one_process(task.settings), USUAL_BUDGET)
    with closing(Engine(place)) as engine:
        engine.index()
        return LooseIndex(choice.files, (*choice.left_out, *not_indexed(engine)))


def _choice(task: LooseTask | LooseIndexTask) -> LooseChoice:
    resolver = PathResolver(task.routes, projects=[RoutedFolder("", root, "") for root in task.apart])
    return choose(task.places, USUAL_BUDGET, lambda path: resolver.project_of(path) is not None)


def _in_one_process(settings: Settings) -> Settings:
    """Return settings for a run that is ended with this process when it takes too long."""
    return settings._replace(index=settings.index._replace(workers=1))
