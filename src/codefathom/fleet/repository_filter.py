"""A condition on repositories → what it means where equal files are indexed once, and the shards that it leaves.

A file belongs to all repositories that have its content. So `repo:fork` also takes files that are indexed with another
repository, and `-repo:fork` leaves out only what no other repository has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import NamedTuple, Protocol

from codefathom.errors import UsageError
from codefathom.project.repository_sight import BRANCH_MARK, base_of
from codefathom.stores.conditions import BRANCH, FORK, mentions
from codefathom.text.near_names import near_names
from codefathom.types import Filter, FilterGroup, Where

REPOSITORY = "module"  # the first part of a path, which is the repository
_IN, _NOT_IN = "in_cased", "not_in_cased"  # of names as they are written, see `with_names`
_MOST_NAMED = 10  # branches or repositories in an error
_MOST_SHOWN = 200  # characters of a name in an error
_MEANT = {"eq": _IN, "in": _IN, "ne": _NOT_IN, "not_in": _NOT_IN}


class Holders(Protocol):
    """What is known of the repositories that have a content."""

    def held_elsewhere(self, names: Collection[str]) -> Mapping[str, Sequence[str]]:
        """Return the paths under which files of repositories are indexed in earlier ones, by repository."""
        ...

    def shared_beyond(self, names: Sequence[str]) -> list[str]:
        """Return the indexed paths of repositories whose content a repository has that is not among these."""
        ...


class FleetCondition(NamedTuple):
    """A condition, and the shards in which it can hold; None: any."""

    where: Where
    slots: frozenset[int] | None


def no_repository(name: str, names: Collection[str]) -> UsageError:
    """Return the error for a name that no repository of a fleet has, with the names that are like it, or some."""
    near = near_names(name, names)
    hint = f"did you mean {', '.join(near)}?" if near else f"it has {_some(sorted(names)) or 'none'}"
    return UsageError(f"the fleet has no repository {name[:_MOST_SHOWN]!r}", hint=hint)


def with_forks(where: Where, forks: Callable[[], Sequence[str]], *, wants: bool = True) -> Where:
    """Return a condition that names the repositories where it asks for forks.

    Raises UsageError where only forks are wanted and there is none; `wants` is False inside of a negation.
    """
    if isinstance(where, FilterGroup):
        inside = wants if where.operator != "NOT" else not wants
        return FilterGroup(where.operator, tuple(with_forks(item, forks, wants=inside) for item in where.filters))
    if where.field != FORK:
        return where
    names = tuple(forks())
    if not names and wants == bool(where.value):
        raise UsageError("no repository of the fleet is a fork", hint="leave the condition on forks out")
    return Filter(REPOSITORY, "in" if where.value else "not_in", names)


def with_branches(where: Where, branches: Callable[[], Mapping[str, Sequence[str]]]) -> Where:
    """Return a condition that names the repositories where it asks for branches; * stands for any signs.

    `branches` gives the repositories, a branch of one counting as such, that have a branch, by its name. Raises
    UsageError for a branch that none has.
    """
    if isinstance(where, FilterGroup):
        return FilterGroup(where.operator, tuple(with_branches(item, branches) for item in where.filters))
    if where.field != BRANCH:
        return where
    named = branches()
    chosen = [(value, [name for name in named if fnmatchcase(name, value)]) for value in map(str, _values(where))]
    for value, fitting in chosen:
        if not fitting:
            read = f"it has {_some(named)}" if named else "the next `fathom fleet index` learns their names"
            raise UsageError(
                f"the fleet has no branch {value[:_MOST_SHOWN]!r}",
                hint=f"{read}; source.fleet_branches in its fathom.toml says which are read",
            )
    names = {name for _, fitting in chosen for branch in fitting for name in named[branch]}
    return Filter(REPOSITORY, _IN, tuple(sorted(names)))


def _some(names: Collection[str]) -> str:
    return ", ".join([*islice(names, _MOST_NAMED), *(["…"] if len(names) > _MOST_NAMED else [])])


def asks_for_branches(where: Where | None) -> bool:
    """Return True for a condition that branches beside the default ones may fulfil."""
    if isinstance(where, FilterGroup):
        return any(map(asks_for_branches, where.filters))
    if where is None or where.field not in (BRANCH, REPOSITORY):
        return False
    return where.field == BRANCH or any(BRANCH_MARK in str(value) for value in _values(where))


def _values(where: Filter) -> tuple[object, ...]:
    return where.value if isinstance(where.value, tuple) else (where.value,)


def with_names(where: Where, slots: Mapping[str, int]) -> Where:
    """Return a normalised condition with the repositories as they are called: as it is written, else in other case.

    The name of a repository means all its branches that are in `slots`, too. Raises UsageError for a name that no
    repository has.
    """
    if not mentions(where, REPOSITORY):
        return where
    by_name: dict[str, list[str]] = {}
    by_lower: dict[str, list[str]] = {}
    for name in slots:
        for own in {name, base_of(name)}:
            by_name.setdefault(own, []).append(name)
            by_lower.setdefault(own.lower(), []).append(name)

    def names(item: Filter) -> Iterator[str]:
        for value in map(str, _values(item)):
            if item.operator.endswith("_cased"):
                yield value
            elif own := by_name.get(value) or by_lower.get(value.lower()):
                yield from own
            else:
                raise no_repository(value, slots)

    def renamed(where: Where) -> Where:
        if isinstance(where, FilterGroup):
            return FilterGroup(where.operator, tuple(map(renamed, where.filters)))
        meant = _MEANT.get(where.operator.removesuffix("_cased"))
        return Filter(REPOSITORY, meant, tuple(names(where))) if meant and where.field == REPOSITORY else where

    return renamed(where)


def for_fleet(where: Where, slots: Mapping[str, int], holders: Holders) -> FleetCondition:
    """Return what a condition of `with_names` means in a fleet; `slots` are the shards of the repositories, by name."""
    if not mentions(where, REPOSITORY):
        return FleetCondition(where, None)
    left_out = sorted({name for name, is_positive in _named(where, True) if not is_positive})
    held = holders.held_elsewhere({name for name, is_positive in _named(where, True) if is_positive})
    shared: dict[str, list[str]] = {}
    for path in holders.shared_beyond(left_out):
        shared.setdefault(path.partition("/")[0], []).append(path)
    meaning = _rewritten(where, True, held, shared)
    required = _required(where)
    if required is None:
        return FleetCondition(meaning, None)
    names = {*required, *(path.partition("/")[0] for name in required for path in held.get(name, ()))}
    return FleetCondition(meaning, frozenset(slots[name] for name in names if name in slots))


class HeldFiles(NamedTuple):
    """The files of some repositories of a fleet, by their indexed paths."""

    repositories: frozenset[str]
    elsewhere: frozenset[str]  # paths below other repositories, which have the same content

    def has(self, path: str) -> bool:
        """Return True for the indexed path of one of these files."""
        return path.partition("/")[0] in self.repositories or path in self.elsewhere


def held_files(where: Where, names: Collection[str], holders: Holders) -> HeldFiles:
    """Return the files of all repositories that fulfil a condition of `with_names` about nothing else."""
    chosen = _chosen(where, frozenset(names))
    held = holders.held_elsewhere(chosen)
    return HeldFiles(chosen, frozenset(path for paths in held.values() for path in paths))


def _chosen(where: Where, names: frozenset[str]) -> frozenset[str]:
    if isinstance(where, Filter):
        return names & set(_names(where)) if where.operator == _IN else names - set(_names(where))
    parts = [_chosen(item, names) for item in where.filters]
    if where.operator == "OR":
        return frozenset().union(*parts)
    every = names.intersection(*parts)
    return names - every if where.operator == "NOT" else every


def _names(item: Filter) -> tuple[str, ...]:
    return tuple(map(str, item.value)) if isinstance(item.value, tuple) else ()


def _is_of_repository(where: Filter) -> bool:
    return where.field == REPOSITORY and where.operator in (_IN, _NOT_IN)


def _named(where: Where, is_positive: bool) -> Iterator[tuple[str, bool]]:
    """Yield the repositories that a condition names, each with True where they are wanted."""
    if isinstance(where, FilterGroup):
        inside = is_positive if where.operator != "NOT" else not is_positive
        for item in where.filters:
            yield from _named(item, inside)
    elif _is_of_repository(where):
        wants = is_positive == (where.operator == _IN)
        yield from ((name, wants) for name in _names(where))


def _required(where: Where) -> set[str] | None:
    """Return repositories of which one must have a file that fulfils the condition; None where it may be any."""
    if isinstance(where, Filter):
        return set(_names(where)) if _is_of_repository(where) and where.operator == _IN else None
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
    wants = is_positive == (where.operator == _IN)
    paths = tuple(path for name in _names(where) for path in (held if wants else shared).get(name, ()))
    if not paths:
        return where
    listed = Filter("path", "in_cased", paths)
    if where.operator == _IN:
        return FilterGroup("OR", (where, listed)) if wants else _but(where, listed)
    return _but(where, listed) if wants else FilterGroup("OR", (where, listed))


def _but(where: Where, exception: Where) -> Where:
    return FilterGroup("AND", (where, FilterGroup("NOT", (exception,))))
