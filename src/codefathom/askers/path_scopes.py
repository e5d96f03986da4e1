"""Paths on the disk → the projects that they belong to by routes, and the files and folders that belong to none.

Each path is resolved first, with its links and `..`. One that enters the folder of a project on its way and ends
elsewhere is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codefathom.askers.routes import PathRoute, RoutedFolder, check_routes, folder_of, is_at_or_below
from codefathom.errors import UsageError
from codefathom.facts.reasons import ONLY_PROJECTS, Note
from codefathom.text.printable import is_text
from codefathom.types import Skipped

MOST_PROJECTS = 64  # of one question


class PathScopes(NamedTuple):
    """The meaning of some paths; all paths are absolute and resolved."""

    projects: dict[RoutedFolder, tuple[str, ...]]  # the places in each; empty: all of it
    loose: tuple[str, ...]  # files and folders that belong to no project
    left_out: tuple[Skipped, ...]


class PathResolver:
    """Routes, as they lie on this disk."""

    def __init__(
        self, routes: Sequence[PathRoute], within: Sequence[str] | None = None, projects: Sequence[RoutedFolder] = ()
    ) -> None:
        """Take rules, of which the first that fits a path counts. With `within`, only what lies there exists.

        `projects` are folders that are projects without a rule. Of several roots around a path the innermost counts.
        Raises SettingsError for rules that do not fit together.
        """
        check_routes(routes)
        self._written = tuple(routes)
        self._routes = tuple(route.moved(_real) for route in routes)
        self._within = None if within is None else tuple(map(_real, within))
        self._projects = sorted((item._replace(root=_real(item.root)) for item in projects), key=lambda item: item.root)

    def scopes(self, paths: Sequence[str], most_projects: int = MOST_PROJECTS) -> PathScopes:
        """Return the meaning of paths; relative ones begin at the current folder.

        A folder above several projects means all of them, and what lies beside them. Raises UsageError for no path, a
        path that does not exist, and one that leads out of a project.
        """
        if not paths:
            raise UsageError("no path is named", hint="name a file or a folder")
        places = [self._place(path) for path in paths]  # all of them are checked before anything is searched
        projects: dict[RoutedFolder, list[str]] = {}
        loose: list[str] = []
        left_out: list[Skipped] = []
        for place in dict.fromkeys(places):
            folder = self.project_of(place)
            if folder is not None:
                projects.setdefault(folder, []).append(place)
                continue
            loose.append(place)
            n_more = 0
            for inside in self._projects_below(place):
                if len(projects) >= most_projects and self._folder_of(inside) not in projects:
                    n_more += 1
                elif (folder := self.project_of(inside)) is not None:
                    projects.setdefault(folder, []).append(inside)
            if n_more:
                left_out.append(Skipped(place, Note(ONLY_PROJECTS, {"count": n_more, "most": most_projects})))
        parts = {folder: () if folder.root in inside else tuple(inside) for folder, inside in projects.items()}
        return PathScopes(parts, tuple(loose), tuple(left_out))

    def project_of(self, place: str) -> RoutedFolder | None:
        """Return the project that a resolved path belongs to; None where there is none, or its root is no folder."""
        folder = self._folder_of(place)
        return folder if folder is not None and os.path.isdir(folder.root) else None

    def _folder_of(self, place: str) -> RoutedFolder | None:
        by_rule = folder_of(place, self._routes)
        around = [item for item in self._projects if is_at_or_below(place, item.root)]
        return max((*around, *([by_rule] if by_rule else ())), key=lambda item: len(item.root), default=None)

    def _place(self, path: str) -> str:
        """Return a path, resolved. Raises UsageError."""
        missing = UsageError(f"there is no file or folder {path!r}", hint="check the path")
        if not path or not is_text(path) or "\0" in path:
            raise missing
        place = _real(path)
        if self._within is not None and not any(is_at_or_below(place, folder) for folder in self._within):
            raise missing  # the same words: nobody learns what lies elsewhere
        for root in self._entered(path):
            if not is_at_or_below(place, root):
                raise UsageError(
                    f"{path!r} leads out of {root!r}", hint="name the place that it leads to, without links and `..`"
                )
        if not os.path.exists(place):
            raise missing
        return place

    def _entered(self, path: str) -> Iterator[str]:
        """Yield the root of each project that a path enters on its way, as written and as resolved.

        Where a relative path begins, and what lies above that, is not entered.
        """
        is_absolute = os.path.isabs(path)
        start = os.path.splitdrive(path)[0] + os.sep if is_absolute else os.getcwd()
        steps = _slashed(os.path.splitdrive(path)[1]).split("/")
        while not is_absolute and steps[0] in (".", ".."):
            start = os.path.dirname(start) if steps.pop(0) == ".." else start
            steps = steps or [""]
        for n_steps in range(1, len(steps) + 1):
            step = os.path.join(start, *steps[:n_steps])
            resolved = self._folder_of(_real(step))
            if resolved is not None:
                yield resolved.root
            written = _slashed(os.path.normpath(step))
            for route, moved in zip(self._written, self._routes, strict=True):
                values = route.values_of(written)
                if values is not None:
                    yield moved.folder_with(values).root
                    break

    def _projects_below(self, folder: str) -> Iterator[str]:
        """Yield the folders below one that belong to projects: those without a rule, then in the order of the rules."""
        yield from (item.root for item in self._projects if is_at_or_below(item.root, folder))
        for route in self._routes:
            yield from _fitting(folder, route)


def _fitting(folder: str, route: PathRoute) -> Iterator[str]:
    """Yield the folders that a pattern fits, at or below one; no link is followed."""
    takes = route.names_below(folder)
    if takes is None:
        if route.folder_of(folder) is not None:
            yield folder
        return
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if takes(entry.name) and entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    for name in names:
        yield from _fitting(f"{folder.rstrip('/')}/{name}", route)


def _real(path: str) -> str:
    try:
        return _slashed(os.path.realpath(path))
    except OSError as error:  # the current folder is gone
        raise UsageError(f"{path!r} cannot be resolved: {error.strerror}", hint="write an absolute path") from error


def _slashed(path: str) -> str:
    return path.replace(os.sep, "/")
