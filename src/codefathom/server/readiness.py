"""Whether a server could start with some settings: each thing that it needs, looked at without changing anything."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from codefathom.config.settings import ServerSettings, Settings
from codefathom.config.user_places import user_data_dir
from codefathom.errors import FathomError, SettingsError, UsageError
from codefathom.project.inspection import check_extra
from codefathom.server.access.openid_provider import OpenIdProvider
from codefathom.server.access.token_table import has_tokens
from codefathom.server.http import page
from codefathom.server.http.auth import is_loopback
from codefathom.server.http.problem_json import SignInAwayError
from codefathom.server.requests.push_events import LEAST_SECRET, secret_variables
from codefathom.server.routes.routes_sign_in import CALLBACK
from codefathom.server.run import listening
from codefathom.server.server_config import (
    check_access,
    config_of,
    openid_of,
    proxies_of,
    root_path_in,
    sign_in_rules,
    tls_files,
)
from codefathom.server.tls import tls_context
from codefathom.system.children import find_program
from codefathom.types import Check

_EXTRAS = ("mcp", "watch", "documents", "oidc")  # what a server offers only where it is installed


def readiness(settings: Settings, variables: Mapping[str, str], folders: Sequence[str]) -> tuple[Check, ...]:
    """Return a finding for each thing that a server needs; where none has failed, it can start.

    `folders` are to be served as projects. No model is asked: that costs money and time, see `fathom doctor`.
    """
    server = settings.server
    checks: dict[str, Callable[[], str]] = {
        "data folder": lambda: _writable(server.data_dir or user_data_dir(variables)),
        "projects": lambda: _folders((*server.allowed_roots, *folders)),
        "address": lambda: _address(server.host, server.port),
        "access": lambda: _access(server, variables),
        "sign-in": lambda: _sign_in(server, variables),
        "HTTPS": lambda: _https(server),
        "root path": lambda: root_path_in(server) or "none: the page is at /",
        "proxies": lambda: ", ".join(map(str, proxies_of(server))) or "none is trusted",
        "webhooks": lambda: _webhooks(variables),
        "other settings": lambda: _other(server, variables),
        "page": _page,
        "language model": lambda: settings.llm.model or "none: answers are excerpts (docs/models.md)",
        "git": _git,
    }
    return (*(_finding(name, look) for name, look in checks.items()), *map(check_extra, _EXTRAS))


def _finding(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, True, look())
    except FathomError as error:
        return Check(name, False, str(error), error.hint)


def _writable(folder: str) -> str:
    path = os.path.realpath(folder)
    nearest = path
    while not os.path.lexists(nearest):
        nearest = os.path.dirname(nearest)
    if not (os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK)):
        what = "cannot be written" if os.path.isdir(nearest) else "is not a folder"
        raise UsageError(
            f"server.data_dir: {nearest} {what}" + ("" if nearest == path else f", so {path} cannot be made"),
            hint="make it writable for the user that runs the server, or set server.data_dir to another folder",
        )
    return path if nearest == path else f"{path}, which the server makes"


def _folders(folders: Sequence[str]) -> str:
    for folder in folders:
        path = os.path.expanduser(folder)
        if not (os.path.isdir(path) and os.access(path, os.R_OK | os.X_OK)):
            raise UsageError(
                f"{folder!r} is not a folder that can be read",
                hint="correct the path or server.allowed_roots, or let the user that runs the server read it",
            )
    return ", ".join(folders) or "below your home folder"


def _address(host: str, port: int) -> str:
    listening(host, port).close()
    return f"{host}, {f'port {port} is free' if port else 'any free port'}"


def _access(server: ServerSettings, variables: Mapping[str, str]) -> str:
    data_dir = server.data_dir or user_data_dir(variables)
    check_access(server, data_dir)
    sign_in_rules(server._replace(oidc_issuer=""), variables)
    ways = [f"{len(server.tokens)} token{'' if len(server.tokens) == 1 else 's'}"] if server.tokens else []
    ways += ["tokens of `fathom tokens`"] if has_tokens(data_dir) else []
    ways += [f"people by the header {server.user_header}"] if server.user_header else []
    ways += [f"people at {server.oidc_issuer}"] if server.oidc_issuer else []
    if (server.user_header or server.oidc_issuer) and not server.roles:
        ways += ["server.roles is empty, so people see no project"]
    if ways:
        return "; ".join(ways)
    return "this machine only, without a token" + (
        ": so everybody whom a proxy lets through has access" if server.trusted_proxies or server.root_path else ""
    )


def _sign_in(server: ServerSettings, variables: Mapping[str, str]) -> str:
    """Ask the provider who it is. That it is away keeps no server from starting: tokens work meanwhile."""
    client = openid_of(server, variables)
    if client is None:
        return "not with OpenID Connect"
    if not server.roles:
        raise SettingsError(
            f"people can sign in at {client.issuer}, and server.roles is empty, so nobody is let in",
            hint='say who may do what, such as server.roles = ["ada@example.org=admin"]',
        )
    if not server.hosts and not is_loopback(server.host):
        raise SettingsError(
            f"people can sign in at {client.issuer}, and server.hosts is empty, so they can do so on this machine only",
            hint="set server.hosts to the names of this server, such as code.example.org",
        )
    try:
        OpenIdProvider().note(client)
    except SignInAwayError as error:
        return f"nobody can sign in at the moment: {error}"
    names = [f"https://{name}" for name in server.hosts] or [f"http://{server.host}:{server.port}"]
    back = ", ".join(f"{name}{root_path_in(server)}{CALLBACK}" for name in names)
    return f"at {client.issuer} as {client.client_id!r}; the redirect address to register there: {back}"


def _webhooks(variables: Mapping[str, str]) -> str:
    secrets = secret_variables(variables)
    for name, is_used in secrets.items():
        if not is_used:
            raise SettingsError(
                f"{name} has fewer than {LEAST_SECRET} characters, so events signed with it are refused",
                hint="set a longer secret, here and at the code host",
            )
    return ", ".join(secrets) or "no secret in the environment: the push events of code hosts are refused"


def _https(server: ServerSettings) -> str:
    files = tls_files(server)
    return f"by {files.certificate}" if tls_context(files) else "no: HTTP"


def _other(server: ServerSettings, variables: Mapping[str, str]) -> str:
    """Read what the checks before this one have not looked at."""
    others = server._replace(host="127.0.0.1", root_path="", trusted_proxies=(), user_header="", oidc_issuer="")
    config_of(others, variables)
    return "can be used"


def _page() -> str:
    if not (page.STATIC / "index.html").is_file():
        raise UsageError(
            "the web page is not built", hint="run `make web` in the checkout, or install a wheel, which contains it"
        )
    return "built"


def _git() -> str:
    return find_program("git") or "not installed: repositories cannot be cloned, and revisions cannot be searched"
