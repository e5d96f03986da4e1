"""A model reads the best candidates and moves them; imported only where one is set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from codefathom.errors import FathomError, ProviderError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Reranker
from codefathom.search.ranking.explain import RERANKED
from codefathom.search.ranking.rank import RankedCandidate


class RerankResult(NamedTuple):
    """A ranking, and the reason why the model could not be used."""

    ranked: Sequence[RankedCandidate]
    problem: Note | None = None


class WeightedReranker(NamedTuple):
    """A reranking model, and how much its grades count."""

    model: Reranker
    depth: int = 20  # best candidates that it reads
    weight: float = 0.5  # of its grades; the rest is that of the ranking

    def apply(self, question: str, ranked: Sequence[RankedCandidate]) -> RerankResult:
        """Order the best candidates anew; the others stay below. A model that fails leaves the ranking as it is.

        Both orders are scaled from 0 to 1 over the candidates that are read, so that it does not matter how a model
        counts, and their sum to the scores that were there, so that the rest keeps its place.
        """
        best, others = list(ranked[: self.depth]), ranked[self.depth :]
        if len(best) < 2 or not question.strip():
            return RerankResult(ranked)
        try:
            grades = self.model.scores(question, [_text_of(item) for item in best])
        except ProviderError as error:
            return RerankResult(ranked, Note(say.NOT_RERANKED, {"error": str(error)}))
        low, high = best[-1].score, best[0].score
        sums = [
            (1 - self.weight) * old + self.weight * new
            for old, new in zip(_scaled([item.score for item in best]), _scaled(grades), strict=True)
        ]
        moved = [
            RankedCandidate(item.candidate, low + (high - low) * total, {**item.signals, RERANKED: grade})
            for item, total, grade in zip(best, sums, grades, strict=True)
        ]
        moved.sort(key=lambda item: -item.score)  # stable: equals stay in their order
        return RerankResult([*moved, *others])


class Unusable:
    """Stands for a reranking model that cannot be used: searches go on without it and name the reason."""

    def __init__(self, name: str, error: FathomError) -> None:
        self.name = name
        self._error = error

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Raise ProviderError."""
        raise ProviderError(str(self._error), hint=self._error.hint)


def _text_of(item: RankedCandidate) -> str:
    """Return the text that the model reads, with the path first: a path says as much as many lines."""
    chunk = item.candidate.chunk
    return f"{chunk.path}\n{chunk.text}"


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]
