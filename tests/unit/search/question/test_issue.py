from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.search.question.issue import Issue, read_issue, weights_of
from codefathom.stores.lexical.terms import terms

ISSUE = """\
Rounding of negative totals is wrong
<!-- Thank you for
reporting! -->
### Search before asking

- [X] I searched the open issues.
* [ ] I am willing to help

**Describe the bug**
The `Invoice` total is off by a cent.

```python
from shop import Invoice
# the cart holds two orders
```

__Expected behaviour:__
It **must** round half up.
~~~
unclosed
"""


def test_a_form_says_nothing_and_code_stands_apart() -> None:
    issue = read_issue(ISSUE)
    assert issue.title == "Rounding of negative totals is wrong"
    assert terms(issue.prose) == terms("The `Invoice` total is off by a cent. It **must** round half up.")
    assert terms(issue.code) == terms("python from shop import Invoice the cart holds two orders unclosed")


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("", Issue("", "", "")),
        ("only a title", Issue("only a title", "", "")),
        ("# a title with marks\nwords", Issue("# a title with marks", "words", "")),
        ("```\ncode\n```\nwords", Issue("", "\n\nwords", "```\ncode\n```")),
        ("title\n#include <a.h>", Issue("title", "", "#include <a.h>")),
        ("title\n1. one\n\n    second line of the item", Issue("title", "1. one\n\n    second line of the item", "")),
        ("title\r\n**Describe it**\r\nwords", Issue("title", "\nwords", "")),
        ("title\n**bold** words", Issue("title", "**bold** words", "")),
    ],
)
def test_the_parts_of_a_text(text: str, issue: Issue) -> None:
    assert read_issue(text) == issue


@pytest.mark.parametrize(
    "line",
    [
        ">>> total(cart)",
        "$ fathom index --watch",
        "Traceback (most recent call last):",
        '  File "/srv/shop/pricing.py", line 3, in total',
        "\tat com.shop.Export.write(Export.java:17)",
        "   at Shop.Cart.Add() in C:\\src\\Cart.cs:line 88",
        "    at price (/srv/web/cart.ts:12:7)",
        "Caused by: java.io.IOException: Broken pipe",
        "goroutine 1 [running]:",
        "#1  0x00007f in main () from /usr/lib/libc.so",
        "2024-03-01 10:22:33,123 shop.pricing total of cart 3",
        "[INFO] building the shop",
        "ERROR: cannot open the cart",
        "#include <cart.h>",
        "import shop.pricing as pricing",
        "import { total } from './cart';",
        "from shop import pricing",
        "def total(cart):",
        "pub fn total(cart: &Cart) -> Cents {",
        "func (c *Cart) Total() int {",
        "total = price * 2",
        "const total = cart.total();",
        "cart.add(order, n=2)",
        "}",
    ],
)
def test_a_line_that_looks_like_code_needs_no_fence(line: str) -> None:
    issue = read_issue(f"title\nThe total is wrong.\n{line}\nIt was right before.")
    assert (issue.prose, issue.code) == ("The total is wrong.\nIt was right before.", line)


def test_lines_that_are_indented_after_an_empty_one_are_code() -> None:
    issue = read_issue("title\nWe call it so:\n\n    total of cart\n    print\n\nand then it fails.")
    assert terms(issue.code) == ["total", "of", "cart", "print"]
    assert terms(issue.prose) == terms("We call it so: and then it fails.")


@pytest.mark.parametrize(
    "line",
    [
        "ValueError: the total of a cart is negative",  # it says what went wrong
        "from the import of the orders on, all totals are wrong;",
        "The class of a cart, which was renamed (see above):",
        "import of many orders at once is slow",
        "    which is how the other shops that we know of do it",
        "- total = price",
        "Is a total of 0 right (or wrong)?",
    ],
)
def test_a_sentence_is_no_code(line: str) -> None:
    assert read_issue(f"title\nwords\n{line}") == Issue("title", f"words\n{line}", "")


def test_the_title_counts_most_and_code_least() -> None:
    weights = weights_of(Issue("invoice total", "the total is off, the cart is not", "cart print"))
    ordered = ["total", "invoice", "is", "cart", "off", "print"]
    assert all(weights[more] > weights[less] for more, less in pairwise(ordered))
    assert weights_of(Issue("", "", "")) == {}


@given(st.text(alphabet=st.sampled_from("ab `~#*_-[]x<!>\n"), max_size=60))
def test_what_is_found_stood_in_the_text(text: str) -> None:
    words = set(terms(text))
    for part in read_issue(text):
        assert set(terms(part)) <= words


@pytest.mark.parametrize(
    "sign",
    [
        "<!--",
        "\n",
        "```\n",
        "*",
        "**a**",
        " ",
        "- [ ] ",
        "#",
        "\n~~~",
        "\n    a(",
        "a(",
        "a.",
        "\n<a",
        "a =",
        "at a",
        "\n@a(",
    ],
)
def test_a_text_that_is_made_to_take_long_does_not(sign: str) -> None:
    issue = read_issue("title\n" + sign * (100_000 // len(sign)))  # in the square of its length it would take minutes
    assert issue.title == "title"
