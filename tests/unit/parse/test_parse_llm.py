"""What a model says about a file is believed only where it stands in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.errors import ProviderError
from codefathom.parse.llm import PROMPT, SCHEMA, parser
from codefathom.providers.base import Ask, Delta, Finish, Reply
from codefathom.types import Break, Document, ParsedDocument, Symbol

SOURCE = """\
# Opens doors.
[Door]
class Door
  // Turns the key.
  func open(key)
    turn key
  end

  func close() end
end

func knock(times)
  say times
end
"""


class Scripted:
    """Replies what it is told, and keeps what it was asked."""

    name = "test:parser"

    def __init__(self, reply: Callable[[Ask], str] | str | ProviderError, finish: Finish = "stop") -> None:
        self.reply, self.finish = reply, finish
        self.asked: list[Ask] = []

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        self.asked.append(ask)
        if isinstance(self.reply, ProviderError):
            raise self.reply
        text = self.reply if isinstance(self.reply, str) else self.reply(ask)
        yield Delta(text[:5])
        yield Reply(text, finish=self.finish)


def item(kind: str, name: str, start: Any, end: Any, signature: Any = "", doc: Any = "") -> dict[str, Any]:
    return {"kind": kind, "name": name, "start_line": start, "end_line": end, "signature": signature, "doc": doc}


def listed(*items: Any) -> str:
    return json.dumps({"symbols": items})


def unmasked(text: str) -> str:
    return text


def document(text: str = SOURCE, language: str = "dart") -> Document:
    return Document("src/door.x", language, text, "f1", len(text.encode()))


def parsed(reply: str, text: str = SOURCE) -> ParsedDocument:
    found = parser(Scripted(reply), mask=unmasked)(document(text))
    assert found is not None
    return found


def spans(found: ParsedDocument) -> list[tuple[str, int, int]]:
    return [(symbol.qualified_name, symbol.start_line, symbol.end_line) for symbol in found.symbols]


DOOR = item("class", "Door", 3, 9, "class Door", "Opens doors.")
OPEN = item("method", "open", 5, 7, "func open(key)", "Turns the key.")
CLOSE = item("method", "close", 9, 9)
KNOCK = item("function", "knock", 12, 14, "func knock(times)")


def test_symbols_are_nested_and_carry_what_stands_above_them() -> None:
    found = parsed(listed({**DOOR, "end_line": 10}, OPEN, CLOSE, KNOCK))

    assert found.symbols == (
        Symbol("class", "Door", "Door", 1, 10, 3, "class Door", "Opens doors."),
        Symbol("method", "open", "Door.open", 4, 7, 5, "func open(key)", "Turns the key."),
        Symbol("method", "close", "Door.close", 9, 9, 9, "func close() end", ""),
        Symbol("function", "knock", "knock", 12, 14, 12, "func knock(times)", ""),
    )
    assert found.breaks == (Break(4, 1), Break(9, 1), Break(12, 0))
    assert (found.references, found.parser, found.problems) == ((), "llm/1:test:parser", ())


@pytest.mark.parametrize("wrapped", ["%s", '{"functions": %s}', '{"symbols": %s}', "```json\n%s\n```"])
def test_a_list_of_functions_alone_is_understood(wrapped: str) -> None:
    found = parsed(wrapped % json.dumps([{"function_name": "knock", "start_line": 12, "end_line": 14}]))
    assert [(symbol.kind, symbol.name, symbol.start_line, symbol.end_line) for symbol in found.symbols] == [
        ("function", "knock", 12, 14)
    ]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("```json\n" + listed(KNOCK) + "\n```", id="fenced"),
        pytest.param("Here {it} is [1]:\n" + listed(KNOCK) + "\nAnything else?", id="surrounded"),
        pytest.param(listed() + " no, wait: " + listed(KNOCK), id="the last counts"),
        pytest.param(json.dumps([KNOCK]), id="bare list"),
        pytest.param(listed({**KNOCK, "start_line": "12", "end_line": "14"}), id="numbers as text"),
        pytest.param(listed({**KNOCK, "kind": "Func"}), id="other word for the kind"),
        pytest.param(listed({**KNOCK, "name": "door.knock"}), id="qualified"),
        pytest.param(listed({**KNOCK, "start_line": 10}), id="named two lines below"),
        pytest.param(listed(KNOCK, KNOCK), id="twice"),
    ],
)
def test_a_reply_is_read_with_tolerance(reply: str) -> None:
    found = parsed(reply)

    assert (spans(found), found.problems) == ([("knock", 12, 14)], ())
    assert found.symbols[0].kind == "function"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (item("thing", "open", 5, 7), "unknown kind"),
        (item("method", "open", 0, 7), "lines outside the file"),
        (item("method", "open", 7, 5), "lines outside the file"),
        (item("method", "open", 5, 15), "lines outside the file"),
        (item("method", "open", 5.5, 7), "lines outside the file"),
        (item("method", "open", True, 7), "lines outside the file"),
        (item("method", "open", None, 7), "lines outside the file"),
        (item("method", "shut", 5, 7), "name not on its line"),
        (item("method", "ope", 5, 7), "name not on its line"),
        (item("method", "", 5, 7), "name not on its line"),
        (item("method", "knock", 6, 14), "name not on its line"),
        (item("method", "open", 5, 13), "crosses another"),
        ("open", "no object"),
    ],
)
def test_what_does_not_fit_is_dropped_and_counted(wrong: Any, reason: str) -> None:
    found = parsed(listed(item("class", "Door", 3, 10), wrong, KNOCK))

    assert spans(found) == [("Door", 1, 10), ("knock", 12, 14)]
    assert list(map(str, found.problems)) == [f"symbols of test:parser dropped: {reason} (1)"]


def test_what_the_model_makes_up_about_a_symbol_is_left_out() -> None:
    found = parsed(listed({**KNOCK, "signature": "func knock(door, times)", "doc": "Knocks politely."}))

    assert (found.symbols[0].signature, found.symbols[0].doc) == ("func knock(times)", "")


def test_names_on_one_line_lie_beside_each_other() -> None:
    found = parsed(listed(item("constant", "a", 1, 1), item("constant", "b", 1, 1)), "a, b = 1, 2\n")

    assert [symbol.qualified_name for symbol in found.symbols] == ["a", "b"]


def test_a_class_on_one_line_holds_its_method() -> None:
    found = parsed(listed(item("method", "open", 1, 1), item("class", "Door", 1, 1)), "class Door { open() {} }\n")

    assert [symbol.qualified_name for symbol in found.symbols] == ["Door", "Door.open"]


def test_nothing_found_is_no_problem() -> None:
    found = parsed(listed())

    assert (found.symbols, found.breaks, found.problems) == ((), (), ())


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (Scripted(ProviderError("no connection")), "no connection"),
        (Scripted("I cannot do that."), "the reply is not a list of symbols"),
        (Scripted("[1, 2]"), "the reply is not a list of symbols"),
        (Scripted('{"symbols": 3}'), "the reply is not a list of symbols"),
        (Scripted("[" * 3_000_000), "the reply is not a list of symbols"),  # not tried from each bracket: an hour
        (Scripted("", finish="refused"), "the model refused the request"),
        (Scripted(listed(KNOCK), finish="length"), "the reply was cut off"),
    ],
)
def test_a_failure_is_a_problem(model: Scripted, why: str) -> None:
    found = parser(model, mask=unmasked)(document())

    assert found is not None
    assert (found.symbols, found.breaks) == ((), ())
    assert list(map(str, found.problems)) == [f"could not be parsed by test:parser: {why}"]


@pytest.mark.parametrize("language", ["markdown", "json"])
def test_prose_and_data_are_left_to_others(language: str) -> None:
    model = Scripted(listed())

    assert parser(model, mask=unmasked)(document(language=language)) is None
    assert model.asked == []


def test_an_empty_file_is_not_sent() -> None:
    model = Scripted(listed())
    found = parser(model, mask=unmasked)(document("\n \n"))

    assert found is not None
    assert (found.symbols, found.problems, model.asked) == ((), (), [])


def test_lines_are_sent_numbered_and_masked() -> None:
    model = Scripted(listed(item("constant", "KEY", 2, 2, 'KEY = "«masked: key»"')))
    found = parser(model, mask=lambda text: text.replace("abc123", "«masked: key»"))(document('x\nKEY = "abc123"\n'))

    (ask,) = model.asked
    assert [message.role for message in ask.messages] == ["system", "user"]
    assert ask.messages[0].content == PROMPT
    assert ask.messages[1].content.endswith(':\n1: x\n2: KEY = "«masked: key»"')
    assert ask.schema == SCHEMA
    assert found is not None
    assert [symbol.name for symbol in found.symbols] == ["KEY"]


def test_another_prompt_takes_the_place_of_ours() -> None:
    model = Scripted(listed())
    parser(model, "List the doors.", mask=unmasked)(document())

    assert model.asked[0].messages[0].content == "List the doors."


FUNCTION = re.compile(r"^(\d+): func (\w+)", re.MULTILINE)


def functions_of(ask: Ask) -> str:
    """What a model says that sees a part: functions of four lines, cut where the part ends."""
    content = ask.messages[1].content
    last = int(content.rsplit("\n", 1)[1].split(":")[0])
    return listed(*(item("function", m[2], int(m[1]), min(int(m[1]) + 3, last)) for m in FUNCTION.finditer(content)))


@pytest.mark.parametrize("max_lines", [16, 23, 40, 99, 100, 101, 1_000])
def test_a_long_file_is_sent_in_parts_and_put_together(max_lines: int) -> None:
    text = "".join(f"func f{number}\n  one\n  two\nend\n\n" for number in range(100))
    model = Scripted(functions_of)
    found = parser(model, mask=unmasked, max_lines=max_lines)(document(text))

    assert found is not None
    assert spans(found) == [(f"f{number}", 5 * number + 1, 5 * number + 4) for number in range(100)]
    assert found.problems == ()
    assert all(ask.messages[1].content.count("\n") <= max_lines + 1 for ask in model.asked)
    assert (len(model.asked) == 1) == (max_lines >= 500)


def test_a_part_that_fails_leaves_the_others() -> None:
    text = "".join(f"func f{number}\n  one\n  two\nend\n\n" for number in range(8))
    model = Scripted(lambda ask: functions_of(ask) if "func f0" in ask.messages[1].content else "no")
    found = parser(model, mask=unmasked, max_lines=20)(document(text))

    assert found is not None
    assert [symbol.name for symbol in found.symbols] == ["f0", "f1", "f2", "f3"]
    assert set(map(str, found.problems)) == {"could not be parsed by test:parser: the reply is not a list of symbols"}


WORDS = st.sampled_from(["Door", "open", "close", "knock", "key", "end", ""])
NUMBERS = st.one_of(st.integers(-1, 16), st.none(), st.text(max_size=2))
ITEMS = st.builds(
    item, st.sampled_from(["class", "function", "method", "thing"]), WORDS, NUMBERS, NUMBERS, WORDS, WORDS
)


@settings(max_examples=100)
@given(items=st.lists(ITEMS | st.none(), max_size=12), cut=st.integers(0, 40))
def test_whatever_the_model_says_the_spans_hold(items: list[Any], cut: int) -> None:
    reply = listed(*items)
    found = parsed(reply[: len(reply) - cut])

    places = [(symbol.start_line, symbol.end_line) for symbol in found.symbols]
    assert [start for start, _ in places] == sorted(start for start, _ in places)
    lines = SOURCE.split("\n")
    for symbol in found.symbols:
        assert 1 <= symbol.start_line <= symbol.name_line <= symbol.end_line <= 14
        assert symbol.name in lines[symbol.name_line - 1]
        assert symbol.name in symbol.signature
    for index, (_, end) in enumerate(places):
        assert not any(start <= end < last for start, last in places[index + 1 :])
