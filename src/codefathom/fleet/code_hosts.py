"""The repositories of an organisation, a group or a user on a code host: GitHub, GitLab, Gitea and Forgejo, over REST.

An address for git is made of the host that the user has named and the path of a repository, and never taken from an
answer: so a token goes to this host alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from codefathom.errors import ProviderError
from codefathom.fleet.fleet_clones import HostListing, RemoteRepository
from codefathom.fleet.host_access import access_to
from codefathom.fleet.host_sources import KINDS, LEVELS, REPOSITORY_PATH, WORDS, HostKind, HostSource
from codefathom.providers.http import Hints, Http, Server, StatusError, Timeouts
from codefathom.remote.keyring_keys import setting_a_key

_LONGEST_WAIT_S = 300.0  # for a rate limit
_LONGEST_WAITS_S = 900.0  # of one listing
_MOST_PAGES = 1_000
_MOST_REPOSITORIES = 100_000  # a page of some hosts may be of any size
_LONGEST_PATH = 500  # characters
_SMALLER = "name a smaller group as the source"
_APIS = {"https://github.com": "https://api.github.com"}


class _Listed(NamedTuple):
    number: int
    path: str  # "" for an odd one
    level: str
    is_fork: bool
    is_archived: bool
    is_empty: bool
    is_open: bool
    active_s: int  # 0: not told


class ListKind(NamedTuple):
    """What a host lists, and how much of it is taken."""

    owner: str  # in errors: whose list it is
    noun: str
    most_pages: int
    most_items: int
    remedy: str


def list_repositories(
    source: HostSource, variables: Mapping[str, str], on_wait: Callable[[str], None] = lambda _: None
) -> HostListing:
    """Return the repositories of a source.

    Where the host asks to wait, wait up to five minutes, and up to a quarter of an hour in sum.
    Raises ProviderError, also for a longer wait, SettingsError for a token that cannot be one.
    """
    with closing(host_connection(source, variables, on_wait)) as http:
        listed = {item.number: item for item in _all(http, source, KINDS[source.kind])}
    login, api = access_to(source, variables).login, _api(source)
    return HostListing(
        tuple(
            RemoteRepository(
                f"{api} {item.number}",
                f"{source.host}/{item.path}.git",
                item.path,
                login,
                is_open=item.is_open,
                active_s=item.active_s,
            )
            for item in listed.values()
            if not _why_not(item, source)
        ),
        tuple(_left_out(list(listed.values()), source)),
    )


def host_connection(
    source: HostSource, variables: Mapping[str, str], on_wait: Callable[[str], None] = lambda _: None
) -> Http:
    """Return the connection to the host of a source, with its token. Raises SettingsError for what cannot be one."""
    access = access_to(source, variables)
    headers = {"Accept": "application/json", "User-Agent": "codefathom"}
    if access.token:
        headers["Authorization"] = f"Bearer {access.token}"
    hints = Hints(
        unreachable="check the address of the source, and that this machine can reach it",
        key=f"the token is missing or wrong: {setting_a_key(access.variable)}",
        unknown="no such organisation, group or user, or it needs a token that may see it: "
        + setting_a_key(access.variable),
        silent="run `fathom fleet index` again later",
        refused="is this the right kind of host?",
        address="is this the address of the host, and the right kind of host?",
    )
    server = Server(
        _api(source),
        headers,
        Timeouts(10.0, 60.0),
        hints=hints,
        longest_wait_s=_LONGEST_WAIT_S,
        longest_waits_s=_LONGEST_WAITS_S,
    )
    return Http(server, on_wait=on_wait)


def _api(source: HostSource) -> str:
    return _APIS.get(source.host, source.host + KINDS[source.kind].api)


def _why_not(item: _Listed, source: HostSource) -> str:
    """Return why a repository is left out, "" for one that is taken."""
    if item.is_archived and "archived" not in source.words:
        return "archived"
    if item.is_fork and "forks" not in source.words:
        return "forks"
    if item.level not in source.levels:
        return item.level
    if not item.path:
        return "odd"
    return "empty" if item.is_empty else ""


def _left_out(items: Sequence[_Listed], source: HostSource) -> Iterator[str]:
    reasons = [_why_not(item, source) for item in items]
    for word in (*WORDS, "odd", "empty"):
        if n_such := reasons.count(word):
            remedy = f"; {source.source}+{word} takes them" if word in ("archived", "forks") else ""
            such = {"forks": "that are forks", "empty": "without a commit", "odd": "with odd names"}.get(
                word, f"that are {word}"
            )
            yield f"{source.source}: repositories {such} are left out: {n_such:,}{remedy}"


def _all(http: Http, source: HostSource, kind: HostKind) -> Iterator[_Listed]:
    for number, path in enumerate(kind.lists, start=1):
        try:
            of_source = ListKind(source.source, "repositories", _MOST_PAGES, _MOST_REPOSITORIES, _SMALLER)
            for item in listed_items(http, path.format(group=quote(source.group, safe="")), of_source):
                yield _listed(item, source, of_source)
            return
        except StatusError as error:
            if error.status != 404 or number == len(kind.lists):
                raise


def listed_items(http: Http, path: str, kind: ListKind) -> Iterator[Mapping[str, Any]]:
    """Yield what all pages list. Only whether there is a next page is taken from an answer, not its address.

    Raises ProviderError, also for an answer that is no list, or has no end.
    """
    n_listed = 0
    for number in range(1, kind.most_pages + 1):
        answer = http.get(f"{path}&page={number}")
        if not isinstance(answer.value, list):
            raise no_list(kind)
        n_listed += len(answer.value)
        if n_listed > kind.most_items:
            raise _too_many(kind, f"{kind.most_items:,} {kind.noun}")
        yield from (item if isinstance(item, dict) else {} for item in answer.value)
        links = answer.headers.get("link", "")
        # Some proxies take the header away: then the page after the last one is empty.
        if not answer.value or (links and 'rel="next"' not in links):
            return
    raise _too_many(kind, f"{kind.most_pages:,} pages")


def _too_many(kind: ListKind, limit: str) -> ProviderError:
    return ProviderError(f"{kind.owner} lists more than {limit}", hint=kind.remedy)


def _listed(fields: Mapping[str, Any], source: HostSource, kind: ListKind) -> _Listed:
    """Return a repository of a listing. Raises ProviderError for anything else."""
    is_gitlab = source.kind == "gitlab"
    number, path = fields.get("id"), fields.get("path_with_namespace" if is_gitlab else "full_name")
    if not isinstance(number, int) or not isinstance(path, str):
        raise no_list(kind)
    if not REPOSITORY_PATH.fullmatch(path) or len(path) > _LONGEST_PATH:
        path = ""  # one such name does not stand in the way of the others
    level = fields.get("visibility")
    if level not in LEVELS:  # Gitea has no such field
        level = "private" if fields.get("private") else "internal" if fields.get("internal") else "public"
    is_fork = bool(fields.get("forked_from_project")) if is_gitlab else bool(fields.get("fork"))
    is_empty = bool(fields.get("empty_repo" if is_gitlab else "empty"))
    is_open = level in KINDS[source.kind].open_levels and _is_open(fields, level)
    active_s = _seconds(fields.get(KINDS[source.kind].active))
    return _Listed(number, path, level, is_fork, bool(fields.get("archived")), is_empty, is_open, active_s)


def _seconds(value: object) -> int:
    """Return a time such as 2026-11-01T12:00:00Z in seconds, 0 for anything else."""
    if not isinstance(value, str):
        return 0
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return 0
    return max(0, int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))


def _is_open(fields: Mapping[str, Any], level: str) -> bool:
    """Return True only where the host says itself that a repository of this visibility is for more than its members."""
    is_told = fields.get("visibility") == level or fields.get("private") is False
    # A project of GitLab may be public while its code is for members.
    return is_told and not fields.get("private") and fields.get("repository_access_level", "enabled") == "enabled"


def no_list(kind: ListKind) -> ProviderError:
    """Return the error for an answer of another kind."""
    return ProviderError(
        f"the host of {kind.owner} did not answer with a list of {kind.noun}",
        hint="is this the address of the host, and the right kind of host?",
    )
