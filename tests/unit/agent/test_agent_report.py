"""What an agent found out → an answer that cites nothing which was not shown."""

from __future__ import annotations

from typing import Any

import pytest

from codefathom.agent.final import FinalAnswer
from codefathom.agent.loop import Final, StoppedBy
from codefathom.agent.report import report
from codefathom.agent.tools import ShownLines
from codefathom.answer.answer_types import Answer, Citation, Dropped, Label, Source
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Usage

FILES = {"a.py": "one\ntwo\nthree\nfour\n", "b.py": "five\nsix\n"}
SEEN = (ShownLines("a.py", 1, 4, "whole"), ShownLines("b.py", 1, 2), ShownLines("b.py", 1, 2))
A, B = Citation("a.py", 2, 3), Citation("b.py", 1, 1)
LOST = Dropped("nowhere.py:1-2", Note(say.NO_SUCH_PATH))
NO_PLACE = "the answer cites no source: nothing in it could be checked"


def reported(
    text: str,
    *named: Citation | Dropped,
    confidence: Label = "high",
    problem: str = "",
    stopped_by: StoppedBy = "",
    failure: str = "",
    question: str = "What is it?",
    now: Any = FILES,
) -> Answer:
    answer = FinalAnswer(text, confidence, named, problem=problem)
    final = Final(answer, Usage(10, 1), 2, stopped_by, failure=failure)
    return report(question, final, SEEN, lambda path: FILES[path], now.get)


def test_what_is_listed_is_cited() -> None:
    answer = reported("It is two.", A, B, A)
    assert answer.text == "It is two.\n\n[a.py:2-3] [b.py:1-1]\n"
    assert answer.citations == (A, B)
    assert (answer.dropped, answer.verified_share, answer.confidence, answer.label) == ((), 1.0, 0.9, "high")
    assert answer.degraded == ()
    assert answer.usage == Usage(10, 1)


def test_sources_are_numbered_and_stand_once() -> None:
    sources = reported("It is two.", LOST, A, A).sources
    assert [(source.number, source.path, source.start_line, source.end_line, source.text) for source in sources] == [
        (1, "a.py", 2, 3, "two\nthree"),
        (2, "a.py", 1, 4, "one\ntwo\nthree\nfour"),
        (3, "b.py", 1, 2, "five\nsix"),
    ]


def test_nothing_takes_the_place_of_what_was_not_shown() -> None:
    answer = reported("It is two.", LOST, confidence="medium")
    assert answer.text == "It is two."
    assert (answer.citations, answer.dropped) == ((), (LOST,))
    assert (answer.verified_share, answer.confidence, answer.label) == (0.0, 0.06, "low")
    assert answer.degraded == ("1 citation could not be verified and was removed",)


def test_what_was_dropped_counts() -> None:
    answer = reported("It is two.", LOST, A, Dropped("x", Note(say.NAMES_NO_LINES)), B)
    assert answer.citations == (A, B)
    assert (len(answer.dropped), answer.verified_share, answer.confidence) == (2, 0.5, 0.495)
    assert answer.degraded == ("2 citations could not be verified and were removed",)


@pytest.mark.parametrize("written", ["[nowhere.py:1-2]", "`nowhere.py:1-2`", "nowhere.py:1-2"])
def test_what_text_and_list_name_is_dropped_once(written: str) -> None:
    answer = reported(f"It is two {written}.", LOST, A)
    assert len(answer.dropped) == 1
    assert answer.verified_share == 0.5
    assert "nowhere" not in answer.text


def test_an_answer_that_names_nothing_has_no_citation() -> None:
    answer = reported("It is two.", confidence="medium")
    assert (answer.text, answer.citations, answer.dropped) == ("It is two.", (), ())
    assert answer.verified_share == 0.0
    assert answer.degraded == (NO_PLACE,)


def test_an_answer_may_cite_in_its_text_alone() -> None:
    answer = reported("It is two [a.py:2-2].")
    assert answer.text == "It is two [a.py:2-2]."
    assert answer.citations == (Citation("a.py", 2, 2),)
    assert answer.degraded == ()


