from __future__ import annotations

from math import exp

import pytest

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.calibration import CALIBRATIONS, MODEL
from codefathom.search.ranking.confidence import confidence, evidence, is_certain, is_one_sign, weighted
from codefathom.search.ranking.rank import RankedCandidate
from codefathom.search.ranking.signals import NAMES, Candidate
from codefathom.search.verdict import WEAK
from codefathom.types import Chunk

QUERY = RankingQuery(("token", "parser"), rarity={"token": 3.0, "parser": 1.0}, n_chunks=1_000)


def ranked(strength: float, text: str, vector: float = 0.0, definition: float = 0.0) -> RankedCandidate:
    chunk = Chunk("id", "a.py", "python", "function", "", (), 1, 5, text)
    signals = dict.fromkeys(NAMES, strength) | {"definition": definition, "test": 1.0}
    return RankedCandidate(Candidate(1, chunk, vector=vector), 0.5, signals)


def test_nothing_found_is_no_confidence() -> None:
    assert confidence(QUERY, []) == 0.0


def test_a_question_that_is_a_symbol_is_certain_where_one_of_the_best_hits_defines_it() -> None:
    whole = QUERY._replace(symbols=("token_parser",), is_only_symbol=True)
    assert confidence(whole, [ranked(0.1, ""), ranked(0.1, "", definition=0.8)]) == 1.0
    assert confidence(whole, [*[ranked(0.1, "")] * 3, ranked(0.1, "", definition=0.8)]) < WEAK


def test_a_symbol_inside_a_question_that_nothing_else_answers_is_weak() -> None:
    query = QUERY._replace(terms=("brew", "coffee", "kubernetes", "std", "size"), symbols=("std::size",), unknown=0.8)
    query = query._replace(rarity=dict.fromkeys(query.terms, 5.0), n_chunks=3_000)
    assert confidence(query, [ranked(0.05, "size", vector=0.1, definition=0.8)], MODEL) < WEAK


@pytest.mark.parametrize("minor", [{}, {"more": 0.5}])
def test_what_is_estimated_is_never_certain(minor: dict[str, float]) -> None:
    query = QUERY._replace(minor_terms=minor)
    assert 0.9 < confidence(query, [ranked(2.0, "token parser", vector=1.0, definition=1.0)], MODEL) < 1.0


def test_what_it_is_made_of() -> None:
    hits = [ranked(0.7, "Token", vector=0.2), ranked(0.1, "", vector=0.4, definition=0.5)]
    query = QUERY._replace(unknown=0.5, n_chunks=99, symbols=("Token", "a_b"), foreign=("a_b",))
    numbers = evidence(query, hits)
    assert 0.5 < numbers.pop("score") < 0.7  # less than 0.7, as it defines nothing; that it is a test does not count
    assert numbers.pop("size") == pytest.approx(4.605, abs=0.001)
    assert numbers == {"words": 0.75, "near": 0.4, "unknown": 0.5, "defines": 0.5, "foreign": pytest.approx(1 / 3)}


@pytest.mark.parametrize(
    ("name", "foreign"),
    [("eMule", 0.0), ("ipfilter.dat", 0.0), ("a.py", 0.0), ("CatBoost", 0.5)],
)
def test_a_name_that_the_best_hits_mention_is_not_foreign(name: str, foreign: float) -> None:
    query = QUERY._replace(symbols=(name,), foreign=(name,))
    hits = [*[ranked(0.1, "")] * 2, ranked(0.1, "// the list of EMULE, IPFilter.dat")]
    assert evidence(query, hits)["foreign"] == foreign
    if name != "a.py":  # each hit has this path
        assert evidence(query, [ranked(0.1, ""), *hits])["foreign"] == 0.5  # the fourth does not tell


@pytest.mark.parametrize("model", [MODEL, "another", ""])
def test_all_evidence_is_sure_and_none_is_weak(model: str) -> None:
    sure = confidence(QUERY, [ranked(0.9, "token parser", vector=0.6)], model)
    weak = confidence(QUERY._replace(unknown=1.0), [ranked(0.0, "", vector=0.0)], model)
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
    for (_, is_meant), weights in CALIBRATIONS.items():
        assert weights["score"] > 0 < weights["words"]
        assert weights["unknown"] < 0 > weights["foreign"]
        assert ("near" in weights) == is_meant
        assert weights.get("near", 1.0) > 0


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("a", True), (" a? ", True), ("7", True), ("{", True), ("?", True), ("ab", False), ("用", False), ("", False)],
)
def test_a_question_of_one_sign_is_known(text: str, is_one: bool) -> None:
    assert is_one_sign(text) is is_one


@pytest.mark.parametrize(
    ("definition", "is_only_symbol", "certain"), [(0.8, True, True), (0.79, True, False), (1.0, False, False)]
)
def test_only_a_definition_as_written_makes_it_certain(definition: float, is_only_symbol: bool, certain: bool) -> None:
    query = QUERY._replace(symbols=("token_parser",), is_only_symbol=is_only_symbol)
    assert is_certain(query, [ranked(0.1, "", definition=definition)]) is certain


def test_of_the_hits_the_best_three_tell_but_for_the_nearest_meaning() -> None:
    fourth = ranked(0.9, "token parser", vector=0.9, definition=1.0)
    numbers = evidence(QUERY, [*[ranked(0.1, "")] * 3, fourth])
    assert (numbers["words"], numbers["defines"], numbers["near"]) == (0.0, 0.0, 0.9)
    assert numbers["score"] == evidence(QUERY, [ranked(0.1, "")])["score"]
    third = evidence(QUERY, [*[ranked(0.1, "")] * 2, fourth])
    assert (third["words"], third["defines"]) == (1.0, 1.0)
    # A project is taken to be at least as large as the smallest that were learned from.
    small = [evidence(QUERY._replace(n_chunks=n), [fourth])["size"] for n in (1, 60, 61)]
    assert small[0] == small[1] < small[2]
    assert small[0] == pytest.approx(4.111, abs=0.001)


def test_words_of_the_path_count_too() -> None:
    assert evidence(QUERY._replace(terms=("a.py",), rarity={"a.py": 1.0}), [ranked(0.1, "")])["words"] == 1.0


def test_it_is_the_logistic_function_of_the_evidence_to_three_places() -> None:
    hits = [ranked(0.3, "token", vector=0.4)]
    told = confidence(QUERY, hits, MODEL)
    assert told == round(1 / (1 + exp(-weighted(evidence(QUERY, hits), CALIBRATIONS["short", True]))), 3)
    assert 0.0 < told < 1.0
