"""What a tool answers: compact text and the same as JSON, both within a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from codefathom.answer.answer_types import Answer, Citation
from codefathom.answer.tokens import estimate
from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note, verbatim
from codefathom.facts.remedies import for_agents
from codefathom.mcp.project_questions import Outline
from codefathom.mcp.same_files import FileNames, first_files, name_lines, names_of_places
from codefathom.mcp.tool_arguments import Cursor
from codefathom.mcp.tool_results import (
    ListPage,
    PageExtras,
    ResultPart,
    ToolAnswer,
    answer_result,
    cut,
    doubt_of_map,
    fits,
    head_part,
    hit_part,
    impact_result,
    in_words,
    indexing_result,
    lines_result,
    list_end,
    map_result,
    packed,
    refusal_result,
    related_result,
    search_result,
    tool_result,
    within,
)
from codefathom.providers.base import Usage
from codefathom.search.graph.impact import ChangedSymbol, Impact, TouchingTest
from codefathom.search.graph.impact_part import page_of
from codefathom.search.verdict import Verdict
from codefathom.types import Chunk, CommitMark, Hit, Progress, Related, RelatedResult, Rest, SearchResult, Symbol

EMPTY = "the index is empty: the project has no text file, or ignore rules leave all of them out"
MUCH = 100_000
FIRST_PAGE = ListPage(Cursor(), 7)
CHANGED = "The index has changed since this cursor was given: places may be missing here, or come twice."


def text_of(result: Mapping[str, Any]) -> str:
    (content,) = result["content"]
    assert content["type"] == "text"
    text: str = content["text"]
    return text


def shape_of(result: Mapping[str, Any]) -> Mapping[str, Any]:
    assert result["isError"] is False
    shape: Mapping[str, Any] = result["structuredContent"]
    return shape


def hit(number: int = 1, score: float = 0.9, text: str = "def price():\n    return 1\n", **more: Any) -> Hit:
    end = 10 + text.removesuffix("\n").count("\n")
    chunk = Chunk(f"id{number}", f"shop/f{number}.py", "python", "function", "", (), 10, end, text)
    return replace(Hit(chunk, score, {}, line=10, name="price", kind="function"), **more)


def result_of(*scores: float, **more: Any) -> SearchResult:
    hits = tuple(hit(number, score) for number, score in enumerate(scores, start=1))
    return replace(SearchResult("q", hits, "chunk", "hybrid", 0.876543, 7), **more)


def paths(result: Mapping[str, Any]) -> list[str]:
    return [item["path"] for item in shape_of(result)["hits"]]


# ---- one hit


def test_a_hit_is_its_place_its_name_its_score_and_its_lines() -> None:
    part = hit_part(hit(), 1)
    assert part.text == "1. shop/f1.py:10-11 function price 0.90\n10:def price():\n11:    return 1"
    assert part.shape == {
        "path": "shop/f1.py",
        "start_line": 10,
        "end_line": 11,
        "symbol": "price",
        "stale": False,
        "text": "10:def price():\n11:    return 1",
    }


@pytest.mark.parametrize(
    ("more", "title", "keys"),
    [
        ({"name": "", "kind": "block"}, "1. shop/f1.py:10-11 block 0.90", {}),
        ({"stale": True}, "1. shop/f1.py:10-11 function price 0.90; changed since it was indexed", {"stale": True}),
        (
            {"document_place": Note(say.FILE, {"name": "page 3"})},
            "1. shop/f1.py:10-11 function price 0.90; file page 3",
            {"place": "file page 3"},
        ),
        (
            {"reasons": (Note(say.CLOSE), Note(say.CALLS_IT), Note(say.DEFINES, {"name": "x"}), Note(say.IN_TRACE))},
            "1. shop/f1.py:10-11 function price 0.90; calls it; in the stack trace",
            {"why": "calls it; in the stack trace"},
        ),
        (
            {"reasons": (Note(say.WEAK), Note(say.NAMED, {"names": "x"}), Note(say.MENTIONS, {"words": ("x",)}))},
            "1. shop/f1.py:10-11 function price 0.90",
            {},
        ),
        ({"name": "a\nb"}, r"1. shop/f1.py:10-11 function $'a\nb' 0.90", {"symbol": "a\nb"}),
    ],
)
def test_a_hit_says_beside_its_place_what_the_place_does_not_show(
    more: dict[str, Any], title: str, keys: dict[str, Any]
) -> None:
    part = hit_part(hit(**more), 1)
    assert part.text.partition("\n")[0] == title
    assert {key: part.shape[key] for key in keys} == keys
    shown = {"why", "place"} & part.shape.keys()
    assert shown == keys.keys() & {"why", "place"}
    assert ("symbol" in part.shape) == bool(more.get("name", "price"))


@pytest.mark.parametrize(("number", "n_lines"), [(1, 3), (2, 1), (3, 1), (99, 1)])
def test_the_first_hit_shows_more_of_its_lines(number: int, n_lines: int) -> None:
    part = hit_part(hit(text="".join(f"line_{n}\n" for n in range(30))), number)
    assert len(part.shape["text"].split("\n")) == n_lines


def test_a_long_line_is_cut_and_a_fence_is_longer_than_any_inside() -> None:
    part = hit_part(hit(text="x" * 300 + "\n"), 1)
    assert part.shape["text"] == f"10:{'x' * 120} …"
    assert hit_part(hit(text="a = 1\n````x\n"), 1).text.endswith("\n10:a = 1\n11:````x")  # no line can end anything
    fenced = hit_part(hit(text="a = 1\r````x\n"), 1)  # a host may take a part of it for a line of its own
    assert "\n`````python\n" in fenced.text
    assert fenced.text.endswith("`````")


def test_a_later_hit_says_only_what_its_line_does_not_show() -> None:
    later = hit(text="# what it costs\n    export def price():\n    return 1\n", name="Shop.price")
    chunk = replace(later.chunk, signature="def price()")
    assert hit_part(replace(later, chunk=chunk), 3).text == "3. shop/f1.py:10-12 in Shop\n11:export def price():"
    other = replace(later, chunk=chunk, line=12)
    assert hit_part(other, 3).text == "3. shop/f1.py:10-12 function Shop.price\n12:return 1"
    assert hit_part(hit(), 3).text == "3. shop/f1.py:10-11\n10:def price():"
    assert hit_part(hit(text="a = 1\r```\n"), 3).text.endswith("\n````")


# ---- lists


def test_a_list_tells_how_it_goes_on() -> None:
    result = search_result(result_of(0.9, 0.8, rest=Rest(5)), Cursor(), MUCH, is_limited=True)
    assert paths(result) == ["shop/f1.py", "shop/f2.py"]
    assert shape_of(result)["left_out"] == 5
    assert shape_of(result)["next"] == "2.7"
    assert "note" not in shape_of(result)
    text = text_of(result)
    assert text.startswith("confidence 0.88.\n\n1. shop/f1.py:10-11")
    assert text.endswith("\n\n5 more: use cursor 2.7")
    assert (shape_of(result)["confidence"], shape_of(result)["weak"]) == (0.8765, False)
    assert "indexing" not in shape_of(result)


def test_the_next_page_begins_where_this_one_ends() -> None:
    page = result_of(0.9, 0.8, offset=4, rest=Rest(1))
    result = search_result(page, Cursor(4, 7), MUCH, is_limited=False)
    assert text_of(result).count("\n5. ") == text_of(result).count("\n6. ") == 1
    assert shape_of(result)["next"] == "6.7"
    end = search_result(replace(page, rest=Rest()), Cursor(4, 7), MUCH, is_limited=False)
    assert ("next" in shape_of(end), shape_of(end)["left_out"]) == (False, 0)
    assert "more" not in text_of(end)


@pytest.mark.parametrize(
    ("rest", "page", "n_shown", "is_cut", "text", "shape"),
    [
        (Rest(), FIRST_PAGE, 3, False, "", {"left_out": 0}),
        (Rest(4), FIRST_PAGE, 3, False, "4 more: use cursor 3.7", {"left_out": 4, "next": "3.7"}),
        (Rest(4), FIRST_PAGE, 3, True, "4 more: raise max_tokens or use cursor 3.7", {"left_out": 4, "next": "3.7"}),
        (Rest(4), FIRST_PAGE, 0, True, "4 more: raise max_tokens", {"left_out": 4}),
        (Rest(4), FIRST_PAGE, 0, False, "4 more", {"left_out": 4}),
        (
            Rest(4, is_exact=False),
            ListPage(Cursor(10), 7),
            3,
            False,
            "at least 4 more: use cursor 13.7",
            {"left_out": 4, "next": "13.7", "note": "There are at least 4 more."},
        ),
        (
            Rest(4),
            ListPage(Cursor(10, 6), 7),
            3,
            False,
            f"4 more: use cursor 13.7\n{CHANGED}",
            {"left_out": 4, "next": "13.7", "note": CHANGED},
        ),
        (
            Rest(0, is_exact=False),
            ListPage(Cursor(10, 6), 7),
            3,
            False,
            f"maybe some more: use cursor 13.7\n{CHANGED}",
            {"left_out": 0, "next": "13.7", "note": f"There are maybe some more. {CHANGED}"},
        ),
        (Rest(), ListPage(Cursor(10, 7), 7), 3, True, "", {"left_out": 0}),
    ],
)
def test_the_end_of_a_page(
    rest: Rest, page: ListPage, n_shown: int, is_cut: bool, text: str, shape: dict[str, Any]
) -> None:
    assert list_end(rest, page, n_shown, is_cut=is_cut) == ResultPart(text, shape)


@pytest.mark.parametrize(
    ("n_hits", "more", "is_limited", "n_shown", "n_named"),
    [
        (4, {}, False, 3, 1),
        (3, {}, False, 3, 0),
        (12, {}, False, 3, 9),
        (14, {}, False, 3, 9),  # of the first twelve
        (14, {}, True, 14, 0),  # the caller has said how many
        (14, {"mode": "regex"}, False, 14, 0),
        (14, {"mode": "symbol"}, False, 14, 0),
        (14, {"mode": "lexical"}, False, 3, 9),
        (14, {"mode": "vector"}, False, 3, 9),
        (4, {"offset": 3}, False, 4, 0),
        (14, {"offset": 10}, False, 8, 0),
        (14, {"offset": 10}, True, 14, 0),
        (14, {"offset": 10, "mode": "regex"}, False, 14, 0),
        (14, {"weak": True}, False, 3, 9),
        (14, {"weak": True}, True, 3, 0),
        (0, {}, False, 0, 0),
    ],
)
def test_hits_behind_the_first_ones_are_named_and_those_behind_them_wait_for_a_cursor(
    n_hits: int, more: dict[str, Any], is_limited: bool, n_shown: int, n_named: int
) -> None:
    offset = more.get("offset", 0)
    result = search_result(result_of(*[0.9] * n_hits, **more), Cursor(offset), MUCH, is_limited=is_limited)
    assert len(paths(result)) == n_shown
    named = [place["path"] for place in shape_of(result).get("also", ())]
    assert named == [f"shop/f{n}.py" for n in range(offset + n_shown + 1, offset + n_shown + n_named + 1)]
    assert all(f"also in {path}\n10:def price():" in text_of(result) for path in named)
    left = n_hits - n_shown - n_named
    assert shape_of(result)["left_out"] == left
    assert "raise max_tokens" not in text_of(result)
    cursor = f"{left} more: use cursor {offset + n_shown + n_named}.7"
    assert (cursor in text_of(result)) == (left > 0)


def test_a_hit_that_is_named_by_its_place_shows_its_line_unless_its_definition_begins_there() -> None:
    hits = result_of(*[0.9] * 6)
    head = replace(hits.hits[5], chunk=replace(hits.hits[5].chunk, signature="def price()"))
    bare = replace(hits.hits[3], name="", chunk=replace(hits.hits[3].chunk, text="  see the [docs]\n", signature=""))
    shown = replace(hits.hits[4], chunk=replace(hits.hits[4].chunk, path=hits.hits[0].chunk.path))
    result = search_result(replace(hits, hits=(*hits.hits[:3], bare, shown, head)), Cursor(), MUCH, is_limited=False)
    # What a hit shows already is not named again.
    assert shape_of(result)["also"] == [
        {"path": "shop/f4.py", "text": "10:see the [docs]"},
        {"path": "shop/f6.py", "text": "10:price"},
    ]


def test_hits_are_named_only_where_all_of_them_have_room() -> None:
    result = result_of(*[0.9] * 12)
    for most in range(40, 600, 20):
        page = search_result(result, Cursor(), most, is_limited=False)
        assert fits(page, most)
        assert shape_of(page)["left_out"] == (0 if "also" in shape_of(page) else 12 - len(paths(page)))


def test_as_many_hits_are_shown_as_have_room_in_both_forms() -> None:
    result = result_of(*[0.9] * 10)
    whole = search_result(result, Cursor(), MUCH, is_limited=True)
    sizes = [len(paths(search_result(result, Cursor(), most, is_limited=True))) for most in range(0, 1_500, 25)]
    assert sizes == sorted(sizes)
    assert set(sizes) >= {0, 1, 5, 9, 10}
    for most in range(150, 1_500, 50):
        page = search_result(result, Cursor(), most, is_limited=True)
        assert fits(page, most)
        if len(paths(page)) < 10 and paths(page):
            left = 10 - len(paths(page))
            assert f"{left} more: raise max_tokens or use cursor {len(paths(page))}.7" in text_of(page)
            one_more = ToolAnswer("hits", ResultPart("", {}), (), FIRST_PAGE, Rest())
            assert fits(packed(one_more, most), most)
    assert not fits(whole, 500)


def test_the_best_hit_is_named_by_its_place_where_its_lines_have_no_room() -> None:
    large = replace(hit(text="".join(f"total_{n} = price_{n} * {n}\n" for n in range(5))), score=0.9)
    result = search_result(result_of(0.9, 0.8, hits=(large, hit(2))), Cursor(), 110, is_limited=True)
    assert "1. shop/f1.py:10-14 function price 0.90\nraise max_tokens to see its lines" in text_of(result)
    assert "text" not in shape_of(result)["hits"][0]
    assert shape_of(result)["hits"][0]["path"] == "shop/f1.py"
    assert (paths(result), shape_of(result)["left_out"]) == (["shop/f1.py"], 1)
    nothing = search_result(result_of(0.9, hits=(large,)), Cursor(), 5, is_limited=True)
    assert (paths(nothing), shape_of(nothing)["left_out"]) == ([], 1)
    assert text_of(nothing).endswith("1 more: raise max_tokens")


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (result_of(0.9), "confidence 0.88."),
        (result_of(0.9, weak=True), "confidence 0.88. Most likely nothing here answers this."),
        (result_of(advice=Note(say.INDEX_EMPTY)), f"confidence 0.88. Nothing found. {EMPTY}"),
        (result_of(0.9, problems=("no vectors", "no names")), "confidence 0.88. no vectors no names"),
        (result_of(0.9, problems=("x" * 400,)), f"confidence 0.88. {'x' * 300}… (line cut)"),
    ],
)
def test_the_head_of_a_search(result: SearchResult, text: str) -> None:
    head = head_part(in_words(result, for_agents))
    assert " ".join(head.text.split()) == text
    assert head.shape == {"confidence": 0.8765, "weak": result.weak}


def test_a_search_beside_a_first_index_says_how_far_that_is() -> None:
    step = Progress("index", 3, 8)
    assert shape_of(search_result(result_of(0.9), Cursor(), MUCH, is_limited=True, indexing=step))["indexing"] == {
        "done": 3,
        "total": 8,
    }
    alone = indexing_result(step)
    assert text_of(alone) == ("The index is being made, 3 of 8 files so far. Ask again soon, or use grep until then.")
    assert shape_of(alone) == {"indexing": {"done": 3, "total": 8}}


def near_of(*names: tuple[str, int, int, int, str]) -> tuple[FileNames, ...]:
    """Return symbols of the first file, with name, kind, lines; each is a place that answers, the last one first."""
    symbols = tuple(Symbol(kind, name, name, start, end, start, f"def {name}()") for name, start, end, _, kind in names)
    places = [
        Hit(Chunk(name, "shop/f1.py", "python", "block", "", (), line, line, ""), 0.5, {}, line=line, name=name)
        for name, _, _, line, _ in names
    ]
    return names_of_places("", tuple(reversed(places)), {"shop/f1.py": symbols})


def test_beside_the_hits_stand_further_names_of_the_first_files() -> None:
    names = [("price", 10, 11, 10, "function"), ("Shop", 20, 90, 25, "class"), ("sell", 30, 40, 35, "method")]
    near = near_of(*names, ("tax\x1b", 95, 99, 96, "function"))
    result = search_result(
        result_of(0.9, 0.8, rest=Rest(3)), Cursor(), MUCH, is_limited=False, extras=PageExtras(None, near)
    )
    lines = "30:sell\n95:tax\N{SYMBOL FOR ESCAPE}"
    # The line of `price` stands in the hit, and a class that reaches further tells nothing of the place.
    assert shape_of(result)["also"] == [{"path": "shop/f1.py", "text": lines}]
    assert f"\n11:    return 1\nalso:\n{lines}\n\n2. shop/f2.py" in text_of(result)
    other = [FileNames("shop/far.py", near[0].names)]
    far = search_result(
        result_of(0.9, 0.8, rest=Rest(3)), Cursor(), MUCH, is_limited=False, extras=PageExtras(None, other)
    )
    assert text_of(far).endswith(f"\n\nalso in shop/far.py\n10:price\n{lines}\n\n3 more: use cursor 2.7")


def test_a_name_is_shown_with_what_is_around_it_once_and_equal_names_once() -> None:
    symbols = tuple(
        Symbol("method", name.rpartition(".")[2], name, line, line + 1, line, "")
        for name, line in [("a.Shop.sell", 20), ("a.Shop.sell", 30), ("a.Shop.tax", 40), ("b.Tax.of", 50)]
    )
    place = Hit(Chunk("x", "shop/f1.py", "python", "block", "", (), 18, 60, ""), 0.5, {}, line=55, name="")
    near = names_of_places("", [place], {"shop/f1.py": symbols})
    result = search_result(result_of(0.9), Cursor(), MUCH, is_limited=False, extras=PageExtras(None, near))
    assert shape_of(result)["also"][0]["text"] == "20:Shop.sell\n40:.tax\n50:Tax.of"


def test_names_beside_the_hits_are_few_and_never_take_the_room_of_hits() -> None:
    near = near_of(*[(f"f{n}", n, n, n, "function") for n in range(100, 140)])
    hits = result_of(*[0.9] * 5)
    whole = search_result(hits, Cursor(), MUCH, is_limited=False, extras=PageExtras(None, near))
    assert [line.partition(":")[0] for line in shape_of(whole)["also"][0]["text"].split("\n")] == [
        str(line)
        for line in range(116, 140)  # the best ones, in the order of lines
    ]
    for most in range(100, 700, 20):
        plain = search_result(hits, Cursor(), most, is_limited=False)
        beside = search_result(hits, Cursor(), most, is_limited=False, extras=PageExtras(None, near))
        assert paths(beside) == paths(plain)
        assert fits(beside, most)
    assert "also" not in shape_of(search_result(hits, Cursor(), 200, is_limited=False, extras=PageExtras(None, near)))


def place_at(line: int, path: str = "shop/f1.py") -> Hit:
    return Hit(Chunk(f"{path}{line}", path, "python", "block", "", (), line, line, ""), 0.5, {}, line=line)


def functions_at(names: Mapping[int, str]) -> tuple[Symbol, ...]:
    return tuple(Symbol("function", name, name, line, line, line, "") for line, name in names.items())


def test_names_with_words_of_the_question_come_before_those_of_better_places() -> None:
    names = {line: f"other{line}" for line in range(1, 30)} | {30: "refundedOrders"}
    places = [place_at(line) for line in names]
    for question, is_named in [("where is an order refunded", True), ("where is it", False)]:
        near = names_of_places(question, places, {"shop/f1.py": functions_at(names)})
        (listed,) = name_lines(near, ())
        assert ("30:refundedOrders" in listed.lines) == is_named
        assert "1:other1" in listed.lines


def test_names_of_all_files_share_one_number_and_the_first_file_gets_most() -> None:
    names = functions_at({line: f"f{line}" for line in range(1, 30)})
    files = ("a.py", "b.py", "c.py")
    places = [place_at(line, path) for path in files for line in range(1, 30)]
    listed = list(name_lines(names_of_places("", places, dict.fromkeys(files, names)), ()))
    numbers = [len(file.lines) for file in listed]
    assert sum(numbers) == 24
    assert numbers == sorted(numbers, reverse=True)
    assert [file.path for file in listed] == list(files)


def test_a_type_that_begins_in_a_place_is_named_and_a_value_is_not() -> None:
    symbols = (
        Symbol("interface", "Params", "Params", 10, 12, 10, ""),
        Symbol("constant", "LIMIT", "LIMIT", 11, 11, 11, ""),
    )
    place = Hit(Chunk("x", "shop/f1.py", "python", "block", "", (), 8, 14, ""), 0.5, {}, line=14)
    (listed,) = name_lines(names_of_places("", [place], {"shop/f1.py": symbols}), ())
    assert listed.lines == ["10:Params"]


def test_tests_prose_and_commits_are_no_files_whose_names_are_shown() -> None:
    one, two = hit(1), hit(2)
    test = replace(one, chunk=replace(one.chunk, path="tests/test_shop.py"))
    prose = replace(one, chunk=replace(one.chunk, path="docs/guide.md"))
    files = first_files([test, two, prose, one, two, *map(hit, range(3, 9))])
    assert files == ("shop/f2.py", "shop/f1.py", "shop/f3.py", "shop/f4.py")
    commit = CommitMark("c" * 40, "2026-01-02", "An Author", "a subject")
    assert first_files([replace(one, commit=commit)]) == ()


# ---- other tools


def test_a_mistake_is_told_with_its_remedy() -> None:
    refused = refusal_result(UsageError("limit cannot be 0", hint="give a number"))
    assert refused == {
        "content": [{"type": "text", "text": "limit cannot be 0. Remedy: give a number"}],
        "isError": True,
    }
    assert text_of(refusal_result(UsageError("no"))) == "no"
    long = text_of(refusal_result(UsageError("x" * 500, hint="y" * 500)))
    assert long == f"{'x' * 300}… (line cut). Remedy: {'y' * 300}… (line cut)"
    assert tool_result("a", {"b": 1}, is_error=True) == {"content": [{"type": "text", "text": "a"}], "isError": True}


def test_a_mistake_does_not_repeat_a_secret() -> None:
    key = "ghp_" + "a1B2" * 9
    told = text_of(refusal_result(UsageError(f"no file {key!r}", hint=f"not {key}")))
    assert "a1B2" not in told
    assert told.count("«masked: secret»") == 2


def test_a_connection_is_a_line_below_its_kind_and_file() -> None:
    edges = (
        Related("b.py", "called by", 4, "price", "Order.pay"),
        Related("b.py", "called by", 9, "price", "", 2, certainty="by-name", n_definitions=5),
        Related("tests/test_b.py", "called by", 7, "cost", "test_pay"),
        Related("c.py", "imported by", 1, "shop.price"),
        Related("a.py", "calls", 3, "round", "Money.round"),
    )
    result = related_result(RelatedResult("@@price", edges, (verbatim("by scope"),), rest=Rest(2)), FIRST_PAGE, MUCH)
    assert text_of(result) == (
        "by scope\n\n"
        "called by:\n"
        "b.py:4 in Order.pay\n"
        " :9 (step 2) (by name, 1 of 5)\n"
        "called by, in tests:\n"
        "tests/test_b.py:7 cost in test_pay\n"
        "imported by:\n"
        "c.py:1\n"
        "calls:\n"
        "a.py:3 Money.round\n\n"
        "2 more: use cursor 5.7"
    )
    assert shape_of(result)["completeness"] == "by scope"
    assert shape_of(result)["edges"][:2] == [
        {"kind": "called by", "path": "b.py", "at": ["4 in Order.pay", "9 (step 2) (by name, 1 of 5)"]},
        {"kind": "called by, in tests", "path": "tests/test_b.py", "at": ["7 cost in test_pay"]},
    ]
    assert (shape_of(result)["left_out"], shape_of(result)["next"]) == (2, "5.7")


def test_a_connection_takes_fifteen_tokens() -> None:
    edges = tuple(
        Related(f"src/package/module_{n // 4}.py", "called by", 10 * n + 3, "resolve", f"Reader.method_{n}")
        for n in range(100)
    )
    result = related_result(RelatedResult("@@resolve", edges, ()), FIRST_PAGE, MUCH)
    assert estimate(text_of(result)) < 15 * len(edges)
    assert estimate(json.dumps(shape_of(result))) < 20 * len(edges)


def test_a_name_in_another_script_is_shown() -> None:
    strange = related_result(RelatedResult("x", (Related("größe.py", "calls", 1, "f"),), ()), FIRST_PAGE, MUCH)
    assert "größe.py" in text_of(strange)


def impact(n: int, **more: Any) -> Impact:
    return replace(
        Impact(
            tuple(ChangedSymbol(f"c{k}.py", "f", "function", "changed", k) for k in range(n)),
            tuple(Related(f"r{k}.py", "calls", k, "f") for k in range(n)),
            n,
            tuple(TouchingTest(f"t{k}.py", 0.5, "calls f", 1) for k in range(n)),
            (verbatim("Uses are known by scope."),),
            ("a binary file",) * (n > 0),
            n_changes=n,
            n_tests=n,
            n_unseen=int(n > 0),
        ),
        **more,
    )


def test_an_impact_lists_what_changed_what_it_reaches_and_the_tests() -> None:
    result = impact_result(impact(1), FIRST_PAGE, MUCH)
    assert text_of(result) == (
        "Uses are known by scope.\n\n"
        "reached:\ncalls:\nr0.py:0 f\n\n"
        "tests:\nt0.py calls f\n\n"
        "changed:\nc0.py:0 changed function f\n\n"
        "not seen:\na binary file"
    )
    assert shape_of(result) == {
        "changes": [{"path": "c0.py", "symbol": "f", "kind": "function", "change": "changed", "line": 0}],
        "reached": [{"kind": "calls", "path": "r0.py", "at": ["0 f"]}],
        "tests": [{"path": "t0.py", "reason": "calls f"}],
        "unseen": ["a binary file"],
        "completeness": "Uses are known by scope.",
        "left_out": 0,
    }


def test_each_item_of_an_impact_is_one_line_whatever_it_holds() -> None:
    odd = impact(
        1,
        changes=(ChangedSymbol("a\nb.py", "f\ng", "function", "added", 3), ChangedSymbol("c.py", "", "", "removed", 4)),
        tests=(TouchingTest("t\nu.py", 0.5, "calls\nf", 1),),
        unseen=("a\nb",),
        n_changes=2,
    )
    assert text_of(impact_result(odd, FIRST_PAGE, MUCH)).split("\n\n")[2:] == [
        "tests:\n$'t\\nu.py' calls␊f",
        "changed:\n$'a\\nb.py':3 added function $'f\\ng'\nc.py:4 removed outside of all symbols",
        "not seen:\na␊b",
    ]


def test_pages_of_an_impact_hold_each_item_once() -> None:
    whole = impact(20)
    paths: list[str] = []
    offset: int | None = 0
    while offset is not None:
        shape = shape_of(impact_result(page_of(whole, offset, 20), ListPage(Cursor(offset, 7), 7), 300))
        paths += [item["path"] for name in ("changes", "reached", "tests") for item in shape[name]]
        offset = int(shape["next"].split(".")[0]) if "next" in shape else None
    assert sorted(paths) == sorted(f"{list_}{k}.py" for list_ in "crt" for k in range(20))


def test_the_lists_of_an_impact_take_turns_in_the_room_there_is() -> None:
    result = impact_result(impact(20), FIRST_PAGE, 400)
    shape = shape_of(result)
    assert fits(result, 400)
    counts = [len(shape[key]) for key in ("changes", "reached", "tests")]
    assert max(counts) - min(counts) <= 1
    assert min(counts) >= 1
    n_shown = sum(counts) + len(shape["unseen"])
    assert (shape["left_out"], shape["next"]) == (61 - n_shown, f"{n_shown}.7")
    left = ", ".join(f"{title} {20 - n}" for title, n in zip(("changed", "reached", "tests"), counts, strict=True))
    assert text_of(result).endswith(f"{61 - n_shown} left out ({left}); raise max_tokens or use cursor {n_shown}.7")


def test_the_sentence_of_an_impact_is_cut_before_it_is_left_out() -> None:
    long = impact(0, limitations=(verbatim("word " * 200),))
    sizes = {most: len(shape_of(impact_result(long, FIRST_PAGE, most))["completeness"]) for most in (5, 90, 110, 900)}
    assert sizes == {
        900: 600 + len("… (line cut)"),
        110: 300 + len("… (line cut)"),
        90: 100 + len("… (line cut)"),
        5: 0,
    }
    assert impact_result(impact(0, limitations=()), ListPage(Cursor(0, 6), 7), MUCH)["content"][0]["text"] == CHANGED


def outline(**more: Any) -> Outline:
    return Outline("\na.py\n", "by imports", "", 3, 2, 8, None)._replace(**more)


def test_a_map_tells_what_it_leaves_out() -> None:
    result = map_result(outline(), ListPage(Cursor(5), 7))
    assert text_of(result) == "a.py\n3 files and 2 symbols left out; raise max_tokens, or use paths, cursor 8.7"
    assert shape_of(result) == {
        "outline": "\na.py\n",
        "completeness": "by imports",
        "left_out": 5,
        "next": "8.7",
    }
    whole = map_result(outline(n_left_out=0, n_symbols_left_out=0, next_offset=None), FIRST_PAGE)
    assert (text_of(whole), shape_of(whole)["left_out"], "next" in shape_of(whole)) == ("a.py", 0, False)
    last = map_result(outline(next_offset=None), FIRST_PAGE)
    assert text_of(last).endswith("3 files and 2 symbols left out; raise max_tokens, or use paths")
    assert text_of(map_result(outline(n_left_out=0, n_symbols_left_out=0), ListPage(Cursor(1, 6), 7))).endswith(CHANGED)


@pytest.mark.parametrize(
    ("judged", "text", "shape"),
    [
        (None, "", {}),
        (Verdict(0.912345, weak=False, unanswerable=False), "", {"confidence": 0.9123, "weak": False}),
        (
            Verdict(0.1, weak=True, unanswerable=False),
            "confidence 0.10. Most likely nothing here answers this.\n\n",
            {"confidence": 0.1, "weak": True},
        ),
        (
            Verdict(0.01, weak=True, unanswerable=True),
            "confidence 0.01. Most likely nothing here answers this. This is the map of the whole project.\n\n",
            {"confidence": 0.01, "weak": True},
        ),
    ],
)
def test_a_map_says_where_its_question_has_most_likely_no_answer(
    judged: Verdict | None, text: str, shape: dict[str, Any]
) -> None:
    assert doubt_of_map(judged) == ResultPart(text, shape)
    drawn = map_result(outline(verdict=judged), FIRST_PAGE)
    assert text_of(drawn).startswith(f"{text}a.py")
    assert shape.items() <= shape_of(drawn).items()


def answer(text: str, n_places: int, **more: Any) -> Answer:
    places = tuple(Citation(f"f{n}.py", n, n + 3) for n in range(n_places))
    return replace(Answer("q", text, places, (), 1.0, 0.9, "confident", "m", Usage(), (), 7), **more)


def test_an_answer_is_its_text_and_its_places() -> None:
    result = answer_result(answer("It is here, as the code says." * 10, 2, weak=True), MUCH)
    assert text_of(result) == f'{"It is here, as the code says." * 10}\n\n"f0.py" 0-3\n"f1.py" 1-4'
    assert shape_of(result)["places"] == [
        {"path": "f0.py", "start_line": 0, "end_line": 3},
        {"path": "f1.py", "start_line": 1, "end_line": 4},
    ]
    assert (shape_of(result)["left_out"], shape_of(result)["weak"]) == (0, True)
    assert text_of(answer_result(answer("No.", 0), MUCH)) == "No."


def test_an_answer_says_what_its_question_led_to_and_nothing_else_of_its_problems() -> None:
    moved = Note(say.MOVED_TO_COMMITS)
    result = answer_result(answer("In March.", 0, problems=("a text of somebody", moved)), MUCH)
    assert text_of(result) == f"In March.\n\n{moved}"


def test_a_short_answer_shows_all_of_its_places_where_there_is_room() -> None:
    result = answer_result(answer("In these.", 5), MUCH)
    assert (len(shape_of(result)["places"]), shape_of(result)["left_out"]) == (5, 0)
    assert "left out" not in text_of(result)
    tight = answer_result(answer("In these.", 50), 200)
    assert fits(tight, 200)
    assert shape_of(tight)["answer"] == "In these."
    assert 3 < len(shape_of(tight)["places"]) < 50


def test_a_long_answer_is_cut_to_its_room() -> None:
    result = answer_result(answer("word " * 400, 9), 200)
    shape = shape_of(result)
    assert fits(result, 200)
    assert shape["answer"].endswith("… (line cut)")
    assert 0 < len(shape["places"]) < 9
    assert shape["left_out"] == 9 - len(shape["places"])
    assert text_of(result).endswith(f"{shape['left_out']} places left out; raise max_tokens")


def test_a_model_that_has_failed_is_a_mistake() -> None:
    assert answer_result(answer("", 0, failure="the model is away"), MUCH) == {
        "content": [{"type": "text", "text": "the model is away. Use search instead."}],
        "isError": True,
    }


def test_sizes_become_smaller_until_one_fits() -> None:
    tried: list[int] = []

    def made(size: int) -> Mapping[str, Any]:
        tried.append(size)
        return tool_result("word " * size, {})

    assert fits(within(20, made, 100), 20)
    assert tried[:3] == [100, 80, 64]
    assert len(tried) < 12
    tried.clear()
    assert not fits(within(0, made, 100), 0)
    assert len(tried) == 20
    assert min(tried) == 1


@pytest.mark.parametrize(
    ("line", "most", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "abc… (line cut)"), ("", 3, ""), ("abc", 0, ""), ("abc", 9, "abc")],
)
def test_a_text_that_is_cut_says_so(line: str, most: int, shown: str) -> None:
    assert cut(line, most) == shown


def test_lines_of_a_file_say_where_they_go_on() -> None:
    result = lines_result("a/größe.py", ["x = 1", "y = 2", "z = 3"], 40, 2)
    assert text_of(result) == '"a/größe.py" 40-41\n```\nx = 1\ny = 2\n```\n1 lines left out; go on with start_line 42'
    assert shape_of(result) == {
        "path": "a/größe.py",
        "start_line": 40,
        "end_line": 41,
        "text": "x = 1\ny = 2",
        "left_out": 1,
    }
    assert "left out" not in text_of(lines_result("a.py", ["x"], 1, 1))


def test_both_forms_count() -> None:
    long = "price of an order " * 40
    assert not fits(tool_result(long, {}), estimate(long) - 1)
    assert fits(tool_result(long, {}), estimate(long))
    assert not fits(tool_result("", {"a": long}), estimate(long) - 1)
    assert fits(tool_result("", {"a": "größe"}), 14)
