"""The application: wiring only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from codefathom import __version__
from codefathom.server import errors, routes_service
from codefathom.server.cache import ResultCache
from codefathom.server.config import ServerConfig
from codefathom.server.guard import Guard, UnderApi
from codefathom.server.projects import Projects
from codefathom.server.state import ServerState
from codefathom.server.wire import ProblemOut

ROUTERS = (routes_service.router,)
_PROBLEM = {"model": ProblemOut, "description": "What is wrong, as application/problem+json"}


def create_app(config: ServerConfig) -> FastAPI:
    """Return the application; it opens its files now and closes them when the server ends."""
    state = _state(config)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        state.projects.close()

    app = FastAPI(
        title="Codefathom",
        version=__version__,
        description="Ask code bases questions, get answers that can be checked line by line.",
        lifespan=lifespan,
        # Their pages load scripts of other hosts.
        docs_url=None,
        redoc_url=None,
        responses={"4XX": _PROBLEM, "5XX": _PROBLEM},
    )
    app.state.server = state
    errors.install(app)
    for router in ROUTERS:
        app.include_router(router(state))
    app.add_middleware(Guard, state=state)
    app.add_middleware(UnderApi)
    return app


def _state(config: ServerConfig) -> ServerState:
    return ServerState(
        config=config,
        projects=Projects(lambda: config),
        cache=ResultCache(lambda: config.cache_entries, lambda: config.cache_ttl_s),
    )
