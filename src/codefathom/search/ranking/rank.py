"""Candidates → ordered hits.

The score is a weighted sum of signals (`signals.py`) through a logistic function, so that it lies between 0 and 1. The
weights are learned: `training/ranking.py` makes `weights.py`, and docs/ranking.md shows the value of each one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from math import exp
from operator import attrgetter, mul
from typing import NamedTuple

from codefathom.facts.reasons import Note, Told
from codefathom.search.question.ranking_query import Kind, RankingQuery
from codefathom.search.ranking.signals import NAMES, Candidate, signals
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.types.hits import NO_REST, Rest

# They scale the sum to a score from 0 to 1: half for a file that fits in most ways, next to nothing without evidence.
MIDDLE, SPREAD = 6.0, 2.5
REPEAT = 0.5  # factor for each further chunk of a file, so that one file does not fill the list
LONG_TEXT = "long_text"  # among the signals of a candidate, where other weights are meant
_PLACE_OF = {name: place for place, name in enumerate(NAMES)}
_IN_ORDER = {kind: tuple(weights[name] for name in NAMES) for kind, weights in WEIGHTS.items()}
_ADDITIONS = {"short": ("repeat",), "long": ("repeat", LONG_TEXT)}  # to the signals of a candidate


class RankedCandidate(NamedTuple):
    """A candidate with its final score and the signals behind it."""

    candidate: Candidate
    score: float
    signals: Mapping[str, float]


class Pool(NamedTuple):
    """The candidates of a question, and the evidence that came with them."""

    candidates: Sequence[Candidate]
    scores: Mapping[int, float]  # by key: 0 to 1 of words and meaning together, or the measure of what alone decides
    signals: Mapping[int, Mapping[str, float]] | None = None  # by key, for --explain, where the scores alone decide
    symbols: tuple[str, ...] = ()  # names in the question, where each of its words counts as a name
    problem: Told | None = None  # of a source that failed and was left out
    further: Sequence[Candidate] = ()  # behind the candidates, best first: shown where many hits are wanted
    certainty: float = 1.0  # 0 to 1: how surely they are what was asked, where that is known without their ranking
    way: Note | None = None  # how they were looked for, where there is more than one way
    behind: Rest = NO_REST  # candidates that were found, or may be found, and are not among these
    notes: tuple[Note, ...] = ()  # what could not be seen
    is_ranking: bool = True  # False: all lines of a scope, of which none is better than another one


def rank(query: RankingQuery, pool: Pool) -> list[RankedCandidate]:
    """Order the candidates, best first, scores from 0 to 1. Ties are broken by path and line, never by chance."""
    if pool.signals is None:
        return by_signals(query._replace(symbols=pool.symbols) if pool.symbols else query, pool.candidates, pool.scores)
    return sorted(
        (RankedCandidate(one, pool.scores[one.key], pool.signals[one.key]) for one in pool.candidates),
        key=_by_score_and_place,
    )


def followed_by(ranked: Sequence[RankedCandidate], further: Sequence[Candidate]) -> list[RankedCandidate]:
    """Return a ranking with chunks that were not ranked behind it, in their order, none with a higher score."""
    if not ranked or not further:
        return list(ranked)
    least = ranked[-1].score
    lexical = max(item.candidate.lexical for item in ranked) or 1.0
    vector = max(item.candidate.vector for item in ranked) or 1.0
    return [
        *ranked,
        *(
            RankedCandidate(one, least / (1 + place), {"lexical": one.lexical / lexical, "vector": one.vector / vector})
            for place, one in enumerate(further, start=1)
        ),
    ]


def by_activity(ranked: Sequence[RankedCandidate], activity_of: Callable[[str], int]) -> list[RankedCandidate]:
    """Return a ranking in which of equal scores the place in the more active repository comes first; see `Sources`.

    Of equally active ones the order stays.
    """
    ordered: list[RankedCandidate] = []
    for _, equal in groupby(ranked, attrgetter("score")):
        ordered += sorted(equal, key=lambda item: -activity_of(item.candidate.chunk.path))
    return ordered


def by_signals(
    query: RankingQuery, candidates: Sequence[Candidate], fused: Mapping[int, float]
) -> list[RankedCandidate]:
    """Order candidates by the weighted sum of their signals.

    `fused` is the lexical and vector evidence by key, scaled to 0..1.
    """
    candidates = sorted(candidates, key=by_place)
    rows = signals(query, candidates, fused)
    weights = _IN_ORDER[query.kind]
    return saturated(candidates, [score_of(sum(map(mul, weights, row))) for row in rows], rows, query.kind)


def weights_of(signals: Mapping[str, float]) -> Mapping[str, float]:
    """Return the weights by which the signals of a candidate were added."""
    return WEIGHTS["long" if LONG_TEXT in signals else "short"]


def score_of(total: float) -> float:
    """Return the score of a weighted sum."""
    return 1 / (1 + exp((MIDDLE - total) / SPREAD))


# The sort key of candidates before they are ranked.
by_place = attrgetter("chunk.path", "chunk.start_line", "chunk.column")


def _by_score_and_place(item: RankedCandidate) -> tuple[float, str, int, int]:
    """Return the sort key of a ranking: best first, then by path and line."""
    chunk = item.candidate.chunk
    return -item.score, chunk.path, chunk.start_line, chunk.column


class _Signals(Mapping[str, float]):
    """The numbers of one candidate by name; most candidates are never looked at again."""

    __slots__ = ("_kind", "_repeat", "_row")

    def __init__(self, row: tuple[float, ...], repeat: float, kind: Kind) -> None:
        self._row = row
        self._repeat = repeat
        self._kind = kind

    def __getitem__(self, name: str) -> float:
        if name in _ADDITIONS[self._kind]:
            return self._repeat if name == "repeat" else 1.0
        return self._row[_PLACE_OF[name]]

    def __contains__(self, name: object) -> bool:
        return name in _PLACE_OF or name in _ADDITIONS[self._kind]

    def __iter__(self) -> Iterator[str]:
        return iter((*NAMES, *_ADDITIONS[self._kind]))

    def __len__(self) -> int:
        return len(NAMES) + len(_ADDITIONS[self._kind])


def saturated(
    candidates: Sequence[Candidate], scores: Sequence[float], rows: Sequence[tuple[float, ...]], kind: Kind = "short"
) -> list[RankedCandidate]:
    """Order by score; each further chunk of a file counts less, so that one file does not fill the list.

    Candidates come in the order of their places, and equal scores keep it.
    """
    seen: dict[str, int] = defaultdict(int)
    result = []
    for place in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
        candidate = candidates[place]
        path = candidate.chunk.path
        n_before = seen[path]
        seen[path] = n_before + 1
        factor = REPEAT**n_before
        result.append(RankedCandidate(candidate, scores[place] * factor, _Signals(rows[place], factor, kind)))
    result.sort(key=attrgetter("score"), reverse=True)
    return result
