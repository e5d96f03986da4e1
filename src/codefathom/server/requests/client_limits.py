"""The limits of a client's question (folders, languages, kinds, an expression) → the condition of a `Question`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from codefathom.errors import UsageError
from codefathom.question.question_options import Values
from codefathom.search.filter.filter_options import condition_of, split_all
from codefathom.search.filter.filter_parser import parse_filter
from codefathom.server.requests.asker_elsewhere import AskerElsewhere
from codefathom.server.searches.look import Look
from codefathom.stores.conditions import combine
from codefathom.types import Where


@dataclass(frozen=True, slots=True)
class Limits:
    """The options of a question by the names of the table of options, of which some limit where it is asked."""

    values: Values = field(default_factory=dict)

    def where(self) -> Where | None:
        """Return this as one condition. Raises UsageError for an expression that cannot be read."""
        expression = self.values.get("filter", "")
        return combine(condition_of(self.values), *([parse_filter(expression)] if expression.strip() else []))

    def where_in(self, askers: Iterable[AskerElsewhere]) -> Where | None:
        """Return this as one condition. Raises UsageError also for a folder that none of these projects has."""
        look = Look("folders", folders=split_all(self.values.get("directory_filter", ())))
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
