"""Searches in one project or in several, for the routes of search and context."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from fastapi import Request
from starlette.requests import ClientDisconnect

from codefathom.config.settings import NOTHING, Settings
from codefathom.engine import Engine
from codefathom.errors import FathomError, UsageError
from codefathom.search.federation import ProjectHit, merge, questions_for, reach
from codefathom.search.graph.impact import Impact
from codefathom.server.http.auth import Caller
from codefathom.server.http.client_address import counted_address
from codefathom.server.http.problem_json import (
    ForbiddenError,
    LeftError,
    bringing_up,
    taking_in,
)
from codefathom.server.http.time_spent import slow_error, spending_on
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.projects.asked_projects import asked_projects, first_runs, have_made, indexed_engine
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.server.projects.served_paths import ServedPlaces, served_places
from codefathom.server.searches.engine_elsewhere import EngineElsewhere
from codefathom.server.searches.loose_project import IndexedLooseFiles, loose_project
from codefathom.server.searches.loose_search import LooseIndexTask, LooseTask, PlacedResult
from codefathom.server.searches.search_child import SearchTask
from codefathom.server.searches.search_end import SearchEnd, SearchLease
from codefathom.server.searches.search_key import ChangeWish, SearchKey
from codefathom.server.state import ServerState
from codefathom.several.joined_projects import JoinedProjects
from codefathom.several.kept_project import KeptProject
from codefathom.several.named_files import files_by_project
from codefathom.several.side_by_side import outcomes
from codefathom.source.revisions.revision import Revision, checked_range
from codefathom.stores.conditions import combine
from codefathom.telemetry import span
from codefathom.types import NO_REST, Context, PathReport, Rest, SearchResult, Skipped, Where

USUAL_LIMIT = 10
LET_FINISH_S = 1.0  # work that needs no longer costs less than the process that would have to be replaced
_MOST_AT_ONCE = 2  # projects: each takes a process, and others want to search, too
_T = TypeVar("_T")


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


@contextmanager
def indexed(state: ServerState, project_id: str, caller: Caller) -> Iterator[Engine]:
    """Give the engine of a project that has an index. Raises as `indexed_engine`."""
    with indexed_engine(state.projects, state.jobs, project_id, caller) as engine:
        yield engine


@contextmanager
def engine_for(state: ServerState, project_id: str, caller: Caller, lease: SearchLease) -> Iterator[EngineElsewhere]:
    """Give the engine of a project that has an index, as the processes of the searches read it. Raises as `indexed`."""
    with indexed(state, project_id, caller) as engine:
        yield _elsewhere(state, caller, project_id, lease, engine)


@contextmanager
def any_engine(state: ServerState, project_id: str, caller: Caller, lease: SearchLease) -> Iterator[EngineElsewhere]:
    """Give the engine of a project, also of one without an index, as `engine_for` does. Raises NotFoundError."""
    with state.projects.lease(project_id, caller) as engine:
        yield _elsewhere(state, caller, project_id, lease, engine)


def _elsewhere(
    state: ServerState, caller: Caller, project_id: str, lease: SearchLease, engine: Engine
) -> EngineElsewhere:
    return EngineElsewhere(engine, _Processes(state, caller, project_id, lease, engine))


class _Processes(NamedTuple):
    """The processes of the searches, for one project and one client; see `Elsewhere`."""

    state: ServerState
    caller: Caller
    project_id: str
    lease: SearchLease
    engine: Engine

    def search(self, key: SearchKey) -> SearchResult:
        return search(self.state, self.caller, self.project_id, key, self.lease)

    def impact(self, wish: ChangeWish) -> Impact:
        return impact(self.state, self.caller, self.project_id, wish, self.lease)

    def ask(self, call: str, query: str, **options: Any) -> Any:
        task = replace(_task(self.state, self.engine, self.lease.until), call=call, query=query, options=options)
        with span(call, project=self.project_id):
            return self.state.search_pool.ask(task, self.lease.end)


def chosen_projects(state: ServerState, caller: Caller, project_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the projects that are named, each once, else all that the caller may see.

    Raises NotFoundError for an unknown one, and where there is none at all.
    """
    ids, unknown = asked_projects(state.projects, caller, project_ids)
    for error in unknown.values():
        raise error
    return ids


