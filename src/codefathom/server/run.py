"""A server from its configuration to its end."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

import uvicorn

from codefathom.errors import UsageError
from codefathom.server.app import create_app
from codefathom.server.auth import is_loopback
from codefathom.server.config import ServerConfig
from codefathom.server.logs import start_log

_GRACE_S = 10  # for requests that are under way when the server is told to stop


def serve(config: ServerConfig, folders: Sequence[str], tell: Callable[[str], None]) -> None:
    """Answer requests until the process is told to stop; `folders` are added as projects, `tell` takes the address.

    Raises UsageError when the address cannot be listened on, and RequestError for a folder that cannot be a project.
    """
    start_log(config.log)
    app = create_app(config)
    for folder in folders:
        app.state.server.projects.find_or_add(folder)
    with _listening(config) as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        tell(f"serving http://{shown}:{port}" + ("" if is_loopback(host) else ", to others too; tokens are needed"))
        options = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=_GRACE_S, server_header=False)
        uvicorn.Server(options).run(sockets=[listener])


def _listening(config: ServerConfig) -> socket.socket:
    try:
        family = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((config.host, config.port), family=family, backlog=512)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {config.host}:{config.port}: {error.strerror or error}",
            hint="another --port, or 0 for any that is free",
        ) from error
