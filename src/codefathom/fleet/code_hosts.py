"""The repositories of an organisation, a group or a user on a code host: GitHub, GitLab, Gitea and Forgejo, over REST.

An address for git is made of the host that the user has named and the path of a repository, and never taken from an
answer: so a token goes to this host alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
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
_APIS = {"https://github.com": "https://api.github.com"}


class _Listed(NamedTuple):
    number: int
    path: str  # "" for an odd one
    level: str
    is_fork: bool
    is_archived: bool
    is_empty: bool


def list_repositories(
    source: HostSource, variables: Mapping[str, str], on_wait: Callable[[str], None] = lambda _: None
) -> HostListing:
    """Return the repositories of a source.

    Where the host asks to wait, wait up to five minutes, and up to a quarter of an hour in sum.
    Raises ProviderError, also for a longer wait, SettingsError for a token that cannot be one.
    """
    kind, access = KINDS[source.kind], access_to(source, variables)
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
    api = _APIS.get(source.host, source.host + kind.api)
    server = Server(
        api,
        headers,
        Timeouts(10.0, 60.0),
        hints=hints,
        longest_wait_s=_LONGEST_WAIT_S,
        longest_waits_s=_LONGEST_WAITS_S,
    )
    with closing(Http(server, on_wait=on_wait)) as http:
        listed = {item.number: item for item in _all(http, source, kind)}
    taken = [item for item in listed.values() if not _why_not(item, source)]
    return HostListing(
        tuple(
            RemoteRepository(f"{api} {item.number}", f"{source.host}/{item.path}.git", item.path, access.login)
            for item in taken
        ),
        tuple(_left_out(list(listed.values()), source)),
    )


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
            yield from _pages(http, source, path.format(group=quote(source.group, safe="")))
            return
        except StatusError as error:
            if error.status != 404 or number == len(kind.lists):
                raise


def _pages(http: Http, source: HostSource, path: str) -> Iterator[_Listed]:
    """Yield what all pages list. Only whether there is a next page is taken from an answer, not its address."""
    n_listed = 0
    for number in range(1, _MOST_PAGES + 1):
        answer = http.get(f"{path}&page={number}")
        if not isinstance(answer.value, list):
            raise _no_list(source)
        n_listed += len(answer.value)
        if n_listed > _MOST_REPOSITORIES:
            raise _too_many(source, f"{_MOST_REPOSITORIES:,} repositories")
        yield from (_listed(item, source) for item in answer.value)
        links = answer.headers.get("link", "")
        # Some proxies take the header away: then the page after the last one is empty.
        if not answer.value or (links and 'rel="next"' not in links):
            return
    raise _too_many(source, f"{_MOST_PAGES:,} pages")


def _too_many(source: HostSource, limit: str) -> ProviderError:
    return ProviderError(f"{source.source} lists more than {limit}", hint="name a smaller group as the source")


def _listed(item: Any, source: HostSource) -> _Listed:
    """Return a repository of a listing. Raises ProviderError for anything else."""
    fields: Mapping[str, Any] = item if isinstance(item, dict) else {}
    is_gitlab = source.kind == "gitlab"
    number, path = fields.get("id"), fields.get("path_with_namespace" if is_gitlab else "full_name")
    if not isinstance(number, int) or not isinstance(path, str):
        raise _no_list(source)
    if not REPOSITORY_PATH.fullmatch(path) or len(path) > _LONGEST_PATH:
        path = ""  # one such name does not stand in the way of the others
    level = fields.get("visibility")
    if level not in LEVELS:  # Gitea has no such field
        level = "private" if fields.get("private") else "internal" if fields.get("internal") else "public"
    is_fork = bool(fields.get("forked_from_project")) if is_gitlab else bool(fields.get("fork"))
    is_empty = bool(fields.get("empty_repo" if is_gitlab else "empty"))
    return _Listed(number, path, level, is_fork, bool(fields.get("archived")), is_empty)


def _no_list(source: HostSource) -> ProviderError:
    return ProviderError(
        f"the host of {source.source} did not answer with a list of repositories",
        hint="is this the address of the host, and the right kind of host?",
    )
