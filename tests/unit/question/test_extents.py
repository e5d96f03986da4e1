"""The bounds of what can be asked, and the words for what is outside of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from codefathom.errors import UsageError
from codefathom.question.asker import result_of
from codefathom.question.extents import (
    MOST_HITS,
    MOST_ITEMS,
    MOST_PASSED_BY,
    check_count,
    check_offset,
    check_page,
    check_texts,
    limit_of,
)
from codefathom.question.question import Question

REFUSED: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: check_count("depth", 0, 5), "depth cannot be 0", "give a number from 1 to 5"),
    (lambda: check_count("depth", 6, 5), "depth cannot be 6", "give a number from 1 to 5"),
    (lambda: check_count("n", -1, 5, least=0), "n cannot be -1", "give a number from 0 to 5"),
    (lambda: check_offset(-1), "offset cannot be -1", "give a number from 0 to 10000000"),
    (lambda: check_offset(MOST_PASSED_BY + 1), "offset cannot be 10000001", "give a number from 0 to 10000000"),
    (lambda: check_page(Question(limit=0), MOST_HITS), "limit cannot be 0", "give a number from 1 to 100000"),
    (lambda: check_page(Question(offset=-3), MOST_HITS), "offset cannot be -3", "give a number from 0 to 10000000"),
    (lambda: limit_of(Question(kind="related", limit=0)), "limit cannot be 0", "give a number from 1 to 1000000"),
    (
        lambda: limit_of(Question(kind="symbols", limit=MOST_ITEMS + 1)),
        "limit cannot be 1000001",
        "give a number from 1 to 1000000",
    ),
    (
        lambda: check_texts("sound", "a\ud800"),
        r"'a\ud800' cannot be written as UTF-8",
        "remove the unpaired surrogate characters",
    ),
    (
        lambda: check_texts(f"{'x' * 79}\ud800{'y' * 500}"),
        f"'{'x' * 79}\\ud800' cannot be written as UTF-8",
        "remove the unpaired surrogate characters",
    ),
]


@pytest.mark.parametrize(("ask", "message", "hint"), REFUSED)
def test_a_value_that_cannot_be_used_is_named_with_the_remedy(ask: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        ask()
    assert (str(refused.value), refused.value.hint) == (message, hint)


@pytest.mark.parametrize(
    "accepted",
    [
        lambda: check_count("depth", 1, 5),
        lambda: check_count("depth", 5, 5),
        lambda: check_count("n", 0, 5, least=0),
        lambda: check_offset(0),
        lambda: check_offset(MOST_PASSED_BY),
        lambda: check_page(Question(), 1),
        lambda: check_page(Question(limit=1, offset=7), 1),
        lambda: check_texts("", "größe 漢字 😀", "a\0b"),
    ],
)
def test_values_up_to_the_bounds_are_taken(accepted: Callable[[], None]) -> None:
    accepted()


@pytest.mark.parametrize(("kind", "usual"), [("related", 200), ("impact", 200), ("symbols", 50)])
def test_a_page_has_its_own_limit_or_the_usual_one(kind: Any, usual: int) -> None:
    assert limit_of(Question(kind=kind)) == usual
    assert limit_of(Question(kind=kind, limit=7, offset=3)) == 7
    assert limit_of(Question(kind=kind, limit=MOST_ITEMS)) == MOST_ITEMS


def test_the_result_of_an_answer_is_its_last_event() -> None:
    class Counts:
        def answer(self, question: Question) -> Any:
            yield from question.text

    assert result_of(Counts(), Question("abc")) == "c"
