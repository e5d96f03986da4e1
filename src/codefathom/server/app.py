"""The application: wiring only."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import Depends, FastAPI
from fastapi.middleware.cors import CORSMiddleware

from codefathom import __version__
from codefathom.answer.answer_types import Answer
from codefathom.server.access.audit_list import AuditList
from codefathom.server.access.browser_sessions import BrowserSessions
from codefathom.server.access.route_table import check_complete
from codefathom.server.access.token_table import TokenTable
from codefathom.server.answers.answer_runs import AnswerTasks
from codefathom.server.answers.conversations import Conversations
from codefathom.server.answers.ratings import Ratings
from codefathom.server.guard import Guard, UnderApi
from codefathom.server.http import error_responses, page
from codefathom.server.http.behind_proxy import BehindProxy
from codefathom.server.http.error_responses import PROBLEM
from codefathom.server.http.interface import DescribedApi
from codefathom.server.http.known_parameters import parameter_check
from codefathom.server.http.request_turns import RequestTurns
from codefathom.server.jobs.job_process import ReadyProcesses
from codefathom.server.jobs.job_queue import Jobs
from codefathom.server.jobs.job_table import IndexJob
from codefathom.server.jobs.path_updates import PathUpdates
from codefathom.server.live import Live
from codefathom.server.mcp import mcp_route
from codefathom.server.mcp.mcp_route import McpEndpoint
from codefathom.server.metrics.counters import ServerCounters
from codefathom.server.metrics.hourly_history import AnswerFigures, HourlyHistory
from codefathom.server.metrics.metrics_middleware import MetricsMiddleware
from codefathom.server.metrics.model_health import ModelHealth
from codefathom.server.metrics.shard_watch import ShardWatch
from codefathom.server.metrics.tracing import connect
from codefathom.server.projects.project_table import Projects
from codefathom.server.requests.asker_elsewhere import ResultKey
from codefathom.server.requests.overview import fleets_of, models_of, stores_of
from codefathom.server.routes import (
    routes_access,
    routes_ask,
    routes_conversations,
    routes_federated,
    routes_files,
    routes_hooks,
    routes_jobs,
    routes_modules,
    routes_monitoring,
    routes_openai,
    routes_projects,
    routes_ratings,
    routes_search,
    routes_service,
    routes_sign_in,
    routes_stores,
    routes_watch,
)
from codefathom.server.searches.search_cache import ResultCache, size_of_result
from codefathom.server.searches.search_pool import SearchPool
from codefathom.server.searches.search_queue import SearchQueue
from codefathom.server.server_config import ServerConfig
from codefathom.server.server_upkeep import upkeep
from codefathom.server.state import ServerState
from codefathom.server.watching.project_watches import Watches
from codefathom.system.memory import give_back, resident_bytes

ROUTERS = (
    routes_service.router,
    routes_projects.router,
    routes_stores.router,
    routes_search.router,
    routes_files.router,
    routes_modules.router,
    routes_federated.router,
    routes_monitoring.router,
    routes_jobs.router,
    routes_watch.router,
    routes_hooks.router,
    routes_ask.router,
    routes_conversations.router,
    routes_ratings.router,
    routes_openai.router,
    routes_access.router,
    routes_sign_in.router,
)
_AGENT_HEADERS = ("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id")  # of /mcp
_THREADS = 12  # of other routes than searches: each thread has connections to each index that it has read


def create_app(config: ServerConfig, load: Callable[[], ServerConfig] | None = None) -> FastAPI:
    """Return the application; it opens its files now and closes them when the server ends.

    `load` reads the settings again when their file has changed.
    """
    connect()
    state = _state(Live(config, load))
    mcp = McpEndpoint(state)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        state.projects.sweep()
        state.jobs.resume()
        state.watches.resume()
        duties = (
            state.conversations.forget_old,
            lambda: _forget_sessions(state),
            lambda: _note_figures(state.history),
            give_back,  # the threads of requests leave holes in the heaps of the C library
        )
        async with upkeep(*duties), mcp.running():
            yield
        state.watches.close()
        state.answers.close()
        state.updates.close()
        state.search_pool.close()
        state.search_queue.close()
        state.jobs.close()
        state.ratings.close()
        state.conversations.close()
        state.history.close()
        state.tokens.close()
        state.sessions.close()
        state.audit.close()
        state.projects.close()

    app = DescribedApi(
        title="Codefathom",
        version=__version__,
        description="Ask questions about code bases, and get answers that can be checked line by line.",
        lifespan=lifespan,
        # Their pages load scripts of other hosts; /docs is a page of our own.
        docs_url=None,
        openapi_url=None,  # as that page, it is a route of our own, which knows the path below which it is served
        redoc_url=None,
        responses={"4XX": PROBLEM, "5XX": PROBLEM},
    )
    app.state.server = state
    error_responses.install(app)
    for router in ROUTERS:
        app.include_router(router(state), dependencies=[Depends(parameter_check())])
    app.include_router(mcp_route.router(mcp))
    app.include_router(page.router(app))
    check_complete(app)
    app.add_middleware(Guard, state=state)
    app.add_middleware(MetricsMiddleware, measures=state.measures)
    app.add_middleware(UnderApi)
    app.add_middleware(page.Navigation)
    if config.cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=config.cors,
            allow_methods=["GET", "POST", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "last-event-id", *_AGENT_HEADERS],
            expose_headers=["mcp-session-id"],
        )
    app.add_middleware(
        BehindProxy,
        root_path=lambda: state.config.root_path,
        proxies=lambda: state.config.trusted_proxies,
    )
    app.add_middleware(RequestTurns)
    return app


def _state(live: Live) -> ServerState:
    config = live.current
    projects = Projects(lambda: live.current)
    cache = ResultCache(
        lambda: live.current.cache_entries,
        lambda: live.current.cache_ttl_s,
        size_of=size_of_result,
        version_of=ResultKey.version,
    )
    live.on_change(projects.opened.drop_all)
    live.on_change(cache.clear)
    model_health = ModelHealth(lambda: models_of(projects, live))
    live.on_change(model_health.forget)
    store_health = ModelHealth(lambda: stores_of(projects), what="vector stores")
    live.on_change(store_health.forget)
    history = HourlyHistory(config.data_dir)
    processes = ReadyProcesses()
    jobs = Jobs(
        os.path.join(config.data_dir, "jobs.db"),
        start=processes,
        n_at_once=config.jobs_at_once,
        # An opened engine looks at the tree now and then only, and would call its index stale for a moment.
        on_end=lambda job: projects.opened.drop(job.project_id),
        order_of=projects.order,
    )
    jobs.on_result(lambda job: _add_job(history, job))
    said = os.path.join(config.data_dir, "conversations.db")
    conversations = Conversations(said, days=lambda: live.current.conversation_days)
    return ServerState(
        live=live,
        tokens=TokenTable(config.data_dir),
        sessions=BrowserSessions(config.data_dir),
        audit=AuditList(config.data_dir, lambda: live.current.audit_days),
        projects=projects,
        cache=cache,
        measures=ServerCounters(on_request=history.add_request),
        history=history,
        model_health=model_health,
        store_health=store_health,
        shard_watch=ShardWatch(lambda: fleets_of(projects)),
        jobs=jobs,
        watches=Watches(os.path.join(config.data_dir, "watches.db"), projects, jobs, processes, lambda: live.current),
        conversations=conversations,
        ratings=Ratings(said),
        answers=AnswerTasks(conversations, on_answer=lambda answer: _add_answer(history, answer)),
        search_queue=SearchQueue(config.search_processes, lambda: live.current.waiting_searches),
        search_pool=SearchPool(),
        updates=PathUpdates(processes, projects.order, projects.opened.drop),
    )


def _add_job(history: HourlyHistory, job: IndexJob) -> None:
    if job.state in {"done", "failed"}:
        seconds = job.ended_at - job.started_at if job.started_at else 0.0
        history.add_job(max(seconds, 0.0), is_failed=job.state == "failed")


def _add_answer(history: HourlyHistory, answer: Answer) -> None:
    if answer.expected is None:  # a dry run writes none
        history.add_answer(AnswerFigures(answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.cost))


def _forget_sessions(state: ServerState) -> None:
    openid = state.config.sign_in.openid
    if openid is not None:
        state.sessions.forget_old(openid.session_hours)


def _note_figures(history: HourlyHistory) -> None:
    memory = resident_bytes()
    if memory is not None:
        history.note_memory(memory.own + memory.children)
    history.save()
