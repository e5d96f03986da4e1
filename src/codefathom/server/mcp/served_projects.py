"""The projects of a token, as the tools for agents see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple

from codefathom.engine import Engine, OnFile
from codefathom.errors import FathomError, FirstRunError, UsageError
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_projects import ChosenProjects, FirstIndex
from codefathom.project.opening import OpenedProject
from codefathom.search.graph.impact import Impact
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotIndexedError
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.project_table import ServedProject
from codefathom.server.routes.search_requests import ChangeWish, SearchKey, impact, indexed, search
from codefathom.server.searches.search_end import SearchEnd
from codefathom.server.state import ServerState
from codefathom.types import LevelName, Mode, Progress, SearchResult, Where

_MOST_CHOICES = 50  # projects that an error names
_SHOWN_CHARS = 80


class SearchLease(NamedTuple):
    """The limits within which a search may go on."""

    end: SearchEnd  # of whoever waits
    until: float  # by `monotonic`


class ServedProjects:
    """The projects that one call of a tool may see: those of its token, searched by the server's processes."""

    def __init__(self, state: ServerState, caller: Caller, paths: Sequence[str], lease: SearchLease) -> None:
        """`paths` are those in the call: without names, the projects that they begin with are meant."""
        self._state = state
        self._caller = caller
        self._paths = paths
        self._lease = lease

    @contextmanager
    def chosen(self, names: Sequence[str], control: CallControl) -> Iterator[ChosenProjects]:
        """See `ToolProjects`."""
        visible = self._state.projects.listed(self._caller)
        engines: dict[str, Engine] = {}
        indexing: dict[str, FirstIndex] = {}
        failed: dict[str, FathomError] = {}
        with ExitStack() as stack:
            for project in resolve_projects(names or self._owners(), visible):
                try:
                    engine = stack.enter_context(indexed(self._state, project.id, self._caller))
                    engines[project.id] = _SearchedElsewhere(
                        engine, partial(self._search, project.id), partial(self._impact, project.id)
                    )
                except (NotIndexedError, FirstRunError) as error:
                    if (first := self._first_index(project, stack)) is None:
                        failed[project.id] = error
                    else:
                        indexing[project.id] = first
                        control.on_progress(first.step)
                except FathomError as error:
                    failed[project.id] = error
            yield ChosenProjects(engines, indexing, failed, is_named=len(visible) > 1)

    def owner(self, path: str) -> str:
        """See `ToolProjects`."""
        visible = {project.id for project in self._state.projects.listed(self._caller)}
        name = path.removeprefix("./").partition("/")[0]
        return name if len(visible) > 1 and name in visible else ""

    def _owners(self) -> list[str]:
        return [owner for owner in map(self.owner, self._paths) if owner]

    def _first_index(self, project: ServedProject, stack: ExitStack) -> FirstIndex | None:
        """Return the first index of a project that a job makes, None where none does."""
        job = first_job(self._state, project)
        if job is None or not project.is_here:
            return None
        engine = stack.enter_context(self._state.projects.lease(project.id, self._caller))
        return FirstIndex(engine.unindexed, Progress(job.step.phase, job.step.current, job.step.total))

    def _search(self, project_id: str, key: SearchKey) -> SearchResult:
        return search(self._state, self._caller, project_id, key, self._lease.until, end=self._lease.end)

    def _impact(self, project_id: str, wish: ChangeWish) -> Impact:
        return impact(self._state, self._caller, project_id, wish, self._lease.until, end=self._lease.end)


def resolve_projects(names: Sequence[str], visible: Sequence[ServedProject]) -> list[ServedProject]:
    """Return the projects of these ids or names; without one, the only project that there is.

    Raises UsageError for one that is not among those that the caller may see, and where none is named among several.
    """
    choices = ", ".join(project.id for project in visible[:_MOST_CHOICES])
    if not visible:
        raise UsageError("there is no project yet", hint="add one on the page of this server, or with POST /projects")
    if not names and len(visible) > 1:
        raise UsageError("this server has several projects", hint=f"name some of them in `projects`: {choices}")
    chosen: dict[str, ServedProject] = {}
    for name in names:
        of_name = [item for item in visible if item.id == name] or [item for item in visible if item.name == name]
        if not of_name:
            raise UsageError(f"there is no project {name[:_SHOWN_CHARS]!r}", hint=f"name some of: {choices}")
        chosen |= {item.id: item for item in of_name}
    return list(chosen.values()) or list(visible)


def first_job(state: ServerState, project: ServedProject) -> IndexJob | None:
    """Return the job that makes the first index of a project; one that never had a job gets it now.

    A job that failed or was cancelled, and an index that was removed, stay as they are until somebody asks for more.
    """
    job = state.jobs.active(project.id)
    if job is None and state.jobs.latest(project.id) is None:
        return state.jobs.submit(project.id, project.root, settings=project.settings)
    return job


class _SearchedElsewhere(Engine):
    """An opened project that is searched by the processes of the server, also for the reach of a change.

    All else is read here.
    """

    def __init__(
        self,
        engine: Engine,
        search_elsewhere: Callable[[SearchKey], SearchResult],
        impact_elsewhere: Callable[[ChangeWish], Impact],
    ) -> None:
        super().__init__(engine.place)
        self._engine = engine
        self._search_elsewhere = search_elsewhere
        self._impact_elsewhere = impact_elsewhere

    @property
    def opened(self) -> OpenedProject:
        """The index, which the other engine closes."""
        return self._engine.opened

    def refresh(self) -> bool:
        """See `Engine`."""
        return self._engine.refresh()

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        level: LevelName | None = None,
        mode: Mode | None = None,
        where: Where | None = None,
        min_score: float = 0.0,
        files: Sequence[str] = (),
        on_file: OnFile = lambda _: None,
    ) -> SearchResult:
        """See `Engine`; `on_file` is told nothing."""
        del on_file
        key = SearchKey(query, limit, level, mode, min_score, where=where, files=tuple(files))
        return self._search_elsewhere(key)

    def impact(self, revisions: str = "HEAD", *, diff: str = "", depth: int = 3, limit: int = 200) -> Impact:
        """See `Engine`."""
        return self._impact_elsewhere(ChangeWish(diff, revisions, depth, limit))
