"""The OpenID Connect provider: where it is, its keys, and who has signed in there.

What it answers is read with limits of size and time, and is data only. Addresses that it names are used over HTTPS
only, but for a provider on this machine.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote_plus, urlencode, urlsplit

import httpx

from codefathom.server.access.id_token import UnknownKeyError, checked_claims
from codefathom.server.access.openid_client import SECRET_VARIABLE, OpenIdClient, Person, claim_in, is_here, person_of
from codefathom.server.access.sign_in_attempts import Attempt
from codefathom.server.http.problem_json import (
    SignInAwayError,
    SignInFailedError,
    SignInSettingsError,
)
from codefathom.system.bounded_http import AnswerLimits, keep_to, read_whole
from codefathom.text.foreign_json import read_json

_LIMITS = AnswerLimits(seconds=10.0, n_bytes=1_000_000)
_KEPT_S = 3_600.0  # what the provider says of itself, and its keys
_WELL_KNOWN = "/.well-known/openid-configuration"
_OK, _NO_LOGIN, _OF_SERVER = 200, 401, 500
_REFUSED = {400, _NO_LOGIN, 403}
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class ProviderNote:
    """What a provider says of itself."""

    authorization: str  # addresses
    token: str
    keys: str
    userinfo: str  # "": it has none
    takes_basic: bool  # the secret in the header Authorization, else in the form
    names_itself: bool  # in its answers to browsers (RFC 9207)


class OpenIdProvider:
    """The provider of one server; what it says of itself is kept for a while. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._note: tuple[str, float, ProviderNote] | None = None  # of which issuer, read when
        self._keys: tuple[str, float, Sequence[Any]] | None = None

    def note(self, client: OpenIdClient) -> ProviderNote:
        """Return what the provider says of itself. Raises SignInAwayError and SignInSettingsError."""
        with self._lock:
            kept = self._note
        if kept is not None and kept[0] == client.issuer and self._clock() - kept[1] < _KEPT_S:
            return kept[2]
        with _connection(client) as connection:
            note = _note_of(_object(_fetch(connection, client.issuer.rstrip("/") + _WELL_KNOWN), client), client)
        with self._lock:
            self._note = client.issuer, self._clock(), note
        return note

    def page_to_sign_in(self, client: OpenIdClient, attempt: Attempt) -> str:
        """Return the address at the provider to which the browser goes."""
        values = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": attempt.redirect,
            "scope": " ".join(client.scopes),
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        address = self.note(client).authorization
        return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(values)}"

    def person(self, client: OpenIdClient, attempt: Attempt, code: str) -> Person:
        """Return who has signed in, for a code that the provider has given the browser. Raises SignInFailedError."""
        note = self.note(client)
        with _connection(client) as connection:
            tokens = _tokens(connection, note, client, attempt, code)
            try:
                claims = checked_claims(
                    tokens["id_token"], self._keys_of(connection, note, client), client, attempt.nonce
                )
            except UnknownKeyError:  # the provider may have a new key since they were read
                keys = self._keys_of(connection, note, client, again=True)
                claims = checked_claims(tokens["id_token"], keys, client, attempt.nonce)
            if note.userinfo and _is_incomplete(claims, client):
                claims = _joined(_userinfo(connection, note, client, tokens, claims["sub"]), claims)
        return person_of(claims, client)

    def _keys_of(
        self, connection: httpx.Client, note: ProviderNote, client: OpenIdClient, *, again: bool = False
    ) -> Sequence[Any]:
        with self._lock:
            kept = self._keys
        if not again and kept is not None and kept[0] == note.keys and self._clock() - kept[1] < _KEPT_S:
            return kept[2]
        keys = _object(_fetch(connection, note.keys), client).get("keys")
        if not isinstance(keys, list):
            raise _strange(client, "sends no list of keys")
        with self._lock:
            self._keys = note.keys, self._clock(), keys
        return keys


@contextmanager
def _connection(client: OpenIdClient) -> Iterator[httpx.Client]:
    # A proxy of the environment does not lead to this machine, and nothing is encrypted on the way there.
    is_local = is_here(client.issuer)
    try:
        with httpx.Client(
            trust_env=not is_local, verify=not is_local, headers={"accept": "application/json"}
        ) as opened:
            keep_to(opened, _LIMITS)
            yield opened
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise SignInAwayError(
            f"the provider of server.oidc_issuer = {client.issuer!r} cannot be reached: "
            f"{str(error) or type(error).__name__}",
            hint="try again in a moment; if it stays away, check the address, the network of this server, and its "
            "certificates",
        ) from error


