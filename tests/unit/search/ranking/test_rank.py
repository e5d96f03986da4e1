from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.rank import (
    LONG_TEXT,
    MIDDLE,
    REPEAT,
    Pool,
    RankedCandidate,
    by_activity,
    by_signals,
    followed_by,
    rank,
    score_of,
    weights_of,
)
from codefathom.search.ranking.signals import NAMES, Candidate
from codefathom.search.ranking.weights import WEIGHTS
from codefathom.types import Chunk


def candidate(key: int, path: str, *names: str, line: int = 1) -> Candidate:
    chunk = Chunk(f"id{key}", path, "python", "function", "", names, line, line + 4, "text\n")
    return Candidate(key, chunk)


def ranked(
    terms: tuple[str, ...], candidates: list[Candidate], fused: dict[int, float], **more: object
) -> list[RankedCandidate]:
    query = RankingQuery(terms, rarity=dict.fromkeys(terms, 1.0), **more)  # type: ignore[arg-type]
    return by_signals(query, candidates, fused)


def keys(result: list[RankedCandidate]) -> list[int]:
    return [item.candidate.key for item in result]


def test_every_signal_has_a_weight() -> None:
    for weights in WEIGHTS.values():
        assert list(weights) == list(NAMES)


def test_what_speaks_for_a_candidate_has_a_positive_weight() -> None:
    against = {"depth", "test", "prose", "declaration", "legacy", "data", "lacking"}
    assert {name for name, weight in WEIGHTS["short"].items() if weight < 0} == against


def test_a_definition_beats_a_mention() -> None:
    candidates = [candidate(1, "a/use.py", "main"), candidate(2, "z/io.py", "parse_config")]
    hits = ranked(("parse", "config"), candidates, {1: 1.0, 2: 0.2}, symbols=("parse_config",))
    assert keys(hits) == [2, 1]


def test_files_of_tests_count_less_unless_asked_for() -> None:
    candidates = [candidate(1, "tests/zz.py"), candidate(2, "src/zz.py")]
    fused = {1: 0.6, 2: 0.5}
    assert keys(ranked(("a",), candidates, fused)) == [2, 1]
    assert keys(ranked(("a",), candidates, fused, about_tests=True)) == [1, 2]


def test_a_second_chunk_of_a_file_counts_less() -> None:
    candidates = [candidate(1, "a.py"), candidate(2, "a.py", line=10), candidate(3, "b.py")]
    hits = ranked(("q",), candidates, {1: 1.0, 2: 1.0, 3: 2.0})
    assert keys(hits) == [1, 3, 2]
    assert [item.signals["repeat"] for item in hits] == [1.0, 1.0, REPEAT]
    assert hits[2].score == hits[0].score * REPEAT


def test_a_long_text_has_weights_of_its_own() -> None:
    candidates = [candidate(1, "tests/zz.py"), candidate(2, "src/zz.py")]
    short, long = (ranked(("a",), candidates, {1: 1.0, 2: 0.5}, minor_terms=minor) for minor in ({}, {"b": 0.1}))
    assert ["long_text" in item.signals for item in (*short, *long)] == [False, False, True, True]
    for kind, hits in (("short", short), ("long", long)):
        for item in hits:
            total = sum(WEIGHTS[kind].get(name, 0.0) * value for name, value in item.signals.items())
            assert item.score == pytest.approx(score_of(total))
            assert weights_of(item.signals) == WEIGHTS[kind]
    assert len(dict(long[0].signals)) == len(long[0].signals) == len(NAMES) + 2


def test_ties_go_by_path_and_line() -> None:
    candidates = [
        candidate(1, "b.py"),
        candidate(2, "a.py", line=50),
        candidate(3, "a.py", line=5),
        candidate(4, "c.py"),
    ]
    fused = dict.fromkeys((1, 2, 3, 4), 0.0)
    assert keys(ranked(("q",), candidates, fused)) == [3, 1, 4, 2]
    assert keys(ranked(("q",), candidates[::-1], fused)) == [3, 1, 4, 2]


def test_ties_go_by_activity_where_it_is_known() -> None:
    scores = {1: 0.5, 2: 0.9, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.1, 7: 0.5}
    repositories = ("a", "a", "b", "c", "d", "b", "c")
    pool = [candidate(key, f"{name}/x{key}.py") for key, name in zip(scores, repositories, strict=True)]
    result = rank(RankingQuery(()), Pool(pool, scores, {key: {} for key in scores}))
    active = {"b": 20, "c": 30}
    assert keys(result) == [2, 1, 3, 4, 7, 5, 6]
    assert keys(by_activity(result, lambda path: active.get(path[0], 0))) == [2, 4, 7, 3, 1, 5, 6]
    apart = [item for item in result if item.candidate.key in (1, 2, 6)]
    assert by_activity(apart, lambda path: active.get(path[0], 0)) == apart


