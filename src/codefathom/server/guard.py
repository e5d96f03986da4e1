"""Checks of every request before a route gets it: host, page, size, token, rate; and the headers of every answer.

Plain ASGI, so that a stream stays a stream and a client that leaves is noticed.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codefathom.server.access.audit_list import AuditEntry
from codefathom.server.access.credential_watch import CredentialWatch
from codefathom.server.access.credentials import READING, sender_by_cookie, sender_of
from codefathom.server.access.route_table import RouteMatch, match_route
from codefathom.server.connections import SPARE
from codefathom.server.http.auth import ANYONE, Caller, RateLimit, is_known_host, is_loopback, is_own_page
from codefathom.server.http.client_address import client_of, counted_address
from codefathom.server.http.error_responses import response_of
from codefathom.server.http.problem_json import (
    ForbiddenError,
    LateError,
    RequestError,
    SignInRequiredError,
    TooLargeError,
    TooManyError,
    UnauthorizedError,
    problem_of,
    retry_after,
)
from codefathom.server.http.user_roles import Role
from codefathom.server.metrics.logs import SENDER
from codefathom.server.server_config import ServerConfig
from codefathom.server.state import ServerState

_log = logging.getLogger(__name__)

_HEALTH = "/health"
# Answered without signing in, though there is no route: a browser asks for it by itself.
_ICON = "/favicon.ico"
_CUT_OFF = "the access of the sender ended before the answer; the change may have been made"
_DROP_S = 2.0  # for the rest of a body whose answer is ready
_PEER = "the other end of the line, which may be a proxy"  # key in the state of a request

_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    # Styles: the components of the page write theirs into the document.
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}


class UnderApi:
    """Answers every route under /api too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, without /api before its path."""
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            scope = {**scope, "path": scope["path"].removeprefix("/api")}
        await self._app(scope, receive, send)


class Guard:
    """Refuses requests that are not allowed, as problem+json, and marks the others with their caller."""

    def __init__(self, app: ASGIApp, state: ServerState) -> None:
        self._app = app
        self._state = state
        self._rate = RateLimit()
        self._watch = CredentialWatch()
        self._at_work: Counter[str] = Counter()  # requests of clients behind proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the routes, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._state.live.look()
        config = self._state.config
        scope.setdefault("state", {})
        body = _Body(scope, receive, config)
        guarded = _Guarded(send, body, is_last=SPARE in scope["state"])
        try:
            with self._at_once(scope, config):
                route = match_route(scope["method"], scope["path"])
                scope["state"]["caller"] = caller = self._admit(scope, route, config)
                SENDER.set(caller.name)
                guarded.before_success = partial(self._note, caller, route, scope)
                if route is not None and scope["method"] != "OPTIONS":
                    _check_rights(caller, route, scope)
                with self._watch.holding(lambda: self._still_has_access(scope, route, caller)) as held:
                    await self._app(scope, body, guarded)
                if held.cancelled_caught:
                    # What has begun in a thread is done to its end, though nobody is answered.
                    if not guarded.has_started and guarded.before_success is not None:
                        await self._note(caller, route, scope, _CUT_OFF)
                    raise UnauthorizedError("this access has ended", hint="sign in again, or use another token")
        except RequestError as error:
            if guarded.has_started:
                await guarded.end()
                return
            await _answer(error, scope, receive, guarded)
        except Exception as error:
            _log.exception("a request failed", extra={"path": scope["path"]})
            await _answer(error, scope, receive, guarded)

    @contextmanager
    def _at_once(self, scope: Scope, config: ServerConfig) -> Iterator[None]:
        """Find out whose request it is, and count those of a client behind a proxy. Raises TooManyError."""
        peer, port = scope.get("client") or ("", 0)
        forwarded = Headers(scope=scope).getlist("x-forwarded-for")
        client = client_of(peer, forwarded, config.trusted_proxies)
        scope["client"] = (client, port)
        scope["state"][_PEER] = peer
        refusal = scope["state"].get(SPARE)
        if refusal is not None and scope["path"] != _HEALTH:
            raise refusal
        if client == peer or scope["path"] == _HEALTH:
            yield
            return
        counted = counted_address(client)
        if self._at_work[counted] >= config.connections_of_one:
            raise TooManyError("this address has too many requests at the same time")
        self._at_work[counted] += 1
        try:
            yield
        finally:
            self._at_work[counted] -= 1
            if not self._at_work[counted]:
                del self._at_work[counted]

    def _admit(self, scope: Scope, route: RouteMatch | None, config: ServerConfig) -> Caller:
        """Return the caller of a request. Raises RequestError for a request that is refused."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not is_known_host(host, {*config.hosts, config.host}):
            raise ForbiddenError(f"{host!r} is not a name of this server", hint="add the name to server.hosts")
        origin = headers.get("origin", "")
        if origin and scope["method"] not in READING and not is_own_page(origin, host, config.cors):
            raise ForbiddenError(
                f"a page of {origin!r} may not change anything on this server", hint="add the origin to server.cors"
            )
        if int(_number(headers.get("content-length"))) > config.max_body_bytes:
            raise _too_large(config)
        try:
            caller = self._caller(scope, route, headers, config)
        except UnauthorizedError:
            self._count(scope, ANYONE, config)
            raise
        self._count(scope, caller, config)
        return caller

    def _caller(self, scope: Scope, route: RouteMatch | None, headers: Headers, config: ServerConfig) -> Caller:
        is_open = scope["path"] == _ICON or (route is not None and route.rule.scope == "open")
        if is_open or not (config.credentials.is_used or self._state.tokens.is_used):
            return ANYONE
        if scope["method"] == "OPTIONS":  # a browser asks what it may ask, and sends no token with that
            return ANYONE
        rules = config.credentials
        caller = sender_of(headers, scope["state"][_PEER], rules, self._state.tokens)
        caller = caller or sender_by_cookie(scope, rules, self._state.sessions)
        if caller is None and rules.openid:
            raise SignInRequiredError(
                "this server requires a token, or that you sign in",
                hint="open the page of this server to sign in; a program sends the header Authorization: Bearer TOKEN",
            )
        if caller is None:
            raise UnauthorizedError("this server requires a token", hint="send the header Authorization: Bearer TOKEN")
        return caller

    def _still_has_access(self, scope: Scope, route: RouteMatch | None, caller: Caller) -> bool:
        """Return True if a request that is under way would be let through again, with the same rights."""
        try:
            return self._caller(scope, route, Headers(scope=scope), self._state.config) == caller
        except RequestError:
            return False

    async def _note(self, caller: Caller, route: RouteMatch | None, scope: Scope, ending: str = "") -> None:
        """Write what was done into the audit list, with how it ended if that is not as usual."""
        if route is None or not route.rule.action:
            return
        entry = AuditEntry(
            caller.name,
            caller.kind,
            route.rule.action,
            route.parts.get("project_id", ""),
            "; ".join(filter(None, (scope["state"].get("audit", ""), ending))),
        )
        try:
            await to_thread.run_sync(self._state.audit.add, entry)
        except Exception:  # it is done all the same, and the answer says so
            _log.exception("the audit list could not be written", extra={"path": scope["path"]})

    def _count(self, scope: Scope, caller: Caller, config: ServerConfig) -> None:
        address = scope["client"][0]
        if scope["path"] == _HEALTH or (not caller.id and is_loopback(address)):
            return  # what a load balancer asks, and the person who runs the server
        client = f"caller {caller.id}" if caller.id else counted_address(address)
        wait_s = self._rate.wait_s(client, config.requests_per_minute)
        if wait_s:
            raise TooManyError(f"more than {config.requests_per_minute} requests in a minute", wait_s=wait_s)


