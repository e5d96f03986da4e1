"""/sign-in and /sign-out: people sign in at the OpenID Connect provider, and get a session in their browser."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated, TypeAlias, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Query, Request, Response, status
from fastapi.responses import RedirectResponse

from codefathom.server.access.audit_list import AuditEntry
from codefathom.server.access.credentials import person_caller
from codefathom.server.access.openid_client import OpenIdClient, Person
from codefathom.server.access.openid_provider import OpenIdProvider
from codefathom.server.access.sign_in_attempts import ATTEMPT_S, Attempt, SignInAttempts
from codefathom.server.http.auth import host_of, is_loopback
from codefathom.server.http.behind_proxy import LEADS_ELSEWHERE
from codefathom.server.http.cookies import SESSION, attempt_cookie, place_of
from codefathom.server.http.page import is_built, is_page_address, problem_page, wants_page
from codefathom.server.http.problem_json import (
    ConflictError,
    NotFoundError,
    RequestError,
    SignInFailedError,
    SignInRefusedError,
    SignInSettingsError,
    SignInUnknownError,
    problem_of,
)
from codefathom.server.state import ServerState

CALLBACK = "/sign-in/callback"
_AT_ONCE = 4  # sign-ins that wait for the provider; others wait for these, and no other route does
_SECONDS_OF_HOUR = 3_600
_T = TypeVar("_T")

_log = logging.getLogger(__name__)

Next: TypeAlias = Annotated[
    str, Query(max_length=2_000, description="page to show afterwards; any other address becomes the first page")
]
Code: TypeAlias = Annotated[str, Query(max_length=8_000, description="code with which the server asks who it is")]
State: TypeAlias = Annotated[str, Query(max_length=200, description="which sign-in the provider answers")]
Refusal: TypeAlias = Annotated[str, Query(max_length=200, description="why the provider refuses")]
Issuer: TypeAlias = Annotated[str, Query(max_length=2_000, description="the provider that answers")]


def router(state: ServerState) -> APIRouter:
    """Return the routes of signing in; without a provider in the settings they say so."""
    routes = APIRouter(tags=["people"])
    provider, attempts, turns = OpenIdProvider(), SignInAttempts(), CapacityLimiter(_AT_ONCE)

    async def in_turn(work: Callable[[], _T]) -> _T:
        return await to_thread.run_sync(work, limiter=turns)

    @routes.get("/sign-in", summary="Go to the provider to sign in", status_code=303, response_class=RedirectResponse)
    async def begin(request: Request, next: Next = "/") -> Response:  # noqa: A002 - as other services call it
        try:
            client = _client(state)
            redirect = redirect_address(request, state)
            attempt, secret = attempts.begin(client.issuer, redirect, next if is_page_address(next) else "/")
            address = await in_turn(lambda: provider.page_to_sign_in(client, attempt))
        except RequestError as error:
            return _failure(request, error)
        request.scope["state"][LEADS_ELSEWHERE] = True
        response = RedirectResponse(address, status.HTTP_303_SEE_OTHER)
        place = place_of(request.scope)
        response.headers.append("set-cookie", place.header(attempt_cookie(attempt.state), secret, ATTEMPT_S))
        return response

    @routes.get(CALLBACK, summary="Take the answer of the provider", status_code=303, response_class=RedirectResponse)
    async def complete(
        request: Request,
        state_of_attempt: Annotated[State, Query(alias="state")] = "",
        code: Code = "",
        error: Refusal = "",
        iss: Issuer = "",
    ) -> Response:
        place = place_of(request.scope)
        cookie = attempt_cookie(state_of_attempt)
        try:
            client = _client(state)
            attempt = attempts.take(state_of_attempt, place.value(request.headers, cookie))
            _check_answer(client, attempt, iss, error, code)
            person = await in_turn(lambda: _person(provider, client, attempt, code, iss))
            await in_turn(lambda: _check_known(state, person))
            secret = await in_turn(lambda: state.sessions.start(person, client))
            await in_turn(lambda: state.audit.add(AuditEntry(person.name, "person", "signed in")))
            await in_turn(lambda: state.sessions.end(place.value(request.headers, SESSION)))
        except RequestError as problem:
            _log.warning("a person could not sign in: %s", problem)
            return _failure(request, problem)
        response = RedirectResponse(attempt.page, status.HTTP_303_SEE_OTHER)
        seconds = client.session_hours * _SECONDS_OF_HOUR
        response.headers.append("set-cookie", place.header(SESSION, secret, seconds))
        response.headers.append("set-cookie", place.header(cookie, "", 0))
        return response

    @routes.post("/sign-out", summary="End the session of this browser", status_code=status.HTTP_204_NO_CONTENT)
    def sign_out(request: Request, response: Response) -> None:
        place = place_of(request.scope)
        if not state.sessions.end(place.value(request.headers, SESSION)):
            raise ConflictError(
                "this request has no session of a browser that could be ended",
                hint="a person whom a proxy names signs out at the proxy; a token is revoked with DELETE /tokens",
            )
        response.headers.append("set-cookie", place.header(SESSION, "", 0))

    return routes


def redirect_address(request: Request, state: ServerState) -> str:
    """Return the address to which the provider sends the browser back: of a name of this server only.

    Raises SignInSettingsError for an address that could lead elsewhere, or over which all can read the session.
    """
    config, scheme, host = state.config, request.scope["scheme"], request.headers.get("host", "")
    name = host_of(host)
    if name not in config.hosts and not is_loopback(name):
        raise SignInSettingsError(
            f"people cannot sign in at {host!r}: it is not a name of this server in server.hosts",
            hint="open the page by a name in server.hosts, or add this one",
        )
    if scheme != "https" and not is_loopback(name):
        raise SignInSettingsError(
            f"people cannot sign in at {host!r} over HTTP: everybody in the network could read the session",
            hint="set server.tls_certificate and server.tls_key; behind a proxy with HTTPS set server.trusted_proxies "
            "to its address, and let it send X-Forwarded-Proto",
        )
    return f"{scheme}://{host}{request.scope['state'].get('root_path', '')}{CALLBACK}"


def _client(state: ServerState) -> OpenIdClient:
    client = state.config.sign_in.openid
    if client is None:
        raise NotFoundError(
            "people do not sign in with OpenID Connect at this server", hint="set server.oidc_issuer to change that"
        )
    return client


def _check_answer(client: OpenIdClient, attempt: Attempt, issuer: str, refusal: str, code: str) -> None:
    """Raise SignInFailedError for an answer that is not a code of the provider that was asked."""
    if attempt.issuer != client.issuer or issuer not in {"", client.issuer}:
        raise SignInFailedError("the answer comes from another provider than server.oidc_issuer", hint="sign in again")
    if refusal == "access_denied":
        raise SignInRefusedError(
            "the provider has not let you in, or you have refused that it tells this server who you are",
            hint="sign in again and agree; or ask who runs the provider for access",
        )
    if refusal or not code:
        word = "".join(sign for sign in refusal if sign.isascii() and (sign.isalnum() or sign in "_-"))
        raise SignInRefusedError(
            f"the provider has refused the sign-in: {word or 'it has sent no code'}",
            hint="sign in again; if that does not help, compare the client at the provider with server.oidc_client_id "
            "and server.oidc_scopes",
        )


def _person(provider: OpenIdProvider, client: OpenIdClient, attempt: Attempt, code: str, issuer: str) -> Person:
    if provider.note(client).names_itself and not issuer:
        raise SignInFailedError("the answer does not name its provider, which always does", hint="sign in again")
    return provider.person(client, attempt, code)


def _check_known(state: ServerState, person: Person) -> None:
    if not person_caller(person.name, person.groups, state.config.credentials).highest_role:
        raise SignInUnknownError(
            f"{person.name!r} may not use this server: no line of server.roles fits this name"
            + (f" or one of its {len(person.groups)} groups" if person.groups else ""),
            hint="ask an administrator of this server for a line in server.roles",
        )


def _failure(request: Request, error: RequestError) -> Response:
    """Return the page with the problem to a browser. Raises the error for a program."""
    if not (wants_page(request.headers) and is_built()):
        raise error
    problem = request.state.problem = problem_of(error)
    return problem_page(request.state.root_path, problem)
