"""The projects of a session on stdin: opened by the first call that is about them, followed until the session ends."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple

from codefathom.askers.project_list import NamedProject, ProjectList
from codefathom.askers.side_by_side import outcomes
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.followed_projects import FollowedProjects
from codefathom.mcp.project_session import ProjectSession
from codefathom.mcp.tool_projects import ChosenProjects, FirstIndex
from codefathom.system.real_paths import refuse_moved

_MOST_NAMED = 20  # projects in a message


class SessionStart(NamedTuple):
    """Words that a session was started with, and ways to open its projects."""

    open_here: Callable[[], Engine]  # the project around the current folder
    open_project: Callable[[NamedProject], Engine]
    names: Sequence[str] = ()  # of -p: asked where a call names none
    is_all: bool = False
    followed: FollowedProjects | None = None  # of several sessions; None: this session is alone


class SessionProjects:
    """The projects that a session may ask: those it was started with, and all that have a name. See `ToolProjects`."""

    def __init__(self, start: SessionStart) -> None:
        self._start = start
        self._lock = Lock()
        self._list = ProjectList()
        self._here: Engine | None = None
        self._at_start: tuple[NamedProject, ...] | None = None
        self._all_followed = start.followed or FollowedProjects()
        self._followed: dict[tuple[str, str], ProjectSession] = {}  # by root and revision

    @contextmanager
    def chosen(self, names: Sequence[str], control: CallControl) -> Iterator[ChosenProjects]:
        """See `ToolProjects`. Raises the error of a project that is the only one."""
        is_named = bool(names or self._start.names or self._start.is_all)
        with self._lock:
            projects = self._named(names) if names else self._usual()
            followed, failed = self._opened(projects)
        if not followed and failed:
            raise next(iter(failed.values()))
        states, broken = outcomes(lambda one: one.state(control), followed, most_at_once=max(len(followed), 1))
        if not states:
            raise next(iter((failed | broken).values()))
        indexing = {name: state for name, state in states.items() if isinstance(state, FirstIndex)}
        askers = {name: state for name, state in states.items() if isinstance(state, Engine)}
        yield ChosenProjects(askers, indexing, failed | broken, is_named)

    def owner(self, path: str) -> str:
        """See `ToolProjects`."""
        name, _, rest = path.partition("/")
        with self._lock:
            return name if rest and any(project.name == name for project in self._all_projects()) else ""

    def close(self) -> None:
        """End what is done behind the session, and close the projects."""
        with self._lock:
            followed, self._followed = list(self._followed.values()), {}
            here, self._here = self._here, None
        self._all_followed.leave(followed)
        if here is not None:
            here.close()

    def _usual(self) -> list[NamedProject]:
        """Return the projects of a call that names none."""
        chosen = list(self._start_projects())
        try:
            return chosen or [self._own()]
        except UsageError as error:  # such as a home folder: the projects with a name can be asked from there
            names = _listed(self._list.listed())
            raise UsageError(str(error), hint=f"name projects: {names}" if names else error.hint) from error

    def _named(self, names: Sequence[str]) -> list[NamedProject]:
        """Return the projects that names mean. Raises UsageError for one that means nothing here."""
        projects = self._all_projects()
        chosen: dict[str, NamedProject] = {}
        for name in names:
            root = os.path.realpath(name) if os.path.isabs(name) else ""
            fitting = [
                one for one in projects if name in (one.name, *one.groups) or (root, "") == (one.root, one.revision)
            ]
            if not fitting:
                raise UsageError(
                    f"{name[:80]!r} is not a project of this session",
                    hint=f"choose among {_listed(projects)}, or leave projects out",
                )
            chosen |= {one.name: one for one in fitting}
        return list(chosen.values())

    def _all_projects(self) -> tuple[NamedProject, ...]:
        """Return all projects that may be named; the folder of the session is one of them, where it is a project."""
        projects = {one.name: one for one in (*self._list.listed(), *self._start_projects())}
        if not self._start_projects():
            try:
                own = self._own()
            except FathomError:  # such as a home folder: the others can be asked from there
                pass
            else:
                projects.setdefault(own.name, own)
        return tuple(projects.values())

    def _start_projects(self) -> tuple[NamedProject, ...]:
        if self._at_start is None:
            names, is_all = self._start.names, self._start.is_all
            self._at_start = self._list.chosen(names, is_all=is_all) if names or is_all else ()
        return self._at_start

    def _own(self) -> NamedProject:
        if self._here is None:
            self._here = self._start.open_here()
        refuse_moved(self._here.root)  # which would be resolved anew
        (project,) = self._list.chosen([self._here.root])
        return project

    def _opened(self, projects: Sequence[NamedProject]) -> tuple[dict[str, ProjectSession], dict[str, FathomError]]:
        followed: dict[str, ProjectSession] = {}
        failed: dict[str, FathomError] = {}
        for project in projects:
            key = project.root, project.revision
            try:
                if key not in self._followed or self._followed[key].has_failed:
                    here = self._here if self._here is not None and (self._here.root, "") == key else None
                    project_session = self._all_followed.take((here or self._start.open_project(project)).place)
                    self._all_followed.leave([self._followed.pop(key)] if key in self._followed else [])
                    self._followed[key] = project_session
                followed[project.name] = self._followed[key]
            except FathomError as error:
                failed[project.name] = error
        return followed, failed


def _listed(projects: Sequence[NamedProject]) -> str:
    """Return the names of projects and groups for a message."""
    names = sorted({one.name for one in projects}.union(*(one.groups for one in projects)))
    more = f" and {len(names) - _MOST_NAMED} more" * (len(names) > _MOST_NAMED)
    return ", ".join(names[:_MOST_NAMED]) + more
