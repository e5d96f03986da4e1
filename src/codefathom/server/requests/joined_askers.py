"""Several projects of the server as one: by their names, or by the files and folders that somebody asks about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from codefathom.askers.held_folder import HeldFolder
from codefathom.askers.joined import JoinedProjects
from codefathom.askers.kept import KeptProject
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.providers.stoppable import Stoppable
from codefathom.question.asker import result_of
from codefathom.question.question import Question
from codefathom.server.http.auth import Caller
from codefathom.server.projects.asked_projects import asked_projects
from codefathom.server.projects.served_paths import ServedPlaces, served_places
from codefathom.server.requests.asker_elsewhere import (
    AskerElsewhere,
    Change,
    LooseElsewhere,
    NamedContent,
    asker_for,
    left_s,
    take_in,
)
from codefathom.server.searches.loose_index import LooseIndex, LooseIndexTask, place_of
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.state import ServerState
from codefathom.types import Context, Skipped


@dataclass(frozen=True, slots=True)
class Scope:
    """The projects, or instead the files and folders, that a client asks about; neither: all that it may see."""

    names: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # absolute, on this machine

    def __post_init__(self) -> None:
        if self.names and self.paths:
            raise UsageError(
                "paths cannot be used with a project", hint="`paths` already names the files and folders to search"
            )


class ClientProjects(NamedTuple):
    """The projects of a scope, and all of them as one."""

    joined: JoinedProjects
    askers: Mapping[str, AskerElsewhere]
    is_of_paths: bool = False

    @property
    def only_one(self) -> AskerElsewhere | None:
        """The only project that was to be asked; None where there are several, or paths have chosen it."""
        only = self.joined.only_name
        return self.askers[only] if only and not self.is_of_paths else None

    def context(self, question: Question) -> Context:
        """Return the files that a prompt needs; of several, a path begins with its project."""
        only = self.only_one
        return cast(Context, result_of(self.joined if only is None else only, question))


@contextmanager
def joined(
    state: ServerState, caller: Caller, scope: Scope, lease: SearchLease, *, takes_in: bool = False
) -> Iterator[ClientProjects]:
    """Give the scope of a client as one asker, read by the processes of the searches.

    Projects that are unknown or have no index are told as failed. Of paths, what has changed there is taken in now,
    with `takes_in` only by a search, whose result names what is not in the index. Raises UsageError where nothing can
    be asked, and the first error where no project can be.
    """
    if not scope.paths:
        with _by_name(state, caller, scope.names, lease) as projects:
            yield projects
        return
    places = served_places(state.projects, state.config, caller, scope.paths)
    with at_paths(state, caller, places, lease, takes_in=takes_in) as projects:
        yield projects


@contextmanager
def _by_name(state: ServerState, caller: Caller, names: Sequence[str], lease: SearchLease) -> Iterator[ClientProjects]:
    project_ids, unknown = asked_projects(state.projects, caller, names)
    askers: dict[str, AskerElsewhere] = {}
    failed: dict[str, FathomError] = {}
    with ExitStack() as stack:
        for project_id in project_ids:
            try:
                askers[project_id] = stack.enter_context(asker_for(state, project_id, caller, lease))
            except FathomError as error:
                failed[project_id] = error
        failed |= unknown
        if not askers:
            raise next(iter(failed.values()))
        yield ClientProjects(JoinedProjects(askers, failed, here=None), askers)


@contextmanager
def at_paths(
    state: ServerState,
    caller: Caller,
    places: ServedPlaces,
    lease: SearchLease,
    change: Change | None = None,
    *,
    takes_in: bool = False,
) -> Iterator[ClientProjects]:
    """Give the projects that paths belong to as one, kept to these paths; see `joined`.

    What belongs to none is one more of them, with an index for this request only. `change` makes the settings of the
    questions.
    """
    askers: dict[str, AskerElsewhere] = {}
    projects: dict[str, KeptProject] = {}
    failed: dict[str, FathomError] = dict(places.unserved)
    left_out = list(places.left_out)
    with ExitStack() as stack:
        for project_id, inside in places.projects.items():
            try:
                asker = stack.enter_context(asker_for(state, project_id, caller, lease, change))
                if inside and not takes_in:
                    left_out += take_in(state, caller, project_id, NamedContent(inside), lease.until).refused
                askers[project_id] = asker
                projects[project_id] = KeptProject(asker, inside, takes_in=takes_in)
            except FathomError as error:
                failed[project_id] = error
        if places.loose:
            try:
                loose, skipped = stack.enter_context(_loose(state, places, lease, change))
                left_out += skipped
                if loose is not None:
                    askers[places.loose_name] = loose
                    projects[places.loose_name] = KeptProject(loose, takes_in=False)
            except FathomError as error:
                failed[places.loose_name] = error
        if not projects:
            raise next(iter(failed.values()), _nothing(places.named, left_out))
        as_one = JoinedProjects(projects, failed, here=None, left_out=left_out)
        yield ClientProjects(as_one, askers, is_of_paths=True)


@contextmanager
def _loose(
    state: ServerState, places: ServedPlaces, lease: SearchLease, change: Change | None
) -> Iterator[tuple[LooseElsewhere | None, tuple[Skipped, ...]]]:
    """Give the files of no project, None where there are none, and what is left out. Raises FathomError."""
    settings = state.projects.settings_outside()
    with closing(HeldFolder()) as folder:
        limit_s = left_s(state, lease.until)
        task = LooseIndexTask(places.loose, state.config.routes, places.apart, settings, folder.path, limit_s)
        index: LooseIndex = state.search_pool.result(task, lease.end)
        if not index.files:
            yield None, index.left_out
            return
        place = place_of(folder.path, index.files, settings)
        never = place.settings._replace(search=place.settings.search._replace(refresh="never"))
        engine = Engine(replace(place, settings=never), wrap_model=Stoppable, first_index_wait_s=0.0)
        with closing(engine):
            name, files = places.loose_name, index.files
            asker = LooseElsewhere(state, lease, name, engine, change, index_folder=folder.path, files_of_none=files)
            yield asker, index.left_out


def no_project(places: ServedPlaces) -> UsageError:
    """Return the error for paths that belong to no project."""
    paths = (*places.loose, *(item.path for item in places.left_out))
    return UsageError(
        f"no project of this server is in {', '.join(map(repr, paths))}", hint="POST /index makes a folder a project"
    )


def _nothing(paths: Sequence[str], left_out: Sequence[Skipped]) -> UsageError:
    why = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
    return UsageError(f"nothing can be searched in {', '.join(map(repr, paths))}{why}", hint="name other paths")
