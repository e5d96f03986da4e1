"""The projects of a token, as the tools for agents see them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from codefathom.askers.part import Part
from codefathom.errors import FathomError, FirstRunError, UsageError
from codefathom.mcp.call_control import CallControl
from codefathom.mcp.tool_projects import ChosenProjects, FirstIndex
from codefathom.server.http.auth import Caller
from codefathom.server.http.problem_json import NotIndexedError
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.project_table import ServedProject
from codefathom.server.requests.asker_elsewhere import asker_for
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import ServerState
from codefathom.types import Progress

_MOST_CHOICES = 50  # projects that an error names
_SHOWN_CHARS = 80


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
        askers: dict[str, Part] = {}
        indexing: dict[str, FirstIndex] = {}
        failed: dict[str, FathomError] = {}
        with ExitStack() as stack:
            for project in resolve_projects(names or self._owners(), visible):
                try:
                    asker = asker_for(self._state, project.id, self._caller, self._lease)
                    askers[project.id] = stack.enter_context(asker)
                except (NotIndexedError, FirstRunError) as error:
                    if (first := self._first_index(project, stack)) is None:
                        failed[project.id] = error
                    else:
                        indexing[project.id] = first
                        control.on_progress(first.step)
                except FathomError as error:
                    failed[project.id] = error
            yield ChosenProjects(askers, indexing, failed, is_named=len(visible) > 1)

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
        return FirstIndex(engine.unindexed, engine.settings, Progress(job.step.phase, job.step.current, job.step.total))


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
