"""The confidence of a search: how likely its hits are to answer the question.

A logistic function of a few numbers, one for short questions and one for long texts, learned from questions asked of
the repository they are about and of others (`training/confidence.py` makes `calibration.py`). 0.5: as many questions of
either kind look like this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

from codefathom.search.question.ranking_query import Kind, RankingQuery
from codefathom.search.question.words import Cover
from codefathom.search.ranking.calibration import CALIBRATIONS, MODEL
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.signals import NAMES
from codefathom.search.ranking.weights import WEIGHTS

_EVIDENCE = frozenset(NAMES) - {
    "file_size",
    "depth",
    "test",
    "prose",
    "declaration",
    "legacy",
    "data",
    "frame",
    "file_several",
    "named_file",
    "symbol_only",
    "heading",
    "lacking",
}
_POSSIBLE = {
    kind: sum(abs(weight) for name, weight in weights.items() if name in _EVIDENCE) for kind, weights in WEIGHTS.items()
}
# In the order in which signals are listed: the last bits of a sum depend on it.
_EVIDENCE_OF = {
    kind: [(name, weights[name]) for name in NAMES if name in _EVIDENCE] for kind, weights in WEIGHTS.items()
}
_SURE = 0.8  # of the signal `definition`: the symbol of the question, as written
_N_BEST = 3
_SMALLEST = 60  # chunks; of smaller projects there were too few to learn from
_LESS_THAN_SURE = 0.999  # what is estimated is never certain
# What is not estimated. A text that stands in a file as it is written in the question may well be what is looked for;
# one letter or sign stands everywhere; and where a question asks for connections, words find only what it names.
AS_WRITTEN, ONE_SIGN, NOT_CONNECTED = 0.5, 0.3, 0.5
_ENDS = " ?.!\uff1f\u3002\uff01"


def is_one_sign(text: str) -> bool:
    """Return True for a question of one letter, digit or sign. A Chinese sign is a word."""
    bare = text.strip(_ENDS) or text.strip()
    return len(bare) == 1 and bare.isascii()


def confidence(query: RankingQuery, ranked: Sequence[RankedCandidate], model: str = "") -> float:
    """Return 0 to 1; 1 only where the whole question is a symbol, and one of the best hits defines it.

    `model` made the vectors. Hits of one source alone have no score to learn from: it is the share of the question that
    the best of them cover.
    """
    if not ranked:
        return 0.0
    if is_certain(query, ranked):
        return 1.0
    if "file_share" not in ranked[0].signals:
        return round(_covered(query, ranked), 3)
    weights = CALIBRATIONS[query.kind, model == MODEL]
    return min(round(1 / (1 + exp(-weighted(evidence(query, ranked), weights))), 3), _LESS_THAN_SURE)


def is_certain(query: RankingQuery, ranked: Sequence[RankedCandidate]) -> bool:
    """Return True if the whole question is a symbol, and one of the best hits defines it, as it is written."""
    return query.is_only_symbol and _defines(ranked) >= _SURE


def evidence(query: RankingQuery, ranked: Sequence[RankedCandidate]) -> dict[str, float]:
    """Return the numbers from which the confidence is calculated."""
    return {
        "score": max(_strength(item, query.kind) for item in ranked[:_N_BEST]),
        "words": _covered(query, ranked),
        "near": max(item.candidate.vector for item in ranked),  # highest cosine
        "unknown": query.unknown,  # share of the question that stands nowhere
        "defines": _defines(ranked),
        "foreign": _foreign(query, ranked),  # share of its symbols
        "size": log(1 + max(query.n_chunks, _SMALLEST)),  # more looks right by chance where there is more to find
    }


def _defines(ranked: Sequence[RankedCandidate]) -> float:
    """Return the highest `definition` of the best hits: one of them defines a symbol of the question, 0 to 1."""
    return max(item.signals.get("definition", 0.0) for item in ranked[:_N_BEST])


def _foreign(query: RankingQuery, ranked: Sequence[RankedCandidate]) -> float:
    """Return the share of the symbols that the project does not define and that no best hit mentions.

    Names of other programs and of files (`eMule`, `ipfilter.dat`) look like symbols; no project defines them.
    """
    if not query.foreign:
        return 0.0
    texts = [_text(item) for item in ranked[:_N_BEST]]
    n_foreign = sum(not any(symbol.lower() in text for text in texts) for symbol in query.foreign)
    return n_foreign / (1 + len(query.symbols))


def _strength(item: RankedCandidate, kind: Kind) -> float:
    """Return the evidence for a hit, from 0 to 1, whatever kind of file it lies in."""
    signals = item.signals
    return sum([weight * signals.get(name, 0.0) for name, weight in _EVIDENCE_OF[kind]]) / _POSSIBLE[kind]


def _covered(query: RankingQuery, ranked: Sequence[RankedCandidate]) -> float:
    """Return the share of the question that the best hits cover."""
    if not query.terms:
        return 0.5
    forms = query.word_forms
    cover = Cover(query.worth)
    terms = 0
    for item in ranked[:_N_BEST]:
        terms |= forms.inside(_text(item))
    return cover[terms]


def _text(item: RankedCandidate) -> str:
    return f"{item.candidate.chunk.path}\n{item.candidate.chunk.text}".lower()


def weighted(numbers: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Return the weighted sum, and add the constant weight `offset`."""
    return weights["offset"] + sum(weights.get(name, 0.0) * value for name, value in numbers.items())
