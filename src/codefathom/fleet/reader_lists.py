"""What code hosts have said about who may read the clones of a fleet, as a file beside its manifest.

An answer counts for a time that the operator sets. After it, and where there is none, only administrators may read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any, NamedTuple

from codefathom.errors import IndexingError, SettingsError, UnwritableError
from codefathom.project.repository_sight import EVERYBODY, ReaderRule, is_plain_name
from codefathom.stores.folder import File, Folder

HOST_READERS = "host-readers.json"
LOGIN = "{login}"  # in `ReaderHost.people`
_MOST_BYTES = 200_000_000
_HOUR_S = 3_600.0
_SLACK_S = 300.0  # by which the clock may have been set back
_REMEDY = "remove it, and run `fathom fleet index`, which asks the hosts again"


class ReaderHost(NamedTuple):
    """A code host that says who may read its repositories, and what the server calls the people there."""

    name: str  # such as git.example.org
    people: str = ""  # such as {login}@example.org; "": only those of `logins` are known here
    logins: tuple[tuple[str, str], ...] = ()  # a login in small letters, and the name of this person at the server
    hours: float = 24.0  # for which an answer counts

    def person(self, login: str) -> str:
        """Return what the server calls the person with a login, "" for one that it does not know."""
        name = dict(self.logins).get(login.casefold()) or self.people.replace(LOGIN, login)
        return name if is_plain_name(name) else ""


class ReaderList(NamedTuple):
    """The last answer of a host about one repository."""

    host: str
    source: str
    path: str  # of the repository at the host
    is_open: bool  # for everybody
    logins: tuple[str, ...] | None  # None: no answer yet
    answered_at: float  # seconds since the epoch
    tried_at: float
    problem: str = ""  # why there was no answer the last time

    def counts(self, now: float, hours: float) -> bool:
        """Return True while this says who may read the repository."""
        is_answered = self.is_open or self.logins is not None
        return is_answered and -_SLACK_S <= now - self.answered_at <= hours * _HOUR_S


def read_lists(root: str) -> Mapping[str, ReaderList]:
    """Return the lists of the fleet in a folder by the names of its clones. Raises SettingsError."""
    file = Folder(root).file(HOST_READERS)
    return _lists(file, file.stamp())


def write_lists(root: str, lists: Mapping[str, ReaderList]) -> None:
    """Replace the lists of a fleet; they hold from the next question on. Raises UnwritableError."""
    numbers: dict[tuple[str, ...], int] = {}  # repositories of one team have equal lists
    clones: dict[str, dict[str, object]] = {}
    for clone, item in lists.items():
        number = None if item.logins is None else numbers.setdefault(item.logins, len(numbers))
        clones[clone] = item._asdict() | {"logins": number}
    content = json.dumps({"logins": list(numbers), "clones": clones}).encode()
    file = Folder(root).file(HOST_READERS)
    try:
        file.replace([content], private=True)
    except (OSError, IndexingError) as error:
        raise UnwritableError(f"cannot write {file.path!r}: {error}", hint="see if the disk is full") from error


def rules_of_lists(root: str, hosts: tuple[ReaderHost, ...], now: float | None = None) -> tuple[ReaderRule, ...]:
    """Return the rules that the hosts give about clones: those of which none says anything, nobody may read.

    Raises SettingsError for a file that cannot be read.
    """
    if not hosts:
        return ()
    moment, file = time.time() if now is None else now, Folder(root).file(HOST_READERS)
    rules = [group.rule(moment) for group in _groups(file, file.stamp(), hosts)]
    return (*rules, ReaderRule((), frozenset(), frozenset([EVERYBODY])))


class HostCount(NamedTuple):
    """What one host has said, in numbers, and what went wrong last."""

    host: str
    n_lists: int
    n_logins: int
    n_unknown: int  # logins that mean nobody at the server
    oldest_at: float = 0.0  # time of the oldest and of the newest answer, in seconds since the epoch; 0: none yet
    newest_at: float = 0.0
    n_failing: int = 0  # repositories about which it did not answer the last time
    problem: str = ""  # that of one of these which was asked last
    problem_at: float = 0.0


def host_counts(root: str, hosts: Sequence[ReaderHost]) -> Iterator[HostCount]:
    """Yield the numbers of each host. Raises SettingsError."""
    for host in hosts:
        lists = [item for item in read_lists(root).values() if item.host == host.name]
        logins = {login for item in lists for login in item.logins or ()}
        answers = [item.answered_at for item in lists if item.is_open or item.logins is not None]
        failing = sorted((item for item in lists if item.problem), key=lambda item: (item.tried_at, item.path))
        yield HostCount(
            host.name,
            len(lists),
            len(logins),
            sum(not host.person(login) for login in logins),
            min(answers, default=0.0),
            max(answers, default=0.0),
            len(failing),
            f"{failing[-1].path}: {failing[-1].problem}" if failing else "",
            failing[-1].tried_at if failing else 0.0,
        )


def problem_of_list(
    item: ReaderList | None, hosts: Sequence[ReaderHost], *, is_for_nobody: bool, now: float | None = None
) -> str:
    """Return what is wrong with the list of a clone, "" for nothing.

    With `is_for_nobody` there is no rule, either, that lets somebody read it.
    """
    closed = "so that only administrators may read it"
    hours = next((host.hours for host in hosts if item is not None and host.name == item.host), 0.0)
    if item is None or not hours or not (item.is_open or item.logins is not None):
        why = item.problem if item is not None and item.problem else "run `fathom fleet index`"
        return f"no host has said who may read it, {closed}: {why}" if is_for_nobody else ""
    moment = time.time() if now is None else now
    age, why = f"{(moment - item.answered_at) / _HOUR_S:.1f} hours old", item.problem or "no run has asked since"
    if not item.counts(moment, hours):
        return f"the list of its readers is {age} and counts no more, {closed}: {why}" if is_for_nobody else ""
    return f"the list of its readers is {age} and counts for {hours:g} hours: {why}" if item.problem else ""


class _Group(NamedTuple):
    """Clones that the same people may read, those with the oldest answer first."""

    readers: frozenset[str]
    hours: float
    answers: tuple[tuple[str, ReaderList], ...]
    clones: frozenset[str]

    def rule(self, now: float) -> ReaderRule:
        """Return the rule about those clones whose list counts now: mostly all."""
        if all(self.answers[end][1].counts(now, self.hours) for end in (0, -1)):
            return ReaderRule((), self.readers, self.clones)
        clones = frozenset(clone for clone, answer in self.answers if answer.counts(now, self.hours))
        return ReaderRule((), self.readers if clones else frozenset(), clones or self.clones)


@lru_cache(maxsize=8)  # each question asks
def _groups(file: File, stamp: object, hosts: tuple[ReaderHost, ...]) -> tuple[_Group, ...]:
    by_name = {host.name: host for host in hosts}
    people: dict[tuple[str, tuple[str, ...] | None], frozenset[str]] = {}
    groups: dict[tuple[str, frozenset[str]], list[tuple[str, ReaderList]]] = {}
    for clone, item in _lists(file, stamp).items():
        if item.host in by_name and (item.is_open or item.logins is not None):
            key = item.host, None if item.is_open else item.logins
            if key not in people:
                names = map(by_name[item.host].person, key[1] or ())
                people[key] = frozenset([EVERYBODY]) if item.is_open else frozenset(filter(None, names))
            groups.setdefault((item.host, people[key]), []).append((clone, item))
    return tuple(
        _Group(
            readers,
            by_name[host].hours,
            tuple(sorted(items, key=lambda each: each[1].answered_at)),
            frozenset(clone for clone, _ in items),
        )
        for (host, readers), items in groups.items()
    )


@lru_cache(maxsize=8)
def _lists(file: File, stamp: object) -> Mapping[str, ReaderList]:
    """Return the lists of a file as it is with this stamp."""
    if stamp is None:
        return {}
    try:
        content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{file.path!r} has more than {_MOST_BYTES:,} bytes", hint=_REMEDY)
        table = json.loads(content)
        logins = [tuple(map(str, each)) for each in table["logins"]]
        return {str(clone): _list(item, logins) for clone, item in table["clones"].items()}
    except (OSError, IndexingError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise SettingsError(f"cannot read {file.path!r}: {error}", hint=_REMEDY) from error


def _list(item: Mapping[str, Any], logins: Sequence[tuple[str, ...]]) -> ReaderList:
    number, times = item["logins"], (float(item["answered_at"]), float(item["tried_at"]))
    if not all(map(isfinite, times)):
        raise ValueError("a time is no number")
    return ReaderList(
        str(item["host"]),
        str(item["source"]),
        str(item["path"]),
        item["is_open"] is True,
        None if number is None else logins[number],
        *times,
        str(item["problem"]),
    )
