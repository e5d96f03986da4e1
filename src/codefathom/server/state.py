"""The parts of the server that all routes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, TypeAlias

from fastapi import Depends, Request

from codefathom.server.access.audit_list import AuditList
from codefathom.server.access.browser_sessions import BrowserSessions
from codefathom.server.access.token_table import TokenTable
from codefathom.server.answers.answer_runs import AnswerTasks
from codefathom.server.answers.conversations import Conversations
from codefathom.server.answers.ratings import Ratings
from codefathom.server.http.auth import ANYONE, Caller
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.jobs.path_updates import PathUpdates
from codefathom.server.live import Live
from codefathom.server.metrics.counters import ServerCounters
from codefathom.server.metrics.hourly_history import HourlyHistory
from codefathom.server.metrics.model_health import ModelHealth
from codefathom.server.metrics.shard_watch import ShardWatch
from codefathom.server.projects.project_table import Projects
from codefathom.server.searches.search_cache import ResultCache
from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.searches.search_queue import SearchQueue
from codefathom.server.server_config import ServerConfig
from codefathom.server.watching.project_watches import Watches


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of one server."""

    live: Live
    tokens: TokenTable
    sessions: BrowserSessions
    audit: AuditList
    projects: Projects
    cache: ResultCache
    measures: ServerCounters
    history: HourlyHistory
    model_health: ModelHealth
    store_health: ModelHealth
    shard_watch: ShardWatch
    jobs: Jobs
    watches: Watches
    conversations: Conversations
    ratings: Ratings
    answers: AnswerTasks
    search_queue: SearchQueue
    search_pool: SearchPool
    updates: PathUpdates

    @property
    def config(self) -> ServerConfig:
        """The values in force."""
        return self.live.current


# What a route depends on is a coroutine: a plain function would wait for one of the few threads of other routes.
async def caller_of(request: Request) -> Caller:
    """Return the caller of a request, as the guard has determined it."""
    return _caller_of(request)


def note_for_audit(request: Request, details: str) -> None:
    """Let the audit list show details of what a request has changed, if it succeeds; they hold no secret."""
    request.state.audit = details


def _caller_of(request: Request) -> Caller:
    caller: Caller = getattr(request.state, "caller", ANYONE)
    return caller


class Client(NamedTuple):
    """The caller of a request that is waited for, and the request, which tells when the client leaves."""

    caller: Caller
    request: Request


async def _client_of(request: Request) -> Client:
    return Client(_caller_of(request), request)


# As types of parameters: `caller: CallerHere` is who asks.
CallerHere: TypeAlias = Annotated[Caller, Depends(caller_of)]
ClientHere: TypeAlias = Annotated[Client, Depends(_client_of)]