def _note_of(said: Mapping[str, Any], client: OpenIdClient) -> ProviderNote:
    if said.get("issuer") != client.issuer:
        raise SignInSettingsError(
            f"the provider calls itself {_shown(said.get('issuer'))}, and server.oidc_issuer is {client.issuer!r}",
            hint="write server.oidc_issuer exactly as the provider does, also the slash at its end",
        )
    for name in (*_ENDPOINTS, "userinfo_endpoint"):
        address = said.get(name, "" if name == "userinfo_endpoint" else None)
        if address != "" and not (isinstance(address, str) and _is_allowed(address, client)):
            raise _strange(client, f"names no address with HTTPS as its {name}")
    methods = said.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
    return ProviderNote(
        said["authorization_endpoint"],
        said["token_endpoint"],
        said["jwks_uri"],
        said.get("userinfo_endpoint", ""),
        takes_basic=not isinstance(methods, list) or "client_secret_basic" in methods,
        names_itself=said.get("authorization_response_iss_parameter_supported") is True,
    )


def _is_allowed(address: str, client: OpenIdClient) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    if not address.isascii() or not address.isprintable() or " " in address:
        return False
    return (parts.scheme == "https" and bool(parts.hostname)) or (is_here(client.issuer) and is_here(address))


def _tokens(
    connection: httpx.Client, note: ProviderNote, client: OpenIdClient, attempt: Attempt, code: str
) -> Mapping[str, Any]:
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": attempt.redirect,
        "code_verifier": attempt.verifier,
    }
    headers = {}
    if note.takes_basic:
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.secret)}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form |= {"client_id": client.client_id, "client_secret": client.secret}
    answer = _fetch(connection, note.token, headers, form)
    if answer.status in _REFUSED:
        raise _refusal(answer, client)
    tokens = _object(answer, client)
    if not isinstance(tokens.get("id_token"), str):
        raise _strange(client, "sends no ID token")
    return tokens


def _refusal(answer: _Answer, client: OpenIdClient) -> SignInFailedError:
    try:
        said = read_json(answer.body)
        reason = said.get("error") if isinstance(said, dict) else ""
    except ValueError:
        reason = ""
    if reason == "invalid_grant":
        return SignInFailedError(
            "the provider refuses the code of this sign-in: it was used before, or is too old", hint="sign in again"
        )
    if reason in {"invalid_client", "unauthorized_client"} or answer.status == _NO_LOGIN:
        return SignInSettingsError(
            f"the provider refuses this server: server.oidc_client_id = {client.client_id!r} or its secret is wrong",
            hint=f"set {SECRET_VARIABLE} to the secret that the provider shows for this client",
        )
    return SignInSettingsError(
        f"the provider refuses the code of this sign-in: {_shown(reason)}",
        hint="compare the client at the provider with server.oidc_client_id and the redirect address; "
        "`fathom serve --check` shows it",
    )


def _is_incomplete(claims: Mapping[str, Any], client: OpenIdClient) -> bool:
    names = [client.name_claim, *([client.groups_claim] if client.groups_claim else [])]
    names += ["email_verified"] if client.name_claim == "email" else []
    return any(claim_in(claims, name) is None for name in names)


def _userinfo(
    connection: httpx.Client, note: ProviderNote, client: OpenIdClient, tokens: Mapping[str, Any], subject: object
) -> Mapping[str, Any]:
    """Return more claims of the same person: some providers put few of them into the ID token."""
    access = tokens.get("access_token")
    if not isinstance(access, str) or not access.isascii() or not access.isprintable():
        return {}
    said = _object(_fetch(connection, note.userinfo, {"authorization": f"Bearer {access}"}), client)
    if said.get("sub") != subject:
        raise SignInFailedError("the provider names two persons for one sign-in", hint="sign in again")
    return said


def _joined(more: Mapping[str, Any], claims: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the claims of an ID token, with more of the same person where it has none."""
    if "email" in claims and more.get("email", claims["email"]) != claims["email"]:
        more = {name: value for name, value in more.items() if name != "email_verified"}  # it is of another address
    return {**more, **claims}


class _Answer(NamedTuple):
    status: int
    body: bytes


def _fetch(
    connection: httpx.Client,
    address: str,
    headers: Mapping[str, str] = _NO_HEADERS,
    form: Mapping[str, str] | None = None,
) -> _Answer:
    method = "GET" if form is None else "POST"
    with connection.stream(method, address, data=form, headers=headers) as response:
        return _Answer(response.status_code, read_whole(response, _LIMITS.n_bytes))


def _object(answer: _Answer, client: OpenIdClient) -> Mapping[str, Any]:
    status = answer.status
    if status >= _OF_SERVER:
        raise SignInAwayError(
            f"the provider of server.oidc_issuer = {client.issuer!r} answers with the error {status}",
            hint="try again in a moment",
        )
    if status != _OK:
        raise _strange(client, f"answers {status}")
    try:
        said = read_json(answer.body)
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise _strange(client, "does not answer with a JSON object")
    return said


def _strange(client: OpenIdClient, what: str) -> SignInSettingsError:
    return SignInSettingsError(
        f"the server at server.oidc_issuer = {client.issuer!r} {what}",
        hint=f"correct the address: {client.issuer.rstrip('/')}{_WELL_KNOWN} must describe an OpenID Connect provider",
    )


def _shown(value: object) -> str:
    """Return a word of the provider for a sentence: short, and without signs that steer something."""
    text = value if isinstance(value, str) else ""
    return repr("".join(sign for sign in text if sign.isprintable())[:200]) if text else "nothing"
