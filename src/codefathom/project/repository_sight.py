"""Who may read which repository of a fleet, and what one reader sees of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

EVERYBODY = "*"
BRANCH_MARK = "@"  # between the name of a repository and that of a branch; no name of a repository has one
GROUP, TOKEN = "@", "token:"  # before the name of a group, and of a token
_LONGEST_CLASS = 200  # characters: a code host may list thousands of people


def base_of(name: str) -> str:
    """Return the name of the repository of which this is a branch; the name itself for a repository."""
    return name.partition(BRANCH_MARK)[0]


class ReaderRule(NamedTuple):
    """Some repositories, and who may read them with all their branches."""

    repositories: tuple[str, ...]  # names, or patterns such as shop-*; in any case of the letters
    readers: frozenset[str]  # names of people, @GROUP, token:NAME, or * for everybody; none: nobody
    clones: frozenset[str] = frozenset()  # the same by the names of their clones; * for each clone of the fleet

    def is_about(self, repository: str, clone: str = "") -> bool:
        """Return True if a repository has one of the names, fits one of the patterns, or is one of the clones."""
        is_listed = bool(clone) and (clone in self.clones or EVERYBODY in self.clones)
        return is_listed or any(_fits(pattern, base_of(repository)) for pattern in self.repositories)


@dataclass(frozen=True, slots=True)
class RepositorySight:
    """What a reader, or all readers whom the same rules let in, may see of a fleet."""

    rules: tuple[ReaderRule, ...]
    words: frozenset[str]  # those words of the rules that mean the reader

    def sees(self, repository: str, clone: str = "") -> bool:
        """Return True if the reader may see a repository, which may be a clone of the fleet."""
        readers = readers_of(self.rules, repository, clone)
        return readers is None or not readers.isdisjoint(self.words)

    @property
    def digest(self) -> str:
        """A word that another sight does not have."""
        rules = [(rule.repositories, sorted(rule.readers), sorted(rule.clones)) for rule in self.rules]
        content = rules, sorted(self.words)
        return blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def readers_of(rules: Iterable[ReaderRule], repository: str, clone: str = "") -> frozenset[str] | None:
    """Return who may read a repository: those of all rules about it; None for everybody, as without a rule."""
    readers = [rule.readers for rule in rules if rule.is_about(repository, clone)]
    joined = frozenset[str]().union(*readers)
    return None if not readers or EVERYBODY in joined else joined


def class_of(readers: frozenset[str] | None) -> str:
    """Return the name of the class of repositories with these readers; "" for everybody."""
    if readers is None:
        return ""
    names = repr(sorted(readers))
    return names if len(names) <= _LONGEST_CLASS else blake2b(names.encode("utf-8", "surrogatepass")).hexdigest()


def sight_of(rules: tuple[ReaderRule, ...], words: frozenset[str]) -> RepositorySight:
    """Return the sight of a reader; it is the same for all whom the rules treat alike.

    Of rules about clones, of which there may be thousands, only those stay that let the reader in, as one.
    """
    own = [rule for rule in rules if not rule.clones]
    of_clones = [rule for rule in rules if rule.clones]
    named = frozenset[str]().union(*(rule.readers for rule in own))
    shown = [rule.clones for rule in of_clones if not rule.readers.isdisjoint(words | {EVERYBODY})]
    if of_clones:
        listed = frozenset[str]().union(*(rule.clones for rule in of_clones))
        own.append(ReaderRule((), frozenset(), listed & {EVERYBODY} or listed))
    if shown:
        own.append(ReaderRule((), frozenset([EVERYBODY]), frozenset[str]().union(*shown)))
    return RepositorySight(tuple(own), words & named)


def is_plain_name(name: str) -> bool:
    """Return True for a name that rules take for that of a person, not for a group, a token or everybody."""
    return bool(name) and name != EVERYBODY and not name.startswith((GROUP, TOKEN))


def words_of_person(name: str, groups: Iterable[str]) -> frozenset[str]:
    """Return the words of rules that mean a person; a name that looks like a group or a token means nobody."""
    return frozenset([*([name] if is_plain_name(name) else []), *(GROUP + group for group in groups)])


def words_of_token(name: str) -> frozenset[str]:
    """Return the word of rules that means a token."""
    return frozenset([TOKEN + name]) if name else frozenset()


def _fits(pattern: str, name: str) -> bool:
    parts = map(re.escape, pattern.casefold().split(EVERYBODY))
    return re.fullmatch(".*".join(parts), name.casefold(), re.DOTALL) is not None
