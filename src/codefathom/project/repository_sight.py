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


def base_of(name: str) -> str:
    """Return the name of the repository of which this is a branch; the name itself for a repository."""
    return name.partition(BRANCH_MARK)[0]


class ReaderRule(NamedTuple):
    """Some repositories, and who may read them with all their branches."""

    repositories: tuple[str, ...]  # names, or patterns such as shop-*; in any case of the letters
    readers: frozenset[str]  # names of people, @GROUP, token:NAME, or * for everybody; none: nobody

    def is_about(self, repository: str) -> bool:
        """Return True if a repository has one of the names, or fits one of the patterns."""
        return any(_fits(pattern, base_of(repository)) for pattern in self.repositories)


@dataclass(frozen=True, slots=True)
class RepositorySight:
    """What a reader, or all readers whom the same rules let in, may see of a fleet."""

    rules: tuple[ReaderRule, ...]
    words: frozenset[str]  # those words of the rules that mean the reader

    def sees(self, repository: str) -> bool:
        """Return True if the reader may see a repository."""
        readers = readers_of(self.rules, repository)
        return readers is None or not readers.isdisjoint(self.words)

    @property
    def digest(self) -> str:
        """A word that another sight does not have."""
        content = [(rule.repositories, sorted(rule.readers)) for rule in self.rules], sorted(self.words)
        return blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()


def readers_of(rules: Iterable[ReaderRule], repository: str) -> frozenset[str] | None:
    """Return who may read a repository: those of all rules about it; None for everybody, as without a rule."""
    readers = [rule.readers for rule in rules if rule.is_about(repository)]
    joined = frozenset[str]().union(*readers)
    return None if not readers or EVERYBODY in joined else joined


def class_of(readers: frozenset[str] | None) -> str:
    """Return the name of the class of repositories with these readers; "" for everybody."""
    return "" if readers is None else repr(sorted(readers))


def sight_of(rules: tuple[ReaderRule, ...], words: frozenset[str]) -> RepositorySight:
    """Return the sight of a reader; it is the same for all whom the rules treat alike."""
    named = frozenset[str]().union(*(rule.readers for rule in rules))
    return RepositorySight(rules, words & named)


def words_of_person(name: str, groups: Iterable[str]) -> frozenset[str]:
    """Return the words of rules that mean a person; a name that looks like a group or a token means nobody."""
    is_plain = bool(name) and name != EVERYBODY and not name.startswith((GROUP, TOKEN))
    return frozenset([*([name] if is_plain else []), *(GROUP + group for group in groups)])


def words_of_token(name: str) -> frozenset[str]:
    """Return the word of rules that means a token."""
    return frozenset([TOKEN + name]) if name else frozenset()


def _fits(pattern: str, name: str) -> bool:
    parts = map(re.escape, pattern.casefold().split(EVERYBODY))
    return re.fullmatch(".*".join(parts), name.casefold(), re.DOTALL) is not None
