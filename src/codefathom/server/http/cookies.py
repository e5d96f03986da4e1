"""Cookies of signing in: their names, and how they are set.

Over HTTPS a name begins with `__Host-`, or below a path with `__Secure-`: a browser takes such a cookie only from
this server over HTTPS, so that no page of a neighbouring name can plant one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

SESSION = "fathom-session"
ATTEMPT = "fathom-sign-in-"  # with the first characters of its state: several tabs may sign in at the same time
_OF_STATE = 12


@dataclass(frozen=True, slots=True)
class CookiePlace:
    """Where the browser keeps and sends cookies: over which scheme, below which path."""

    is_secure: bool
    root_path: str

    def name(self, base: str) -> str:
        """Return the whole name of a cookie here."""
        if not self.is_secure:
            return base
        return f"__Secure-{base}" if self.root_path else f"__Host-{base}"

    def header(self, base: str, value: str, seconds: int | None = None) -> str:
        """Return the header that sets a cookie, until the browser is closed or so many seconds; 0 removes it."""
        parts = [f"{self.name(base)}={value}", f"Path={self.root_path or '/'}", "HttpOnly", "SameSite=Lax"]
        parts += [] if seconds is None else [f"Max-Age={seconds}"]
        return "; ".join([*parts, "Secure"] if self.is_secure else parts)

    def value(self, headers: Headers, base: str) -> str:
        """Return what a request sends in a cookie; "" for none, and for two, of which one may be planted."""
        name = self.name(base)
        pairs = (part.strip().partition("=") for line in headers.getlist("cookie") for part in line.split(";"))
        values = [value for key, _, value in pairs if key == name]
        return values[0] if len(values) == 1 else ""


def place_of(scope: Mapping[str, Any]) -> CookiePlace:
    """Return the place of the cookies of a request, as its client has addressed it."""
    return CookiePlace(scope["scheme"] == "https", scope["state"].get("root_path", ""))


def attempt_cookie(state: str) -> str:
    """Return the name of the cookie of a sign-in that has begun."""
    return ATTEMPT + "".join(sign for sign in state[:_OF_STATE] if sign.isascii() and (sign.isalnum() or sign in "-_"))