def _check_rights(caller: Caller, route: RouteMatch, scope: Scope) -> None:
    """Raise ForbiddenError or NotFoundError for a caller that lacks what the table of routes demands.

    Projects in a query or in a body are looked up by the routes, in the registry, which shows a caller its own only.
    """
    rule = route.rule
    if rule.scope == "server" or (rule.unnamed == "server" and not _names_project(scope)):
        caller.check_server()
    elif rule.scope == "project" and "project_id" in route.parts:
        caller.check(route.parts["project_id"], rule.role)
    elif rule.scope == "project" and caller.highest_role < rule.role and rule.role > Role.READER:
        raise ForbiddenError(
            f"this needs the role {rule.role.word}; {caller.said} has it in no project",
            hint="ask an administrator of this server for the role",
        )


def _names_project(scope: Scope) -> bool:
    return any(QueryParams(scope["query_string"]).getlist("project_id"))


class _Body:
    """The body of a request, within limits of size and time."""

    def __init__(self, scope: Scope, receive: Receive, config: ServerConfig) -> None:
        self._receive = receive
        self._config = config
        self._n_bytes = 0
        self._until = 0.0  # when all of it must be here; 0: nobody has asked for it yet
        headers = Headers(scope=scope)
        self._is_whole = "content-length" not in headers and "transfer-encoding" not in headers
        self._is_sent_when_asked = "expect" in headers

    async def __call__(self) -> Message:
        if self._is_whole:  # what comes now is that the client leaves, which may take any time
            return await self._receive()
        now = asyncio.get_running_loop().time()
        self._until = self._until or now + self._config.read_timeout_s
        try:
            message = await asyncio.wait_for(self._receive(), self._until - now)
        except TimeoutError as error:
            raise _refusal(
                LateError(
                    f"the request did not arrive within {self._config.read_timeout_s:g} s; see server.read_timeout_s"
                )
            ) from error
        self._n_bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._n_bytes > self._config.max_body_bytes:
            raise _refusal(_too_large(self._config))
        return message

    async def drop_rest(self) -> None:
        """Take what nobody has read, for a moment: a proxy that is still sending it may cut off the answer.

        Caddy does, as every proxy made with the library of Go.
        """
        if self._is_sent_when_asked:
            return
        with suppress(TimeoutError, HTTPException):
            async with asyncio.timeout(_DROP_S):
                while not self._is_whole:
                    await self()


