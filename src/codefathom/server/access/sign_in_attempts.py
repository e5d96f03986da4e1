"""Sign-ins that have begun: each can be completed once, soon, and only in the browser in which it has begun."""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock

from codefathom.server.http.auth import hash_of
from codefathom.server.http.problem_json import SignInFailedError

ATTEMPT_S = 600  # from the redirect to the provider until its answer
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun."""

    state: str
    nonce: str
    verifier: str = field(repr=False)  # of PKCE
    redirect: str  # the address to which the provider sends the browser back
    page: str  # that is shown afterwards
    issuer: str
    browser: str = field(repr=False)  # hash of the secret that the browser keeps in a cookie
    begun_at: float

    @property
    def challenge(self) -> str:
        """What the provider is told of the verifier."""
        return base64.urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class SignInAttempts:
    """The sign-ins of one server that have begun. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._begun: OrderedDict[str, Attempt] = OrderedDict()

    def begin(self, issuer: str, redirect: str, page: str) -> tuple[Attempt, str]:
        """Return a new attempt, and the secret that its browser must send with the answer of the provider."""
        secret = secrets.token_urlsafe(32)
        attempt = Attempt(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            redirect=redirect,
            page=page,
            issuer=issuer,
            browser=hash_of(secret),
            begun_at=self._clock(),
        )
        with self._lock:
            self._begun[attempt.state] = attempt
            if len(self._begun) > _MOST:
                self._begun.popitem(last=False)
        return attempt, secret

    def take(self, state: str, secret: str) -> Attempt:
        """Return an attempt and forget it. Raises SignInFailedError for one that is unknown, used, or too old."""
        with self._lock:
            attempt = self._begun.pop(state, None)
        if attempt is None or self._clock() - attempt.begun_at > ATTEMPT_S:
            raise SignInFailedError(
                "this answer of the provider belongs to no sign-in that is under way: it was used before, is older "
                f"than {ATTEMPT_S // 60} minutes, or the server was started again",
                hint="sign in again",
            )
        if not hmac.compare_digest(hash_of(secret), attempt.browser):
            raise SignInFailedError(
                "this sign-in did not begin in this browser, or the browser keeps no cookies of this site",
                hint="allow cookies for this site, and sign in again",
            )
        return attempt
