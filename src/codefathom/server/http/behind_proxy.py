"""The address at which clients reach the server behind a proxy: its scheme, its host, and the path before all routes.

The path is `server.root_path`; a proxy may strip it from requests or leave it there. Scheme, host, and the path where
the settings name none, are taken from X-Forwarded-Proto, -Host and -Prefix of trusted proxies, from nobody else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codefathom.server.http.client_address import Network, is_proxy

# First words of our own paths. A prefix with such a name could not be told from them: a proxy may have stripped it.
_NAMES = (
    "answers api ask assets audit blame chat commits config context conversations docs favicon.ico federated file"
    " file-tree files glance health history hooks index jobs map mcp metrics modules monitoring name-at openapi.json"
    " people picture project projects query ratings readyz related search session sign-in sign-out signals symbols"
    " tokens tour training v1 validate-path version"
)
# In the state of a request whose redirect leads to another service, which may be at another path of the same site.
LEADS_ELSEWHERE = "leads elsewhere"
ROUTE_NAMES = frozenset(_NAMES.split())
# No sign that means anything in HTML or in an address, and no way up.
_ROOT_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~-]+)*")
_LONGEST = 200
_HOST = re.compile(r"[A-Za-z0-9.:\[\]_-]{1,255}")
_SCHEMES = {"http", "https"}


def root_path_of(text: str) -> str:
    """Return the path before all routes, without a slash at its end, "" for the root. Raises ValueError."""
    path = text.rstrip("/") if text != "//" else text
    if len(path) > _LONGEST or not _ROOT_PATH.fullmatch(path) or path[1:].partition("/")[0] in ROUTE_NAMES:
        raise ValueError(text)
    return path


class BehindProxy:
    """Shows the routes each request as if there were no proxy, and puts the path back into redirects."""

    def __init__(self, app: ASGIApp, root_path: Callable[[], str], proxies: Callable[[], Sequence[Network]]) -> None:
        """`root_path` and `proxies` return what the settings say at that moment."""
        self._app = app
        self._root_path = root_path
        self._proxies = proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope, root = self._addressed(scope), self._root_path()
        headers = Headers(scope=scope)
        scope.setdefault("state", {})["root_path"] = ""
        if not root and self._is_trusted(scope):
            root = _sound_prefix(headers.getlist("x-forwarded-prefix"))
        if not root:
            await self._app(scope, receive, send)
            return
        # Not as `root_path` of the scope: the router would strip it once more, from a path that the guard has admitted.
        scope["state"]["root_path"] = root
        scope = {**scope, "path": _below(scope["path"], root)}
        redirects = _Redirects(send, root, f"{scope['scheme']}://{headers.get('host', '')}", scope["state"])
        await self._app(scope, receive, redirects)

    def _addressed(self, scope: Scope) -> Scope:
        """Return the request with the scheme and host that its client has used."""
        if not self._is_trusted(scope):
            return scope
        headers = Headers(scope=scope)
        scheme, host = _last(headers.getlist("x-forwarded-proto")).lower(), _last(headers.getlist("x-forwarded-host"))
        if scheme in _SCHEMES:
            scope = {**scope, "scheme": scheme}
        if _HOST.fullmatch(host):
            others = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope = {**scope, "headers": [(b"host", host.encode()), *others]}
        return scope

    def _is_trusted(self, scope: Scope) -> bool:
        return is_proxy((scope.get("client") or ("", 0))[0], self._proxies())


class _Redirects:
    """The way of an answer, on which a place of this server gets the path before it."""

    def __init__(self, send: Send, root: str, origin: str, state: Mapping[str, Any]) -> None:
        self._send = send
        self._root = root
        self._origin = origin  # of this server, as its own absolute addresses begin
        self._state = state  # of the request

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and not self._state.get(LEADS_ELSEWHERE):
            headers = MutableHeaders(scope=message)
            place = headers.get("location", "").removeprefix(self._origin)
            if place.startswith("/") and not place.startswith("//"):
                headers["location"] = self._root + place
        await self._send(message)


def _below(path: str, root: str) -> str:
    """Return a path without the root before it; a proxy may have taken that away already."""
    return path.removeprefix(root) or "/" if path == root or path.startswith(f"{root}/") else path


def _sound_prefix(values: Sequence[str]) -> str:
    try:
        return root_path_of(values[0]) if len(values) == 1 else ""
    except ValueError:
        return ""


def _last(values: Iterable[str]) -> str:
    """Return what the nearest proxy has said: values before it may come from the client."""
    return ",".join(values).rpartition(",")[2].strip()
