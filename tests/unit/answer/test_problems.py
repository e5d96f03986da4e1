"""What an answer was made without: one cause is said once, whoever met it."""

from __future__ import annotations

import pytest

from codefathom.answer.problems import failure_of, merge_failures, model_failed
from codefathom.facts.reasons import Told

AWAY = "cannot reach http://h:1"
LEFT = f"http://h:1 failed 5 times in a row and is not called for 30 s: {AWAY}"


@pytest.mark.parametrize(
    ("problems", "merged"),
    [
        ([], ()),
        (["stale", "stale", "cut"], ("stale", "cut")),
        ([model_failed("judging", AWAY)], (f"the judging model failed: {AWAY}",)),
        (
            [model_failed("selecting", AWAY), "cut", model_failed("judging", AWAY), model_failed("answering", AWAY)],
            (f"the selecting, judging and answering models failed: {AWAY}", "cut"),
        ),
        # A server that failed too often is left alone, and the reason is the same.
        (
            [model_failed("judging", AWAY), model_failed("judging", LEFT), model_failed("answering", LEFT)],
            (f"the judging and answering models failed: {AWAY}",),
        ),
        (
            [model_failed("selecting", AWAY), model_failed("answering", "wrong key")],
            (f"the selecting model failed: {AWAY}", "the answering model failed: wrong key"),
        ),
        # The end of another cause is not the same cause.
        (
            [model_failed("selecting", "lost"), model_failed("answering", "the key was lost")],
            ("the selecting model failed: lost", "the answering model failed: the key was lost"),
        ),
        (["the moon failed: lost", model_failed("answering", "lost\nfor good")],
         ("the moon failed: lost", "the answering model failed: lost\nfor good")),
    ],
)  # fmt: skip
def test_failures_of_one_cause_are_merged(problems: list[str], merged: tuple[str, ...]) -> None:
    assert tuple(map(str, merge_failures(problems))) == merged
    assert merge_failures(merge_failures(problems)) == merge_failures(problems)


@pytest.mark.parametrize(
    ("problems", "is_found"),
    [
        ([model_failed("answering", AWAY)], True),
        ([model_failed("judging", AWAY), model_failed("answering", AWAY)], True),
        ([model_failed("judging", "the answering model failed: no")], False),
        (["the answering model failed: no"], False),
    ],
)
def test_why_one_model_failed(problems: list[Told], is_found: bool) -> None:
    merged = merge_failures(["cut", *problems])
    assert failure_of("answering", merged) == (str(merged[1]) if is_found else "")
