"""What a code host sends after a push: who has sent it, and which repository it is about. Pure.

The forms are those that GitHub, GitLab, Gitea and Forgejo document. An address in an event is compared with those that
a fleet has, and never asked.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any, NamedTuple

from codefathom.text.foreign_json import read_json

SECRET = "FLEET_WEBHOOK_SECRET"  # variable with the secret of all fleets; with _NAME behind it, of one
LEAST_SECRET = 16  # characters
_SIGNATURES = ("x-hub-signature-256", "x-forgejo-signature", "x-gitea-signature")
_EVENTS = ("x-gitlab-event", "x-forgejo-event", "x-gitea-event", "x-github-event")
_PUSHES = ("push", "Push Hook")
_ADDRESSES = ("clone_url", "git_http_url", "ssh_url", "git_ssh_url", "html_url", "web_url")
_HEADS = "refs/heads/"
_MOST_CHARS = 2_000  # of an address


class PushEvent(NamedTuple):
    """A push to a branch of a repository."""

    places: frozenset[str]  # of the repository, see `place_of_address`
    branch: str = ""  # "": the default one


def secret_variables(variables: Mapping[str, str]) -> dict[str, bool]:
    """Return the variables that hold a secret, each with True if it is long enough to be used."""
    named = {
        name: value.strip() for name, value in variables.items() if name == SECRET or name.startswith(f"{SECRET}_")
    }
    return {name: len(value) >= LEAST_SECRET for name, value in sorted(named.items()) if value}


def is_signed(headers: Mapping[str, str], body: bytes, secret: str) -> bool:
    """Return True if whoever sent a body knows the secret. It takes as long for a wrong value as for a right one."""
    key = secret.encode()
    if token := headers.get("x-gitlab-token"):
        return hmac.compare_digest(token.encode(), key)
    signature = next((headers[name] for name in _SIGNATURES if headers.get(name)), "").removeprefix("sha256=")
    return hmac.compare_digest(signature.encode(), hmac.digest(key, body, "sha256").hex().encode())


def push_event(headers: Mapping[str, str], body: bytes) -> PushEvent | None:
    """Return the push that an event tells of; None for another event, and for a tag.

    Raises ValueError for what is no event of a code host.
    """
    if next((headers[name] for name in _EVENTS if headers.get(name)), "") not in _PUSHES:
        return None
    event: Any = read_json(body)
    repository = event.get("repository") if isinstance(event, dict) else None
    project = event.get("project") if isinstance(event, dict) else None
    fields: dict[str, Any] = {}
    for item in (repository, project):
        fields |= item if isinstance(item, dict) else {}
    addresses = [fields[name] for name in _ADDRESSES if isinstance(fields.get(name), str)]
    if not addresses:
        raise ValueError("it names no repository")
    usual, ref = fields.get("default_branch"), event.get("ref")
    branch = ""
    if isinstance(usual, str) and isinstance(ref, str) and ref != f"{_HEADS}{usual}":
        branch = ref.removeprefix(_HEADS)
        if branch == ref:
            return None
    places = frozenset(place_of_address(address) for address in addresses if len(address) <= _MOST_CHARS)
    return PushEvent(places, branch)


def place_of_address(address: str) -> str:
    """Return the host and path of an address of git, the same over HTTP and SSH: git.example.org/team/shop."""
    _, mark, rest = address.partition("://")
    if not mark:  # git@host:path
        host, _, path = address.partition(":")
        rest = f"{host}/{path.lstrip('/')}"
    host, _, path = rest.partition("/")
    return f"{host.rpartition('@')[2]}/{path.strip('/').removesuffix('.git')}".lower()
