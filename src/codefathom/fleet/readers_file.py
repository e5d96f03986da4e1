"""Who may read which repository of a fleet: what its operator has written, and what the code hosts say."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from codefathom.errors import IndexingError, SettingsError
from codefathom.fleet.manifest import Repository
from codefathom.fleet.reader_lists import LOGIN, HostCount, ReaderHost, host_counts, rules_of_lists
from codefathom.project.repository_sight import EVERYBODY, ReaderRule, class_of, is_plain_name, readers_of
from codefathom.stores.folder import Folder

READERS = "readers.toml"  # in the folder of the fleet
_TABLE, _REPOSITORIES, _READERS = "rule", "repositories", "readers"
_HOST, _NAME, _PEOPLE, _LOGINS, _HOURS = "host", "name", "people", "logins", "hours"
_MOST_HOURS = 24 * 30
_MOST_BYTES = 1_000_000
_MOST_STARS = 4  # in one pattern
_LONGEST = 300  # of a name or pattern
_FORM = 'write [[rule]], and below it repositories = ["shop-*"] and readers = ["ada", "@team", "token:ci"]'
_HOST_FORM = 'write [[host]], and below it name = "github.com" and logins = {octo-ada = "ada"}'


class FleetReaders(NamedTuple):
    """The file of a fleet."""

    rules: tuple[ReaderRule, ...]
    hosts: tuple[ReaderHost, ...]  # that say who may read their repositories


def reader_rules(root: str) -> tuple[ReaderRule, ...] | None:
    """Return all rules of the fleet in a folder, those of code hosts, too; None where it has no file.

    Raises SettingsError. The files are looked at anew at each call: a change holds from the next question on.
    """
    readers = fleet_readers(root)
    return None if readers is None else readers.rules + rules_of_lists(root, readers.hosts)


def fleet_readers(root: str) -> FleetReaders | None:
    """Return what the file of a fleet says, None where there is none. Raises SettingsError."""
    file = Folder(root).file(READERS)
    try:
        if not file.kind():
            return None
        content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise SettingsError(
                f"{file.path!r} has more than {_MOST_BYTES:,} bytes", hint="use patterns such as shop-*"
            )
        table = tomllib.loads(content.decode())
    except (OSError, IndexingError, ValueError, RecursionError) as error:
        raise SettingsError(f"cannot read {file.path!r}: {error}", hint=_FORM) from error
    rules, hosts = (_tables(table, key, file.path) for key in (_TABLE, _HOST))
    if table:
        raise SettingsError(f"{file.path!r} has {next(iter(table))!r}, which means nothing there", hint=_FORM)
    read = FleetReaders(
        tuple(_rule(rule, number, file.path) for number, rule in enumerate(rules, start=1)),
        tuple(_host(host, number, file.path) for number, host in enumerate(hosts, start=1)),
    )
    if len({host.name for host in read.hosts}) < len(read.hosts):
        raise SettingsError(f"{file.path!r} names a host twice", hint="write one [[host]] for each")
    return read


def reader_hosts(root: str) -> tuple[HostCount, ...]:
    """Return what the code hosts have said that the file of a fleet names. Raises SettingsError."""
    readers = fleet_readers(root)
    return () if readers is None else tuple(host_counts(root, readers.hosts))


def readers_by_repository(
    rules: tuple[ReaderRule, ...] | None, repositories: Iterable[Repository], root: str
) -> dict[int, frozenset[str] | None]:
    """Return who may read each repository, by its number; None for everybody."""
    general: list[ReaderRule] = []
    by_clone: dict[str, list[ReaderRule]] = {}  # a code host may give a rule for each of thousands of clones
    for rule in rules or ():
        if not rule.clones or EVERYBODY in rule.clones:
            general.append(rule)
        else:
            for clone in rule.clones:
                by_clone.setdefault(clone, []).append(rule)
    return {
        item.id: readers_of([*general, *by_clone.get(clone, ())], item.name, clone)
        for item in repositories
        for clone in [item.clone_in(root)]
    }


def classes_of(rules: tuple[ReaderRule, ...] | None, repositories: Iterable[Repository], root: str) -> dict[int, str]:
    """Return the class of readers of each repository, by its number; repositories of one class have the same."""
    return {number: class_of(readers) for number, readers in readers_by_repository(rules, repositories, root).items()}


def mixed_slots(repositories: Iterable[Repository], classes: Mapping[int, str]) -> set[int]:
    """Return the shards that hold repositories of several classes of readers."""
    by_slot: dict[int, set[str]] = {}
    for item in repositories:
        by_slot.setdefault(item.slot, set()).add(classes[item.id])
    return {slot for slot, readers in by_slot.items() if slot and len(readers) > 1}


def _tables(table: dict[str, Any], key: str, path: str) -> list[object]:
    tables = table.pop(key, [])
    if not isinstance(tables, list):
        raise SettingsError(f"in {path!r}, {key} is no list of tables", hint=_FORM)
    return tables


def _rule(rule: object, number: int, path: str) -> ReaderRule:
    if not isinstance(rule, dict) or set(rule) != {_REPOSITORIES, _READERS}:
        raise SettingsError(
            f"in {path!r}, rule {number} must have {_REPOSITORIES} and {_READERS}, and nothing else", hint=_FORM
        )
    repositories, readers = (_texts(rule[key], key, number, path) for key in (_REPOSITORIES, _READERS))
    for pattern in repositories:
        if pattern.count("*") > _MOST_STARS:
            raise SettingsError(
                f"in {path!r}, the pattern {pattern!r} of rule {number} has more than {_MOST_STARS} stars",
                hint="write several patterns",
            )
    return ReaderRule(repositories, frozenset(readers))


def _texts(value: object, key: str, number: int, path: str) -> tuple[str, ...]:
    is_sound = isinstance(value, list) and all(isinstance(item, str) and 0 < len(item) <= _LONGEST for item in value)
    if not is_sound:
        raise SettingsError(
            f"in {path!r}, {key} of rule {number} must be a list of texts with 1 to {_LONGEST} signs", hint=_FORM
        )
    assert isinstance(value, list)
    return tuple(value)


def _host(host: object, number: int, path: str) -> ReaderHost:
    if not isinstance(host, dict) or _NAME not in host or not set(host) <= {_NAME, _PEOPLE, _LOGINS, _HOURS}:
        raise _wrong_host(path, number, f"must have {_NAME}, and may have {_PEOPLE}, {_LOGINS} and {_HOURS}")
    name, people, logins = host[_NAME], host.get(_PEOPLE, ""), host.get(_LOGINS, {})
    if not _is_text(name) or "/" in name:
        raise _wrong_host(path, number, f"has a {_NAME} that is not that of a host")
    # A name must be that of a person, whatever the login is: neither a group, nor a token, nor everybody.
    is_template = people == "" or (_is_text(people) and people.count(LOGIN) == 1)
    if not is_template or not is_plain_name(people or name):
        raise _wrong_host(path, number, f"must have {LOGIN} once in {_PEOPLE}, and no @ or token: before it")
    is_table = isinstance(logins, dict) and all(map(_is_text, (*logins, *logins.values())))
    if not is_table or not all(map(is_plain_name, logins.values())):
        raise _wrong_host(path, number, f"must have names of people behind the logins in {_LOGINS}")
    hours = host.get(_HOURS, ReaderHost._field_defaults[_HOURS])
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= _MOST_HOURS:
        raise _wrong_host(path, number, f"must have a number of {_HOURS} up to {_MOST_HOURS}")
    pairs = tuple((login.casefold(), person) for login, person in logins.items())
    if len(dict(pairs)) < len(pairs):
        raise _wrong_host(path, number, f"must have each login once in {_LOGINS}, in any case of its letters")
    return ReaderHost(name.casefold(), people, pairs, float(hours))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST and value.isprintable()


def _wrong_host(path: str, number: int, problem: str) -> SettingsError:
    return SettingsError(f"in {path!r}, host {number} {problem}", hint=_HOST_FORM)
