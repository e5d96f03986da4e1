"""Text that stands in a file as it is written: which text of a question is meant, and where it counts as there."""

from __future__ import annotations

import pytest

from codefathom.search.as_written import is_in, texts_of
from codefathom.search.question.query import parse_query


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("deadbeef", ("deadbeef",)),
        ('where is "not enough fuel" raised', ('where is "not enough fuel" raised', "not enough fuel")),
        ('say "no" twice', ('say "no" twice',)),  # too short to tell anything
        ("@shop/ 0xcafe", ("0xcafe",)),  # the mark is not searched
        ("first line\nsecond line", ()),
        ("x" * 301, ()),
        ("税", ("税",)),
        ("", ()),
    ],
)
def test_the_texts_of_a_question(question: str, texts: tuple[str, ...]) -> None:
    assert texts_of(parse_query(question)) == texts


@pytest.mark.parametrize(
    ("text", "content", "stands"),
    [
        ("deadbeef", "MAGIC = 0xDEADBEEFCAFE", True),
        ("x", "join(book, x)", True),
        ("x", "exit(max)", False),  # a short word stands inside many others by chance
        ("税", "含税价格", True),
        ("a.b", "a+b", False),  # signs mean themselves
        ("a.b", "(a.b)", True),
        ("++", "++port", True),
        ("frozen by", "was FROZEN BY me", True),
    ],
)
def test_where_a_text_stands(text: str, content: str, stands: bool) -> None:
    assert is_in(text, content) is stands
