"""/health and /version: what asks whether the server is there."""

from __future__ import annotations

from fastapi import APIRouter

from codefathom import __version__
from codefathom.server.schemas.search_schemas import HealthOut, VersionOut
from codefathom.server.state import ServerState


def router(state: ServerState) -> APIRouter:
    """Return the routes that need no token."""
    routes = APIRouter(tags=["service"])

    @routes.get("/health", summary="Check that the server answers")
    def health() -> HealthOut:
        degraded = [state.live.problem] if state.live.problem else []
        # Anybody may ask this: the name and the words of a store are for those who have a token.
        if not all(check.ok for check in state.store_health.report().checks):
            degraded.append("a vector store cannot be used, and the index answers: see /monitoring/services")
        return HealthOut(status="degraded" if degraded else "ok", version=__version__, degraded=degraded)

    @routes.get("/version", summary="Show the version of the server")
    def version() -> VersionOut:
        return VersionOut(name="codefathom", version=__version__)

    return routes
