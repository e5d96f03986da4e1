"""A strict OpenID Connect provider that runs in tests: discovery, sign-in, token, keys, and what it says of a person.

It refuses what a real one refuses: an unknown client, another redirect address than the registered one, a code that is
used twice, a wrong verifier of PKCE, a wrong secret. `lies` change one thing in what it answers, as an attacker would.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.waiting import join

CLIENT, SECRET = "fathom", "the client: secret & more"
Claims = dict[str, Any]


@cache  # a new one takes long
def _private(name: str) -> rsa.RSAPrivateKey:
    del name
    return rsa.generate_private_key(65_537, 2_048)


@dataclass(frozen=True)
class Key:
    """A key with which the provider signs."""

    name: str

    @property
    def private(self) -> rsa.RSAPrivateKey:
        return _private(self.name)

    @property
    def public(self) -> Claims:
        key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        return {**key, "kid": self.name, "use": "sig", "alg": "RS256"}


@dataclass
class Grant:
    """What a code stands for."""

    redirect: str
    challenge: str
    nonce: str


@dataclass
class Provider:
    """What the provider says, which a test may change while it runs."""

    issuer: str = ""
    person: Claims = field(default_factory=lambda: {"sub": "1", "email": "ada@example.org", "email_verified": True})
    in_userinfo: Claims | None = None  # claims that are not in the ID token
    redirects: set[str] = field(default_factory=set)  # that are registered
    key: Key = field(default_factory=lambda: Key("first"))
    consents: bool = True
    takes_basic: bool = True
    names_itself: bool = True
    status: int = 200  # of everything but the page for signing in
    lies: Callable[[Claims], Claims] = lambda claims: claims  # about the ID token
    signs: Callable[[Claims], str] | None = None  # instead of the provider
    described: Claims = field(default_factory=dict)  # over the description of itself
    grants: dict[str, Grant] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)  # the paths that were asked for

    @property
    def keys(self) -> Claims:
        return {"keys": [self.key.public]}

    def description(self) -> Claims:
        methods = ["client_secret_basic"] if self.takes_basic else ["client_secret_post"]
        told: Claims = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": methods,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": self.names_itself,
        }
        if self.in_userinfo is not None:
            told["userinfo_endpoint"] = f"{self.issuer}/userinfo"
        return told | self.described

    def authorize(self, query: dict[str, str]) -> tuple[int, str]:
        """Return where the browser goes: back with a code, or an error that the person sees here."""
        if query.get("client_id") != CLIENT:
            return 400, "unknown client"
        if query.get("redirect_uri") not in self.redirects:
            return 400, f"this redirect address is not registered: {query.get('redirect_uri')}"
        wanted = {"response_type": "code", "code_challenge_method": "S256"}
        if any(query.get(name) != value for name, value in wanted.items()):
            return 400, "not the code flow with PKCE"
        if "openid" not in query.get("scope", "").split() or len(query.get("state", "")) < 20:
            return 400, "no scope openid, or a state that can be guessed"
        if len(query.get("nonce", "")) < 20 or len(query.get("code_challenge", "")) != 43:
            return 400, "no nonce or no challenge"
        answer = {"state": query["state"], **({"iss": self.issuer} if self.names_itself else {})}
        if not self.consents:
            return 303, f"{query['redirect_uri']}?{urlencode({**answer, 'error': 'access_denied'})}"
        code = secrets.token_urlsafe(16)
        self.grants[code] = Grant(query["redirect_uri"], query["code_challenge"], query["nonce"])
        return 303, f"{query['redirect_uri']}?{urlencode({**answer, 'code': code})}"

    def token(self, form: dict[str, str], authorization: str) -> tuple[int, Claims]:
        """Return the tokens for a code, which is used up by that."""
        if not self._is_client(form, authorization):
            return 401, {"error": "invalid_client"}
        grant = self.grants.pop(form.get("code", ""), None)
        verifier = form.get("code_verifier", "")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if grant is None or grant.redirect != form.get("redirect_uri") or challenge != grant.challenge:
            return 400, {"error": "invalid_grant"}
        if form.get("grant_type") != "authorization_code" or not 43 <= len(verifier) <= 128:
            return 400, {"error": "invalid_request"}
        now = int(time.time())
        claims = self.lies(
            {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": grant.nonce, **self.person}
        )
        signed = self.signs(claims) if self.signs else self.sign(claims)
        return 200, {"access_token": "of-access", "token_type": "Bearer", "expires_in": 300, "id_token": signed}

    def sign(self, claims: Claims) -> str:
        # Not `jwt.encode`, which signs no claims that are wrong.
        return jwt.PyJWS().encode(json.dumps(claims).encode(), self.key.private, "RS256", {"kid": self.key.name})

    def _is_client(self, form: dict[str, str], authorization: str) -> bool:
        if not self.takes_basic:
            return not authorization and (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        scheme, _, text = authorization.partition(" ")
        name, _, secret = base64.b64decode(text).decode().partition(":")
        is_alone = "client_secret" not in form
        return scheme == "Basic" and (unquote_plus(name), unquote_plus(secret)) == (CLIENT, SECRET) and is_alone


@contextmanager
def providing(**options: Any) -> Iterator[Provider]:
    """Run a provider for the time of the block."""
    provider = Provider(**options)

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query, keep_blank_values=True)
            provider.log.append(path)
            if path == "/authorize":
                status, text = provider.authorize({name: values[-1] for name, values in query.items()})
                self._send(status, text if status != 303 else "", location=text if status == 303 else "")
                return
            is_allowed = path != "/userinfo" or self.headers.get("authorization") == "Bearer of-access"
            told = {
                "/.well-known/openid-configuration": provider.description(),
                "/keys": provider.keys,
                "/userinfo": provider.in_userinfo,
            }.get(path)
            if told is None or not is_allowed:
                self._send(404, "none")
            else:
                self._send(provider.status, json.dumps(told))

        def do_POST(self) -> None:
            provider.log.append(self.path)
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            form = {name: values[-1] for name, values in parse_qs(body, keep_blank_values=True).items()}
            status, told = provider.token(form, self.headers.get("authorization", ""))
            self._send(provider.status if provider.status != 200 else status, json.dumps(told))

        def _send(self, status: int, text: str, location: str = "") -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("content-type", "application/json" if text.startswith("{") else "text/plain")
            self.send_header("content-length", str(len(body)))
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            join(thread)
