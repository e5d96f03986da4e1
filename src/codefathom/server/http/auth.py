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
from typing import Literal, TypeAlias

from codefathom.project.repository_sight import words_of_token
from codefathom.server.http.problem_json import ForbiddenError, NotFoundError
from codefathom.server.http.user_roles import Grant, Role, grant_of, role_of

_MOST_CLIENTS = 10_000  # whose requests are counted at a time


CallerKind: TypeAlias = Literal["nobody", "token", "person"]
_EVERYTHING = (Grant(Role.ADMIN),)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the settings: its name, the hash of the secret, the projects it is valid for, and its role there.

    No projects means all. Without a role, a token for all projects is an administrator, another one an indexer.
    """

    name: str
    hash: str
    projects: frozenset[str] = frozenset()
    role: Role = Role.NONE

    @property
    def grant(self) -> Grant:
        """What the token may do."""
        return Grant(
            self.role or (Role.INDEXER if self.projects else Role.ADMIN),
            tuple(sorted(self.projects)),
        )


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, and what it may do."""

    name: str = ""
    grants: tuple[Grant, ...] = _EVERYTHING
    kind: CallerKind = "nobody"
    id: str = ""  # whose conversations, answers and sessions; a person and a token of one name differ in it
    by_cookie: bool = False  # of a session that began in this browser, and can be ended there
    words: frozenset[str] = frozenset()  # that mean the sender in the rules of a fleet

    def role_in(self, project_id: str) -> Role:
        """Return the role in a project."""
        return max((grant.role for grant in self.grants if grant.covers(project_id)), default=Role.NONE)

    @property
    def role_everywhere(self) -> Role:
        """The role that holds in all projects, those that will be added, too."""
        return max((grant.role for grant in self.grants if not grant.projects), default=Role.NONE)

    @property
    def highest_role(self) -> Role:
        """The highest role in any project."""
        return max((grant.role for grant in self.grants), default=Role.NONE)

    def may_use(self, project_id: str) -> bool:
        """Return True if the caller may see a project and ask about it."""
        return self.role_in(project_id) >= Role.READER

    @property
    def may_manage(self) -> bool:
        """True for an administrator of the server, who may add projects and see data of all of it."""
        return self.role_everywhere is Role.ADMIN

    def check(self, project_id: str, needed: Role) -> None:
        """Raise ForbiddenError for too low a role in a project, NotFoundError for one that the caller may not see."""
        role = self.role_in(project_id)
        if not role:
            raise NotFoundError(f"no such project: {project_id!r}", hint="GET /projects lists them")
        if role < needed:
            raise ForbiddenError(
                f"this needs the role {needed.word} in {project_id!r}; {self.said} has the role {role.word} there",
                hint="ask an administrator of this server for the role",
            )

    def check_server(self) -> None:
        """Raise ForbiddenError unless the caller is an administrator of the server."""
        if not self.may_manage:
            raise ForbiddenError(
                f"this is for administrators of the server; {self.said} has fewer rights",
                hint="ask an administrator, or use a token with the role admin for all projects",
            )

    @property
    def said(self) -> str:
        """The caller in a sentence."""
        return f"{'the token ' if self.kind == 'token' else ''}{self.name!r}" if self.name else "this request"


ANYONE = Caller()


def token_of(text: str) -> Token:
    """Read NAME:HASH, NAME:HASH:PROJECT+PROJECT or NAME:HASH:PROJECT+PROJECT:ROLE; the settings have checked the form.

    The project * means all.
    """
    name, digest, projects, role = (*text.split(":"), "", "")[:4]
    kept = grant_of(Role.NONE, projects).projects
    return Token(name, digest, frozenset(kept), role_of(role) if role else Role.NONE)


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
    return (
        None
        if owner is None
        else Caller(owner.name, (owner.grant,), "token", owner.name, words=words_of_token(owner.name))
    )


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