@pytest.mark.parametrize(
    ("number", "cited"),
    [(1, ()), (2, (A,)), (3, (B,)), (4, ()), (9_999, ())],
)
def test_a_number_means_what_the_answer_lists_there(number: int, cited: tuple[Citation, ...]) -> None:
    text = reported(f"It is two [{number}].", LOST, A, B).text.partition("\n")[0]
    assert text == (
        "It is two " + f"[{cited[0].path}:{cited[0].start_line}-{cited[0].end_line}]."
        if cited
        else "It is two [cited place not found]."
    )


def test_without_a_list_a_number_means_nothing() -> None:
    answer = reported("It is two [1].")
    assert (answer.text, answer.citations) == ("It is two [cited place not found].", ())
    assert answer.dropped == (Dropped("[1]", Note(say.NO_SUCH_NUMBER)),)


def test_a_file_that_changed_is_not_cited() -> None:
    answer = reported("It is two.", A, B, now={"a.py": "other\n", "b.py": FILES["b.py"]})
    assert answer.citations == (B,)
    assert [item.reason for item in answer.dropped] == ["the file has changed there"]


def test_a_reply_that_did_not_follow_the_schema_says_so() -> None:
    answer = reported("It is two.", confidence="low", problem="sources must be a list")
    assert answer.degraded == ("the final answer did not follow the schema: sources must be a list", NO_PLACE)


@pytest.mark.parametrize(
    ("stopped_by", "failure", "says"),
    [
        ("rounds", "", "the agent used all its rounds"),
        ("cost", "", "the agent reached its limit of cost"),
        ("provider", "gone", "the model failed before the agent was done: gone"),
    ],
)
def test_what_ended_the_agent_is_said(stopped_by: StoppedBy, failure: str, says: str) -> None:
    assert reported("It is two.", A, stopped_by=stopped_by, failure=failure).degraded == (says,)


@pytest.mark.parametrize(
    ("question", "begins"),
    [("What is it?", "The model failed before it answered."), ("这是什么？", "模型在回答之前出错。")],
)
def test_without_an_answer_there_are_places(question: str, begins: str) -> None:
    answer = reported("", A, B, confidence="low", stopped_by="provider", failure="gone", question=question)
    assert answer.text.startswith(begins)
    assert answer.text.endswith("\n\n- [a.py:2-3]\n- [b.py:1-1]\n")
    assert answer.citations == (A, B)
    assert (answer.confidence, answer.label) == (0.0, "low")
    assert answer.failure == "the model failed before the agent was done: gone"
    assert answer.degraded == (answer.failure,)


def test_where_nothing_was_seen_excerpts_stand_in() -> None:
    final = Final(FinalAnswer("", "low", ()), Usage(10, 1), 1, "provider", failure="gone", hint="start it")
    found = (Source(1, "a.py", 2, 3, "two\nthree", reason="mentions two"),)
    answer = report("What is it?", final, (), FILES.__getitem__, FILES.get, excerpts=lambda: found)
    assert answer.text == (
        "The model failed before its answer was whole. The best excerpts:\n\n"
        "1. [a.py:2-3]: mentions two\n\n```\ntwo\nthree\n```\n"
    )
    assert (answer.citations, answer.sources) == ((A,), found)
    assert (answer.failure, answer.hint) == ("the model failed before the agent was done: gone", "start it")
    assert answer.degraded == (answer.failure,)


def test_where_there_is_nothing_at_all_only_the_failure_is_said() -> None:
    final = Final(FinalAnswer("", "low", ()), Usage(), 1, "provider", failure="gone")
    answer = report("What is it?", final, (), FILES.__getitem__, FILES.get)
    assert (answer.text, answer.citations, answer.sources) == ("", (), ())
    assert answer.degraded == ("the model failed before the agent was done: gone",)


def test_a_failure_on_the_way_to_an_answer_is_none_of_the_answer() -> None:
    assert reported("It is two.", A, stopped_by="provider", failure="gone").failure == ""


def test_a_whole_file_has_no_symbol() -> None:
    whole, part, *_ = report(
        "?", Final(FinalAnswer("x", "low", ()), Usage(), 1, ""),
        (ShownLines("a.py", 1, 4, "first"), ShownLines("a.py", 1, 3, "first")), FILES.__getitem__, FILES.get,
    ).sources  # fmt: skip
    assert (whole.symbol, whole.is_whole) == ("", True)
    assert (part.symbol, part.is_whole) == ("first", False)
