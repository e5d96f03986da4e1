"""Results of several projects → one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from codefathom.search.ranking.fuse import reciprocal_rank
from codefathom.types import Hit, SearchResult

# With the usual 60, ranks hardly count beside confidence: the surer project would come first as a whole. With 2, one of
# half the confidence begins after the third hit of the other.
RRF_K = 2


class ProjectHit(NamedTuple):
    """A hit and its project."""

    project_id: str
    hit: Hit


def merge(results: Mapping[str, SearchResult], limit: int) -> tuple[ProjectHit, ...]:
    """Return the best hits of all projects, best first, the best with score 1.

    Scores of two projects cannot be compared, ranks can: each hit counts by its rank in its own project, and each
    project by how far its result can be trusted. A single result stays as it is.
    """
    if len(results) == 1:
        return tuple(ProjectHit(name, hit) for name, result in results.items() for hit in result.hits[:limit])
    hits = [ProjectHit(name, hit) for name, result in results.items() for hit in result.hits]
    sides: list[dict[int, float]] = []
    for result in results.values():
        start = sum(map(len, sides))
        sides.append({start + place: hit.score for place, hit in enumerate(result.hits)})
    weights = [max(result.confidence, 0.01) for result in results.values()]
    fused = reciprocal_rank(sides, weights, RRF_K)
    best = max(fused.values(), default=1.0)
    return tuple(
        ProjectHit(hits[place].project_id, replace(hits[place].hit, score=score / best))
        for place, score in list(fused.items())[:limit]
    )
