"""/health, /readyz, /version and /session: whether the server is there, and what the caller may do."""

from __future__ import annotations

from typing import cast

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Response

from codefathom import __version__
from codefathom.server.schemas.monitoring_schemas import RoleName, SessionOut
from codefathom.server.schemas.search_schemas import HealthOut, ReadyOut, VersionOut
from codefathom.server.state import CallerHere, ServerState

_MOST_NAMED = 10  # shards


def router(state: ServerState) -> APIRouter:
    """Return the routes of the service itself; /health and /version need no token."""
    routes = APIRouter(tags=["service"])
    of_ready = CapacityLimiter(1)

    @routes.get("/health", summary="Check that the server answers")
    async def health() -> HealthOut:  # no thread of the other routes: it answers while all of these are at work
        degraded = [state.live.problem] if state.live.problem else []
        # Anybody may ask this: the name and the words of a store are for those who have a token.
        if not all(check.ok for check in state.store_health.report().checks):
            degraded.append("a vector store cannot be used, and the index answers: see /monitoring/services")
        return HealthOut(status="degraded" if degraded else "ok", version=__version__, degraded=degraded)

    @routes.get("/readyz", summary="Check that each shard of the fleets is answered for")
    async def ready(response: Response) -> ReadyOut:
        # Not one of the threads of other routes: these may all be at work.
        return await to_thread.run_sync(_readiness, state, response, limiter=of_ready)

    @routes.get("/version", summary="Show the version of the server")
    async def version() -> VersionOut:
        return VersionOut(name="codefathom", version=__version__)

    @routes.get("/session", summary="Show who you are, and what you may do")
    def session(caller: CallerHere) -> SessionOut:
        projects = [project.id for project in state.projects.listed(caller)]
        return SessionOut(
            name=caller.name,
            kind=caller.kind,
            may_sign_out=caller.by_cookie,
            role=cast("RoleName", caller.role_everywhere.word),
            may_manage=caller.may_manage,
            projects=projects,
            roles={project: cast("RoleName", caller.role_in(project).word) for project in projects},
        )

    return routes


def _readiness(state: ServerState, response: Response) -> ReadyOut:
    watch = state.shard_watch
    unanswered, n_unreadable = watch.unanswered(), watch.unreadable()
    is_ready = not unanswered and not n_unreadable
    response.status_code = 200 if is_ready else 503
    return ReadyOut(
        status="ready" if is_ready else "not ready",
        n_shards=watch.n_shards(),
        unanswered=list(unanswered[:_MOST_NAMED]),
        n_unanswered=len(unanswered),
        n_unreadable=n_unreadable,
    )
