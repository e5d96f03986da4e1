"""How this server is known at an OpenID Connect provider, and what of the provider's claims it uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from codefathom.server.http.auth import is_loopback
from codefathom.server.http.problem_json import SignInSettingsError

SECRET_VARIABLE = "OIDC_CLIENT_SECRET"
LONGEST_NAME = 200
_MOST_GROUPS = 1_000


@dataclass(frozen=True, slots=True)
class OpenIdClient:
    """The settings `server.oidc_*`, with the secret."""

    issuer: str
    client_id: str
    secret: str = field(repr=False)
    scopes: tuple[str, ...] = ("openid",)
    name_claim: str = "email"
    groups_claim: str = ""
    session_hours: int = 12


@dataclass(frozen=True, slots=True)
class Person:
    """Who has signed in at the provider."""

    name: str
    groups: tuple[str, ...] = ()


def person_of(claims: Mapping[str, Any], client: OpenIdClient) -> Person:
    """Return the person whom claims name. Raises SignInSettingsError for claims without a usable name."""
    name = claim_in(claims, client.name_claim)
    if not isinstance(name, str) or not name.strip():
        raise SignInSettingsError(
            f"the provider has sent no claim {client.name_claim!r} (server.oidc_name_claim)",
            hint="name a claim that the provider sends, or add the scope to server.oidc_scopes that makes it send this "
            "one",
        )
    name = name.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise SignInSettingsError(
            f"the claim {client.name_claim!r} (server.oidc_name_claim) holds no usable name: it has "
            f"{len(name)} characters, or some that cannot be shown",
            hint=f"name a claim with a short text of at most {LONGEST_NAME} characters",
        )
    # Who may write any address into a profile would be whoever has that address.
    if client.name_claim == "email" and claims.get("email_verified") not in (True, "true"):
        raise SignInSettingsError(
            f"the provider does not say that the address {name!r} is verified",
            hint="let the provider verify addresses and send the claim email_verified, or set server.oidc_name_claim "
            "to another claim that people cannot change, such as sub",
        )
    return Person(name, _groups(claim_in(claims, client.groups_claim) if client.groups_claim else None))


def is_possible_issuer(issuer: str) -> bool:
    """Return True for an address that a provider may have: HTTPS, or this machine."""
    try:
        parts = urlsplit(issuer)
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
        return is_plain and ((parts.scheme == "https" and bool(parts.hostname)) or is_here(issuer))
    except ValueError:
        return False


def is_here(address: str) -> bool:
    """Return True for an address of this machine, which needs no HTTPS."""
    parts = urlsplit(address)
    return parts.scheme == "http" and is_loopback(parts.hostname or "")


def claim_in(claims: Mapping[str, Any], name: str) -> Any:
    """Return a claim, or where there is none of that name, the one below it: a.b is b inside a."""
    if name in claims:
        return claims[name]
    value: Any = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _groups(value: object) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (item.strip() for item in values[:_MOST_GROUPS] if isinstance(item, str))
    return tuple(item for item in texts if item and len(item) <= LONGEST_NAME and item.isprintable())
