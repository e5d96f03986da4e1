"""Several rankings → one. Pure; the result is ordered best first, and equal scores by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

K = TypeVar("K", int, str)


class Fusion(NamedTuple):
    """The settings for joining the lexical and the vector ranking."""

    method: str = "rrf"  # or "weighted"
    rrf_k: int = 60
    lexical_weight: float = 0.6
    vector_weight: float = 0.4
    n_candidates: int = 100  # of each source
    n_ranked: int = 100  # of the fused order
    min_similarity: float = 0.0  # cosine below which a vector candidate does not count
    ranking: str = "learned"  # or "fused": the sum alone orders the hits
    may_list_more: bool = True  # chunks behind the candidates, where more hits are wanted than they give


def fuse(lexical: Mapping[K, float], vector: Mapping[K, float], fusion: Fusion) -> dict[K, float]:
    """Return one score for each key of either ranking, best first; the best one has 1."""
    scores = fused_sum(lexical, vector, fusion)
    top = max(scores.values(), default=0.0) or 1.0
    return {key: score / top for key, score in scores.items()}


def fused_sum(lexical: Mapping[K, float], vector: Mapping[K, float], fusion: Fusion) -> dict[K, float]:
    """Return the sum of what each ranking adds, for each key of either one, best first."""
    near = {key: score for key, score in vector.items() if score > fusion.min_similarity}
    weights = (fusion.lexical_weight, fusion.vector_weight)
    if fusion.method == "rrf":
        return reciprocal_rank((lexical, near), weights, k=fusion.rrf_k)
    return weighted_sum((lexical, near), weights)


def reciprocal_rank(scored: Sequence[Mapping[K, float]], weights: Sequence[float] = (), k: int = 60) -> dict[K, float]:
    """Return the sum of weight / (k + rank) over the sides that hold a key; rank is 1 + the number of better ones.

    Equal scores so have equal ranks, whatever the order in which they came. Without weights each side counts 1.
    """
    scores: dict[K, float] = {}
    for side, weight in zip(scored, _weights(weights, len(scored)), strict=True):
        # The best comes last: of equal scores the first place stays.
        rank_of = dict(zip(sorted(side.values()), range(len(side), 0, -1), strict=True))
        for key, score in side.items():
            scores[key] = scores.get(key, 0.0) + weight / (k + rank_of[score])
    return _best_first(scores)


def weighted_sum(scored: Sequence[Mapping[K, float]], weights: Sequence[float] = ()) -> dict[K, float]:
    """Return the sum of weight · scaled(score) over the sides that hold a key; a side that lacks it adds 0.

    Each side is scaled over its own candidates: (score - lowest) / (highest - lowest). Where all scores are equal, each
    is 1: the side holds them all and prefers none.
    """
    scores: dict[K, float] = {}
    for side, weight in zip(scored, _weights(weights, len(scored)), strict=True):
        for key, value in scaled(side).items():
            scores[key] = scores.get(key, 0.0) + weight * value
    return _best_first(scores)


def cut(ranking: Sequence[tuple[K, float]], k: int) -> Sequence[tuple[K, float]]:
    """Keep the k first of a ranking, best first, without parting equals: those that the cut would part go too.

    Which of them comes first is chance, and a search must not depend on it. Where they are half of the k, they stay.
    """
    if len(ranking) <= k:
        return ranking
    last = ranking[k][1]
    n_better = next(place for place, (_, score) in enumerate(ranking) if score == last)
    return ranking[: n_better if 2 * n_better > k else k]


def scaled(side: Mapping[K, float]) -> dict[K, float]:
    """Return the scores moved and stretched to 0 … 1."""
    lowest, highest = min(side.values(), default=0.0), max(side.values(), default=0.0)
    span = highest - lowest
    return {key: (score - lowest) / span if span > 0 else 1.0 for key, score in side.items()}


def _weights(weights: Sequence[float], count: int) -> Sequence[float]:
    return weights or (1.0,) * count


def _best_first(scores: Mapping[K, float]) -> dict[K, float]:
    keys = sorted(sorted(scores), key=scores.__getitem__, reverse=True)  # stable, also when reversed
    return {key: scores[key] for key in keys}
