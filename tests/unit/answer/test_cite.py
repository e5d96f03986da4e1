"""Every citation of an answer is looked up: in what was shown, and in the file as it is now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.answer.answer_types import Checked, Citation, Dropped, Source, label_of
from codefathom.answer.cite import check
from codefathom.answer.claims import NOT_IN_SOURCES
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note

APP = "import os\n\n\ndef main():\n    print(os.getcwd())\n    return 0\n\n\nmain()\n"
SHOP = "def price(order):\n    return sum(order) * 2\n\n\ndef tax(order):\n    return price(order) / 5\n"
KEPT = "texts://notes/meeting.md"
NOW = {"src/app.py": APP, "shop.py": SHOP, "https://docs.org/a.html": "Title\nText\n", KEPT: "One\nTwo\n"}
NOW |= {"shop/texts://a.md": "One\nTwo\n"}
SOURCES = (
    Source(1, "src/app.py", 4, 6, "def main():\n    print(os.getcwd())\n    return 0", "main"),
    Source(2, "shop.py", 1, 6, SHOP.rstrip("\n"), is_whole=True),
    Source(3, "https://docs.org/a.html", 1, 2, "Title\nText", is_whole=True),
    Source(41, KEPT, 1, 2, "One\nTwo", is_whole=True),
    Source(42, "shop/texts://a.md", 1, 2, "One\nTwo", is_whole=True),
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
        ("see [41]", f"see [{KEPT}:1-2]", Citation(KEPT, 1, 2)),
        ("see [texts://notes/meeting.md:2]", f"see [{KEPT}:2-2]", Citation(KEPT, 2, 2)),
        ("see texts://notes/meeting.md:1-2, please", f"see [{KEPT}:1-2], please", Citation(KEPT, 1, 2)),
        ("see `meeting.md:2`", f"see [{KEPT}:2-2]", Citation(KEPT, 2, 2)),
        ("see [shop/texts://a.md:2]", "see [shop/texts://a.md:2-2]", Citation("shop/texts://a.md", 2, 2)),
        ("see shop/texts://a.md:2.", "see [shop/texts://a.md:2-2].", Citation("shop/texts://a.md", 2, 2)),
    ],
)
def test_citations_in_every_form_become_one(text: str, expected: str, citation: Citation) -> None:
    checked = check(text, SOURCES, NOW)
    assert (checked.text, checked.citations, checked.dropped) == (expected, (citation,), ())
    assert checked.verified_share == 1.0


@pytest.mark.parametrize(
    ("text", "expected", "reason"),
    [
        ("so it is [7].", "so it is [cited place not found].", "there is no source of this number"),
        ("so it is [0].", "so it is [cited place not found].", "there is no source of this number"),
        ("so it is [1:1-6].", "so it is [cited place not found].", "these lines were not shown"),
        ("so it is [1:6-4].", "so it is [cited place not found].", "these lines were not shown"),
        ("so it is [1:99].", "so it is [cited place not found].", "these lines were not shown"),
        ("so it is [src/other.py:4-6].", "so it is [cited place not found].", "no source has this path"),
        ("so it is [pp.py:4-6].", "so it is [cited place not found].", "no source has this path"),
        ("so it is, lib/none.py:3.", "so it is, [cited place not found].", "no source has this path"),
        ("so it is [texts://none.md:1-2].", "so it is [cited place not found].", "no source has this path"),
        ("so it is [texts://notes/meeting.md:1-3].", "so it is [cited place not found].", "these lines were not shown"),
        ("so it is [src/app.py:1-2].", "so it is [cited place not found].", "these lines were not shown"),
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


@pytest.mark.parametrize(
    "text",
    [
        "It listens on 127.0.0.1:8080.",
        "It asks db.internal:5432 and host.example.com:443.",
        "Set `host.example.com:443` or [localhost:8080] or [db.internal:5432].",
        "Pull ghcr.io/org/app:3 and redis://cache.local/0:1, at 12:30.",
        "`ws://shop.py.example.com:80`",
        "Then data[1] and matrix[1, 2] and xs[1:3] and f(x)[1] and rows[0][1].",
        "Write `data [1]`, `print(shop.py:5)`, ``[1] `x` `` or `a [2:5-6] b`.",
        "[1]: https://example.com/a.html#L3\n[2]: <https://example.com>",
        "See [the page](https://example.com/a:3) and [1](https://example.com) and [tax](shop.py#L5-L6).",
        "Name:300 of main:5 and `key:1`, and/or line 5, the ratio (2:1), [0-9], f(3:1-2), (9:1-2), (1, 2).",
        "Lines 3-4 of the poem; see section 2, line 5.",
        "See https://example.com/a/b line 5.",
        "See [shop.py] and [1, the other one] and [;].",
    ],
)
def test_text_and_code_that_cites_nothing_stays_as_it_is(text: str) -> None:
    assert check(text, SOURCES, NOW) == Checked(text, (), ())


APP_5 = "[src/app.py:5-5]"
MORE_NOW = {**NOW, "build/Makefile": "all:\n\techo\n"}
MORE_SOURCES = (*SOURCES, Source(4, "build/Makefile", 1, 2, "all:\n\techo", is_whole=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [1, 3]", f"see [src/app.py:4-6][{PAGE.path}:1-2]"),
        ("see [1, 2, 4].", "see [src/app.py:4-6][shop.py:1-6][build/Makefile:1-2]."),
        ("see [1][3]", f"see [src/app.py:4-6][{PAGE.path}:1-2]"),
        ("see [1; 9]", "see [src/app.py:4-6][cited place not found]"),
        ("see [2, L5]", "see [shop.py:5-5]"),
        ("see [2, 5-6]", "see [shop.py:5-6]"),
        ("see [2:5]", "see [shop.py:5-5]"),
        ("see 【2:5-6】。", "see [shop.py:5-6]。"),
        ("see【2†L5-L6】", "see[shop.py:5-6]"),
        ("see ［2：5-6］", "see [shop.py:5-6]"),
        ("see [2：5-6]", "see [shop.py:5-6]"),
        ("see [2:5-6; 1:5]", f"see [shop.py:5-6]{APP_5}"),
        ("see [2:1-2,5-6]", "see [shop.py:1-2][shop.py:5-6]"),
        ("see [2:1, 5]", "see [shop.py:1-1][shop.py:5-5]"),
        ("see [2:5-6, 1]", "see [shop.py:5-6][src/app.py:4-6]"),
        ("see [shop.py:1-2, 5-6; app.py:5]", f"see [shop.py:1-2][shop.py:5-6]{APP_5}"),
        ("see [Source 2, lines 5-6]", "see [shop.py:5-6]"),
        ("see [source 2]", "see [shop.py:1-6]"),
        ("see [shop.py, lines 5–6]", "see [shop.py:5-6]"),
        ("see (2:5-6)", "see [shop.py:5-6]"),
        ("see (Source 2, lines 5-6)", "see [shop.py:5-6]"),
        ("see Makefile:2", "see [build/Makefile:2-2]"),
        ("see `build/Makefile:1-2`", "see [build/Makefile:1-2]"),
        ("see shop.py line 5.", "see [shop.py:5-5]."),
        ("see `shop.py`, lines 5-6", "see [shop.py:5-6]"),
        ("see (shop.py, line 5)", "see [shop.py:5-5]"),
        ("see lines 5-6 of `shop.py`.", "see [shop.py:5-6]."),
        ("see `[2:5]`", "see [shop.py:5-5]"),
        ("see shop.py:5:12", "see [shop.py:5-5]"),
        ("see [2:5\u20116]", "see [shop.py:5-6]"),
        ("see [Sources: 1 and 2]", "see [src/app.py:4-6][shop.py:1-6]"),
        ("see `shop.py` (lines 5-6)", "see [shop.py:5-6]"),
        ("(see [2:5])", "(see [shop.py:5-5])"),
        ("[see (2:5-6)]", "[see [shop.py:5-6]]"),
        ("在shop.py:5中", "在[shop.py:5-5]中"),
        ("see (2:L5)", "see [shop.py:5-5]"),
        ("see [2; L5]", "see [shop.py:5-5]"),
        ("see [2:2, 2]", "see [shop.py:2-2][shop.py:1-6]"),
        ("see f(shop.py:5)", "see f([shop.py:5-5])"),
        ("see (shop.py:5)", "see [shop.py:5-5]"),
    ],
)
def test_several_places_and_other_forms_are_looked_up(text: str, expected: str) -> None:
    assert check(text, MORE_SOURCES, MORE_NOW).text == expected


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("so 【2:60-80】.", "so [cited place not found].", 1),
        ("so ［2：60-80］.", "so [cited place not found].", 1),
        ("so [2：60-80].", "so [cited place not found].", 1),
        ("so [2:60-80; 1:1-2].", "so [cited places not found].", 2),
        ("so [2:60-80,90-99].", "so [cited places not found].", 2),
        ("so [8, 9].", "so [cited places not found].", 2),
        ("so [2:5; 9].", "so [shop.py:5-5][cited place not found].", 1),
        ("so [Source 2, lines 60-80].", "so [cited place not found].", 1),
        ("so (2:60-80).", "so [cited place not found].", 1),
        ("so Makefile:300.", "so [cited place not found].", 1),
        ("so build/Dockerfile:10-12.", "so [cited place not found].", 1),
        ("so shop/tax.py line 900.", "so [cited place not found].", 1),
        ("so (shop/tax.py, line 4).", "so [cited place not found].", 1),
        ("so lines 900-901 of shop/nosuch.py.", "so [cited place not found].", 1),
        ("so /etc/passwd:1-2.", "so [cited place not found].", 1),
        ("so /etc/hosts line 5.", "so [cited place not found].", 1),
        ("so etc/conf/hosts line 5.", "so [cited place not found].", 1),
    ],
)
def test_what_does_not_hold_is_removed_in_every_form(text: str, expected: str, count: int) -> None:
    checked = check(text, MORE_SOURCES, MORE_NOW)
    assert (checked.text, len(checked.dropped)) == (expected, count)


def test_a_file_that_is_gone_or_renamed_is_no_longer_cited() -> None:
    checked = check("a [1] b [2]", SOURCES, {"src/renamed.py": APP, "shop.py": SHOP})
    assert checked.text == "a [cited place not found] b [shop.py:1-6]"
    assert [dropped.reason for dropped in checked.dropped] == ["the file is no longer there"]
    assert checked.verified_share == 0.5


def test_lines_that_moved_are_cited_where_they_are_now() -> None:
    checked = check("a [1] and [1:5]", SOURCES, {**NOW, "src/app.py": "# new\n# lines\n" + APP})
    assert checked.text == "a [src/app.py:6-8] and [src/app.py:7-7]"


def test_lines_that_changed_are_not_cited() -> None:
    checked = check("a [1] b [1:4]", SOURCES, {**NOW, "src/app.py": APP.replace("return 0", "return 1")})
    assert checked.text == "a [cited place not found] b [src/app.py:4-4]"
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
        "It is in the shop [2]. It looks so:\n\n```\ndef price(order):\n    ...\ndef tax(order):\n```\n",
        "Main [1] asks the shop [2]. So it is:\n\n```\ndef main():\n```\n\nAll is well.",
        "A [1].\n\n```\ndef price(order):\n```\n\nThis one sums up. See [2:1-2].",
        "- A [1].\n- B [2].\n\n```\ndef main():\n```",
        "It starts there [1]. Run it:\n\n```bash\npython app.py\n```",
        "A [1]. " + "It is so. " * 21 + "\n\n```\nother()\n```",
        "A [1].\n\n## Other\n\n```\nother()\n```",
        "It is so `[Source 2, lines 5-6]`.",
        "[2]:\n```\n(order):\nreturn sum(\n```",  # of a line that begins or ends with a sign, a part counts
        "[2:5-6] holds\n\nand `return sum(order) * 3` does not",
        "`return sum(order) * 3 + 1`\n\n[2:5-6] is another one",
        "```\ndef price(order):\n```\n- see [2:5-6]",
        "It is [2:5-6].\n\n```\ndef tax(order):\n```\n\n```\nother()\n```",
        "It is [2:5-6].\n\n~~~\ndef tax(order):\n~~~\n\n~~~\nother()\n~~~",
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
        ("It is in the shop [2:5-6]. So it is:\n\n```\ndef price(order):\n```", "def price(order):"),
        ("It is in the shop [2:5-6].\n\nSo it is.\n\n```\ndef price(order):\n```", "def price(order):"),
        ("```\ndef price(order):\n```\n\nThis sums up. It is in [2:5-6].", "def price(order):"),
        ("see [2]:\n```\ndef tax(order):\ndef price(order):\n```", "def price(order):"),
        ("see [2]:\n```\ndef price(order):\ndef price(order):\n```", "def price(order):"),
        ("see [2]:\n```\nreturn price(order) /\nrice(order)\n```", "rice(order)"),
        ("see [2]:\n```\nrice(order):\n```", "rice(order):"),
        ("see [2]:\n```\ndef pric\n```", "def pric"),
        ("[2:5-6] is `return sum(order) * 3`", "return sum(order) * 3"),
        ("```bash\nrun it\n```\n\nIt is run. Then [2:5-6]. So:\n\n```\ndef price(order):\n```", "def price(order):"),
    ],
)
def test_quoted_code_that_does_not_stand_there_costs_the_citation(text: str, line: str) -> None:
    checked = check(text, SOURCES, NOW)
    assert checked.citations == ()
    assert [dropped.reason for dropped in checked.dropped] == [f"the quoted {line!r} does not stand there"]


def test_of_citations_before_a_block_the_nearest_is_meant() -> None:
    checked = check("It begins in main [1]. It asks the shop [2].\n\n```\nother()\n```\n", SOURCES, NOW)
    assert checked.citations == (MAIN,)
    assert [dropped.text for dropped in checked.dropped] == ["[2]"]


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        (
            "Main [1]. It is so:\n\n```\ndef main():\n```\n\nTax [2:5-6]. It is so:\n\n```\ndef price(order):\n```",
            ["[2:5-6]"],
        ),
        ("```\nother()\n```\n\nThis is a sentence of more than forty signs before [1] and also [2].", ["[1]"]),
        ("so [2:60-80, 90-99; 9].", ["[2:60-80]", "[2:90-99]", "[9]"]),
        ("so [shop.py:60-80, 90].", ["[shop.py:60-80]", "[shop.py:90]"]),
        ("so [2:60-80].", ["[2:60-80]"]),
        ("so shop/none.py:3-4.", ["shop/none.py:3-4"]),
    ],
)
def test_what_is_dropped_is_told_as_it_was_written(text: str, dropped: list[str]) -> None:
    assert [item.text for item in check(text, SOURCES, NOW).dropped] == dropped


def test_a_block_at_the_very_end_is_marked_too() -> None:
    text = "So:\n~~~\ndef discount():\n~~~"
    assert check(text, SOURCES, NOW).text == f"{text}\n\n{NOT_IN_SOURCES}"


TWICE = "def one():\n    return 1\n"
MANY = f"{TWICE}\n\n{TWICE}\n\n# end\n{TWICE}"
EXCERPTS = (
    Source(1, "many.py", 1, 2, TWICE.rstrip("\n"), "one"),
    Source(2, "many.py", 5, 6, TWICE.rstrip("\n"), "one"),
    Source(3, "many.py", 9, 11, f"# end\n{TWICE}".rstrip("\n")),
)


@pytest.mark.parametrize(
    ("cited", "expected"),
    [
        ("[1]", "[many.py:1-2]"),
        ("[2]", "[many.py:5-6]"),
        ("[2:6]", "[many.py:6-6]"),
        ("[2:2]", "[cited place not found]"),  # shown, but by the other one
        ("[many.py:6]", "[many.py:6-6]"),
        ("[many.py:9-11]", "[many.py:9-11]"),
        ("[many.py:9-12]", "[cited place not found]"),
        ("[many.py:2-5]", "[cited place not found]"),  # from one excerpt into the other: what is between was not shown
        ("[many.py:3]", "[cited place not found]"),
        ("[many.py:8]", "[cited place not found]"),
    ],
)
def test_each_of_several_excerpts_of_a_file_stands_for_its_own_lines(cited: str, expected: str) -> None:
    assert check(f"see {cited}", EXCERPTS, {"many.py": MANY}).text == f"see {expected}"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (MANY, "[many.py:1-2] [many.py:5-6] [many.py:10-11]"),
        (f"# new\n{MANY}", "[many.py:2-3] [many.py:6-7] [many.py:11-12]"),
        (MANY.removeprefix(f"{TWICE}\n\n"), "[many.py:1-2] [many.py:6-7] [many.py:6-7]"),
    ],
)
def test_of_lines_that_stand_there_more_than_once_the_nearest_are_cited(now: str, expected: str) -> None:
    assert check("[1] [2] [3:10-11]", EXCERPTS, {"many.py": now}).text == expected


@pytest.mark.parametrize("n_lines", [1, 2, 3])
@pytest.mark.parametrize("changed", [4, 5, 6])
def test_every_line_of_a_range_counts(n_lines: int, changed: int) -> None:
    lines = APP.split("\n")
    lines[changed - 1] += "  # changed"
    cited = range(4, 4 + n_lines)
    text = check(f"see [1:4-{cited[-1]}]", SOURCES, {**NOW, "src/app.py": "\n".join(lines)}).text
    assert text == ("see [cited place not found]" if changed in cited else f"see [src/app.py:4-{cited[-1]}]")


LONG = f"var a={{{','.join(f'k{n}:{n}' for n in range(50))}}};"
PART = (Source(1, "min.js", 2, 2, LONG[20:60], is_part=True), Source(2, "min.js", 2, 2, LONG[100:140], is_part=True))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (f"// head\n{LONG}\n", "[min.js:2-2] [min.js:2-2]"),
        (f"// head\n{LONG}{LONG}\n", "[min.js:2-2] [min.js:2-2]"),
        (f"// head\n// more\n{LONG}\n", "[min.js:3-3] [min.js:3-3]"),
        (f"// head\n{LONG[:90]}\n", "[min.js:2-2] [cited place not found]"),
        (f"// head\n{LONG[:50]}\n{LONG[50:]}\n", "[cited place not found] [min.js:3-3]"),
        ("", "[cited place not found] [cited place not found]"),
    ],
)
def test_a_part_of_a_long_line_is_cited_where_it_stands(now: str, expected: str) -> None:
    assert check("[1] [2]", PART, {"min.js": now}).text == expected


@pytest.mark.parametrize(
    ("text", "is_marked"),
    [
        ("```python\ndef price(order):\n    return sum(order) * 2\n```\n", False),
        ("```\ndef price(order):\n...\ndef tax(order):\n```\n", False),
        ("~~~\ndef price(order):\n~~~\n", False),
        ("```python\ndef price(order):\n    return sum(order) * 3\n```\n", True),
        ("```\ndef tax(order):\ndef price(order):\n```\n", True),  # in another order
        ("```\ndef main():\ndef price(order):\n```\n", True),  # lines of two files
        ("~~~\ndef discount():\n~~~\n", True),
        ("```bash\nfathom index\n```\n", False),
        ("```diff\n- old()\n+ new()\n```\n", False),
        ("```\n...\n```\n", False),
        ("```\nnever_closed()\n", False),
    ],
)
def test_a_block_of_code_that_stands_in_no_source_is_marked_where_it_stands(text: str, is_marked: bool) -> None:
    mark = f"\n\n{NOT_IN_SOURCES}"
    checked = check(f"So:\n{text}\nThat is it.", SOURCES, NOW)
    assert (checked.dropped, mark in checked.text) == ((), is_marked)
    assert checked.text.replace(mark, "") == f"So:\n{text}\nThat is it."
    assert not is_marked or checked.text.index(mark) == len("So:\n") + len(text) - 1


def test_an_index_in_quoted_code_is_no_citation() -> None:
    text = "Take the first:\n```python\nprint(items[1], x.py:3)\n```\ndone"
    assert check(text, SOURCES, NOW) == Checked(text.replace("done", f"\n{NOT_IN_SOURCES}\ndone"), (), ())
    assert check(text, (), {}).text == text


def test_a_place_is_listed_once_and_counted_once() -> None:
    checked = check("a [1] b [1] c [2:1] d [9]", SOURCES, NOW)
    assert checked.citations == (MAIN, Citation("shop.py", 1, 1))
    assert checked.verified_share == pytest.approx(2 / 3)


def test_no_citation_is_no_proof() -> None:
    assert check("All is well.", SOURCES, NOW).verified_share == 0.0


PARTS = [
    "[1]",
    "[1, 3]",
    "(",
    ")",
    "【2:3】",
    "lines 3-4 of ",
    "shop.py",
    " line 5",
    "[2:3-4]",
    "[3]",
    "[x.py:1]",
    " ",
    "a",
    "`",
    "```\n",
    "\n",
    "[1:",
    "[",
    "]",
    "中",
]


@given(st.lists(st.sampled_from(PARTS)))
def test_every_citation_that_is_left_can_be_opened(parts: list[str]) -> None:
    checked = check("".join(parts), SOURCES, NOW)
    for citation in checked.citations:
        lines = NOW[citation.path].split("\n")
        assert 1 <= citation.start_line <= citation.end_line <= len(lines)
        assert f"[{citation.path}:{citation.start_line}-{citation.end_line}]" in checked.text


@pytest.mark.parametrize(
    ("n_verified", "n_dropped", "label"),
    [(4, 2, "medium"), (6, 0, "high"), (19, 1, "high"), (2, 4, "medium"), (1, 1, "medium"), (0, 3, "low")],
)
def test_what_was_dropped_lowers_the_label(n_verified: int, n_dropped: int, label: str) -> None:
    places = tuple(Citation("a.py", line, line) for line in range(1, n_verified + 1))
    checked = Checked("so", places, (Dropped("[9]", Note(say.NO_SUCH_NUMBER)),) * n_dropped)
    assert label_of(checked.confidence(1.0)) == label


def test_sentences_stay_sentences_where_places_are_not_found() -> None:
    text = "In shop/none.py:3-4 prices are summed. As [7] says, they are taxed, too. It is all plain."
    assert check(text, SOURCES, NOW).text == (
        "In [cited place not found] prices are summed. As [cited place not found] says, they are taxed, too. "
        "It is all plain."
    )
    assert check(check(text, SOURCES, NOW).text, SOURCES, NOW).dropped == ()
