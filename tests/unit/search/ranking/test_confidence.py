from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.calibration import MODEL, WITH_MEANING, WITHOUT
from codefathom.search.ranking.confidence import WEAK, confidence, evidence
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.signals import Candidate
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.types import Chunk

QUERY = RankingQuery(("token", "parser"), rarity={"token": 3.0, "parser": 1.0})


def ranked(strength: float, text: str, vector: float = 0.0, definition: float = 0.0) -> RankedCandidate:
    chunk = Chunk("id", "a.py", "python", "function", "", (), 1, 5, text)
    signals = dict.fromkeys(WEIGHTS, strength) | {"definition": definition, "test": 1.0}
    return RankedCandidate(Candidate(1, chunk, vector=vector), 0.5, signals)


def test_nothing_found_is_no_confidence() -> None:
    assert confidence(QUERY, []) == 0.0


def test_the_symbol_asked_for_is_certain() -> None:
    assert confidence(QUERY, [ranked(0.1, ""), ranked(0.1, "", definition=0.8)]) == 1.0
    assert confidence(QUERY, [*[ranked(0.1, "")] * 3, ranked(0.1, "", definition=0.8)]) < WEAK


def test_what_it_is_made_of() -> None:
    hits = [ranked(0.7, "Token", vector=0.2), ranked(0.1, "", vector=0.4)]
    numbers = evidence(replace(QUERY, unknown=0.5), hits)
    assert 0.5 < numbers.pop("score") < 0.7  # less than 0.7, as it defines nothing; that it is a test does not count
    assert numbers == {"words": 0.75, "near": 0.4, "unknown": 0.5}


@pytest.mark.parametrize("model", [MODEL, "another", ""])
def test_all_evidence_is_sure_and_none_is_weak(model: str) -> None:
    sure = confidence(QUERY, [ranked(0.9, "token parser", vector=0.6)], model)
    weak = confidence(replace(QUERY, unknown=1.0), [ranked(0.0, "", vector=0.0)], model)
    assert 0.0 <= weak < WEAK < 0.8 < sure <= 1.0


def test_cosines_count_only_for_the_model_they_were_learned_with() -> None:
    near, far = [ranked(0.5, "token", vector=0.9)], [ranked(0.5, "token", vector=0.1)]
    assert confidence(QUERY, near, MODEL) > confidence(QUERY, far, MODEL)
    assert confidence(QUERY, near, "another") == confidence(QUERY, far, "another")


def test_hits_of_one_source_alone_are_judged_by_what_they_cover() -> None:
    alone = RankedCandidate(ranked(1.0, "token").candidate, 1.0, {"lexical": 3.0})
    assert confidence(QUERY, [alone]) == 0.75
    assert confidence(RankingQuery(()), [alone]) == 0.5


def test_what_was_learned_points_the_right_way() -> None:
    for weights in (WITH_MEANING, WITHOUT):
        assert weights["score"] > 0 < weights["words"]
        assert weights["unknown"] < 0
    assert WITH_MEANING["near"] > 0
