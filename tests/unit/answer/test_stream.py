"""A streamed answer is shown block by block, and nothing of it unchecked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.answer.answer_types import Citation, Source
from codefathom.answer.stream import CheckedStream, ending

TEXT = "one\ntwo\nthree\n"
SOURCES = (Source(1, "a.txt", 1, 3, "one\ntwo\nthree"),)


def stream() -> CheckedStream:
    return CheckedStream(SOURCES, lambda: {"a.txt": TEXT})


def shown(pieces: list[str]) -> list[str]:
    checking = stream()
    blocks = [block for piece in pieces for block in checking.feed(piece)]
    return [*blocks, *checking.finish()]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("A [1].\n\nB [7].\n\nC", ["A [a.txt:1-3].\n\n", "B [1 place not found].\n\n", "C"]),
        ("A\nB\n", ["A\nB\n"]),
        ("", []),
        ("A:\n```\none\n\ntwo\n```\n\nsee [1]\n\nend", ["A:\n```\none\n\ntwo\n```\n\nsee [a.txt:1-3]\n\n", "end"]),
        ("~~~~\n```\n\none\n~~~~\n\n[1]\n\nend", ["~~~~\n```\n\none\n~~~~\n\n[1 place not found]\n\n", "end"]),
        ("```\nnever closed\n\n[1]\n\n", ["```\nnever closed\n\n[1]\n\n"]),
        ("A [1].\n\nSo.\n\n```\nfour\n```\n", ["A [1 place not found].\n\nSo.\n\n```\nfour\n```\n"]),
        ("A [1].\n\nSo.\n\n```\none\n```\n", ["A [a.txt:1-3].\n\nSo.\n\n```\none\n```\n"]),
        ("A [1].\n\nSo.\n\nSo.\n\n```\nfour\n```\n", ["A [a.txt:1-3].\n\n", "So.\n\n", "So.\n\n", "```\nfour\n```\n"]),
        (
            "A [1].\n\n" + "So. " * 60 + "\n\n```\nfour\n```\n",
            ["A [a.txt:1-3].\n\n", "So. " * 60 + "\n\n", "```\nfour\n```\n"],
        ),
    ],
)
def test_blocks_end_at_blank_lines_outside_code(text: str, blocks: list[str]) -> None:
    assert shown([text]) == blocks
    assert shown(list(text)) == blocks


def test_a_citation_behind_the_code_it_is_about_is_checked_with_it() -> None:
    checking = stream()
    assert list(checking.feed("```\nfour\n```\n\n[1]\n\nnext\n\nand\n\n")) == [
        "```\nfour\n```\n\n[1 place not found]\n\n",
        "next\n\n",
        "and\n\n",
    ]
    assert [dropped.reason for dropped in checking.result.dropped] == ["the quoted 'four' does not stand there"]


def test_a_paragraph_is_shown_once_no_code_can_belong_to_it() -> None:
    checking = stream()
    assert list(checking.feed("Plain.\n\nA [1].\n\nB")) == ["Plain.\n\n"]
    assert list(checking.feed("\n\n``")) == []
    assert list(checking.feed(" no fence\n\n")) == ["A [a.txt:1-3].\n\n", "B\n\n", "`` no fence\n\n"]


def test_the_result_counts_over_all_blocks() -> None:
    checking = stream()
    for piece in ("A [1:1] [9].\n\n", "B [1:1] [1:2]." + " " * 200):
        list(checking.feed(piece))
    assert checking.result.text == "A [a.txt:1-1] [1 place not found].\n\n"
    list(checking.finish())
    assert checking.result.citations == (Citation("a.txt", 1, 1), Citation("a.txt", 2, 2))
    assert len(checking.result.dropped) == 1


@given(st.lists(st.sampled_from(["[1]", "[2]", "```\n", "\n", "\n\n", "a", " ", "[1:", "2]", "~~~\n"]), max_size=30))
def test_the_pieces_in_which_a_text_comes_do_not_matter(parts: list[str]) -> None:
    text = "".join(parts)
    assert shown([text]) == shown(parts) == shown(list(text))


@pytest.mark.parametrize(
    ("pieces", "blocks"),
    [
        ([" ", "\n\n", "Two"], ["Two"]),
        (["\n\n", "    code\n"], ["    code\n"]),
        (["One\n\n", "\n\n"], ["One\n\n", "\n\n"]),
        ([" \n", "\n \n"], []),
    ],
)
def test_blank_lines_before_the_first_word_are_left_out(pieces: list[str], blocks: list[str]) -> None:
    stream = CheckedStream((), dict)
    given = [text for piece in pieces for text in stream.feed(piece)]
    assert [*given, *stream.finish()] == blocks
    assert stream.result.text == "".join(blocks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("One", "\n\n"),
        ("One\n", "\n"),
        ("One\n\n", ""),
        ("One\n\n\n", ""),
        ("```python\nx = (", "\n```\n\n"),
        ("````\nx\n```\n", "````\n\n"),
        ("```\nx\n```", "\n\n"),
    ],
)
def test_a_text_that_broke_off_is_ended(text: str, expected: str) -> None:
    assert ending(text) == expected
