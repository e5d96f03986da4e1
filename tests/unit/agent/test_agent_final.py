"""A conversation → its final answer, whatever the model writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.agent.final import (
    DEMAND,
    SCHEMA,
    FinalAnswer,
    replied,
    stream_final,
)
from codefathom.agent.tools import ShownLines
from codefathom.answer.answer_types import Citation, Dropped
from codefathom.errors import ProviderError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Ask, Delta, Message, Reply
from codefathom.text.loose_json import objects_in

QUESTION = (Message("system", "Look."), Message("user", "Where are orders stored?"))
TRACE = (
    (
        ShownLines("shop/orders.py", 1, 20),
        ShownLines("shop/orders.py", 21, 28),
        ShownLines("web/cart.ts", 3, 9, "Cart"),
    ),
    (),
    (ShownLines("shop/store/database.py", 6, 23, "Database"), ShownLines("shop/orders.py", 26, 28, "place")),
    (),
)
GOOD = {
    "answer": "In `place`.",
    "confidence": "high",
    "sources": [{"path": "shop/orders.py", "start_line": 26, "end_line": 28}],
    "reasoning": "It inserts a row.",
}
ANSWER = FinalAnswer("In `place`.", "high", (Citation("shop/orders.py", 26, 28),), "It inserts a row.")


class Scripted:
    """Says what it was told to say, one reply for each ask, and remembers the asks."""

    name = "scripted"

    def __init__(self, *script: str | ProviderError) -> None:
        self.script = list(script)
        self.asks: list[Ask] = []
        self.n_closed = 0

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        self.asks.append(ask)
        said = self.script.pop(0)
        if isinstance(said, ProviderError):
            raise said
        try:
            yield Delta(said[:5])
            yield Delta(said[5:])
            yield Reply(said)
        finally:
            self.n_closed += 1


def good(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def final(model: Scripted, messages: tuple[Message, ...], trace: Any) -> FinalAnswer:
    steps = stream_final(model, messages, trace)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            assert isinstance(end.value, FinalAnswer)
            return end.value


def answered(*script: str | ProviderError, draft: str | None = None, trace: Any = TRACE) -> FinalAnswer:
    model = Scripted(*script)
    messages = QUESTION if draft is None else (*QUESTION, Message("assistant", draft))
    answer = final(model, messages, trace)
    assert model.script == []
    return answer


# ---- form


@pytest.mark.parametrize(
    "text",
    [
        good(),
        json.dumps(GOOD, indent=2),
        f"```json\n{good()}\n```",
        f"Here it is:\n{good()}\nI hope that {{helps}}.",
        f'{{"note": 1}} {{ not json }} {good()}',
        f"{good(answer='a first try')}\n{good()}",
        good(confidence=" HIGH "),
        good(confidence=0.9),
        good(answer=" In `place`. "),
        good(sources=["shop/orders.py:26-28"]),
        good(sources=["[shop/orders.py:L26-L28]"]),
        good(sources=[{"file_path": "./orders.py", "start_line": "26", "end_line": 28}]),
    ],
)
def test_forms_of_one_answer(text: str) -> None:
    assert answered(text) == ANSWER
    assert answered(draft=text) == ANSWER  # an early answer: nothing more is asked
    assert answered("no", text) == ANSWER
    assert answered(text, draft="It is in place().") == ANSWER


def test_the_schema_is_demanded() -> None:
    model = Scripted(good())
    final(model, QUESTION, TRACE)
    (ask,) = model.asks
    assert ask.schema == SCHEMA
    assert ask.tools == ()
    assert ask.messages == (*QUESTION, Message("user", DEMAND))
    assert set(SCHEMA["required"]) == set(SCHEMA["properties"]) == set(GOOD)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("It is in place().", "there is no JSON object with an answer"),
        ("", "there is no JSON object with an answer"),
        (good()[:-9], "there is no JSON object with an answer"),
        ("[1, 2]", "there is no JSON object with an answer"),
        (good(answer=" "), "answer must be a text"),
        (good(answer=["a"]), "answer must be a text"),
        (good(confidence="sure"), "confidence must be one of low, medium, high"),
        (good(confidence=7), "confidence must be one of"),
        (good(confidence=True), "confidence must be one of"),
        (good(sources="shop/orders.py"), "sources must be a list"),
        (json.dumps({"answer": "a"}), "confidence must be one of low, medium, high; sources must be a list"),
    ],
)
def test_repair(text: str, says: str) -> None:
    model = Scripted(text, good())
    assert final(model, QUESTION, TRACE) == ANSWER
    assert model.asks[1].schema == SCHEMA
    assert model.asks[1].messages[-2] == Message("assistant", text)
    assert says in model.asks[1].messages[-1].content


WRAPPED = [
    (("It is there.", "It is there!"), None, "It is there!"),
    (("{", "It is there."), "An early answer.", "An early answer."),
    ((good()[:30], '{"answer": "It is \\"there\\" and'), None, 'It is "there" and'),
    (("", "```json\n" + '{"answer": "cut \\u'), None, "cut"),
    (("one", ""), None, "one"),
    ((good(answer=""), good(answer=" ")), "An early answer.", "An early answer."),
    ((good(confidence="sure"),) * 2, None, "In `place`."),
]


@pytest.mark.parametrize(("script", "draft", "expected"), WRAPPED)
def test_what_cannot_be_repaired_is_wrapped(script: tuple[str, ...], draft: str | None, expected: str) -> None:
    answer = answered(*script, draft=draft)
    assert answer.answer == expected
    assert answer.confidence == "low"
    # What stands in no list was not named: nothing is made up in its place.
    assert answer.sources == (ANSWER.sources if '"sources"' in script[-1] and draft is None else ())
    assert answer.dropped == ()
    assert answer.problem != ""


@pytest.mark.parametrize(
    "script",
    [
        ("", ""),
        (" \n", ""),
        (good(answer=""), good(answer=" ")),
        ('{"sources": [], "answer": ""}', '{"sources": [], "answer": ""}'),
        ("", '{"answer": "'),
    ],
)
def test_an_empty_answer_is_an_error(script: tuple[str, ...]) -> None:
    with pytest.raises(ProviderError, match="scripted gave an empty answer") as raised:
        answered(*script)
    assert raised.value.hint == "ask again, or use another model"


def test_an_answer_as_it_was_asked_for_has_no_problem() -> None:
    assert answered(good()).problem == answered("no", good()).problem == ""


def test_half_characters_can_be_written_out() -> None:
    answer = answered(good(answer="half \ud83d", reasoning="\ud800"))
    assert (answer.answer, answer.reasoning) == ("half ?", "?")


# ---- sources


def place(path: Any, start: Any, end: Any) -> dict[str, Any]:
    return {"path": path, "start_line": start, "end_line": end}


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (place("shop/orders.py", 1, 28), Citation("shop/orders.py", 1, 28)),  # shown in two parts
        (place("shop/orders.py", 28, 28), Citation("shop/orders.py", 28, 28)),
        (place("shop/orders.py", 3, None), Citation("shop/orders.py", 3, 3)),
        (place("database.py", 6, 23), Citation("shop/store/database.py", 6, 23)),
        ("web/cart.ts:9", Citation("web/cart.ts", 9, 9)),
        (place("shop/orders.py", 28, 29), None),
        (place("shop/orders.py", 0, 5), None),
        (place("shop/orders.py", 9, 5), None),
        (place("shop/orders.py", -1, 5), None),
        (place("shop/orders.py", "x", 5), None),
        (place("shop/orders.py", True, 5), None),
        (place("shop/store/database.py", 5, 23), None),
        (place("shop/pricing.py", 1, 2), None),
        (place("../shop/orders.py", 1, 2), None),
        (place("", 1, 2), None),
        (place(None, 1, 2), None),
        ("shop/orders.py", None),
        ("shop/orders.py:99999999999", None),
        ({"start_line": 1, "end_line": 2}, None),
        (7, None),
        (None, None),
        ([], None),
    ],
)
def test_only_what_was_shown_is_a_source(named: Any, expected: Citation | None) -> None:
    answer = answered(good(sources=[*GOOD["sources"], named]))
    assert answer.sources == ANSWER.sources + ((expected,) if expected else ())
    assert len(answer.dropped) == (expected is None)
    assert answer.confidence == "high"


def test_a_name_of_two_shown_files_is_no_source() -> None:
    two = ((ShownLines("a/x.py", 1, 5), ShownLines("b/x.py", 1, 5)),)
    answer = answered(good(sources=[place("x.py", 1, 2), place("a/x.py", 1, 2)]), trace=two)
    assert answer.named == (Dropped("x.py:1-2", Note(say.SEVERAL_FILES)), Citation("a/x.py", 1, 2))


@pytest.mark.parametrize(
    ("named", "text", "reason"),
    [
        (place("shop/orders.py", 28, 29), "shop/orders.py:28-29", "these lines were not shown"),
        ("nowhere.py:3", "nowhere.py:3-3", "no source has this path"),
        ("shop/orders.py", "shop/orders.py", "this does not name lines of a file"),
        (place("\ud83d.py", 1, 2), "?.py:1-2", "no source has this path"),
        ({"a": "\ud83d"}, '{"a": "?"}', "this does not name lines of a file"),
        ("x" * 999, "x" * 200, "this does not name lines of a file"),
    ],
)
def test_why_a_source_was_dropped(named: Any, text: str, reason: str) -> None:
    (dropped,) = answered(good(sources=[named])).dropped
    assert (dropped.text, dropped.reason) == (text, reason)


def test_a_source_that_is_named_twice_is_one() -> None:
    answer = answered(good(sources=[*GOOD["sources"], "[shop/orders.py:26-28]"]))
    assert len(answer.named) == 2
    assert answer.sources == ANSWER.sources


@pytest.mark.parametrize(("confidence", "expected"), [("high", "medium"), ("medium", "medium"), ("low", "low")])
@pytest.mark.parametrize("sources", [[], [place("nowhere.py", 1, 2)]])
def test_nothing_takes_the_place_of_a_source(confidence: str, expected: str, sources: list[Any]) -> None:
    answer = answered(good(confidence=confidence, sources=sources))
    assert answer.sources == ()
    assert len(answer.dropped) == len(sources)
    assert answer.confidence == expected


@pytest.mark.parametrize("trace", [(), ((), ())])
def test_an_answer_from_nothing_is_worth_little(trace: Any) -> None:
    answer = answered(good(), trace=trace)
    assert (answer.sources, answer.confidence, len(answer.dropped)) == ((), "low", 1)


# ---- failures


def test_no_reply_at_all_is_an_error() -> None:
    with pytest.raises(ProviderError, match="gone"):
        answered(ProviderError("gone"))


@pytest.mark.parametrize(
    ("script", "draft", "expected"),
    [
        ((ProviderError("gone"),), "An early answer.", "An early answer."),
        (("A late answer.", ProviderError("gone")), None, "A late answer."),
    ],
)
def test_a_failure_leaves_what_there_is(script: Any, draft: str | None, expected: str) -> None:
    answer = answered(*script, draft=draft)
    assert (answer.answer, answer.confidence) == (expected, "low")


def test_pieces_come_as_they_are_written_and_closing_ends_the_call() -> None:
    model = Scripted(good())
    steps = stream_final(model, QUESTION, TRACE)
    assert next(steps) == Delta(good()[:5])
    assert model.n_closed == 0
    steps.close()
    assert model.n_closed == 1


def test_a_stream_without_a_reply_is_told_from_a_failure() -> None:
    class Broken(Scripted):
        def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
            return iter([Delta("a")])

    with pytest.raises(AssertionError, match="ended a stream without a reply"):
        list(replied(Broken(), Ask(QUESTION)))


# ---- JSON in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no braces", []),
        ('{"a": 1}{"b": {"c": 2}}', [{"a": 1}, {"b": {"c": 2}}]),
        ('{ {"a": 1}', [{"a": 1}]),
        ('{"a": "line\nend"}', [{"a": "line\nend"}]),
        ('{"a": ' * 50_000, []),
        ("{" * 100_000, []),
    ],
)
def test_objects(text: str, expected: list[Any]) -> None:
    assert list(objects_in(text)) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GOOD, "path"]), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(list(GOOD)), JSON), st.text(max_size=20))
def test_whatever_is_written_there_is_an_answer_or_an_error(fields: dict[str, Any], around: str) -> None:
    text = around + json.dumps(fields) + around
    model = Scripted(text, text)
    try:
        answer = final(model, QUESTION, TRACE)
    except ProviderError:
        assert not fields["answer"].strip()
        return
    assert answer.answer != ""
    answer.answer.encode()
    listed = fields.get("sources")
    assert len(answer.named) in {0, len(listed) if isinstance(listed, list) else 0}
