"""A follow-up question becomes one that can be searched for, or stays as it is; it never fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.answer.stages.rewrite import Rewritten, rewrite
from codefathom.errors import ProviderError
from codefathom.providers.base import Message, Reply
from codefathom.testing import ScriptedChat

QUESTION = "and where is that tested?"
HISTORY = (Message("user", "what computes a price?"), Message("assistant", "`price` ``` in shop/pricing.py"))
ALONE = "where is the function price tested?"


def rewritten(reply: str, question: str = QUESTION) -> Rewritten:
    return rewrite(question, HISTORY, ScriptedChat([Reply(reply)]))


def written(**parts: Any) -> str:
    return json.dumps({"question": ALONE, "queries": [], **parts})


def test_a_follow_up_becomes_a_question_by_itself_and_searches() -> None:
    assert rewritten(written(queries=["test price", "pricing test"])) == Rewritten(
        ALONE, ("test price", "pricing test")
    )


@pytest.mark.parametrize(
    "reply",
    [
        "```json\n{}\n```",
        "I think: [1] is meant.\n{}\nThat is all.",
        'First {{"question": "a draft", "queries": ["x"]}}, better: {}',
    ],
)
def test_json_is_found_wherever_it_stands(reply: str) -> None:
    text = reply.replace("{}", written(queries=["a"])).replace("{{", "{").replace("}}", "}")
    assert rewritten(text)[:2] == (ALONE, ("a",))


def test_queries_are_at_most_three_and_none_twice_or_empty() -> None:
    given_queries = ["a", " ", ALONE, 7, None, "a", "b\n c", "d", "e"]
    assert rewritten(written(queries=given_queries)).queries == ("a", "b c", "d")


@pytest.mark.parametrize("queries", [None, "price", {"a": 1}])
def test_a_question_without_a_list_of_queries_is_enough(queries: object) -> None:
    assert rewritten(written(queries=queries))[:2] == (ALONE, ())


def test_an_endless_query_is_cut() -> None:
    assert len(rewritten(written(queries=["price " * 5_000])).queries[0]) == 1_000


@pytest.mark.parametrize("reply", ["", "No idea.", "{}", '["price"]', written(question=" "), written(question=3)])
def test_what_cannot_be_read_leaves_the_question_and_says_so(reply: str) -> None:
    kept = rewritten(reply)
    assert kept[:2] == (QUESTION, ())
    assert "unreadable" in kept.problem


def test_a_model_that_fails_leaves_the_question_and_says_so() -> None:
    kept = rewrite(QUESTION, HISTORY, ScriptedChat([ProviderError("no connection")]))
    assert kept[:2] == (QUESTION, ())
    assert "no connection" in str(kept.problem)


@pytest.mark.parametrize(("question", "word"), [(QUESTION, "You prepare a search"), ("那它在哪里测试？", "搜索")])
def test_the_model_is_told_in_the_language_of_the_question(question: str, word: str) -> None:
    model = ScriptedChat([Reply(written())])
    rewrite(question, HISTORY, model)
    system, user = model.asks[0].messages
    assert word in system.content
    assert user.content.endswith(question)
    assert "````\nuser: what computes a price?" in user.content  # a fence longer than the one inside
    assert model.asks[0].schema is not None


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_reply_gives_a_question(reply: str) -> None:
    for text in (reply, written(question=reply), written(queries=[reply])):
        result = rewritten(text)
        assert result.question.strip()
        assert len(result.queries) <= 3
