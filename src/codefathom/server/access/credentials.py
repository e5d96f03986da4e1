"""Who sends a request: a token, or a person whom a trusted proxy names."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.datastructures import Headers

from codefathom.server.access.token_table import TokenTable
from codefathom.server.http.auth import Caller, Token, caller_of
from codefathom.server.http.client_address import Network, is_proxy
from codefathom.server.http.problem_json import UnauthorizedError
from codefathom.server.http.user_roles import RoleRule, grants_of

_LONGEST = 200  # of a name


@dataclass(frozen=True, slots=True)
class SignInRules:
    """How programs and people sign in, and what people may do."""

    tokens: tuple[Token, ...] = ()  # of the settings
    proxies: tuple[Network, ...] = ()  # that are trusted
    roles: tuple[RoleRule, ...] = ()
    user_header: str = ""  # with the name of a person, from a trusted proxy only; "": no header is read
    groups_header: str = ""

    @property
    def is_used(self) -> bool:
        """True if the settings let somebody sign in."""
        return bool(self.tokens or self.user_header)


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


def _named_by_proxy(headers: Headers, rules: SignInRules) -> Caller | None:
    names = headers.getlist(rules.user_header) if rules.user_header else []
    if not names or not (names[0].strip() or names[1:]):
        return None
    name = names[0].strip()
    if len(names) > 1 or len(name) > _LONGEST or "," in name or not name.isprintable():
        raise UnauthorizedError(
            f"the proxy has sent no usable name in the header {rules.user_header}",
            hint="let the proxy replace what clients send under this name, and send one name",
        )
    values = headers.getlist(rules.groups_header) if rules.groups_header else []
    groups = [part.strip() for value in values for part in value.split(",")] if len(values) == 1 else []
    return Caller(name, grants_of(rules.roles, name, groups), "person", f"person:{name}")
