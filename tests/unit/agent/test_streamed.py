"""The answer of an agent while its JSON comes in, cut anywhere."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.agent.streamed import AnswerText, StreamedAnswer
from codefathom.answer.answer_types import Source

SOURCE = Source(10_000, "shop/tax.py", 1, 3, "one\ntwo\nthree")


def fed(reply: str, cuts: list[int]) -> str:
    places = sorted({0, len(reply), *(cut % (len(reply) + 1) for cut in cuts)})
    text = AnswerText()
    return "".join(text.feed(reply[start:end]) for start, end in pairwise(places))


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans(), st.lists(st.integers(0, 5_000)))
def test_any_answer_is_decoded_wherever_it_is_cut(answer: str, is_ascii: bool, cuts: list[int]) -> None:
    reply = json.dumps({"answer": answer, "confidence": "high"}, ensure_ascii=is_ascii)
    assert fed(reply, cuts) == answer
    assert fed(f"Here it is:\n```json\n{reply}\n```", cuts) == answer


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ('{"tool": "read_file", "arguments": {}}', ""),
        ("The answer is plain text.", ""),
        (r'{"answer": "half \ud83d', "half "),
        (r'{"answer": "a \ud83dx and more text"}', "a ?x and more text"),
        (r'{"answer": "\u00zz more text"}', "? more text"),
        ('{"answer": "one"} {"answer": "two"}', "one"),
    ],
)
def test_what_is_no_answer_gives_nothing(reply: str, text: str) -> None:
    assert fed(reply, list(range(len(reply)))) == text


def test_what_may_begin_an_answer_is_kept_and_no_more() -> None:
    text = AnswerText()
    assert [text.feed(piece) for piece in ("{" + "x" * 5_000, '{"ans', 'wer"', ' : "yes', '"}')] == [
        "",
        "",
        "",
        "yes",
        "",
    ]


def streamed(answer: str, size: int = 3) -> str:
    reply = json.dumps({"answer": answer, "confidence": "high", "sources": []})
    stream = StreamedAnswer(lambda: (SOURCE,), lambda _: {"shop/tax.py": "one\ntwo\nthree\n"})
    shown = "".join(text for start in range(0, len(reply), size) for text in stream.feed(reply[start : start + size]))
    assert stream.text == shown
    return shown


def test_words_come_at_once_and_places_are_checked() -> None:
    shown = streamed("It is taxed [shop/tax.py:2-3]. And here [shop/none.py:1-2]. This follows and ends")
    assert shown.startswith("It is taxed [shop/tax.py:2-3]. And here [cited place not found]. This follows and")


@pytest.mark.parametrize("mark", ["[1]", "(2)", "【3】", "[Source 3: lines 6-8]", "[sources 4, 5]"])
def test_a_number_waits_for_the_sources(mark: str) -> None:
    assert streamed(f"It is taxed {mark}. And more text follows here") in {"It is taxed", "It is taxed "}
