"""A search in files of no project, as the process of a search carries it out: nothing of it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from codefathom.config.settings import Settings
from codefathom.several.loose_files import USUAL_BUDGET, LooseProject, choose
from codefathom.several.path_scopes import PathResolver
from codefathom.several.routes import PathRoute, RoutedFolder
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


class PlacedResult(NamedTuple):
    """The result of a search, and where its paths begin."""

    result: SearchResult | None  # None: there is no such file
    root: str  # absolute path of the folder
    left_out: tuple[Skipped, ...]  # with absolute paths


def search_loose(task: LooseTask) -> PlacedResult:
    """Search within the usual budget of files and bytes, in an index that is removed at once. Raises FathomError."""
    resolver = PathResolver(task.routes, projects=[RoutedFolder("", root, "") for root in task.apart])
    choice = choose(task.places, USUAL_BUDGET, lambda path: resolver.project_of(path) is not None)
    if not choice.files:
        return PlacedResult(None, "", choice.left_out)
    # One process: it is ended with this one when the search takes too long.
    settings = task.settings._replace(index=task.settings.index._replace(workers=1))
    with closing(LooseProject(choice.files, lambda _: settings, USUAL_BUDGET)) as project:
        result = project.engine.search(task.query, **task.options)
        left_out = (*choice.left_out, *project.left_out())
        return PlacedResult(replace(result, generation=0), project.root.replace("\\", "/"), left_out)
