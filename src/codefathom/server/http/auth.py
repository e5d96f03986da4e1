"""Access: tokens, host names, pages of other servers, and the rate of requests."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock

_MOST_CLIENTS = 10_000  # whose requests are counted at a time


@dataclass(frozen=True, slots=True)
class Token:
    """A token that gives access: its name, the hash of the secret, and the projects it is valid for; none means all."""

    name: str
    hash: str
    projects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request."""

    name: str = ""
    projects: frozenset[str] | None = None  # None: all

    def may_use(self, project_id: str) -> bool:
        """Return True if the caller may see a project and ask about it."""
        return self.projects is None or project_id in self.projects

    @property
    def may_manage(self) -> bool:
        """True if the caller may add, change and remove projects and indexes, and see data of the whole server.

        A token that is kept to projects may ask about them, read them, have them indexed and follow their jobs.
        """
        return self.projects is None


ANYONE = Caller()


def token_of(text: str) -> Token:
    """Read NAME:HASH or NAME:HASH:PROJECT+PROJECT, whose form the settings have checked."""
    name, _, rest = text.partition(":")
    digest, _, projects = rest.partition(":")
    return Token(name, digest, frozenset(projects.split("+")) if projects else frozenset())


def new_token() -> str:
    """Return a secret that nobody can guess."""
    return f"fathom_{secrets.token_urlsafe(32)}"


def hash_of(secret: str) -> str:
    """Return the hash of a secret as the settings hold it. It is random and long: one round is enough."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def caller_of(secret: str, tokens: Iterable[Token]) -> Caller | None:
    """Return the caller that owns a secret, or None; takes as long for a wrong secret as for a right one."""
    digest = hash_of(secret)
    owner: Token | None = None
    for token in tokens:
        if hmac.compare_digest(digest, token.hash):
            owner = token
    return None if owner is None else Caller(owner.name, owner.projects or None)


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address. An unknown name counts as reachable by others."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_known_host(header: str, names: Iterable[str]) -> bool:
    """Return True if a Host header names this server: localhost, any address, or one of the names.

    A page that has its own name resolve to this machine (DNS rebinding) sends that name; an address cannot be rebound.
    """
    host = host_of(header)
    if host == "localhost" or host in names:
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def host_of(header: str) -> str:
    """Return the name or address in a Host header, without port and brackets, in lower case."""
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.rpartition(":")[0] if text.count(":") == 1 else text


def is_own_page(origin: str, host_header: str, cors: Iterable[str]) -> bool:
    """Return True for a page that may change data: a page of this server, or of one listed in the settings."""
    return origin in cors or origin.partition("//")[2].lower() == host_header.strip().lower()


class RateLimit:
    """A limit for the requests of each client in a minute, also all at once. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client → (requests left, when that was)

    def wait_s(self, client: str, per_minute: int) -> float:
        """Count a request; return 0.0 when it may pass, else after how many seconds the next one may."""
        if not per_minute:
            return 0.0
        with self._lock:
            now = self._clock()
            left, since = self._left.pop(client, (float(per_minute), now))
            left = min(left + (now - since) * per_minute / 60, float(per_minute))
            allowed = left >= 1
            self._left[client] = (left - 1 if allowed else left, now)
            if len(self._left) > _MOST_CLIENTS:
                self._left.popitem(last=False)
            return 0.0 if allowed else (1 - left) * 60 / per_minute
