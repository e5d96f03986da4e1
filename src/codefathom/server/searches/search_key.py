"""The questions of a client to a project, as values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codefathom.engine import Engine
from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import one_of, split_all
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.stores.conditions import combine
from codefathom.types import LevelName, Mode, Where


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The limits of a search; several values of one limit are alternatives, different limits must all hold."""

    folders: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    expression: str = ""

    def where(self) -> Where | None:
        """Return this as one condition. Raises UsageError for an expression that cannot be read."""
        fields = {"dir": self.folders, "language": self.languages, "kind": self.kinds}
        values = {name: split_all(texts) for name, texts in fields.items()}
        conditions = [one_of(name, texts) for name, texts in values.items() if texts]
        return combine(*conditions, *([parse_filter(self.expression)] if self.expression.strip() else []))

    def check(self, engines: Iterable[Engine]) -> None:
        """Raise UsageError for a folder that none of these projects has in its index."""
        folders = split_all(self.folders)
        problems: list[UsageError] = []
        for engine in engines if folders else ():
            try:
                engine.files.check_folders(folders)
                return
            except UsageError as error:
                problems.append(error)
        if problems:
            raise problems[0]


@dataclass(frozen=True, slots=True)
class SearchKey:
    """One search. As a value it is also the key under which its result is kept."""

    query: str
    limit: int | None = None
    level: LevelName | None = None
    mode: Mode | None = None
    min_score: float = 0.0
    limits: SearchLimits = SearchLimits()
    files: tuple[str, ...] = ()  # only these, with what has changed in them
    where: Where | None = None  # holds beside the limits
    offset: int = 0  # places that are passed by


@dataclass(frozen=True, slots=True)
class ChangeWish:
    """The reach of a change that is asked for: of a diff, or of revisions where it is ""."""

    diff: str = ""
    revisions: str = "HEAD"
    depth: int = 3
    limit: int = 200
    offset: int = 0  # items that are passed by
