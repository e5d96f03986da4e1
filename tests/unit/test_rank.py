from __future__ import annotations

import pytest

from codefathom.search.rank import WEIGHTS, Candidate, Ranked, Wanted, file_factor, rank, same_word
from codefathom.types import Chunk


def candidate(key: int, path: str, *names: str, line: int = 1) -> Candidate:
    chunk = Chunk(f"id{key}", path, "python", "function", "", names, line, line + 4, "text\n")
    return Candidate(key, chunk)


def ranked(wanted: Wanted, candidates: list[Candidate], fused: dict[int, float]) -> list[Ranked]:
    return rank(wanted, candidates, fused, dict.fromkeys(wanted.terms, 1.0), WEIGHTS)


def keys(result: list[Ranked]) -> list[int]:
    return [item.candidate.key for item in result]


def test_a_definition_beats_a_mention() -> None:
    wanted = Wanted(("parse", "config"), symbols=("parse_config",))
    found = ranked(
        wanted, [candidate(1, "a/use.py", "main"), candidate(2, "z/io.py", "parse_config")], {1: 1.0, 2: 0.2}
    )
    assert keys(found) == [2, 1]
    assert (found[0].signals["definition"], found[1].signals["definition"]) == (0.8, 0.0)


def test_a_definition_as_written_beats_one_in_another_case() -> None:
    wanted = Wanted(("reader",), symbols=("Reader",))
    assert keys(ranked(wanted, [candidate(1, "a.py", "reader"), candidate(2, "b.py", "Reader")], {})) == [2, 1]


@pytest.mark.parametrize("symbol", ["Store.get", "Store::get", "Store#get"])
def test_the_last_part_of_a_name_counts(symbol: str) -> None:
    [found] = ranked(Wanted((), symbols=(symbol,)), [candidate(1, "a.py", "Store.get")], {})
    assert found.signals["definition"] == 0.8


@pytest.mark.parametrize(
    "path", ["tests/a.py", "src/test_a.py", "src/a_test.go", "src/a.spec.ts", "examples/a.py", "x/UserTest.java"]
)
def test_files_of_tests_count_less(path: str) -> None:
    assert keys(ranked(Wanted(("a",)), [candidate(1, path), candidate(2, "src/zz.py")], {1: 0.6, 2: 0.5})) == [2, 1]
    assert file_factor(path, WEIGHTS) == WEIGHTS.test


def test_files_of_tests_count_in_full_when_asked_for() -> None:
    wanted = Wanted(("a",), about_tests=True)
    candidates = [candidate(1, "tests/q.py"), candidate(2, "src/zz.py")]
    assert keys(ranked(wanted, candidates, {1: 0.6, 2: 0.5})) == [1, 2]


def test_declarations_count_less() -> None:
    assert WEIGHTS.test < file_factor("lib/a.d.ts", WEIGHTS) == file_factor("a.pyi", WEIGHTS) < 1.0
    assert file_factor("lib/a.ts", WEIGHTS) == file_factor("latest/contest.py", WEIGHTS) == 1.0


def test_a_second_chunk_of_a_file_counts_less() -> None:
    candidates = [candidate(1, "a.py"), candidate(2, "a.py", line=10), candidate(3, "b.py")]
    found = ranked(Wanted(("q",)), candidates, {1: 1.0, 2: 0.9, 3: 0.8})
    assert keys(found) == [1, 3, 2]
    assert [item.signals["repeat"] for item in found] == [1.0, 1.0, WEIGHTS.repeat]


def test_ties_go_by_path_and_line() -> None:
    candidates = [
        candidate(1, "b.py"),
        candidate(2, "a.py", line=50),
        candidate(3, "a.py", line=5),
        candidate(4, "c.py"),
    ]
    fused = dict.fromkeys((1, 2, 3, 4), 0.0)
    assert keys(ranked(Wanted(("q",)), candidates, fused)) == [3, 2, 1, 4]
    assert keys(ranked(Wanted(("q",)), candidates[::-1], fused)) == [3, 2, 1, 4]


def test_names_files_and_folders_with_words_of_the_question_count() -> None:
    plain = candidate(1, "a/b.py")
    for better in (candidate(2, "z/z.py", "load_token"), candidate(2, "z/token.py"), candidate(2, "token/z.py")):
        assert keys(ranked(Wanted(("token",)), [plain, better], {1: 0.5, 2: 0.5})) == [2, 1]


def test_scores_are_from_0_to_1_and_sorted() -> None:
    wanted = Wanted(("token",), symbols=("token",))
    candidates = [candidate(n, f"token/{'token' if n % 2 else 'x'}{n}.py", "token") for n in range(9)]
    scores = [item.score for item in ranked(wanted, candidates, dict.fromkeys(range(9), 1.0))]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_nothing_and_no_evidence() -> None:
    assert ranked(Wanted(("q",)), [], {}) == []
    assert [item.score for item in ranked(Wanted(()), [candidate(1, "a.py")], {})] == [0.0]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [("route", "routing", True), ("retry", "retries", True), ("a", "ab", False), ("index", "indexer", True),
     ("token", "tower", False)],
)  # fmt: skip
def test_forms_of_a_word(one: str, other: str, same: bool) -> None:
    assert same_word(one, other) is same
    assert same_word(other, one) is same
