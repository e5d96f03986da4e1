from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.text.word_runs import word_runs


@pytest.mark.parametrize(
    ("text", "runs"),
    [("def read_file(path2):\n", ["def", "read_file", "path2"]), ("a-b\x1cc\x7fd", ["a", "b", "c", "d"]),
     ("读取 file。", ["读取", "file"]), ("größe²\xa0x", ["größe²", "x"]), ("", []), ("...", [])],
)  # fmt: skip
def test_runs_of_letters_digits_and_underscores(text: str, runs: list[str]) -> None:
    assert word_runs(text) == runs


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_way_for_ascii_finds_what_the_expression_finds(text: str) -> None:
    assert word_runs(text) == re.findall(r"\w+", text)
