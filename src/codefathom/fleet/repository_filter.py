"""A condition on repositories → what it means where equal files are indexed once, and the shards that it leaves.

A file belongs to all repositories that have its content. So `repo:fork` also takes files that are indexed with another
repository, and `-repo:fork` leaves out only what no other repository has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from codefathom.stores.conditions import FORK, field_named, mentions, normalise
from codefathom.types import Filter, FilterGroup, Where

REPOSITORY = "module"  # the first part of a path, which is the repository
_AT_ONCE = 20_000  # paths in one condition; SQLite takes 32,766 values
_POSITIVE = ("eq", "in")


class Holders(Protocol):
    """What is known of the repositories that have a content."""

    def held_elsewhere(self, name: str) -> list[str]:
        """Return the paths under which files of a repository are indexed in earlier repositories."""
        ...

    def shared_beyond(self, name: str, names: Sequence[str]) -> list[str]:
        """Return the indexed paths of a repository whose content a repository has that is not among `names`."""
        ...


class FleetCondition(NamedTuple):
    """Conditions of which one has to hold, and the shards in which they can; None: any."""

    wheres: tuple[Where, ...]
    slots: frozenset[int] | None


def with_forks(where: Where, forks: Callable[[], Sequence[str]]) -> Where:
    """Return a condition that names the repositories where it asks for forks."""
    if isinstance(where, FilterGroup):
        return FilterGroup(where.operator, tuple(with_forks(item, forks) for item in where.filters))
    if where.field != FORK:
        return where
    return Filter(REPOSITORY, "in" if where.value else "not_in", tuple(forks()))


def for_fleet(where: Where, slots: Mapping[str, int], holders: Holders) -> FleetCondition:
    """Return what a condition means in a fleet; `slots` are the shards of the repositories, by name."""
    if not mentions(where, REPOSITORY):
        return FleetCondition((where,), None)
    normal = normalise(where)
    left_out = sorted({name for name, is_positive in _named(normal, True) if not is_positive})
    required = _required(normal)
    held = {name: holders.held_elsewhere(name) for name, is_positive in _named(normal, True) if is_positive}
    shared = {name: holders.shared_beyond(name, left_out)[:_AT_ONCE] for name in left_out}
    wheres = tuple(_rewritten(normal, True, parts, shared) for parts in _parts(held))
    if required is None:
        return FleetCondition(wheres, None)
    names = {*required, *(path.partition("/")[0] for name in required for path in held.get(name, ()))}
    return FleetCondition(wheres, frozenset(slots[name] for name in names if name in slots))


def _parts(held: Mapping[str, Sequence[str]]) -> Iterator[dict[str, tuple[str, ...]]]:
    """Yield the paths by repository in parts that fit into a condition: together they are all."""
    yield {}
    for name, paths in held.items():
        for start in range(0, len(paths), _AT_ONCE):
            yield {name: tuple(paths[start : start + _AT_ONCE])}


def _names(item: Filter) -> tuple[str, ...]:
    return tuple(map(str, item.value if isinstance(item.value, tuple) else (item.value,)))


def _is_of_repository(item: Filter) -> bool:
    return field_named(item.field).name == REPOSITORY


def _named(where: Where, is_positive: bool) -> Iterator[tuple[str, bool]]:
    """Yield the repositories that a condition names, each with True where they are wanted."""
    if isinstance(where, FilterGroup):
        inside = is_positive if where.operator != "NOT" else not is_positive
        for item in where.filters:
            yield from _named(item, inside)
    elif _is_of_repository(where):
        wants = is_positive if where.operator in _POSITIVE else not is_positive
        yield from ((name, wants) for name in _names(where))


def _required(where: Where) -> set[str] | None:
    """Return repositories of which one must have a file that fulfils the condition; None where it may be any."""
    if isinstance(where, Filter):
        return set(_names(where)) if _is_of_repository(where) and where.operator in _POSITIVE else None
    parts = [_required(item) for item in where.filters] if where.operator != "NOT" else []
    sets = [part for part in parts if part is not None]
    if where.operator == "AND":
        return set.intersection(*sets) if sets else None
    return set.union(*sets) if sets and len(sets) == len(parts) else None


def _rewritten(
    where: Where, is_positive: bool, held: Mapping[str, Sequence[str]], shared: Mapping[str, Sequence[str]]
) -> Where:
    if isinstance(where, FilterGroup):
        inside = is_positive if where.operator != "NOT" else not is_positive
        return FilterGroup(where.operator, tuple(_rewritten(item, inside, held, shared) for item in where.filters))
    if not _is_of_repository(where):
        return where
    wants = is_positive if where.operator in _POSITIVE else not is_positive
    paths = tuple(path for name in _names(where) for path in (held if wants else shared).get(name, ()))
    if where.operator not in _POSITIVE and not where.operator.startswith(("ne", "not_in")):
        return where
    if not paths:
        return where
    listed = Filter("path", "in", paths)
    if where.operator in _POSITIVE:
        return (
            FilterGroup("OR", (where, listed)) if wants else FilterGroup("AND", (where, FilterGroup("NOT", (listed,))))
        )
    return (
        FilterGroup("OR", (where, listed)) if not wants else FilterGroup("AND", (where, FilterGroup("NOT", (listed,))))
    )