async def in_turn(
    state: ServerState, caller: Caller, request: Request, work: Callable[[SearchLease], _T], *, patience: int = 1
) -> _T:
    """Run `work` when it is the client's turn, and return its value; the limit is `patience` times that of a search.

    A client that has left is not waited for: what has not begun for it is left undone, what goes on for long is ended.
    Raises BusyError and SlowError.
    """
    limit_s = state.config.search_timeout_s * patience
    lease = SearchLease(SearchEnd(), monotonic() + limit_s)
    client = caller.name or counted_address(request.client.host if request.client else "")
    try:
        await request.body()  # what comes after it is that the client leaves
    except ClientDisconnect as error:
        raise _left() from error
    turn = asyncio.ensure_future(state.search_queue.run(client, lambda: work(lease), limit_s))
    departure = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((turn, departure), return_when=asyncio.FIRST_COMPLETED)
        if not turn.done():
            raise _left()
        return turn.result()
    finally:
        departure.cancel()
        turn.cancel()  # no more than a word to one that is done
        lease.end.come()
        asyncio.get_running_loop().call_later(LET_FINISH_S, lease.end.enforce)


def _left() -> LeftError:
    return LeftError("the client has disconnected", hint="send the request again")


def search(
    state: ServerState,
    caller: Caller,
    project_id: str,
    request: SearchKey,
    lease: SearchLease,
) -> SearchResult:
    """Return the result of a search in a project, from the cache if the index has not changed since.

    Raises LeftError when the client leaves before the result.
    """
    where = combine(request.limits.where(), request.where)
    refused: tuple[str, ...] = ()
    if request.files and not state.projects.get(project_id, caller).revision:  # the look at a branch comes below
        report = take_in(state, caller, project_id, NamedContent(request.files), lease.until)
        refused = tuple(f"{item.path}: {item.reason}" for item in report.refused)
    with indexed(state, project_id, caller) as engine:
        if request.limits.folders:
            request.limits.check([_elsewhere(state, caller, project_id, lease, engine)])
        if request.files:
            where = combine(where, engine.kept_to(request.files))
        with spending_on(bringing_up(project_id)):
            stale = engine.refresh()
        have_made(state.projects, state.jobs, project_id, engine)
        key = (project_id, engine.root, engine.generation, request)

        def look() -> SearchResult:
            with span("search", project=project_id) as under_way:
                result = state.search_pool.search(_search_task(state, engine, request, where, lease.until), lease.end)
                under_way.note(mode=result.mode, n_hits=len(result.hits))
                return result

        def is_kept(result: SearchResult) -> bool:
            # While a job writes, the views show less than the generation says: that must not outlive the job.
            return not stale and not result.degraded and result.generation == key[2]

        result: SearchResult = state.cache.get_or_make(key, look, keep=is_kept)
        # Also where nothing is known to have changed: a change of this moment is taken in some seconds later.
        hits = engine.marked(result.hits)
        return replace(result, stale=stale, hits=hits, degraded=(*result.degraded, *refused))


def impact(
    state: ServerState,
    caller: Caller,
    project_id: str,
    wish: ChangeWish,
    lease: SearchLease,
) -> Impact:
    """Return the reach of a change in a project, found by a process that the system ends when it takes too long.

    Raises as `search`, UsageError for what is no diff and no name of revisions, SourceError without such a revision,
    and ForbiddenError where the caller, or the server itself, may not read the history of the repository.
    """
    with indexed(state, project_id, caller) as engine:
        if not wish.diff:
            _check_history(state, caller, project_id)
        with spending_on(bringing_up(project_id)):
            engine.refresh()
        options = {"diff": wish.diff, "depth": wish.depth, "limit": wish.limit, "offset": wish.offset}
        task = replace(
            _task(state, engine, lease.until), query=checked_range(wish.revisions), options=options, call="impact"
        )
        with span("impact", project=project_id):
            return cast(Impact, state.search_pool.ask(task, lease.end))


