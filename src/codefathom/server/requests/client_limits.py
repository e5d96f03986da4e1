"""The limits of a client's question (folders, languages, kinds, an expression) → the condition of a `Question`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codefathom.errors import UsageError
from codefathom.search.filter.filter_options import one_of, split_all
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.server.requests.asker_elsewhere import AskerElsewhere
from codefathom.server.searches.look import Look
from codefathom.stores.conditions import combine
from codefathom.types import Where


@dataclass(frozen=True, slots=True)
class Limits:
    """Several values of one limit are alternatives, different limits must all hold."""

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

    def where_in(self, askers: Iterable[AskerElsewhere]) -> Where | None:
        """Return this as one condition. Raises UsageError also for a folder that none of these projects has."""
        look = Look("folders", folders=split_all(self.folders))
        problem: UsageError | None = None
        for asker in askers if look.folders else ():
            try:
                asker.look(look)
                return self.where()
            except UsageError as error:
                problem = problem or error
        if problem is not None:
            raise problem
        return self.where()
