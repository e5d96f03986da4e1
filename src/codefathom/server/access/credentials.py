"""Who sends a request: a token, a person whom a trusted proxy names, or one who has signed in at the provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.datastructures import Headers
from starlette.types import Scope

from codefathom.project.repository_sight import words_of_person
from codefathom.server.access.browser_sessions import BrowserSessions
from codefathom.server.access.openid_client import LONGEST_NAME, OpenIdClient
from codefathom.server.access.token_table import TokenTable
from codefathom.server.http.auth import Caller, Token, caller_of
from codefathom.server.http.client_address import Network, is_proxy
from codefathom.server.http.cookies import SESSION, place_of
from codefathom.server.http.problem_json import ForbiddenError, UnauthorizedError
from codefathom.server.http.user_roles import RoleRule, grants_of

READING = frozenset({"GET", "HEAD", "OPTIONS"})  # methods that change nothing


@dataclass(frozen=True, slots=True)
class SignInRules:
    """How programs and people sign in, and what people may do."""

    tokens: tuple[Token, ...] = ()  # of the settings
    proxies: tuple[Network, ...] = ()  # that are trusted
    roles: tuple[RoleRule, ...] = ()
    user_header: str = ""  # with the name of a person, from a trusted proxy only; "": no header is read
    groups_header: str = ""
    openid: OpenIdClient | None = None

    @property
    def is_used(self) -> bool:
        """True if the settings let somebody sign in."""
        return bool(self.tokens or self.user_header or self.openid)


def sender_of(headers: Headers, peer: str, rules: SignInRules, table: TokenTable) -> Caller | None:
    """Return who sends a request, None where it has no credential that is valid; `peer` is the other end of the line.

    Raises UnauthorizedError for two names in one request: one of them may come from the client itself.
    """
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        caller = caller_of(secret.strip(), rules.tokens) or table.find(secret.strip())
        if caller is not None:
            return caller
    return _named_by_proxy(headers, rules) if is_proxy(peer, rules.proxies) else None


def sender_by_cookie(scope: Scope, rules: SignInRules, sessions: BrowserSessions) -> Caller | None:
    """Return the person whose browser sends the cookie of a session, None where it sends none that is valid.

    Raises ForbiddenError for a change that no page of this server asks for: a browser sends cookies with what other
    pages ask for, too.
    """
    headers = Headers(scope=scope)
    secret = place_of(scope).value(headers, SESSION)
    person = sessions.find(secret, rules.openid) if secret and rules.openid else None
    if person is None:
        return None
    own = f"{scope['scheme']}://{headers.get('host', '')}".lower()
    if scope["method"] not in READING and headers.get("origin", "").lower() != own:
        raise ForbiddenError(
            "only a page of this server may change something for the person who has signed in in this browser",
            hint="use the page of this server; a program sends the header Authorization: Bearer TOKEN",
        )
    return replace(person_caller(person.name, person.groups, rules), by_cookie=True)


def person_caller(name: str, groups: Sequence[str], rules: SignInRules) -> Caller:
    """Return the caller for a person, with what the rules give now."""
    words = words_of_person(name, groups)
    return Caller(name, grants_of(rules.roles, name, groups), "person", f"person:{name}", words=words)


def _named_by_proxy(headers: Headers, rules: SignInRules) -> Caller | None:
    names = headers.getlist(rules.user_header) if rules.user_header else []
    if not names or not (names[0].strip() or names[1:]):
        return None
    name = names[0].strip()
    if len(names) > 1 or len(name) > LONGEST_NAME or "," in name or not name.isprintable():
        raise UnauthorizedError(
            f"the proxy has sent no usable name in the header {rules.user_header}",
            hint="let the proxy replace what clients send under this name, and send one name",
        )
    values = headers.getlist(rules.groups_header) if rules.groups_header else []
    groups = [part.strip() for value in values for part in value.split(",")] if len(values) == 1 else []
    return person_caller(name, groups, rules)
