"""An index of files of no project for one question, as a process of the searches makes it: nothing of it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from codefathom.askers.loose_files import USUAL_BUDGET, choose, loose_place, not_indexed
from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import PathRoute, RoutedFolder
from codefathom.config.settings import Settings
from codefathom.engine import Engine
from codefathom.project.location import Location
from codefathom.types import Skipped


@dataclass(frozen=True, slots=True)
class LooseIndexTask:
    """An index of files and folders that belong to no project, in a folder of whoever asks, who removes it.

    What belongs to a project is passed by.
    """

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
    root: str  # absolute path of the folder in which their paths begin
    left_out: tuple[Skipped, ...]


def index_loose(task: LooseIndexTask) -> LooseIndex:
    """Index as many of these files as the usual budget allows. Raises FathomError."""
    resolver = PathResolver(task.routes, projects=[RoutedFolder("", root, "") for root in task.apart])
    choice = choose(task.places, USUAL_BUDGET, lambda path: resolver.project_of(path) is not None)
    if not choice.files:
        return LooseIndex((), "", choice.left_out)
    with closing(Engine(place_of(task.folder, choice.files, task.settings))) as engine:
        engine.index()
        return LooseIndex(choice.files, engine.root, (*choice.left_out, *not_indexed(engine)))


def place_of(folder: str, files: Sequence[str], settings: Settings) -> Location:
    """Return the place of these files, whose index lies in a folder. No run starts processes of its own."""
    one_process = settings._replace(index=settings.index._replace(workers=1))
    return loose_place(folder, files, one_process, USUAL_BUDGET)
