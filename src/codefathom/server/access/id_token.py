"""The ID token of a provider: its signature, and whether it is for this server and this sign-in.

The library is PyJWT, of the extra `oidc`; nothing else imports it.
"""

from __future__ import annotations

import hmac
import importlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from codefathom.server.access.openid_client import OpenIdClient
from codefathom.server.http.problem_json import SignInClockError, SignInFailedError

# Signatures with a public key only: with HS256 whoever knows the public key could sign, and `none` is no signature.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
CLOCK_S = 60.0  # that the clocks of the provider and of this machine may differ
_REQUIRED = ("iss", "sub", "aud", "exp", "iat")
_MOST_KEYS = 100


class UnknownKeyError(SignInFailedError):
    """The token is signed with a key that is not among those of the provider, as they were read."""


def checked_claims(token: str, keys: Sequence[Any], client: OpenIdClient, nonce: str) -> Mapping[str, Any]:
    """Return the claims of an ID token that the provider has signed for this server and this sign-in.

    `keys` are the provider's public keys, as JWK. Raises SignInFailedError, of which UnknownKeyError may pass when the
    keys are read again.
    """
    jwt: Any = importlib.import_module("jwt")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise _refused("it is not signed with a public key")
        claims: Mapping[str, Any] = jwt.decode(
            token,
            _key(jwt, keys, header.get("kid"), algorithm),
            algorithms=list(ALGORITHMS),
            audience=client.client_id,
            issuer=client.issuer,
            leeway=CLOCK_S,
            options={"require": list(_REQUIRED)},
        )
    except (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError) as error:
        raise _clock(jwt, token) from error
    except jwt.InvalidIssuerError as error:
        raise _refused("it comes from another issuer than server.oidc_issuer") from error
    except jwt.InvalidAudienceError as error:
        raise _refused("it is for another client than server.oidc_client_id") from error
    except jwt.InvalidSignatureError as error:
        raise _refused("its signature is not that of the provider") from error
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise _refused("it is not a sound ID token") from error
    _check_for_us(claims, client, nonce)
    return claims


def _check_for_us(claims: Mapping[str, Any], client: OpenIdClient, nonce: str) -> None:
    party = claims.get("azp")
    is_shared = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (party is not None or is_shared) and party != client.client_id:
        raise _refused("it was made for another client than server.oidc_client_id")
    sent = claims.get("nonce")
    if not isinstance(sent, str) or not hmac.compare_digest(sent.encode("utf-8", "replace"), nonce.encode()):
        raise _refused("it belongs to another sign-in")


def _key(jwt: Any, keys: Sequence[Any], name: object, algorithm: str) -> Any:
    """Return the key with which a token says that it is signed, and which may make such signatures."""
    usable = []
    for key in keys[:_MOST_KEYS]:
        if not isinstance(key, Mapping) or key.get("use", "sig") != "sig" or key.get("alg", algorithm) != algorithm:
            continue
        if name is None or key.get("kid") == name:
            try:
                usable.append(jwt.PyJWK(dict(key), algorithm=algorithm))
            except (jwt.PyJWTError, ValueError, TypeError):  # a key of another kind
                continue
    if len(usable) != 1:
        raise UnknownKeyError(
            "the ID token of the provider is signed with a key that the provider does not list",
            hint="sign in again; if that does not help, the keys of the provider are not set up correctly",
        )
    return usable[0]


def _clock(jwt: Any, token: str) -> SignInClockError:
    """Return the error for a token that has ended, or not begun; its signature has been checked before."""
    claims = jwt.decode(token, options={"verify_signature": False})
    made = claims.get("iat")
    differ = f" by about {abs(time.time() - made):.0f} s" if isinstance(made, int | float) else ""
    return SignInClockError(
        f"the ID token of the provider is not valid at this time: the clocks of the provider and of this server "
        f"differ{differ}",
        hint="set both clocks by NTP; `date` shows that of this server",
    )


def _refused(reason: str) -> SignInFailedError:
    return SignInFailedError(
        f"the ID token of the provider is refused: {reason}",
        hint="sign in again; if that does not help, compare server.oidc_issuer and server.oidc_client_id with the "
        "provider",
    )
