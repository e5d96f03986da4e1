"""Sources on code hosts as they are written, such as github:ORGANISATION or gitlab:https://git.example.org/GROUP+forks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from codefathom.clones.git_address import checked_url
from codefathom.errors import UsageError

_FORM = re.compile(r"(?P<kind>github|gitlab|gitea|forgejo):(?P<group>[^+]+)(?P<words>(?:\+[a-z]+)*)", re.ASCII)
_PART = r"(?!\.\.?(?:/|$))[\w.][\w.-]*"
REPOSITORY_PATH = re.compile(rf"{_PART}(?:/{_PART})+", re.ASCII)
LEVELS = ("public", "internal", "private")
WORDS = ("archived", "forks", *LEVELS)
_EXAMPLE = "an example is github:ORGANISATION or gitlab:https://git.example.org/GROUP+archived"


class HostKind(NamedTuple):
    """What hosts of one kind have in common; {group} stands for the name."""

    usual: str  # address of the best known host, "" for none
    api: str  # below the address of any other host
    lists: tuple[str, ...]  # each is tried where the one before it is not there
    variable: str  # of the token
    user: str  # name that git gives beside the token
    people: str  # who has access to a repository; {path} stands for its name
    active: str  # the field of a repository with the time at which it was last active
    open_levels: frozenset[str] = frozenset({"public"})  # that let everybody read who is there


_GITEA = HostKind(
    "",
    "/api/v1",
    ("/orgs/{group}/repos?limit=50", "/users/{group}/repos?limit=50"),
    "GITEA_TOKEN",
    "oauth2",
    "/repos/{path}/collaborators?limit=50",
    "updated_at",
)
# By id or by time, so that a repository that comes while pages are read comes last.
KINDS: Mapping[str, HostKind] = {
    "github": HostKind(
        "https://github.com",
        "/api/v3",
        (
            "/orgs/{group}/repos?type=all&sort=created&direction=asc&per_page=100",
            "/users/{group}/repos?type=owner&sort=created&direction=asc&per_page=100",
        ),
        "GITHUB_TOKEN",
        "x-access-token",
        "/repos/{path}/collaborators?affiliation=all&per_page=100",
        "pushed_at",
    ),
    "gitlab": HostKind(
        "https://gitlab.com",
        "/api/v4",
        (
            "/groups/{group}/projects?include_subgroups=true&with_shared=false&order_by=id&sort=asc&per_page=100",
            "/users/{group}/projects?order_by=id&sort=asc&per_page=100",
        ),
        "GITLAB_TOKEN",
        "oauth2",
        "/projects/{path}/members/all?per_page=100",
        "last_activity_at",
        frozenset({"public", "internal"}),
    ),
    "gitea": _GITEA,
    "forgejo": _GITEA,
}


class HostSource(NamedTuple):
    """A source on a code host."""

    source: str  # as it was given
    kind: str
    host: str  # its address, such as https://github.com
    group: str
    words: frozenset[str]  # archived, forks: taken, too; public, internal, private: only these

    @property
    def host_name(self) -> str:
        """The name of the host, without a port."""
        return urlsplit(self.host).hostname or ""

    @property
    def levels(self) -> frozenset[str]:
        """Who may see the repositories that are taken."""
        return self.words & set(LEVELS) or frozenset(LEVELS)


def is_host_source(text: str) -> bool:
    """Return True for what begins with the name of a kind of host."""
    return text.partition(":")[0] in KINDS and ":" in text


def host_source(text: str, schemes: Sequence[str]) -> HostSource:
    """Return a source on a code host. Raises UsageError."""
    form = _FORM.fullmatch(text)
    words = frozenset(form["words"].split("+")[1:]) if form else frozenset[str]()
    if form is None or not words <= set(WORDS):
        raise UsageError(
            f"{text[:200]!r} is not a source on a code host",
            hint=f"{_EXAMPLE}; after + may come {', '.join(WORDS)}",
        )
    kind, group = KINDS[form["kind"]], form["group"].strip("/")
    if "://" not in group and not kind.usual:
        raise UsageError(f"{text[:200]!r} names no host", hint=f"write {form['kind']}:https://HOST/{group[:100]}")
    url = checked_url(group if "://" in group else f"{kind.usual}/{group}", schemes)
    parts = urlsplit(url)
    host, path = f"{parts.scheme}://{parts.netloc}", parts.path.strip("/")
    is_deep = "/" in path and form["kind"] != "gitlab"
    if parts.scheme not in ("http", "https") or is_deep or not REPOSITORY_PATH.fullmatch(f"x/{path}"):
        raise UsageError(f"{text[:200]!r} names no organisation, group or user", hint=_EXAMPLE)
    return HostSource(text, form["kind"], host, path, words)
