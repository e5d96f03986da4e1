"""Every citation of an answer is looked up: in what was shown, and in the file as it is now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.answer.cite import check
from codefathom.answer.types import Citation, Source

APP = "import os\n\n\ndef main():\n    print(os.getcwd())\n    return 0\n\n\nmain()\n"
SHOP = "def price(order):\n    return sum(order) * 2\n\n\ndef tax(order):\n    return price(order) / 5\n"
NOW = {"src/app.py": APP, "shop.py": SHOP, "https://docs.org/a.html": "Title\nText\n"}
SOURCES = (
    Source(1, "src/app.py", 4, 6, "def main():\n    print(os.getcwd())\n    return 0", "main"),
    Source(2, "shop.py", 1, 6, SHOP.rstrip("\n"), is_whole=True),
    Source(3, "https://docs.org/a.html", 1, 2, "Title\nText", is_whole=True),
)
MAIN = Citation("src/app.py", 4, 6, "main")
PAGE = Citation("https://docs.org/a.html", 1, 2)


@pytest.mark.parametrize(
    ("text", "expected", "citation"),
    [
        ("It starts in main [1].", "It starts in main [src/app.py:4-6].", MAIN),
        ("see [1:5]", "see [src/app.py:5-5]", Citation("src/app.py", 5, 5, "main")),
        ("see [2:1-2]", "see [shop.py:1-2]", Citation("shop.py", 1, 2)),
        ("see [2, lines 5-6]", "see [shop.py:5-6]", Citation("shop.py", 5, 6)),
        ("see [2:L5-L6]", "see [shop.py:5-6]", Citation("shop.py", 5, 6)),
        ("see [src/app.py:4-6]", "see [src/app.py:4-6]", MAIN),
        ("see [src/app.py#L4-L6]", "see [src/app.py:4-6]", MAIN),
        ("see [`src/app.py`:4-6]", "see [src/app.py:4-6]", MAIN),
        ("see [app.py:4]", "see [src/app.py:4-4]", Citation("src/app.py", 4, 4, "main")),
        ("see ./shop.py:5-6, please", "see [shop.py:5-6], please", Citation("shop.py", 5, 6)),
        ("see `shop.py:5`", "see [shop.py:5-5]", Citation("shop.py", 5, 5)),
        ("从这里开始[1]。", "从这里开始[src/app.py:4-6]。", MAIN),
        ("see /src/app.py:4-6", "see [src/app.py:4-6]", MAIN),
        ("see [https://docs.org/a.html:1-2]", f"see [{PAGE.path}:1-2]", PAGE),
        ("see https://docs.org/a.html:1-2.", f"see [{PAGE.path}:1-2].", PAGE),
    ],
)
def test_citations_in_every_form_become_one(text: str, expected: str, citation: Citation) -> None:
    checked = check(text, SOURCES, NOW)
    assert (checked.text, checked.citations, checked.dropped) == (expected, (citation,), ())
    assert checked.verified_share == 1.0


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("so it is [7].", "so it is.", "there is no source of this number"),
        ("so it is [0].", "so it is.", "there is no source of this number"),
        ("so it is [1:1-6].", "so it is.", "these lines were not shown"),
        ("so it is [1:6-4].", "so it is.", "these lines were not shown"),
        ("so it is [1:99].", "so it is.", "these lines were not shown"),
        ("so it is [src/other.py:4-6].", "so it is.", "no source has this path"),
        ("so it is [pp.py:4-6].", "so it is.", "no source has this path"),
        ("so it is, lib/none.py:3.", "so it is,.", "no source has this path"),
        ("so it is [src/app.py:1-2].", "so it is.", "these lines were not shown"),
    ],
)
def test_what_was_not_shown_is_removed_and_counted(text: str, expected: str, reason: str) -> None:
    checked = check(text, SOURCES, NOW)
    assert (checked.text, checked.citations) == (expected, ())
    assert [dropped.reason for dropped in checked.dropped] == [reason]
    assert checked.verified_share == 0.0


@pytest.mark.parametrize("text", ["It listens on http://localhost:8080 [1].", "It listens on https://[::1]:80 [1]."])
def test_an_address_with_a_port_is_no_citation(text: str) -> None:
    checked = check(text, SOURCES, NOW)
    assert (checked.text, checked.dropped) == (text.replace("[1]", "[src/app.py:4-6]"), ())


def test_a_file_that_is_gone_or_renamed_is_no_longer_cited() -> None:
    checked = check("a [1] b [2]", SOURCES, {"src/renamed.py": APP, "shop.py": SHOP})
    assert checked.text == "a b [shop.py:1-6]"
    assert [dropped.reason for dropped in checked.dropped] == ["the file is no longer there"]
    assert checked.verified_share == 0.5


def test_lines_that_moved_are_cited_where_they_are_now() -> None:
    checked = check("a [1] and [1:5]", SOURCES, {**NOW, "src/app.py": "# new\n# lines\n" + APP})
    assert checked.text == "a [src/app.py:6-8] and [src/app.py:7-7]"


def test_lines_that_changed_are_not_cited() -> None:
    checked = check("a [1] b [1:4]", SOURCES, {**NOW, "src/app.py": APP.replace("return 0", "return 1")})
    assert checked.text == "a b [src/app.py:4-4]"
    assert [dropped.reason for dropped in checked.dropped] == ["the file has changed there"]


@pytest.mark.parametrize(
    "text",
    [
        "It is `return sum(order) * 2` [2:2].",
        "In [2:2] it says `return  sum(order) * 2`.",
        "```python\ndef price(order):\n    # ...\n    return sum(order) * 2\n```\n[2:1-2]",
        "[2:1-2]:\n```\ndef price(order):\n```",
        "`price` [2] is called by `tax` [2:5-6], as `main()` [1] does not.",
        "- [1]: main\n\n```\ndef main():\n```\n\n- [2:5-6]: tax",
        "1. [2:5-6] first\n```\ndef tax(order):\n```\n2. [1] second",
        "It never does `return sum(order) * 3 + 1`. Prices come from there [2:2].",
    ],
)
def test_quoted_code_that_stands_there_is_kept(text: str) -> None:
    assert check(text, SOURCES, NOW).dropped == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("It is `return sum(order) * 3` [2:2].", "return sum(order) * 3"),
        ("It is `return sum(order) * 2` [1].", "return sum(order) * 2"),
        ("```python\ndef price(order):\n    return 2 * sum(order)\n```\n[2:1-2]", "return 2 * sum(order)"),
        ("see [2:5-6]:\n```\ndef price(order):\n```", "def price(order):"),
    ],
)
def test_quoted_code_that_does_not_stand_there_costs_the_citation(text: str, line: str) -> None:
    checked = check(text, SOURCES, NOW)
    assert checked.citations == ()
    assert [dropped.reason for dropped in checked.dropped] == [f"the quoted {line!r} does not stand there"]


def test_an_index_in_quoted_code_is_no_citation() -> None:
    text = "Take the first:\n```python\nprint(items[1], x.py:3)\n```\ndone"
    assert check(text, SOURCES, NOW) == check(text, (), {})
    assert check(text, SOURCES, NOW).text == text


def test_a_place_is_listed_once_and_counted_once() -> None:
    checked = check("a [1] b [1] c [2:1] d [9]", SOURCES, NOW)
    assert checked.citations == (MAIN, Citation("shop.py", 1, 1))
    assert checked.verified_share == pytest.approx(2 / 3)


def test_no_citation_is_no_proof() -> None:
    assert check("All is well.", SOURCES, NOW).verified_share == 0.0


PARTS = ["[1]", "[2:3-4]", "[3]", "[x.py:1]", " ", "a", "`", "```\n", "\n", "[1:", "[", "]", "中"]


@given(st.lists(st.sampled_from(PARTS)))
def test_every_citation_that_is_left_can_be_opened(parts: list[str]) -> None:
    checked = check("".join(parts), SOURCES, NOW)
    for citation in checked.citations:
        lines = NOW[citation.path].split("\n")
        assert 1 <= citation.start_line <= citation.end_line <= len(lines)
        assert f"[{citation.path}:{citation.start_line}-{citation.end_line}]" in checked.text
