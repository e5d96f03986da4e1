"""One search, with all its options."""

from __future__ import annotations

from typing import NamedTuple

from codefathom.search.question.query import Query
from codefathom.search.ranking.fuse import Fusion
from codefathom.text.expressions import USUAL_LIMIT_S
from codefathom.types.choices import Level, Mode
from codefathom.types.where import Where


class SearchRequest(NamedTuple):
    """A question, with everything that decides how it is answered."""

    query: Query
    limit: int = 10
    offset: int = 0  # places that are passed by
    level: Level = "chunk"
    mode: Mode = "auto"
    where: Where | None = None
    min_score: float = 0.0
    facets: bool = False  # count what the places have in common
    fusion: Fusion = Fusion()
    expression_limit_s: float = USUAL_LIMIT_S  # for all regular expressions together
