"""Roles: what a person or a token may do in which projects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fnmatch import fnmatchcase

_ANY = "*"


class Role(IntEnum):
    """Each role may do what those before it may; `access/route_table.py` says which role each route needs."""

    NONE = 0
    READER = 1  # ask and read
    INDEXER = 2  # index too: today's tokens for some projects
    MAINTAINER = 3  # settings of a project, watching, removing its index
    ADMIN = 4  # remove the project; for all projects also add some, and see the whole server

    @property
    def word(self) -> str:
        """The role as users write it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in some projects: their ids, or patterns such as shop-*; none means in all, and for the server."""

    role: Role
    projects: tuple[str, ...] = ()

    def covers(self, project_id: str) -> bool:
        """Return True if the role holds in a project."""
        return (
            not self.projects
            or project_id in self.projects
            or any(_ANY in pattern and fnmatchcase(project_id, pattern) for pattern in self.projects)
        )


@dataclass(frozen=True, slots=True)
class RoleRule:
    """A line of `server.roles`: who gets what. `who` is a name, @GROUP, or * for everybody who has signed in."""

    who: str
    grant: Grant

    def fits(self, name: str, groups: Iterable[str]) -> bool:
        """Return True if the rule is about a person of this name and these groups."""
        return self.who in {_ANY, name} if not self.who.startswith("@") else self.who[1:] in groups


def role_of(word: str) -> Role:
    """Return the role of a word. Raises KeyError."""
    return Role[word.upper()]


def grant_of(role: Role, projects: str) -> Grant:
    """Return a grant for projects as users write them: joined by +, "" or * for all."""
    return Grant(role, () if projects in {"", _ANY} else tuple(projects.split("+")))


def rule_of(text: str) -> RoleRule:
    """Read WHO=ROLE or WHO=ROLE:PROJECT+PROJECT, whose form the settings have checked."""
    match = re.fullmatch(r"(?s)(.+)=(\w+)(?::(.*))?", text)
    assert match is not None
    return RoleRule(match[1].strip(), grant_of(role_of(match[2]), match[3] or ""))


def grants_of(rules: Iterable[RoleRule], name: str, groups: Sequence[str]) -> tuple[Grant, ...]:
    """Return what the rules give to a person: all that fit count together."""
    return tuple(rule.grant for rule in rules if rule.fits(name, groups))
