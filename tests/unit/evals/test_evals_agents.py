"""What a reader sees of an output, and what it costs."""

from __future__ import annotations

import json
import math

import pytest
from evals.agents import Output, price
from evals.benchmark import Question
from evals.metrics import Found, Target
from evals.printed import consecutive, numbered, of_json, of_ripgrep, of_search_text, of_tool_text
from evals.report import with_section

SEARCH = (
    "shop/a.py:3-9  function pay  0.81\n  named pay\n   3  def pay():\n>  4      1:2-3\n\nb c.go:1-2  0.40\n  1  x\n"
)
TOOL = "confidence 0.81.\n\n1. b c.go:1-9 0.81\n```go\n7:x\n8:y\n```\n\n2. a.py:1-2 function pay 0.40\n```\n1:z\n```\n"
RIPGREP = "a.py\x003:def pay():\na.py\x004-    1:2-3\n--\nb c.go\x001:x\n"


def shown(lines: object) -> list[tuple]:
    return [(one.place.path, one.place.start_line) for one in lines]


def test_lines_of_texts_are_read() -> None:
    assert shown(of_search_text(SEARCH)) == [("shop/a.py", 3), ("shop/a.py", 4), ("b c.go", 1)]
    assert shown(of_tool_text(TOOL)) == [("b c.go", 7), ("b c.go", 8), ("a.py", 1)]
    assert shown(of_ripgrep(RIPGREP)) == [("a.py", 3), ("a.py", 4), ("b c.go", 1)]
    assert shown(of_ripgrep("a.py\0\nb.py\0\n")) == [("a.py", None), ("b.py", None)]


@pytest.mark.parametrize("is_ascii", [True, False])
def test_lines_of_json_are_found_where_they_are_printed(is_ascii: bool) -> None:
    items = [{"path": "a.py", "line": 3, "text": 'x = "é"\nx'}, {"path": "x", "line": 1, "text": "x"}]
    text = json.dumps({"query": "x é", "hits": items}, ensure_ascii=is_ascii)
    found = list(of_json(text, "hits", "text", lambda hit: consecutive(hit["line"], hit["text"])))
    assert shown(found) == [("a.py", 3), ("a.py", 4), ("x", 1)]
    assert text[: found[0].end].endswith(json.dumps('x = "é"', ensure_ascii=is_ascii)[1:-1])
    assert text[: found[2].end].endswith('"line": 1, "text": "x')
    assert list(numbered("7:x\n12:y:z")) == [(7, "7:x"), (12, "12:y:z")]


def test_the_price_of_an_output() -> None:
    pytest.importorskip("quicktok")
    question = Question("pay", "symbol", (Target("shop/a.py", 4, 4), Target("b c.go"), Target("none.py")))
    paid = price(Output(SEARCH, of_search_text(SEARCH)), question)
    assert 0 < paid.until_first < paid.n_tokens
    assert paid.recalls == (2 / 3, 2 / 3, 2 / 3)
    assert math.isinf(price(Output("", ()), question).until_first)
    long = "word " * 600 + "\n"
    late = price(Output(long + SEARCH, of_search_text(long + SEARCH)), question)
    assert late.recalls == (0.0, 2 / 3, 2 / 3)
    assert Found("a.py") == Found("a.py", None, None)


def test_only_its_own_section_of_the_page_is_written() -> None:
    begin, end = "<!-- Written by `make it`. -->", "<!-- End of `make it`. -->"
    page = with_section("# Page\n\nBy hand.\n", "make it", "# First\n\n#1 of ## two\n\n## Part\n")
    assert page == f"# Page\n\nBy hand.\n\n{begin}\n## First\n\n#1 of ## two\n\n### Part\n{end}\n"
    other = with_section(f"{page}\n## Other\n", "make other", "other")
    assert with_section(other, "make it", "second") == (
        f"# Page\n\nBy hand.\n\n{begin}\nsecond\n{end}\n\n## Other\n\n{begin}\nother\n{end}\n".replace(
            f"{begin}\nother\n{end}", "<!-- Written by `make other`. -->\nother\n<!-- End of `make other`. -->"
        )
    )
