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
        ("title\n#include <a.h>", Issue("title", "#include <a.h>", "")),
        ("title\r\n**Describe it**\r\nwords", Issue("title", "\nwords", "")),
        ("title\n**bold** words", Issue("title", "**bold** words", "")),
    ],
)
def test_the_parts_of_a_text(text: str, issue: Issue) -> None:
    assert read_issue(text) == issue


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


@pytest.mark.parametrize("sign", ["<!--", "\n", "```\n", "*", "**a**", " ", "- [ ] ", "#", "\n~~~"])
def test_a_text_that_is_made_to_take_long_does_not(sign: str) -> None:
    issue = read_issue("title\n" + sign * (100_000 // len(sign)))  # in the square of its length it would take minutes
    assert issue.title == "title"