def test_names_files_and_folders_with_words_of_the_question_count() -> None:
    plain = candidate(1, "a/b.py")
    for better in (candidate(2, "z/z.py", "load_token"), candidate(2, "z/token.py"), candidate(2, "token/z.py")):
        assert keys(ranked(("token",), [plain, better], {1: 0.5, 2: 0.5})) == [2, 1]


def test_scores_are_from_0_to_1_and_sorted() -> None:
    candidates = [candidate(n, f"token/{'token' if n % 2 else 'x'}{n}.py", "token") for n in range(9)]
    hits = ranked(("token",), candidates, dict.fromkeys(range(9), 1.0), symbols=("token",))
    scores = [item.score for item in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_without_evidence_the_score_is_low() -> None:
    assert ranked(("q",), [], {}) == []
    assert [round(item.score, 2) for item in ranked((), [candidate(1, "a.py")], {})] == [0.08]


def test_the_weights_say_where_they_come_from() -> None:
    import codefathom.search.ranking.weights as module

    assert re.search(r"python -m training\.ranking", module.__doc__ or "")


def test_where_the_scores_alone_decide_the_rest_goes_by_place() -> None:
    candidates = [candidate(1, "b.py"), candidate(2, "a.py", line=9), candidate(3, "a.py"), candidate(4, "c.py")]
    candidates.append(candidates[2]._replace(key=5, chunk=replace(candidates[2].chunk, column=7)))
    scores = {1: 0.5, 2: 0.5, 3: 0.5, 4: 0.9, 5: 0.5}
    signals = {key: {"lexical": float(key)} for key in scores}
    hits = rank(RankingQuery(("q",)), Pool(candidates, scores, signals))
    assert keys(hits) == [4, 3, 5, 2, 1]
    assert [(item.score, item.signals) for item in hits] == [(scores[key], signals[key]) for key in keys(hits)]


def test_names_that_the_words_of_a_question_may_be_count_as_its_symbols() -> None:
    candidates = [candidate(1, "a/use.py", "main"), candidate(2, "z/io.py", "parse_config")]
    query = RankingQuery(("parse", "config"), rarity={"parse": 1.0, "config": 1.0})
    scores = {1: 1.0, 2: 0.2}
    without, with_names = (
        rank(query, Pool(candidates, scores, symbols=symbols)) for symbols in ((), ("parse_config",))
    )
    assert keys(with_names) == [2, 1]
    definitions = [{item.candidate.key: item.signals["definition"] for item in hits} for hits in (without, with_names)]
    assert [one[2] > 0 for one in definitions] == [False, True]
    # Names that the question has itself stay where there are no others.
    own = query._replace(symbols=("parse_config",))
    assert rank(own, Pool(candidates, scores)) and rank(own, Pool(candidates, scores))[0].signals["definition"] > 0


def test_each_further_chunk_of_a_file_counts_half_of_the_one_before() -> None:
    hits = ranked(("q",), [candidate(n, "a.py", line=10 * n) for n in range(4)], dict.fromkeys(range(4), 1.0))
    assert [item.score / hits[0].score for item in hits] == pytest.approx([1, 0.5, 0.25, 0.125])
    assert [item.signals["repeat"] for item in hits] == [1, 0.5, 0.25, 0.125]


def test_chunks_that_were_not_ranked_follow_with_lower_scores() -> None:
    first = [
        RankedCandidate(candidate(1, "a.py")._replace(lexical=8.0, vector=0.5), 0.9, {}),
        RankedCandidate(candidate(2, "b.py")._replace(lexical=4.0, vector=0.8), 0.6, {}),
    ]
    further = [candidate(n, f"z{n}.py")._replace(lexical=2.0, vector=0.4) for n in (3, 4)]
    hits = followed_by(first, further)
    assert hits[:2] == first
    assert [(item.candidate.key, item.score) for item in hits[2:]] == [(3, 0.3), (4, pytest.approx(0.2))]
    assert [item.signals for item in hits[2:]] == [{"lexical": 0.25, "vector": 0.5}] * 2
    assert (followed_by([], further), followed_by(first, [])) == ([], first)
    bare = [RankedCandidate(candidate(1, "a.py"), 0.9, {})]  # of a question without words or without meaning
    assert followed_by(bare, further)[1].signals == {"lexical": 2.0, "vector": 0.4}


def test_the_middle_of_the_sums_is_half_a_score() -> None:
    assert score_of(MIDDLE) == 0.5
    [hit] = ranked(("a",), [candidate(1, "a.py")], {1: 1.0}, minor_terms={"b": 0.1})
    assert (hit.signals[LONG_TEXT], hit.signals["repeat"]) == (1.0, 1.0)
