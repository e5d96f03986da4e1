"""Places with lines, as people, compilers, editors and web pages write them."""

from __future__ import annotations

import pytest

from codefathom.search.question.file_mentions import written_files
from codefathom.search.question.issue import Issue
from codefathom.search.question.query import parse_query
from codefathom.text.written_place import Place, place_of

LINES = {
    "": (0, 0),
    ":10": (10, 0),
    ":10:5": (10, 0),
    ":10-20": (10, 20),
    ":L10-L20": (10, 20),
    "#L10": (10, 0),
    "#L10-L20": (10, 20),
    "#L10-20": (10, 20),
    "#L10C5-L20C1": (10, 20),
}


@pytest.mark.parametrize("ending", LINES)
def test_lines_belong_to_a_place_in_whatever_form(ending: str) -> None:
    assert place_of(f"shop/pay.py{ending}") == Place("shop/pay.py", *LINES[ending])
    query = parse_query(f"why does @shop/pay.py{ending}, fail")
    assert (query.paths, query.text) == (("shop/pay.py",), "why does fail")
    assert parse_query(f"pay.py{ending}").intent == "path"
    assert [item.parts for item in written_files(Issue(f"shop/pay.py{ending}", "", ""))] == [("shop", "pay.py")]


@pytest.mark.parametrize(
    "text", ["shop/pay.py", "a#L", "src/c#/x.cs", ":10", "#L10", "a.py:", "a.py:x", "a.py:99999999999", "a.py#Lx", ""]
)
def test_what_is_no_place_with_lines_stays(text: str) -> None:
    assert place_of(text) == Place(text)


@pytest.mark.parametrize("part", [":1", ":1-1", "#L1", "1", ":1:1x", "-1"])
def test_a_long_word_is_read_at_once(part: str) -> None:
    assert place_of(f"{part * 50_000}x").start_line == 0
