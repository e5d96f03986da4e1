"""Results of several projects → one. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from codefathom.errors import UsageError
from codefathom.search.facets import joined_facets
from codefathom.search.ranking.fuse import reciprocal_rank
from codefathom.types import NO_FACETS, Facets, Hit, Rest, SearchResult

# With the usual 60, ranks hardly count beside confidence: the surer project would come first as a whole. With 2, one of
# half the confidence begins after the third hit of the other.
RRF_K = 2

BY_SCORE = "score in its project times the confidence of that project's result, less for each place further down"
BY_RANK = "rank in its project, weighted with the confidence of that project's result, as models or modes differ"

_LEAST_TRUST = 0.01  # of a result without confidence, so that its hits keep an order
_MOST_MERGED = 100_000  # hits of each project
_LEAST_COPIED = 3  # lines: shorter places are equal by chance, and are copies only where their paths are equal, too


class ProjectHit(NamedTuple):
    """A hit and its project."""

    project_id: str
    hit: Hit


def questions_for(query: str, names: Collection[str]) -> dict[str, str]:
    """Return the question as each project reads it, without the projects that it is not for.

    A mark such as `@shop/src/` keeps it to the project `shop`, where it is `@src/`.
    """
    mark = re.compile(rf"(?<!\S)@({'|'.join(map(re.escape, names))})/")
    marked = {match[1] for match in mark.finditer(query)}
    if not marked:
        return dict.fromkeys(names, query)

    def read_by(name: str) -> str:
        words = (word for word in re.split(r"(\s+)", query) if (match := mark.match(word)) is None or match[1] == name)
        return mark.sub("@", "".join(words))

    return {name: read_by(name) for name in names if name in marked}


def order_of(results: Iterable[SearchResult]) -> str:
    """Return the words for what orders the hits of several projects: BY_SCORE or BY_RANK."""
    return BY_SCORE if len({result.scale for result in results}) <= 1 else BY_RANK


class MergedHits(NamedTuple):
    """A page of the list of several projects."""

    hits: tuple[ProjectHit, ...]
    rest: Rest  # of the list, behind these hits
    facets: Facets = NO_FACETS  # of the list


def merge(results: Mapping[str, SearchResult], limit: int, offset: int = 0) -> MergedHits:
    """Return the best hits of all projects, best first: at most `limit` behind the `offset` first ones.

    Each result has the hits that `reach` says; a single one may begin at the offset.

    Where all projects have the same model and the same kind of search, a score counts times how far the result of its
    project can be trusted, and less with each place, so that a project whose scores are high does not fill the list:
    see docs/decisions/order-of-several-projects.md. Else scores cannot be compared, but ranks can: each hit counts by
    its rank in its own project, and the best has score 1. Equal files of two projects are there once, with the first of
    them. A single result stays as it is.
    """
    copies: list[ProjectHit] = []
    if len(results) == 1:
        ordered = [ProjectHit(name, hit) for name, result in results.items() for hit in result.hits]
        offset -= next(iter(results.values())).offset
    else:
        ranked = _by_score(results) if order_of(results.values()) == BY_SCORE else _by_rank(results)
        all_hits = list(ranked)
        ordered = list(_without_copies(all_hits))
        kept = set(map(id, ordered))
        copies = [item for item in all_hits if id(item) not in kept]
    hits = tuple(ordered[offset : offset + limit])
    rests = [result.rest for result in results.values()]
    # Behind the hits of one project there may be copies of places of another one.
    facets = joined_facets(
        {name: result.facets for name, result in results.items()},
        [item.hit.chunk for item in copies],
        is_whole=len(results) == 1 or not any(rests),
    )
    return MergedHits(hits, _rest(rests, len(ordered) - offset - len(hits)), facets)


def reach(limit: int, offset: int) -> int:
    """Return the number of first hits of each of several projects that a page is merged from.

    Raises UsageError for a page that lies too far behind.
    """
    if offset + limit > _MOST_MERGED:
        raise UsageError(
            f"offset cannot be {offset} in the list of several projects",
            hint=f"such a list shows its first {_MOST_MERGED} places; ask each project by itself",
        )
    return offset + limit


def _rest(rests: Sequence[Rest], n_listed: int) -> Rest:
    """Return the rest of the list: that of one project may be copies of places of another one."""
    if len(rests) == 1:
        return rests[0].plus(max(n_listed, 0))
    return Rest(max(n_listed, 0), not any(rests))


def _by_score(results: Mapping[str, SearchResult]) -> list[ProjectHit]:
    hits = [
        ProjectHit(name, replace(hit, score=hit.score * trust * (RRF_K + 1) / (RRF_K + rank)))
        for name, result in results.items()
        for trust in (max(result.confidence, _LEAST_TRUST),)
        for rank, hit in enumerate(result.hits, start=1)
    ]
    return sorted(hits, key=lambda item: -item.hit.score)


def _by_rank(results: Mapping[str, SearchResult]) -> Iterator[ProjectHit]:
    hits = [ProjectHit(name, hit) for name, result in results.items() for hit in result.hits]
    sides: list[dict[int, float]] = []
    for result in results.values():
        start = sum(map(len, sides))
        sides.append({start + place: hit.score for place, hit in enumerate(result.hits)})
    weights = [max(result.confidence, _LEAST_TRUST) for result in results.values()]
    fused = reciprocal_rank(sides, weights, RRF_K)
    best = max(fused.values(), default=1.0)
    for place, score in fused.items():
        yield ProjectHit(hits[place].project_id, replace(hits[place].hit, score=score / best))


def _without_copies(hits: Iterable[ProjectHit]) -> Iterator[ProjectHit]:
    """Pass on hits, except those with the text of an earlier one of another project."""
    first: dict[str, str] = {}
    for item in hits:
        chunk = item.hit.chunk
        is_long = chunk.text.count("\n") >= _LEAST_COPIED
        if first.setdefault(chunk.text if is_long else chunk.id, item.project_id) == item.project_id:
            yield item


def in_project(item: ProjectHit) -> Hit:
    """Return a hit whose path begins with its project."""
    # Two copies of a file have the same chunks.
    chunk, name = item.hit.chunk, item.project_id
    return replace(item.hit, chunk=replace(chunk, id=f"{name}:{chunk.id}", path=f"{name}/{chunk.path}"))
