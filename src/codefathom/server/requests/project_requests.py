"""Questions of a client to one project, each in its turn and in a process of the searches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

from fastapi import Request
from starlette.requests import ClientDisconnect

from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.facts.reasons import LEFT_OUT, Note
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
from codefathom.server.projects.asked_projects import asked_projects, have_made, indexed_engine
from codefathom.server.projects.served_engine import ServedEngine
from codefathom.server.searches.engine_elsewhere import EngineElsewhere
from codefathom.server.searches.search_child import SearchTask
from codefathom.server.searches.search_end import SearchEnd, SearchLease
from codefathom.server.searches.search_key import ChangeWish, SearchKey
from codefathom.server.state import ServerState
from codefathom.source.revisions.revision import Revision, checked_range
from codefathom.stores.conditions import combine
from codefathom.telemetry import span
from codefathom.types import PathReport, SearchResult, Where

LET_FINISH_S = 1.0  # work that needs no longer costs less than the process that would have to be replaced
_T = TypeVar("_T")


@contextmanager
def indexed(state: ServerState, project_id: str, caller: Caller) -> Iterator[Engine]:
    """Give the engine of a project that has an index. Raises as `indexed_engine`."""
    with indexed_engine(state.projects, state.jobs, project_id, caller) as engine:
        yield engine


@contextmanager
def engine_for(state: ServerState, project_id: str, caller: Caller, lease: SearchLease) -> Iterator[EngineElsewhere]:
    """Give the engine of a project that has an index, as the processes of the searches read it. Raises as `indexed`."""
    with indexed(state, project_id, caller) as engine:
        yield elsewhere(state, caller, project_id, lease, engine)


@contextmanager
def any_engine(state: ServerState, project_id: str, caller: Caller, lease: SearchLease) -> Iterator[EngineElsewhere]:
    """Give the engine of a project, also of one without an index, as `engine_for` does. Raises NotFoundError."""
    with state.projects.lease(project_id, caller) as engine:
        yield elsewhere(state, caller, project_id, lease, engine)


def elsewhere(
    state: ServerState, caller: Caller, project_id: str, lease: SearchLease, engine: Engine
) -> EngineElsewhere:
    """Return an opened project as the processes of the searches read it for one client."""
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
    refused: tuple[Note, ...] = ()
    if request.files and not state.projects.get(project_id, caller).revision:  # the look at a branch comes below
        report = take_in(state, caller, project_id, NamedContent(request.files), lease.until)
        refused = tuple(Note(LEFT_OUT, {"path": item.path, "reason": item.reason}) for item in report.refused)
    with indexed(state, project_id, caller) as engine:
        if request.limits.folders:
            request.limits.check([elsewhere(state, caller, project_id, lease, engine)])
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
            return not stale and not result.problems and result.generation == key[2]

        result: SearchResult = state.cache.get_or_make(key, look, keep=is_kept)
        # Also where nothing is known to have changed: a change of this moment is taken in some seconds later.
        hits = engine.marked(result.hits)
        return replace(result, stale=stale, hits=hits, problems=(*result.problems, *refused))


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
    return replace(_task(state, engine, until), query=request.query, options=search_options(request, where))


def _task(state: ServerState, engine: Engine, until: float) -> SearchTask:
    """Return a task for another process, without the question. Raises SlowError when the time is over already."""
    return SearchTask(
        root=engine.root,
        version=engine.version if isinstance(engine, ServedEngine) else 0,
        settings=engine.settings,
        limit_s=left_s(state, until),
        most_opened=state.config.opened_projects,
        revision=engine.place.revision if isinstance(engine.place.revision, Revision) else None,
    )


def search_options(request: SearchKey, where: Where | None) -> dict[str, Any]:
    """Return the arguments of `Engine.search` besides the question."""
    return {
        "limit": request.limit,
        "offset": request.offset,
        "level": request.level,
        "mode": request.mode,
        "where": where,
        "min_score": request.min_score,
    }


def left_s(state: ServerState, until: float) -> float:
    """Return the time that is left. Raises SlowError when it is over."""
    left_s = until - monotonic()
    if left_s <= 0:
        raise slow_error(state.config.search_timeout_s)
    return left_s
