"""The file of a fleet that says who may read which of its repositories."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from codefathom.errors import IndexingError, SettingsError
from codefathom.fleet.manifest import Repository
from codefathom.project.repository_sight import ReaderRule, class_of, readers_of
from codefathom.stores.folder import Folder

READERS = "readers.toml"  # in the folder of the fleet
_TABLE, _REPOSITORIES, _READERS = "rule", "repositories", "readers"
_MOST_BYTES = 1_000_000
_MOST_STARS = 4  # in one pattern
_LONGEST = 300  # of a name or pattern
_FORM = 'write [[rule]], and below it repositories = ["shop-*"] and readers = ["ada", "@team", "token:ci"]'


def reader_rules(root: str) -> tuple[ReaderRule, ...] | None:
    """Return the rules of the fleet in a folder, None where it has no such file. Raises SettingsError.

    The file is read anew at each call: a change of it holds from the next question on.
    """
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
    return _rules(table, file.path)


def classes_of(rules: tuple[ReaderRule, ...] | None, repositories: Iterable[Repository]) -> dict[int, str]:
    """Return the class of readers of each repository, by its number; repositories of one class have the same."""
    return {item.id: class_of(readers_of(rules or (), item.name)) for item in repositories}


def mixed_slots(repositories: Iterable[Repository], classes: Mapping[int, str]) -> set[int]:
    """Return the shards that hold repositories of several classes of readers."""
    by_slot: dict[int, set[str]] = {}
    for item in repositories:
        by_slot.setdefault(item.slot, set()).add(classes[item.id])
    return {slot for slot, readers in by_slot.items() if slot and len(readers) > 1}


def _rules(table: dict[str, Any], path: str) -> tuple[ReaderRule, ...]:
    rules = table.pop(_TABLE, [])
    if table:
        raise SettingsError(f"{path!r} has {next(iter(table))!r}, which means nothing there", hint=_FORM)
    if not isinstance(rules, list):
        raise SettingsError(f"in {path!r}, {_TABLE} is no list of tables", hint=_FORM)
    return tuple(_rule(rule, number, path) for number, rule in enumerate(rules, start=1))


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
