"""Searches in several projects, or in files and folders of the server, for the routes of search and context."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import NamedTuple

from codefathom.askers.joined import JoinedProjects
from codefathom.askers.kept import KeptProject
from codefathom.askers.named_files import files_by_project
from codefathom.askers.side_by_side import outcomes
from codefathom.config.settings import NOTHING, Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import ProjectHit, merge, questions_for, reach
from codefathom.server.http.auth import Caller
from codefathom.server.projects.asked_projects import asked_projects, first_runs
from codefathom.server.projects.served_paths import ServedPlaces, served_places
from codefathom.server.requests.project_requests import (
    NamedContent,
    elsewhere,
    engine_for,
    indexed,
    left_s,
    search,
    search_options,
    take_in,
)
from codefathom.server.searches.loose_project import IndexedLooseFiles, loose_project
from codefathom.server.searches.loose_search import LooseIndexTask, LooseTask, PlacedResult
from codefathom.server.searches.search_end import SearchLease
from codefathom.server.searches.search_key import SearchKey
from codefathom.server.state import ServerState
from codefathom.types import NO_REST, Context, Rest, SearchResult, Skipped

USUAL_LIMIT = 10
_MOST_AT_ONCE = 2  # projects: each takes a process, and others want to search, too


class ProjectResult(NamedTuple):
    """The result of a search in one project, or its error."""

    project_id: str
    result: SearchResult | None
    error: FathomError | None = None


class FederatedResult(NamedTuple):
    """The merged results of several projects."""

    hits: tuple[ProjectHit, ...]
    answered: tuple[ProjectResult, ...]
    roots: Mapping[str, str] = NOTHING  # of the projects that paths have chosen
    left_out: tuple[Skipped, ...] = ()  # of these paths
    rest: Rest = NO_REST  # of the list, behind these hits

    @property
    def results(self) -> tuple[SearchResult, ...]:
        """The results there are."""
        return tuple(item.result for item in self.answered if item.result)


def search_several(
    state: ServerState, caller: Caller, names: Sequence[str], request: SearchKey, lease: SearchLease
) -> FederatedResult:
    """Return the results of a search in projects, without names in all, merged; an error in one stops no other.

    With files, only their projects are searched; where there are several, a path begins with its project, or is
    absolute. Of several, one whose first index is being made is not searched. Raises UsageError for a path that lies in
    none of them, NotFoundError where all are unknown, and the first error when none can answer.
    """
    project_ids, unknown = asked_projects(state.projects, caller, names)
    files = _files_of(state, caller, project_ids, request.files, is_only=len(project_ids) == 1 and not unknown)
    questions = questions_for(request.query, files or project_ids)
    own = request if len(questions) == 1 else _of_each(request)
    requests = {name: replace(own, query=query, files=files.get(name, ())) for name, query in questions.items()}
    waiting = first_runs(state.projects, caller, list(requests))
    results, failed = outcomes(
        lambda part: search(state, caller, *part, lease),
        {name: (name, wish) for name, wish in requests.items() if name not in waiting},
        most_at_once=_MOST_AT_ONCE,
    )
    if not results:
        raise next(iter(failed.values()))
    failed = {**failed, **waiting, **unknown}
    answered = tuple(ProjectResult(name, results.get(name), failed.get(name)) for name in (*questions, *unknown))
    hits, rest = merge(results, request.limit or USUAL_LIMIT, request.offset)
    return FederatedResult(hits, answered, rest=rest)


def _of_each(request: SearchKey) -> SearchKey:
    """Return the search in each of several projects: the first places of all of them make a page."""
    if not request.offset:
        return request
    return replace(request, limit=reach(request.limit or USUAL_LIMIT, request.offset), offset=0)


def search_paths(
    state: ServerState, caller: Caller, paths: Sequence[str], request: SearchKey, lease: SearchLease
) -> FederatedResult:
    """Return the results of a search in files and folders, merged; see `served_places`. What is named is taken in.

    Raises UsageError where nothing can be searched, and the first error when no project can answer.
    """
    places = served_places(state.projects, state.config, caller, paths)
    loose = places.loose_name
    questions = questions_for(request.query, (*places.projects, *([loose] if places.loose else [])))
    of_each = request if len(questions) == 1 else _of_each(request)

    def look(item: tuple[str, str]) -> PlacedResult:
        name, query = item
        if name == loose:
            return _search_loose(state, places, replace(of_each, query=query), lease)
        own = replace(of_each, query=query, files=places.projects[name])
        root = state.projects.get(name, caller).root.replace(os.sep, "/")
        return PlacedResult(search(state, caller, name, own, lease), root, ())

    placed, failed = outcomes(look, {item[0]: item for item in questions.items()}, most_at_once=_MOST_AT_ONCE)
    results = {name: item.result for name, item in placed.items() if item.result is not None}
    left_out = (*places.left_out, *(left for item in placed.values() for left in item.left_out))
    failed = {**places.unserved, **failed}
    if not results:
        raise next(iter(failed.values()), _nothing(paths, left_out))
    answered = tuple(ProjectResult(name, results.get(name), failed.get(name)) for name in (*results, *failed))
    roots = {name: placed[name].root for name in results}
    hits, rest = merge(results, request.limit or USUAL_LIMIT, request.offset)
    return FederatedResult(hits, answered, roots, left_out, rest)


def _search_loose(state: ServerState, places: ServedPlaces, request: SearchKey, lease: SearchLease) -> PlacedResult:
    task = LooseTask(
        places=places.loose,
        routes=state.config.routes,
        apart=places.apart,
        settings=state.projects.settings_outside(),
        query=request.query,
        options=search_options(request, request.limits.where()),
        limit_s=left_s(state, lease.until),
    )
    return state.search_pool.search_loose(task, lease.end)


def no_project(places: ServedPlaces) -> UsageError:
    """Return the error for paths that belong to no project."""
    paths = (*places.loose, *(item.path for item in places.left_out))
    return UsageError(
        f"no project of this server is in {', '.join(map(repr, paths))}", hint="POST /index makes a folder a project"
    )


def _nothing(paths: Sequence[str], left_out: Sequence[Skipped]) -> UsageError:
    why = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
    return UsageError(f"nothing can be searched in {', '.join(map(repr, paths))}{why}", hint="name other paths")


def _files_of(
    state: ServerState, caller: Caller, project_ids: Sequence[str], files: Sequence[str], *, is_only: bool
) -> Mapping[str, tuple[str, ...]]:
    """Return the files by project. Of one project, a path is relative to its folder."""
    if is_only and files:
        return {project_ids[0]: tuple(files)}
    return files_by_project(files, {name: state.projects.get(name, caller).root for name in project_ids})


class ContextBudget(NamedTuple):
    """The limits of a context; None: as in the settings."""

    max_files: int | None = None
    max_tokens: int | None = None
    anyway: bool = False  # as many files where most likely none of them answers


def context(projects: JoinedProjects | Engine, request: SearchKey, budget: ContextBudget) -> Context:
    """Return the files that a prompt needs, from one project or from several, whose names their paths then begin with.

    A project that fails stops no other.
    """
    request.limits.check([projects] if isinstance(projects, Engine) else projects.engines.values())
    return projects.context(
        request.query,
        max_files=budget.max_files,
        max_tokens=budget.max_tokens,
        where=request.limits.where(),
        anyway=budget.anyway,
    )


@contextmanager
def federation(
    state: ServerState, caller: Caller, names: Sequence[str], lease: SearchLease
) -> Iterator[JoinedProjects]:
    """Give the named projects, or all that the caller may see, as one, read by the processes of the searches.

    Those that are unknown or have no index are told as failed. Raises the first error where none can be asked.
    """
    engines: dict[str, Engine] = {}
    project_ids, unknown = asked_projects(state.projects, caller, names)
    failed: dict[str, FathomError] = dict(unknown)
    with ExitStack() as stack:
        for project_id in project_ids:
            try:
                engines[project_id] = stack.enter_context(engine_for(state, project_id, caller, lease))
            except FathomError as error:
                failed[project_id] = error
        if not engines:
            raise next(iter(failed.values()))
        yield JoinedProjects(engines, failed, here=None)


@contextmanager
def path_federation(
    state: ServerState,
    caller: Caller,
    places: ServedPlaces,
    lease: SearchLease,
    change: Callable[[Settings], Settings] | None = None,
) -> Iterator[JoinedProjects]:
    """Give the projects that paths belong to as one, kept to these paths, with what has changed there taken in.

    What belongs to none is one more of them, with an index for this question only. `change` makes the settings of the
    questions of an answer, which are asked here; without it, the processes of the searches read the projects. Raises
    UsageError where nothing can be asked, and the first error where no project can be.
    """
    projects: dict[str, KeptProject] = {}
    failed: dict[str, FathomError] = dict(places.unserved)
    left_out = list(places.left_out)
    with ExitStack() as stack:
        for project_id, inside in places.projects.items():
            try:
                engine = stack.enter_context(indexed(state, project_id, caller))
                if inside:
                    left_out += take_in(state, caller, project_id, NamedContent(inside), lease.until).refused
                if change is None:
                    engine = elsewhere(state, caller, project_id, lease, engine)
                else:
                    engine = engine.with_settings(change(engine.settings))
                projects[project_id] = KeptProject(engine, inside, takes_in=False)
            except FathomError as error:
                failed[project_id] = error
        try:
            loose = stack.enter_context(_loose_project(state, places, lease))
            left_out += loose.left_out
            if loose.engine is not None:
                settings = loose.engine.settings
                engine = loose.engine if change is None else loose.engine.with_settings(change(settings))
                projects[places.loose_name] = KeptProject(engine, takes_in=False)
        except FathomError as error:
            failed[places.loose_name] = error
        if not projects:
            raise next(iter(failed.values()), _nothing(places.loose, left_out))
        yield JoinedProjects(projects, failed, here=None, left_out=left_out)


def _loose_project(
    state: ServerState, places: ServedPlaces, lease: SearchLease
) -> AbstractContextManager[IndexedLooseFiles]:
    """Return the files of no project, indexed for one question. Raises FathomError."""
    if not places.loose:
        return nullcontext(IndexedLooseFiles(None, ()))
    settings, limit_s = state.projects.settings_outside(), left_s(state, lease.until)

    def task(folder: str) -> LooseIndexTask:
        return LooseIndexTask(places.loose, state.config.routes, places.apart, settings, folder, limit_s)

    return loose_project(state.search_pool, task, lease.end)
