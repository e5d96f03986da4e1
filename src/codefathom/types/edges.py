"""Connections between files and symbols."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from codefathom.facts.reasons import Note
from codefathom.types.choices import Certainty
from codefathom.types.hits import NO_REST, Rest
from codefathom.types.symbols import FoundSymbol


@dataclass(frozen=True, slots=True)
class Related:
    """Files or symbols that are connected with a place."""

    path: str
    kind: Literal["imports", "imported by", "calls", "called by", "references"]
    line: int
    name: str  # what is imported or called
    symbol: str = ""  # the symbol in which it stands
    depth: int = 1
    likely: bool = True  # False: nothing beside this use names the class that the symbol belongs to
    certainty: Certainty = "exact"
    n_definitions: int = 1  # that the name can mean here
    unfollowed: str = ""  # the import by which the file has the name, where nobody knows what it means
    unfollowed_at: str = ""  # the path and line of that import; other files may have the name from there

    def below(self, project: str) -> Related:
        """Return the same with paths that begin with the project."""
        place = f"{project}/{self.unfollowed_at}" if self.unfollowed_at else ""
        return replace(self, path=f"{project}/{self.path}", unfollowed_at=place)


@dataclass(frozen=True, slots=True)
class RelatedResult:
    """Edges around a document or symbol, and how complete they are."""

    target: str
    edges: tuple[Related, ...]
    limitations: tuple[Note, ...]  # how the edges are known, and what kinds of use cannot be seen
    n_unresolved: int = 0  # imports that point to no document of the project
    offset: int = 0  # of the first edge in the whole list
    rest: Rest = NO_REST  # of the list, behind these edges
    notes: tuple[Note, ...] = ()  # what could not be seen, in numbers; `completeness` tells it in words, too

    @property
    def completeness(self) -> str:
        """The same in English."""
        return " ".join(map(str, self.limitations))


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """What a name means at the place where it stands."""

    name: str
    definitions: tuple[FoundSymbol, ...]  # the nearest first; none: nothing of this project
    certainty: Certainty
    n_definitions: int  # all, also those that are not listed
    is_definition: bool = False  # the place itself is where the name is defined
    uses: tuple[Related, ...] = ()  # the first uses of the first definition
    n_uses: int = 0  # that are known by calls and types
    n_uses_is_exact: bool = True  # False: there may be more, as not all uses of this name were looked at
