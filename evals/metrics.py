"""How good a ranked list is. Gains are binary; a place that was found twice counts once."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

CUT = 10


class Target(NamedTuple):
    """A place that answers a question: a file, or lines of it."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


class Found(NamedTuple):
    """A place that a tool returned."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


class Scores(NamedTuple):
    """The figures of one question, each from 0 to 1."""

    ndcg: float
    recall: float
    first: float  # 1 when the first place is a target
    reciprocal: float  # 1 / rank of the best target, 0 when none is among the ten


def score(found: Sequence[Found], targets: Sequence[Target]) -> Scores:
    """Score the first ten places. Several places in one file keep their ranks; they are not joined."""
    if not targets:
        return Scores(0.0, 0.0, 0.0, 0.0)
    ranks = [rank for target in targets if (rank := rank_of(target, found[:CUT]))]
    # Two targets met by the same place gain once, while the ideal list has a place for each.
    gained = sum(map(_gain, set(ranks)))
    ideal = sum(map(_gain, range(1, min(CUT, len(targets)) + 1)))
    best = min(ranks, default=0)
    return Scores(
        ndcg=gained / ideal,
        recall=len(ranks) / len(targets),
        first=float(best == 1),
        reciprocal=1 / best if best else 0.0,
    )


def rank_of(target: Target, found: Sequence[Found]) -> int:
    """Return the 1-based rank of the first place that meets the target, 0 when none does."""
    return next((rank for rank, place in enumerate(found, 1) if meets(place, target)), 0)


def meets(place: Found, target: Target) -> bool:
    """Say whether a place lies in the target's file and, where both name lines, overlaps them."""
    if not same_file(place.path, target.path):
        return False
    lines = (place.start_line, place.end_line, target.start_line, target.end_line)
    if None in lines:
        return True
    start, end, target_start, target_end = (line or 0 for line in lines)
    return start <= target_end and target_start <= end


def same_file(one: str, other: str) -> bool:
    """Say whether one path is the other, or ends with it at a border between folders."""
    shorter, longer = sorted((_folders(one), _folders(other)), key=len)
    return longer[len(longer) - len(shorter) :] == shorter


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0.0 of nothing."""
    numbers = list(values)
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def percentile(values: Iterable[float], percent: float) -> float:
    """Return a percentile, interpolated between neighbours; 0.0 of nothing."""
    numbers = sorted(values)
    if not numbers:
        return 0.0
    place = (len(numbers) - 1) * percent / 100
    below = math.floor(place)
    above = math.ceil(place)
    return numbers[below] + (numbers[above] - numbers[below]) * (place - below)


_Row = TypeVar("_Row")
_Group = TypeVar("_Group", bound=Hashable)


def mean_of_groups(rows: Iterable[_Row], group: Callable[[_Row], _Group], value: Callable[[_Row], float]) -> float:
    """Return the mean of the groups' means, so that a group with many rows weighs no more than another."""
    groups: dict[_Group, list[float]] = {}
    for row in rows:
        groups.setdefault(group(row), []).append(value(row))
    return mean(map(mean, groups.values()))


def _gain(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _folders(path: str) -> list[str]:
    return path.replace("\\", "/").split("/")
