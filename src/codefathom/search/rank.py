"""Candidates → ordered hits. Pure.

The score is a weighted sum of signals (`signals.py`) through a logistic function, so that it lies between 0 and 1. The
weights are learned: `training/ranking.py` makes `weights.py`, and docs/ranking.md shows what each one is worth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import exp
from operator import attrgetter, mul
from typing import NamedTuple

from codefathom.search.signals import NAMES, Candidate, signals
from codefathom.search.wanted import Wanted
from codefathom.search.weights import WEIGHTS

# What makes a score from 0 to 1 of the sum: half for a file that fits in most ways, next to nothing without evidence.
MIDDLE, SPREAD = 6.0, 2.5
REPEAT = 0.5  # what each further chunk of a file is worth, so that one file does not fill the list
_IN_ORDER = tuple(WEIGHTS.get(name, 0.0) for name in NAMES)


class Ranked(NamedTuple):
    """A candidate with its final score and the signals behind it."""

    candidate: Candidate
    score: float
    signals: Mapping[str, float]


def rank(wanted: Wanted, candidates: Sequence[Candidate], fused: Mapping[int, float]) -> list[Ranked]:
    """Order candidates, best first, scores from 0 to 1. Ties are broken by path and line, never by chance.

    `fused` is the lexical and vector evidence by key, scaled to 0..1.
    """
    rows = signals(wanted, candidates, fused)
    scores = [1 / (1 + exp((MIDDLE - sum(map(mul, _IN_ORDER, row))) / SPREAD)) for row in rows]
    return _saturated(candidates, scores, rows)


def by_score_and_place(item: Ranked) -> tuple[float, str, int]:
    """Return what a ranking is sorted by: best first, then by path and line."""
    chunk = item.candidate.chunk
    return -item.score, chunk.path, chunk.start_line


def _saturated(
    candidates: Sequence[Candidate], scores: Sequence[float], rows: Sequence[tuple[float, ...]]
) -> list[Ranked]:
    """Order by score; each further chunk of a file counts less, so that one file does not fill the list."""
    seen: dict[str, int] = defaultdict(int)
    result = []
    named = [dict(zip(NAMES, row, strict=True)) for row in rows]
    for item in sorted(map(Ranked, candidates, scores, named), key=by_score_and_place):
        path = item.candidate.chunk.path
        factor = REPEAT ** seen[path]
        seen[path] += 1
        result.append(Ranked(item.candidate, item.score * factor, {**item.signals, "repeat": factor}))
    result.sort(key=attrgetter("score"), reverse=True)  # stable: equal scores keep their order
    return result
