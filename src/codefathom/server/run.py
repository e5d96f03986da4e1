"""A server from its configuration to its end."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from codefathom.errors import UsageError
from codefathom.server.app import create_app
from codefathom.server.connections import connection_class
from codefathom.server.http.auth import is_loopback
from codefathom.server.metrics.logs import start_log
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState
from codefathom.server.tls import tls_context
from codefathom.system.interruption import INTERRUPTION

_GRACE_S = 10  # for requests that are under way when the server is told to stop
# Longer than clients keep an idle connection: one closed in the moment of a request looks like a failed request.
_KEEP_ALIVE_S = 75
_BACKLOG = 512  # connections that the system keeps, and that are accepted in one go
_SELDOM = (10_000, 20, 10)  # new objects before a look at them, such looks before one at older objects, and at all
_DESCRIPTORS = 8_192  # where the system does not say


def serve(load: Callable[[], ServerConfig], folders: Sequence[str], tell: Callable[[str], None]) -> None:
    """Answer requests until the process is told to stop.

    `load` reads the settings, now and when they change; `folders` are added as projects; `tell` takes the address.
    Raises KeyboardInterrupt after Ctrl-C, UsageError when the address cannot be listened on, and RequestError for a
    folder that cannot be a project.
    """
    config = load()
    start_log(config.log)
    app = create_app(config, load)
    projects = [app.state.server.projects.find_or_add(folder) for folder in folders]
    options = options_of(app)
    with listening(config.host, config.port) as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        tell(
            f"serving {'https' if options.is_ssl else 'http'}://{shown}:{port}{config.root_path}"
            + ("" if is_loopback(host) else "; other machines can reach it, and need a token")
        )
        for project in projects:
            tell(f"project {project.id}: {project.root}")
        server = _Server(options, app.state.server)
        collect_seldom()
        server.run(sockets=[listener])
        if server.is_interrupted:  # not raised in the middle of the loop, as uvicorn does
            raise KeyboardInterrupt


def options_of(app: FastAPI, grace_s: int = _GRACE_S) -> uvicorn.Config:
    """Return the configuration of uvicorn for the application. Raises SettingsError for TLS files that are unusable."""
    state: ServerState = app.state.server
    tls = tls_context(state.config.tls)
    return uvicorn.Config(
        app,
        http=connection_class(lambda: state.config, _most_descriptors()),
        ws="none",  # nothing here speaks it
        backlog=_BACKLOG,
        log_config=None,
        timeout_graceful_shutdown=grace_s,
        timeout_keep_alive=_KEEP_ALIVE_S,
        server_header=False,
        proxy_headers=False,  # http/behind_proxy.py and the guard read them, of trusted proxies only
        ssl_context_factory=None if tls is None else lambda *_: tls,
    )


def _most_descriptors() -> int:
    """Return the number of files and connections that the system lets this process open."""
    try:
        resource: Any = import_module("resource")
    except ImportError:  # a system without such a limit
        return _DESCRIPTORS
    most: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _DESCRIPTORS if most == resource.RLIM_INFINITY else most


def collect_seldom() -> None:
    """Have Python look for objects in circles seldom: while it does, nobody gets an answer.

    A look at all objects takes 30 to 110 ms of a processor. By Python's own rule there was one each 250 searches, and
    all looks took a tenth of the server's processor time.
    """
    gc.freeze()  # what is there now stays, and is looked at no more
    gc.set_threshold(*_SELDOM)


class _Server(uvicorn.Server):
    """A server that ends its streams when it is told to stop: they would go on for as long as their readers like."""

    def __init__(self, options: uvicorn.Config, state: ServerState) -> None:
        super().__init__(options)
        self._state = state
        self.is_interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin the end; a second Ctrl-C ends the process at once, with its searches."""
        if sig != signal.SIGINT:
            super().handle_exit(sig, frame)
            return
        if self.should_exit:
            self._state.search_pool.kill()
            INTERRUPTION.end_now()
        self.should_exit = self.is_interrupted = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what is under way end, for a while."""
        self._state.answers.stop()
        self._state.jobs.hang_up()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises UsageError where that is not possible."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            hint="choose another --port; 0 is any free port",
        ) from error
    # Named as TCP: else asyncio leaves Nagle's algorithm on, and the body of an answer waits 40 ms behind its head.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listener.detach())
