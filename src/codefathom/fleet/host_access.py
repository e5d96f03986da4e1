"""The access to a code host: its token, and the header with which git reads its repositories."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from codefathom.errors import SettingsError
from codefathom.fleet.host_sources import KINDS, HostSource
from codefathom.remote.keyring_keys import keyring_key


class HostAccess(NamedTuple):
    """What a host is asked with."""

    token: str  # "" without one
    variable: str  # of the environment, in which a token may be
    login: str  # the header of git, "" without a token


def access_to(source: HostSource, variables: Mapping[str, str]) -> HostAccess:
    """Return the access to the host of a source. Raises SettingsError for a token that cannot be one."""
    names = _token_variables(source)
    name = next((name for name in names if variables.get(name, "").strip()), "")
    token = variables[name].strip() if name else keyring_key(*names)
    if not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            f"{name or names[0]} contains characters that a token cannot have", hint="set it again, without line breaks"
        )
    user = KINDS[source.kind].user
    return HostAccess(token, names[0], f"Basic {b64encode(f'{user}:{token}'.encode()).decode()}" if token else "")


def _token_variables(source: HostSource) -> tuple[str, ...]:
    """Return the names under which the token of a host may be; one without a host counts for the usual host only."""
    kind = KINDS[source.kind]
    host = re.sub("[^A-Z0-9]", "_", (urlsplit(source.host).hostname or "").upper())
    own = f"{kind.variable}_{host}"
    return (kind.variable, own) if source.host == kind.usual else (own,)
