"""Ranks of the files of a project: PageRank (Brin and Page, 1998) over imports and uses. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import NamedTuple, TypeVar

_Key = TypeVar("_Key")

USUALLY_FOLLOWED = 0.85  # as in the paper
_MAX_ROUNDS = 60
_SETTLED = 1e-6  # sum of all changes of a round


class Link(NamedTuple):
    """A file that needs something of another one."""

    source: str
    target: str
    name: str  # what it uses; "" where it imports the file
    weight: float


class Ranks(NamedTuple):
    """Shares of the attention of a reader who follows links."""

    files: Mapping[str, float]  # by path; they sum up to 1
    names: Mapping[tuple[str, str], float]  # by (path, name): what comes to a file because of this name


def ranked(start: Mapping[str, float], links: Sequence[Link], followed: float = USUALLY_FOLLOWED) -> Ranks:
    """Return the ranks of files for a reader who starts at each with this weight, at least one of them above 0.

    `followed` is the share of readers that go along a link in each step; the others start again. Links from or to other
    files are left out. The same arguments give the same numbers.
    """
    total = sum(start.values())
    begin = {path: weight / total for path, weight in start.items()}
    inside = [link for link in links if link.source in begin and link.target in begin]
    weights = _summed((link.source, link.weight) for link in inside)
    # Of a file with few and weak links most readers go nowhere; a whole import is enough to lead all of them on.
    out = {path: max(weight, 1.0) for path, weight in weights.items()}
    leaving = {path: followed * weight / out[path] for path, weight in weights.items()}
    pairs = _summed(((link.source, link.target), followed * link.weight / out[link.source]) for link in inside)
    files = _settled(begin, leaving, pairs)
    named = (((link.target, link.name), files[link.source] * link.weight / out[link.source]) for link in inside)
    return Ranks(files, _summed(named))


def _settled(
    begin: Mapping[str, float], leaving: Mapping[str, float], pairs: Mapping[tuple[str, str], float]
) -> dict[str, float]:
    """Return the ranks after the rounds. Files have numbers there: a large project has millions of steps in each."""
    number = {path: place for place, path in enumerate(begin)}
    arriving: list[tuple[list[int], list[float]]] = [([], []) for _ in begin]  # by target: sources, and shares of them
    for (source, target), share in pairs.items():
        sources, shares = arriving[number[target]]
        sources.append(number[source])
        shares.append(share)
    weights, left = list(begin.values()), [leaving.get(path, 0.0) for path in begin]
    ranks = weights
    for _ in range(_MAX_ROUNDS):
        again = 1 - sum(map(mul, ranks, left))
        after = [
            sum(map(mul, shares, map(ranks.__getitem__, sources)), again * weight)
            for weight, (sources, shares) in zip(weights, arriving, strict=True)
        ]
        change = sum(abs(new - old) for new, old in zip(after, ranks, strict=True))
        ranks = after
        if change < _SETTLED:
            break
    return dict(zip(begin, ranks, strict=True))


def _summed(items: Iterable[tuple[_Key, float]]) -> dict[_Key, float]:
    sums: dict[_Key, float] = defaultdict(float)
    for key, value in items:
        sums[key] += value
    return dict(sums)
