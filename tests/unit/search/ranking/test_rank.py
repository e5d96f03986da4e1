from __future__ import annotations

import re

import pytest

from codefathom.search.question.ranking_query import RankingQuery
from codefathom.search.ranking.rank import REPEAT, RankedCandidate, by_signals, score_of, weights_of
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
    against = {"depth", "test", "prose", "declaration", "legacy", "data"}
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
