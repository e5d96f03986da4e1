"""Who may read the repositories of a source on a code host, asked over REST: one list of logins for each repository."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple
from urllib.parse import quote

from codefathom.errors import FathomError, ProviderError
from codefathom.fleet.code_hosts import ListKind, host_connection, listed_items, no_list
from codefathom.fleet.fleet_clones import RemoteRepository
from codefathom.fleet.host_sources import KINDS, HostSource
from codefathom.fleet.reader_lists import ReaderList
from codefathom.providers.http import Http, StatusError

_LOGIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}")
_MOST_PEOPLE = 10_000  # of one repository
_MOST_PAGES = 400
_MOST_TEAMS = 200  # of one repository, on Gitea
_MOST_FAILURES = 3  # in a row, after which a host is left alone
_LONGEST_S = 1_800.0  # for one source
_READS_GITLAB = 20  # access level of a reporter: a guest reads no code of a private project
_READS_GITEA = frozenset({"read", "write", "admin", "owner"})
_NO_TEAMS = 405  # Gitea's answer for the repository of a person
_BY_FILE = "say in readers.toml who may read it"


class _Outcome(NamedTuple):
    logins: tuple[str, ...] | None
    problem: str = ""
    is_of_host: bool = False  # the same is likely for the next repository


def ask_host(
    source: HostSource,
    clones: Mapping[str, RemoteRepository],
    before: Mapping[str, ReaderList],
    variables: Mapping[str, str],
    on_wait: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[str, ReaderList]]:
    """Yield the list of each clone: the answer of its host, or the one before where it does not answer.

    Those are asked first that nobody has asked for the longest time, so that each gets its turn where a host limits
    calls.
    """
    until, n_failures = time.monotonic() + _LONGEST_S, 0
    problem = ""
    with closing(host_connection(source, variables, on_wait)) as http:
        for clone in sorted(clones, key=lambda name: before[name].tried_at if name in before else 0.0):
            item, last, now = clones[clone], before.get(clone), time.time()
            listed = ReaderList(source.host_name, source.source, item.path, item.is_open, (), now, now)
            if item.is_open:
                yield clone, listed
                continue
            if n_failures >= _MOST_FAILURES or time.monotonic() > until:
                outcome = _Outcome(None, problem or "there was no time to ask the host")
                tried_at = last.tried_at if last else 0.0
            else:
                outcome, tried_at = _answer(http, source, item.path, until), now
                n_failures = n_failures + 1 if outcome.is_of_host else 0
                problem = outcome.problem if outcome.is_of_host else problem
            if outcome.logins is None:
                kept, answered_at = (None, 0.0) if last is None or last.is_open else (last.logins, last.answered_at)
                yield (
                    clone,
                    listed._replace(logins=kept, answered_at=answered_at, tried_at=tried_at, problem=outcome.problem),
                )
            else:
                yield clone, listed._replace(logins=outcome.logins)


def _answer(http: Http, source: HostSource, path: str, until: float) -> _Outcome:
    logins: set[str] = set()
    try:
        for n_listed, login in enumerate(_logins(http, source, path), start=1):
            if n_listed > _MOST_PEOPLE or time.monotonic() > until:
                raise ProviderError(f"{path} lists too many people, or too slowly", hint=_BY_FILE)
            logins |= {login} if _LOGIN.fullmatch(login) else set()
        return _Outcome(tuple(sorted(logins)))
    except StatusError as error:
        if error.is_passing or error.status == 401:
            return _Outcome(None, f"{error}; {error.hint}", is_of_host=True)
        return _Outcome(
            None,
            f"the host answers {error.status} when it is asked who has access; its token must belong to somebody who "
            f"may see that, or {_BY_FILE}",
        )
    except FathomError as error:
        return _Outcome(None, f"{error}; {error.hint}", is_of_host=True)


def _logins(http: Http, source: HostSource, path: str) -> Iterator[str]:
    safe = "" if source.kind == "gitlab" else "/"
    of_path = KINDS[source.kind].people.format(path=quote(path, safe=safe))
    reads = {"github": _reads_github, "gitlab": _reads_gitlab}.get(source.kind, lambda _: True)
    yield from _people(http, of_path, path, reads)
    if source.kind in ("gitea", "forgejo"):
        yield from _of_gitea_owner(http, path)


def _people(http: Http, address: str, path: str, reads: Callable[[Mapping[str, Any]], bool]) -> Iterator[str]:
    kind = ListKind(path, "people", _MOST_PAGES, _MOST_PEOPLE, _BY_FILE)
    for person in listed_items(http, address, kind):
        login = person.get("login", person.get("username"))
        if not isinstance(login, str):
            raise no_list(kind)
        if reads(person):
            yield login


def _reads_github(person: Mapping[str, Any]) -> bool:
    rights = person.get("permissions")
    return isinstance(rights, dict) and rights.get("pull") is True


def _reads_gitlab(person: Mapping[str, Any]) -> bool:
    level = person.get("access_level")
    return person.get("state") == "active" and isinstance(level, int) and level >= _READS_GITLAB


def _of_gitea_owner(http: Http, path: str) -> Iterator[str]:
    """Yield whom the owner of a repository lets in: the members of teams, or the person who owns it."""
    kind = ListKind(path, "teams", 1, _MOST_TEAMS, _BY_FILE)
    try:
        teams = http.get(f"/repos/{quote(path)}/teams").value  # all in one answer
    except StatusError as error:
        if error.status != _NO_TEAMS:
            raise
        yield path.partition("/")[0]
        return
    if not isinstance(teams, list) or not all(isinstance(team, dict) for team in teams) or len(teams) > _MOST_TEAMS:
        raise no_list(kind)
    for team in teams:
        if _reads_gitea(team):
            if not isinstance(team.get("id"), int):
                raise no_list(kind)
            yield from _people(http, f"/teams/{team['id']}/members?limit=50", path, lambda _: True)


def _reads_gitea(team: Mapping[str, Any]) -> bool:
    if team.get("permission") in ("admin", "owner"):
        return True
    units: Sequence[Any] | Mapping[str, Any] = team.get("units_map") or {}
    return isinstance(units, dict) and units.get("repo.code") in _READS_GITEA
