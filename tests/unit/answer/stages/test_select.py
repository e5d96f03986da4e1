"""Files and lines that a model chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.answer.budget import Material
from codefathom.answer.problems import model_failed
from codefathom.answer.stages.select import OutlineFile, excerpts, select
from codefathom.answer.tokens import estimate
from codefathom.errors import ProviderError
from codefathom.providers.base import Ask, Delta, Message, Reply
from codefathom.text.loose_json import items

QUESTION = "Where is a price computed?"


class Chat:
    """Gives its replies in turn, the last one for ever, and remembers what it was asked."""

    name = "test:chat"

    def __init__(self, *replies: str | ProviderError) -> None:
        self._replies = replies
        self.asked: list[Ask] = []

    def stream(self, ask: Ask) -> Iterator[Delta | Reply]:
        reply = self._replies[min(len(self.asked), len(self._replies) - 1)]
        self.asked.append(ask)
        if isinstance(reply, ProviderError):
            raise reply
        yield Delta(reply)
        yield Reply(reply)

    @property
    def text(self) -> str:
        """What the last message of the only call says."""
        (ask,) = self.asked
        return ask.messages[-1].content


OUTLINE = (
    OutlineFile("shop/price.py", ("price_of", "Discount.apply"), "prices an order"),
    OutlineFile("shop/order.py", ("Order", "Order.add")),
    OutlineFile("tests/order.py"),
    OutlineFile("README.md"),
)


def file_list(*paths: str) -> str:
    return json.dumps({"file_list": [{"file_path": path, "reason": "it fits"} for path in paths]})


def chosen(reply: str | ProviderError) -> tuple[list[str], int, str]:
    selected = select(QUESTION, OUTLINE, Chat(reply), estimate, 8_000)
    return list(selected.paths), selected.unknown, str(selected.problem)


BOTH = ["shop/order.py", "shop/price.py"]


@pytest.mark.parametrize(
    ("reply", "paths", "unknown"),
    [
        (file_list(*BOTH), BOTH, 0),
        (file_list(), [], 0),
        # JSON among other things
        (f"```json\n{file_list(*BOTH)}\n```", BOTH, 0),
        (f"Here you are:\n{file_list(*BOTH)}\nThese two [1] matter.", BOTH, 0),
        (f"<think>{file_list('README.md')}</think>{file_list(*BOTH)}", BOTH, 0),
        (f"{file_list(*BOTH)[:-1]}", BOTH, 0),
        (file_list("shop/order.py", "shop/price.py", "README.md")[:-20], BOTH, 0),
        ('{"file_list": [{"file_path": "README.md", "reason": "x"},],}', ["README.md"], 0),
        ('[{"file_path": "README.md"}]', ["README.md"], 0),
        ('["README.md", "shop/order.py"]', ["README.md", "shop/order.py"], 0),
        ('{"file_list": ["README.md"]}', ["README.md"], 0),
        # paths as models write them
        (
            file_list("./shop/price.py", "shop\\order.py", "`README.md`"),
            ["shop/price.py", "shop/order.py", "README.md"],
            0,
        ),
        (file_list("price.py", "@shop/order.py"), ["shop/price.py", "shop/order.py"], 0),
        (file_list("/home/me/project/shop/price.py"), ["shop/price.py"], 0),
        (file_list("README.md", "README.md"), ["README.md"], 0),
        # paths that are not there, or not clear
        (file_list("shop/tax.py", "README.md", "ice.py"), ["README.md"], 2),
        (file_list("order.py"), [], 1),
        (file_list("", "/", "."), [], 3),
        # items that are no items
        (
            '{"file_list": [1, null, {"path": "README.md"}, {"file_path": 3}, {"file_path": "README.md"}]}',
            ["README.md"],
            0,
        ),
    ],
)
def test_files_named_in_a_reply(reply: str, paths: list[str], unknown: int) -> None:
    assert chosen(reply) == (paths, unknown, "")


@pytest.mark.parametrize("reply", ["", "I would read shop/price.py.", '{"files": 3}', "[[[[[", "{" * 5_000, "[1, 2]"])
def test_a_reply_without_a_list_chooses_nothing_and_says_so(reply: str) -> None:
    assert chosen(reply) == ([], 0, "the selecting model gave no list of files")


def test_a_failed_call_chooses_nothing_and_says_so() -> None:
    assert chosen(ProviderError("no route to host")) == ([], 0, "the selecting model failed: no route to host")


def test_what_is_pinned_is_not_offered_nor_chosen_nor_unknown() -> None:
    chat = Chat(file_list("shop/price.py", "README.md"))
    selected = select(QUESTION, OUTLINE, chat, estimate, 8_000, pinned=["shop/price.py"])
    assert (list(selected.paths), selected.unknown) == (["README.md"], 0)
    assert "shop/price.py: price_of" not in chat.text
    assert "do not choose them: shop/price.py" in chat.text


def test_reasons_are_kept_on_one_line() -> None:
    reply = json.dumps(
        {"file_list": [{"file_path": "README.md", "reason": "says\n  so"}, {"file_path": "shop/order.py"}]}
    )
    assert select(QUESTION, OUTLINE, Chat(reply), estimate, 8_000).paths == {
        "README.md": "says so",
        "shop/order.py": "",
    }


def test_a_call_names_the_question_and_the_form() -> None:
    chat = Chat(file_list())
    select(QUESTION, OUTLINE, chat, estimate, 8_000)
    (ask,) = chat.asked
    assert ask.temperature == 0.0
    assert ask.schema is not None and list(ask.schema["properties"]) == ["file_list"]
    assert [message.role for message in ask.messages] == ["system", "user"]
    assert "shop/price.py: price_of, Discount.apply # prices an order\nshop/order.py: Order" in chat.text
    assert chat.text.endswith(f"Question: {QUESTION}")


def tokens_of(messages: tuple[Message, ...] | list[Message]) -> int:
    return estimate("\n".join(message.content for message in messages))


def test_a_long_outline_is_asked_about_in_parts() -> None:
    outline = [OutlineFile(f"src/module_{number}.py", ("first", "second")) for number in range(200)]
    wanted = ["src/module_3.py", "src/module_150.py", "src/module_199.py"]
    chat = Chat(file_list(*wanted))
    selected = select(QUESTION, outline, chat, estimate, 2_000)
    assert list(selected.paths) == wanted
    assert len(chat.asked) > 1
    assert all(tokens_of(list(ask.messages)) <= 2_000 for ask in chat.asked)
    listed = re.findall(
        r"^src/module_(\d+)\.py", "\n".join(ask.messages[-1].content for ask in chat.asked), re.MULTILINE
    )
    assert [int(number) for number in listed] == list(range(200))


def test_one_part_that_fails_does_not_spoil_the_others() -> None:
    outline = [OutlineFile(f"src/module_{number}.py", ("first", "second")) for number in range(200)]
    chat = Chat(ProviderError("overloaded"), "nothing", file_list("src/module_199.py"))
    selected = select(QUESTION, outline, chat, estimate, 1_000)
    assert list(selected.paths) == ["src/module_199.py"]
    assert selected.problem == ("the selecting model failed: overloaded; the selecting model gave no list of files")


def test_a_file_with_many_symbols_fits_all_the_same() -> None:
    names = tuple(f"generated_function_number_{number}" for number in range(5_000))
    chat = Chat(file_list("src/generated.py"))
    selected = select(QUESTION, [OutlineFile("src/generated.py", names, "generated " * 900)], chat, estimate, 1_200)
    assert list(selected.paths) == ["src/generated.py"]
    assert tokens_of(list(chat.asked[0].messages)) <= 1_200
    assert re.search(r"^src/generated\.py: generated_function_number_0, .*, and \d+ more$", chat.text, re.MULTILINE)


@pytest.mark.parametrize(("outline", "window", "problem"), [((), 8_000, ""), (OUTLINE, 100, "does not fit")])
def test_nothing_is_asked_when_nothing_can_be(outline: tuple[OutlineFile, ...], window: int, problem: str) -> None:
    chat = Chat(file_list())
    selected = select(QUESTION, outline, chat, estimate, window)
    assert (selected.paths, chat.asked) == ({}, [])
    assert problem in selected.problem
    assert bool(problem) == bool(selected.problem)


FILE = Material("shop/price.py", "\n".join(f"line {number}" for number in range(1, 101)) + "\n")


def ranges(*found: tuple[object, object]) -> str:
    return json.dumps({"ranges": [{"start_line": start, "end_line": end} for start, end in found]})


@pytest.mark.parametrize(
    ("reply", "spans"),
    [
        (ranges((12, 40)), [(12, 40)]),
        (ranges((50, 60), (12, 20)), [(50, 60), (12, 20)]),  # the most important first
        (ranges((50, 60), (12, 20), (61, 70)), [(50, 70), (12, 20)]),
        (ranges(), []),
        # merged when they touch
        (ranges((10, 20), (15, 30), (31, 40)), [(10, 40)]),
        # clamped, or left out
        (ranges((0, 5)), [(1, 5)]),
        (ranges((-3, 5), (95, 1_000)), [(1, 5), (95, 100)]),
        (ranges((101, 120), (7, 7)), [(7, 7)]),
        (ranges((20, 10), (30, 31)), [(30, 31)]),
        # at most four
        (ranges((1, 1), (10, 10), (20, 20), (30, 30), (40, 40)), [(1, 1), (10, 10), (20, 20), (30, 30)]),
        # other forms
        (f"```json\n{ranges((12, 40))}\n```", [(12, 40)]),
        (ranges(("12", "40")), [(12, 40)]),
        ("[[12, 40], [50, 60]]", [(12, 40), (50, 60)]),
        ('[{"start_line": 12, "end_line": 40}]', [(12, 40)]),
        (ranges((12, 40), (True, 5), (None, 3), (1.5, 3)), [(12, 40)]),
    ],
)
def test_lines_named_in_a_reply(reply: str, spans: list[tuple[int, int]]) -> None:
    found = excerpts(QUESTION, FILE, Chat(reply), estimate, 8_000)
    assert (list(found.spans), found.problem) == (spans, "")


@pytest.mark.parametrize(
    "reply", ["", "lines 12 to 40", ranges((200, 300)), ranges((9, 1)), '{"ranges": [3]}', '{"ranges": "all"}']
)
def test_a_bad_reply_gives_no_lines_and_says_so(reply: str) -> None:
    found = excerpts(QUESTION, FILE, Chat(reply), estimate, 8_000)
    assert found.spans == ()
    assert found.problem == "the excerpting model named no lines of shop/price.py that are there"


def test_a_failed_call_gives_no_lines_and_says_so() -> None:
    found = excerpts(QUESTION, FILE, Chat(ProviderError("timed out")), estimate, 8_000)
    assert (found.spans, found.problem) == ((), model_failed("excerpting", "timed out"))


def test_a_file_is_shown_with_its_line_numbers() -> None:
    chat = Chat(ranges((12, 40)))
    excerpts(QUESTION, FILE, chat, estimate, 8_000)
    assert "\n12\tline 12\n" in chat.text
    assert chat.asked[0].schema is not None
    assert "4 ranges" in chat.asked[0].messages[0].content


def test_of_a_long_file_only_what_was_shown_can_be_chosen() -> None:
    long = Material("long.py", "\n".join(f"line {number}" for number in range(1, 5_001)), ((2_000, 2_010),))
    chat = Chat(ranges((1, 5_000)))
    found = excerpts(QUESTION, long, chat, estimate, 1_500)
    ((start, end),) = found.spans
    assert 1_800 < start <= 1_992
    assert 2_018 <= end < 2_200
    assert tokens_of(list(chat.asked[0].messages)) <= 1_500


def test_a_file_that_does_not_fit_is_not_asked_about() -> None:
    chat = Chat(ranges((1, 2)))
    found = excerpts(QUESTION, FILE, chat, estimate, 50)
    assert (found.spans, chat.asked) == ((), [])
    assert found.problem == "nothing of shop/price.py fits into a call of the excerpting model"


PIECES = st.sampled_from(
    ['{"file_list": ', "[", "]", "{", "}", ",", '"file_path": ', '"README.md"', '"reason": ', "1", "null", "```", " "]
)


@settings(max_examples=100)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
def test_any_reply_is_read_and_names_only_what_is_offered(reply: str) -> None:
    paths, unknown, _ = chosen(reply)
    assert set(paths) <= {file.path for file in OUTLINE}
    assert unknown >= 0
    assert items(reply, "file_list", "file_path") is None or isinstance(items(reply, "file_list", "file_path"), list)
    found = excerpts(QUESTION, FILE, Chat(reply.replace("file_list", "ranges")), estimate, 8_000)
    assert all(1 <= start <= end <= 100 for start, end in found.spans)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(-20, 130), st.integers(-20, 130)), max_size=6))
def test_any_ranges_end_up_inside_the_file_and_apart(named: list[tuple[int, int]]) -> None:
    spans = excerpts(QUESTION, FILE, Chat(ranges(*named)), estimate, 8_000).spans
    lines = [line for start, end in spans for line in range(start, end + 1)]
    assert len(lines) == len(set(lines))
    usable = {line for start, end in named[:4] for line in range(start, end + 1)} & set(range(1, 101))
    assert set(lines) == usable
