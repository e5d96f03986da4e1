"""Questions to files and folders, wherever they lie: routes say to which projects they belong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Self

from codefathom.askers.joined import JoinedProjects, placed
from codefathom.askers.kept import KeptProject
from codefathom.askers.loose_files import USUAL_BUDGET, LooseBudget, LooseProject, choose
from codefathom.askers.path_scopes import PathResolver
from codefathom.askers.routes import PathRoute, RoutedFolder, routes_of
from codefathom.config.configuration import ROUTES
from codefathom.config.settings import Settings
from codefathom.engine import Engine, OnWait
from codefathom.errors import FathomError, UsageError
from codefathom.project.location import locate, user_tables
from codefathom.system.real_paths import refuse_moved
from codefathom.types import Skipped

OF_NONE = "files"  # the name under which files of no project are listed


def user_routes() -> tuple[PathRoute, ...]:
    """Return the rules in the user's settings file. Raises SettingsError."""
    tables, path = user_tables(ROUTES)
    return () if tables is None else routes_of(tables, path)


class PathSearch(JoinedProjects):
    """Files and folders that are asked about, with the projects that they belong to. Safe to ask from several threads.

    What is named is taken into the index of its project before each question, if it has changed.
    """

    def __init__(
        self,
        projects: Mapping[str, KeptProject],
        unopened: Mapping[str, FathomError],
        loose: LooseProject | None,
        left_out: Sequence[Skipped],
    ) -> None:
        """Take opened projects; `open` makes them."""
        super().__init__(projects, unopened, left_out=left_out)
        self._loose = loose

    @classmethod
    def open(
        cls,
        paths: Sequence[str],
        routes: Sequence[PathRoute] | None = None,
        *,
        within: Sequence[str] | None = None,
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
        parts: dict[str, KeptProject] = {}
        unopened: dict[str, FathomError] = {}
        for name, folder in names.items():
            try:
                parts[name] = KeptProject(_opened(folder, settings_of, on_wait), scopes.projects[folder])
            except FathomError as error:
                unopened[name] = error
        if not choice.files and not names:
            why = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
            raise UsageError(f"nothing can be searched in {', '.join(map(repr, paths))}{why}", hint="name other paths")
        loose = LooseProject(choice.files, settings_of, budget, on_wait) if choice.files else None
        if loose is not None:
            parts[free_name(OF_NONE, names)] = KeptProject(loose.engine)
        return cls(parts, unopened, loose, left_out)

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """The absolute paths that are not asked about, such as those above a budget; complete after a question."""
        return (*self._left_out, *(self._loose.left_out() if self._loose else ()))

    def shown_path(self, name: str, path: str) -> str:
        """Return the absolute path of a file in a project."""
        return placed(self.roots[name], path)

    def close(self) -> None:
        """Close the projects, and forget the files that belong to none."""
        super().close()
        if self._loose is not None:
            self._loose.close()


def _opened(folder: RoutedFolder, settings_of: Callable[[str], Settings] | None, on_wait: OnWait) -> Engine:
    """Open the project of a route, whose root is exactly what the route says. Raises FathomError."""
    refuse_moved(folder.root)
    settings = settings_of(folder.root) if settings_of else None
    if folder.index_dir:
        settings = settings or locate(folder.root, is_root=True).settings
        settings = settings._replace(index=settings.index._replace(dir=folder.index_dir))
    return Engine.open(folder.root, settings=settings, on_wait=on_wait, is_root=True)


def _names(folders: Mapping[RoutedFolder, object]) -> dict[str, RoutedFolder]:
    """Return a name of its own for each project."""
    names: dict[str, RoutedFolder] = {}
    for folder in folders:
        names[free_name(folder.project, names)] = folder
    return names


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name, with a number behind it where it is taken."""
    return next(candidate for candidate in _candidates(name) if candidate not in taken)


def _candidates(name: str) -> Iterator[str]:
    yield name
    number = 1
    while True:
        number += 1
        yield f"{name}-{number}"
