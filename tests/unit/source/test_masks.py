from __future__ import annotations

import pytest
from tests.counted import n_python_calls

from codefathom.source.masks import MASK, agrees

LONG = "password = "


@pytest.mark.parametrize(
    ("masked", "text", "is_equal"),
    [
        ("a", "a", True),
        ("a", "b", False),
        (f"a{MASK}c", "abc", True),
        (f"a{MASK}c", "abd", False),
        (f"a{MASK}c", "bbc", False),
        (f"a{MASK}", "abc", False),
        (f"{MASK}{MASK}", "ab", True),
        (f"{MASK}b{MASK}", "xby", True),
        (f"{MASK}b{MASK}", "xcy", False),
        (f"{MASK}b", "xb", True),
        (MASK, MASK, True),
        (MASK, "", False),
        ("", "", True),
    ],
)
def test_a_text_agrees_apart_from_what_is_masked(masked: str, text: str, is_equal: bool) -> None:
    assert agrees(masked, text) is is_equal


def test_the_work_is_for_the_masks_and_not_for_each_character() -> None:
    text = LONG * 10_000
    masked = MASK + text[1:]
    assert agrees(masked, text)
    assert n_python_calls(lambda: agrees(masked, text)) < 10
