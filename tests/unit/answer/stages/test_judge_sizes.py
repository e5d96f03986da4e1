"""By their size, files are judged together, alone, or in parts; each has one grade of its own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.answer.budget import CountTokens, Material, Sizes, pieces, sizes
from codefathom.answer.problems import model_failed
from codefathom.answer.stages.judge import JudgeOptions, judge
from codefathom.answer.tokens import estimate
from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Reply
from codefathom.testing import ScriptedChat

QUESTION = "Where is a price computed?"


def words(text: str) -> int:
    return len(text.split())


def by_bytes(text: str) -> int:
    return len(text.encode())


@pytest.mark.parametrize(
    ("full", "expected"),
    [
        (14_400, Sizes(14_300, 3_575, 7_150)),
        (14_401, Sizes(14_301, 3_575, 7_150)),
        (14_404, Sizes(14_304, 3_576, 7_152)),
        (104, Sizes(4, 1, 2)),
        (101, Sizes(1, 0, 0)),
        (100, Sizes(0, 0, 0)),
        (99, Sizes(0, 0, 0)),
        (0, Sizes(0, 0, 0)),
    ],
)
def test_sizes_follow_the_share_for_whole_files(full: int, expected: Sizes) -> None:
    assert sizes(full) == expected


@pytest.mark.parametrize(
    ("text", "most", "count", "expected"),
    [
        ("", 9, len, []),
        ("ab\ncd\n", 0, len, []),
        # the limit, and one token less or more
        ("ab\ncd\n", 6, len, [(1, 2, "ab\ncd\n")]),
        ("ab\ncd\n", 5, len, [(1, 1, "ab\n"), (2, 2, "cd\n")]),
        ("ab\ncd\n", 7, len, [(1, 2, "ab\ncd\n")]),
        ("ab\ncd\n", 3, len, [(1, 1, "ab\n"), (2, 2, "cd\n")]),
        # a line that is too long is cut inside
        ("ab\ncd\n", 2, len, [(1, 1, "a"), (1, 1, "b\n"), (2, 2, "c"), (2, 2, "d\n")]),
        ("ab\ncdefgh\ni", 4, len, [(1, 1, "ab\n"), (2, 2, "cde"), (2, 2, "fgh\n"), (3, 3, "i")]),
        ("\n\n\n\n", 2, len, [(1, 2, "\n\n"), (3, 4, "\n\n")]),
        ("a\r\nb\x0cc\u2028d\n", 3, len, [(1, 1, "a\r\n"), (2, 2, "b\x0cc"), (2, 2, "\u2028d\n")]),
        # tokens, not characters: three bytes each, and four
        ("价格\n计算\n", 14, by_bytes, [(1, 2, "价格\n计算\n")]),
        ("价格\n计算\n", 13, by_bytes, [(1, 1, "价格\n"), (2, 2, "计算\n")]),
        ("价格\n计算\n", 6, by_bytes, [(1, 1, "价"), (1, 1, "格\n"), (2, 2, "计"), (2, 2, "算\n")]),
        ("😀\n😀\n", 10, by_bytes, [(1, 2, "😀\n😀\n")]),
        ("😀\n😀\n", 9, by_bytes, [(1, 1, "😀\n"), (2, 2, "😀\n")]),
        ("a😀\n", 5, by_bytes, [(1, 1, "a"), (1, 1, "😀\n")]),
        ("a😀b\n", 3, by_bytes, [(1, 1, "a"), (1, 1, "b\n")]),  # no part of a character can be shown
    ],
)
def test_a_text_is_cut_by_tokens_at_line_ends(
    text: str, most: int, count: CountTokens, expected: list[tuple[int, int, str]]
) -> None:
    assert [tuple(piece) for piece in pieces(text, most, count)] == expected


def test_lines_that_have_more_tokens_together_than_one_by_one_are_cut_again() -> None:
    def count(text: str) -> int:
        return len(text) + 10 * (text.count("\n") > 1)

    assert [piece.text for piece in pieces("ab\ncd\nef\ngh\n", 12, count)] == ["ab\n", "cd\n", "ef\n", "gh\n"]


@given(
    st.lists(st.sampled_from(["a", " ", "\n", "中", "😀", "\r\n", "\x0c", "long_name"]), max_size=100).map("".join),
    st.integers(1, 60),
    st.sampled_from([len, by_bytes, estimate]),
)
def test_no_piece_has_too_many_tokens_and_nothing_is_lost(text: str, most: int, count: CountTokens) -> None:
    found = list(pieces(text, most, count))
    assert all(count(piece.text) <= most for piece in found)
    lines = [line for piece in found for line in (piece.start_line, piece.end_line)]
    assert lines == sorted(lines)
    if max(map(count, text), default=0) <= most:
        assert "".join(piece.text for piece in found) == text


def documents_of(ask: Ask) -> list[str]:
    return re.findall(r"is document \d+ \((.*?)\)", ask.messages[-1].content)


def graded(ask: Ask) -> Reply:
    """Give a document the grade that its text names, 2 when it names none."""
    texts = re.split(r"is document \d+ ", ask.messages[-1].content)[1:]
    grades = [re.search(r"GRADE (\S+)", text) for text in texts]
    lines = [f"{number}: {grade[1] if grade else 'no/2'}" for number, grade in enumerate(grades, start=1)]
    return Reply("\n".join(lines))


def file(name: str, n_words: int) -> Material:
    return Material(name, "word\n" * n_words)


@pytest.mark.parametrize(
    ("n_words", "calls"),
    [
        # 40 words are small, 100 fit a call
        ((40, 40), [["0", "1"]]),
        ((41, 40), [["0"], ["1"]]),
        ((40, 41, 40), [["1"], ["0", "2"]]),
        ((100, 40), [["0"], ["1"]]),
        ((101, 40), [["0, lines 1 to 100"], ["0, lines 101 to 101", "1"]]),
        ((40, 40, 40, 40, 40), [["0", "1", "2", "3"], ["4"]]),  # four in a call
    ],
)
def test_small_files_share_a_call_and_large_ones_are_cut(n_words: tuple[int, ...], calls: list[list[str]]) -> None:
    found = [file(str(number), n) for number, n in enumerate(n_words)]
    model = ScriptedChat([graded] * 9)
    options = JudgeOptions(threshold=0, workers=1, count=words, sizes=Sizes(100, 40, 2_000))
    judged = judge(QUESTION, (), found, model, options)
    assert [documents_of(ask) for ask in model.asks] == calls
    assert len(judged.kept) == len(found)


@pytest.mark.parametrize(("spare", "n_calls"), [(0, 1), (1, 1), (-1, 2)])
def test_files_that_share_a_call_have_no_more_tokens_than_may_be_merged(spare: int, n_calls: int) -> None:
    found = [file("a", 10), file("b", 12)]
    alone = ScriptedChat([graded])
    judge(QUESTION, (), found, alone, JudgeOptions(workers=1, count=words))
    content = alone.asks[0].messages[-1].content
    both = words(content) - words(f"Question: {QUESTION}")
    model = ScriptedChat([graded] * 2)
    judge(QUESTION, (), found, model, JudgeOptions(workers=1, count=words, sizes=Sizes(900, 900, both + spare)))
    assert len(model.asks) == n_calls


def parted(*grades: str) -> Material:
    """Return a file of as many parts as there are grades, "-" for none."""
    texts = (f"GRADE {grade}\n" + "word\n" * 98 for grade in grades)
    return Material("large.py", "".join(texts))


@pytest.mark.parametrize(
    ("grades", "score"),
    [
        (("no/1", "yes/9", "no/3"), 9),
        (("no/1", "no/4"), 4),
        (("yes/6", "yes/6"), 6),
        (("hm", "yes/7"), 7),  # good enough, whatever the other part holds
        (("hm", "no/5"), None),  # what is asked for may lie in the other part
        (("hm", "hm"), None),
    ],
)
def test_the_best_grade_of_a_files_parts_counts(grades: tuple[str, ...], score: int | None) -> None:
    options = JudgeOptions(threshold=6, workers=1, per_call=1, count=words, sizes=Sizes(100, 25, 50))
    model = ScriptedChat([graded] * len(grades))
    judged = judge(QUESTION, (), [parted(*grades)], model, options)
    assert judged.scores == (score,)
    kept, dropped = score is not None and score >= 6, score is not None and score < 6
    assert (len(judged.kept), len(judged.dropped), len(judged.unjudged)) == (kept, dropped, score is None)
    n_unread = grades.count("hm")
    assert len(judged.problems) == n_unread
    assert all(
        problem.startswith("the judging model gave no grade for large.py, lines ") for problem in judged.problems
    )


def test_a_part_that_fails_leaves_the_others_their_grades() -> None:
    options = JudgeOptions(threshold=6, workers=1, per_call=1, count=words, sizes=Sizes(100, 25, 50))
    model = ScriptedChat([ProviderError("overloaded"), graded])
    judged = judge(QUESTION, (), [parted("no/1", "yes/8")], model, options)
    assert judged.scores == (8,)
    assert judged.problems == (model_failed("judging", "overloaded"),)


def test_a_merged_file_keeps_its_name_and_its_own_grade() -> None:
    found = [Material(f"{grade}.py", f"GRADE yes/{grade}\n") for grade in (9, 3, 7)]
    judged = judge(QUESTION, (), found, ScriptedChat([graded]), JudgeOptions(threshold=6, sizes=sizes(14_400)))
    assert [item.path for item in judged.kept] == ["9.py", "7.py"]
    assert [item.path for item in judged.dropped] == ["3.py"]
    assert judged.scores == (9, 3, 7)


@pytest.mark.parametrize("full", [0, 100])
def test_a_share_that_is_too_small_for_sizes_leaves_those_of_a_call(full: int) -> None:
    found = [file("a", 300), file("b", 300)]
    model = ScriptedChat([graded])
    judge(QUESTION, (), found, model, JudgeOptions(count=words, sizes=sizes(full)))
    assert documents_of(model.asks[0]) == ["a", "b"]


@pytest.mark.parametrize("sign", ["价格", "😀", "`", "é"])
def test_no_call_passes_its_tokens_whatever_the_text_is_made_of(sign: str) -> None:
    text = "".join(f"{sign * 40}\n" for _ in range(400))
    model = ScriptedChat([graded] * 50)
    judge(QUESTION, (), [Material("a.py", text)], model, JudgeOptions(max_input_tokens=3_000))
    assert len(model.asks) > 1
    assert all(estimate("\n".join(message.content for message in ask.messages)) <= 3_000 for ask in model.asks)


def test_one_by_one_no_file_shares_a_call_and_none_is_divided() -> None:
    found = [file("a", 30), file("b", 3), file("c", 300), file("d", 3)]
    model = ScriptedChat([graded] * 4)
    options = JudgeOptions(workers=1, count=words, sizes=Sizes(50, 25, 50), max_input_tokens=900, is_one_by_one=True)
    judged = judge(QUESTION, (), found, model, options)
    assert [documents_of(ask) for ask in model.asks] == [["a"], ["b"], ["c"], ["d"]]
    too_long = judge(QUESTION, (), [file("e", 5_000)], ScriptedChat([]), options)
    assert too_long.problems == ("nothing of e fits into a call of the judging model",)
    assert [item.path for item in too_long.unjudged] == ["e"]
    assert judged.problems == ()