class _Guarded:
    """The way of an answer, on which it gets the headers that protect whoever reads it."""

    def __init__(self, send: Send, body: _Body, *, is_last: bool = False) -> None:
        self._send = send
        self._body = body
        self._is_last = is_last  # on its connection
        self.has_started = False
        # Awaited before the answer leaves: who has it finds in every list what was done.
        self.before_success: Callable[[], Awaitable[None]] | None = None

    async def end(self) -> None:
        """End a stream where it is; of an answer with a length the client sees that it ends too early."""
        with suppress(Exception):
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if self.before_success is not None and 200 <= message["status"] < 300:
                note, self.before_success = self.before_success, None  # once, also where it is interrupted
                await note()
            await self._body.drop_rest()
            self.has_started = True
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
            if self._is_last:
                headers["connection"] = "close"
        await self._send(message)


async def _answer(error: Exception, scope: Scope, receive: Receive, send: _Guarded) -> None:
    if send.has_started:  # half an answer cannot be taken back; the client sees that it ends too early
        raise error
    problem = scope["state"]["problem"] = problem_of(error)
    response = response_of(problem, scope["path"])
    if isinstance(error, UnauthorizedError):
        response.headers["www-authenticate"] = "Bearer"
    response.headers.update(retry_after(error))
    await response(scope, receive, send)


def _refusal(error: RequestError) -> HTTPException:
    # The framework calls any other error of a body that it reads a body that it cannot parse.
    # What else the client sends of the body is not wanted.
    return HTTPException(error.status, str(error), headers={"connection": "close"})


def _too_large(config: ServerConfig) -> TooLargeError:
    return TooLargeError(
        f"the body of a request may have at most {config.max_body_bytes} bytes", hint="see server.max_body_bytes"
    )


def _number(text: str | None) -> str:
    return text if text and text.isascii() and text.isdigit() else "0"
