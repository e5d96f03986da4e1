"""Keys and tokens in the keyring of the user, by the names of environment variables."""

from __future__ import annotations

import importlib
from typing import Any

KEYRING_SERVICE = "codefathom"


def keyring_key(*variables: str) -> str:
    """Return the first key that the user's keyring holds, "" when it holds none or there is no keyring."""
    try:
        library: Any = importlib.import_module("keyring")
        keys = (library.get_password(KEYRING_SERVICE, variable) for variable in variables)
        return next((key.strip() for key in keys if key), "")
    except Exception:  # every keyring has errors of its own, and none of them is a reason to stop
        return ""


def setting_a_key(variable: str) -> str:
    """Return how a key is set, as a remedy."""
    return f"set {variable} in the environment, or `keyring set {KEYRING_SERVICE} {variable}` (codefathom[keyring])"
