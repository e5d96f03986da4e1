"""Arguments of the tools: what is understood under which name, and what is refused in words that help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from codefathom.errors import UsageError
from codefathom.mcp.tool_arguments import (
    Cursor,
    choice,
    cursor_of,
    most_tokens,
    named,
    number,
    share,
    text_of,
    texts,
    where_of,
)
from codefathom.mcp.tool_list import tool_named
from codefathom.types import Filter, FilterGroup, Where


@pytest.mark.parametrize(
    ("tool", "arguments", "own"),
    [
        ("search", {"query": "x"}, {"query": "x"}),
        ("search", {"question": "x", "topK": 3}, {"query": "x", "limit": 3}),
        ("search", {"maxResults": 3, "indexType": "file"}, {"limit": 3, "level": "file"}),
        ("search", {"directoryFilter": ["a"], "languageFilter": ["go"]}, {"paths": ["a"], "languages": ["go"]}),
        ("search", {"min_score": 0.5, "level": "file"}, {"min_score": 0.5, "level": "file"}),  # not in the list
        ("read", {"filePath": "a.py"}, {"path": "a.py"}),
        ("related", {"path": "a.py"}, {"target": "a.py"}),
        ("map", {"question": "x"}, {"query": "x"}),
        ("ask", {"query": "x"}, {"question": "x"}),
        ("search", {}, {}),
    ],
)
def test_arguments_are_known_by_several_names(tool: str, arguments: dict[str, Any], own: dict[str, Any]) -> None:
    assert named(tool, arguments) == own


@pytest.mark.parametrize(
    ("tool", "name"), [("search", "colour"), ("read", "min_score"), ("map", "level"), ("search", "x" * 500)]
)
def test_an_argument_that_a_tool_does_not_take_is_named_beside_those_that_it_takes(tool: str, name: str) -> None:
    with pytest.raises(UsageError) as raised:
        named(tool, {name: 1})
    assert str(raised.value) == f"{tool} has no argument {name[:80]!r}"
    spec = tool_named(tool)
    assert spec is not None
    unlisted = [
        "languages",
        "changed_after",
        "changed_before",
        "group",
        "level",
        "min_score",
        "limit",
        "repositories",
        "commits",
    ]
    taken = [*spec["inputSchema"]["properties"], *(unlisted if tool == "search" else ())]
    assert raised.value.hint
    assert sorted(raised.value.hint.removeprefix("it takes ").split(", ")) == sorted(taken)


@pytest.mark.parametrize(
    ("value", "cursor"),
    [
        (None, Cursor()),
        ("", Cursor()),
        (0, Cursor()),
        (30, Cursor(30)),
        ("30", Cursor(30)),
        ("30.7", Cursor(30, 7)),
        ("0.12", Cursor(0, 12)),
        ("9999999.999999999999999", Cursor(9_999_999, 999_999_999_999_999)),
    ],
)
def test_a_cursor_names_a_place_and_an_index(value: object, cursor: Cursor) -> None:
    assert cursor_of({"cursor": value}) == cursor
    assert cursor_of({}) == Cursor()


@pytest.mark.parametrize("value", ["x", "-1", -1, "1.", ".1", "1.2.3", "12345678", True, 1.5, ["1"], {"a": 1}, "１"])
def test_what_no_answer_has_given_is_no_cursor(value: object) -> None:
    with pytest.raises(UsageError, match="cursor cannot be") as raised:
        cursor_of({"cursor": value})
    assert raised.value.hint == "give `next` of the answer before, or no cursor"


@pytest.mark.parametrize(("cursor", "says"), [(Cursor(5), False), (Cursor(5, 7), False), (Cursor(5, 8), True)])
def test_a_cursor_of_another_index_says_so(cursor: Cursor, says: bool) -> None:
    assert cursor.note(7).startswith("The index has changed") is says
    assert bool(cursor.note(7)) is says


def in_folder(name: str) -> FilterGroup:
    return FilterGroup("OR", (Filter("dir", "eq", name), Filter("path", "eq", name)))


def flat(where: Where | None) -> set[tuple[str, object]]:
    """The fields and values of a condition, however it is nested."""
    if where is None:
        return set()
    if isinstance(where, Filter):
        values = where.value if isinstance(where.value, tuple) else (where.value,)
        return {(where.field, value) for value in values}
    return {pair for one in where.filters for pair in flat(one)}


@pytest.mark.parametrize(
    ("paths", "pairs"),
    [
        ((), set()),
        (("src",), {("dir", "src"), ("path", "src")}),
        (("src", "docs/a.md"), {("dir", "src"), ("path", "src"), ("dir", "docs/a.md"), ("path", "docs/a.md")}),
        (("src/*.py",), {("path", r"(?:^|/)src/[^/]*\.py(?:/|\Z|(?<=/))")}),
        (("src", "."), set()),  # one that is the whole project takes the place of all others
    ],
)
def test_paths_become_one_condition(paths: tuple[str, ...], pairs: set[tuple[str, object]]) -> None:
    assert {(field, str(value).strip("/")) for field, value in flat(where_of(paths))} == pairs


@pytest.mark.parametrize(
    ("value", "expected"), [(None, ()), ("", ()), ([], ()), ("a", ("a",)), (["a", "b"], ("a", "b")), (("a",), ("a",))]
)
def test_a_single_text_is_a_list_of_one(value: object, expected: tuple[str, ...]) -> None:
    assert texts({"paths": value}, "paths") == expected
    assert texts({"paths": ["x"] * 100}, "paths") == ("x",) * 100


@pytest.mark.parametrize("value", [3, [1], ["a", None], {"a": 1}, ["x"] * 101, True])
def test_what_is_no_list_of_texts_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="paths is not a list of texts") as raised:
        texts({"paths": value}, "paths")
    assert raised.value.hint == "give at most 100 texts in a list"


MODES = {"": 0, "fast": 1, "deep": 2}


@pytest.mark.parametrize(("value", "expected"), [(None, 1), ("", 1), ("fast", 1), ("deep", 2)])
def test_a_word_chooses(value: object, expected: int) -> None:
    assert choice({"mode": value}, "mode", "fast", MODES) == expected
    assert choice({}, "mode", "", MODES) == 0


@pytest.mark.parametrize("value", ["slow", 3, ["fast"], {"a": 1}, "x" * 500])
def test_a_word_that_is_no_choice_is_named_beside_the_choices(value: object) -> None:
    with pytest.raises(UsageError) as raised:
        choice({"mode": value}, "mode", "fast", MODES)
    assert str(raised.value) == f"mode cannot be {str(value)[:80]!r}"
    assert raised.value.hint == "choose one of fast, deep"


@pytest.mark.parametrize(("value", "expected"), [(0, 0.0), (1, 1.0), (0.25, 0.25)])
def test_a_share_lies_between_nothing_and_all(value: float, expected: float) -> None:
    assert share({"min_score": value}, "min_score") == expected
    assert isinstance(share({"min_score": value}, "min_score"), float)
    assert share({}, "min_score") == 0.0


@pytest.mark.parametrize("value", [-0.1, 1.1, "0.5", True, None, float("nan"), float("inf"), [0.5]])
def test_what_is_no_share_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="min_score cannot be") as raised:
        share({"min_score": value}, "min_score")
    assert raised.value.hint == "give a number from 0 to 1"


@pytest.mark.parametrize("value", [None, "", "  ", 3, ["a"], "\ud800"])
def test_a_text_must_be_there(value: object) -> None:
    with pytest.raises(UsageError, match="query is missing or is not a text") as raised:
        text_of({"query": value}, "query")
    assert raised.value.hint == "give query as a text"


def test_a_text_has_a_most_length() -> None:
    assert text_of({"query": "abc"}, "query", 3) == "abc"
    assert text_of({"query": "abc" * 1_000}, "query") == "abc" * 1_000
    with pytest.raises(UsageError, match="query has 4 characters, and 3 are the most"):
        text_of({"query": "abcd"}, "query", 3)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, 5), ({"limit": 1}, 1), ({"limit": 9}, 9), ({"limit": "7"}, 7), ({"limit": "07"}, 7)],
)
def test_a_number_lies_within_its_bounds(arguments: Mapping[str, Any], expected: int) -> None:
    assert number(arguments, "limit", 5, 1, 9) == expected


@pytest.mark.parametrize("value", [0, 10, -1, "0", "10", "x", "1.5", 1.5, 2.0, True, None, [3], "1" * 9, 10**30])
def test_a_number_out_of_bounds_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="limit cannot be") as raised:
        number({"limit": value}, "limit", 5, 1, 9)
    assert raised.value.hint == "give a whole number from 1 to 9"


def test_an_answer_has_a_budget_that_the_list_of_tools_tells() -> None:
    usual = most_tokens({})
    assert most_tokens({"max_tokens": 200}) == 200
    for wrong in (199, 10**6):
        with pytest.raises(UsageError, match="max_tokens cannot be"):
            most_tokens({"max_tokens": wrong})
    spec = tool_named("search")
    assert spec is not None
    assert f"{usual}" in str(spec["inputSchema"]["properties"]["max_tokens"]).replace(",", "").replace(" ", "")