def _check_history(state: ServerState, caller: Caller, project_id: str) -> None:
    """Raise ForbiddenError unless the caller may read all revisions of a project; so it is with adding one, too."""
    if not caller.may_manage:
        raise ForbiddenError(
            f"the token {caller.name!r} is limited to some projects, and may not compare revisions",
            hint="send the text of a diff, or use a token for all projects",
        )
    state.projects.check_repository(state.projects.get(project_id, caller))


@dataclass(frozen=True, slots=True)
class NamedContent:
    """Files and folders of a project, and texts that are on no disk, by name; see `Engine.update`."""

    paths: tuple[str, ...] = ()
    texts: Mapping[str, str | None] = field(default_factory=dict)


def take_in(state: ServerState, caller: Caller, project_id: str, content: NamedContent, until: float) -> PathReport:
    """Take in what has changed in a project that has an index; `until` is the limit, by `monotonic`.

    Raises NotFoundError, NotIndexedError, UsageError for a path that leads out of the project, LockedError and
    SlowUpdateError.
    """
    project = state.projects.get(project_id, caller)
    if project.revision:
        raise UsageError(
            f"{project_id!r} is the revision {project.revision!r}, whose files do not change",
            hint="a branch that has moved is taken in with the next search or job",
        )
    with indexed(state, project_id, caller) as engine:
        if content.paths:
            engine.kept_to(content.paths)
        is_written = engine.is_written
    limit_s = until - monotonic()
    if limit_s <= 0:
        raise slow_error(state.config.search_timeout_s)
    job = IndexJob("", project.id, project.root, full=False, state="queued", created_at=0.0, settings=project.settings)
    with spending_on(taking_in(project_id, is_written=is_written)):
        return state.updates.take_in(job, content.paths, limit_s, content.texts, is_written=is_written)


def _search_task(
    state: ServerState, engine: Engine, request: SearchKey, where: Where | None, until: float
) -> SearchTask:
    """Return the task for the process of a search. Raises SlowError when the time is over already."""
    return replace(_task(state, engine, until), query=request.query, options=_options(request, where))


def _task(state: ServerState, engine: Engine, until: float) -> SearchTask:
    """Return a task for another process, without the question. Raises SlowError when the time is over already."""
    return SearchTask(
        root=engine.root,
        version=engine.version if isinstance(engine, ServedEngine) else 0,
        settings=engine.settings,
        limit_s=_left_s(state, until),
        most_opened=state.config.opened_projects,
        revision=engine.place.revision if isinstance(engine.place.revision, Revision) else None,
    )


def _options(request: SearchKey, where: Where | None) -> dict[str, Any]:
    """Return the arguments of `Engine.search` besides the question."""
    return {
        "limit": request.limit,
        "offset": request.offset,
        "level": request.level,
        "mode": request.mode,
        "where": where,
        "min_score": request.min_score,
    }


def _left_s(state: ServerState, until: float) -> float:
    """Return the time that is left. Raises SlowError when it is over."""
    left_s = until - monotonic()
    if left_s <= 0:
        raise slow_error(state.config.search_timeout_s)
    return left_s


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
        options=_options(request, request.limits.where()),
        limit_s=_left_s(state, lease.until),
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
                    engine = _elsewhere(state, caller, project_id, lease, engine)
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
    settings, limit_s = state.projects.settings_outside(), _left_s(state, lease.until)

    def task(folder: str) -> LooseIndexTask:
        return LooseIndexTask(places.loose, state.config.routes, places.apart, settings, folder, limit_s)

    return loose_project(state.search_pool, task, lease.end)
