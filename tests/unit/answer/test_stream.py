"""A streamed answer is shown block by block, and nothing of it unchecked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.counted import n_python_calls

from codefathom.answer.answer_types import Citation, Source
from codefathom.answer.claims import NOT_IN_SOURCES
from codefathom.answer.stream import CheckedStream, ending

TEXT = "one\ntwo\nthree\n"
SOURCES = (Source(1, "a.txt", 1, 3, "one\ntwo\nthree"),)


def stream() -> CheckedStream:
    return CheckedStream(SOURCES, lambda: {"a.txt": TEXT})


def shown(pieces: list[str]) -> list[str]:
    checking = stream()
    blocks = [block for piece in pieces for block in checking.feed(piece)]
    return [*blocks, *checking.finish()]


M = "[cited place not found]"
N = NOT_IN_SOURCES
CODE = "```\n{}\n```"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1].\n\nB [7].\n\nC", f"A [a.txt:1-3].\n\nB {M}.\n\nC"),
        ("A\nB\n", "A\nB\n"),
        ("", ""),
        ("A:\n```\none\n\ntwo\n```\n\nsee [1]\n\nend", "A:\n```\none\n\ntwo\n```\n\nsee [a.txt:1-3]\n\nend"),
        ("~~~~\n```\n\none\n~~~~\n\n[1]\n\nend", f"~~~~\n```\n\none\n~~~~\n\n{N}\n\n{M}\n\nend"),
        ("```\nnever closed\n\n[1]\n\n", "```\nnever closed\n\n[1]\n\n"),
        # Code that follows a citation is compared once it is there; the mark stands behind it.
        ("A [1].\n\nSo.\n\n```\nfour\n```\n", f"A [a.txt:1-3].\n\nSo.\n\n```\nfour\n```\n\n{M}\n\n{N}\n"),
        ("A [1].\n\nSo.\n\n```\none\n```\n", "A [a.txt:1-3].\n\nSo.\n\n```\none\n```\n"),
        ("A a.txt line 2 says, lines 1-2 of `a.txt`.", "A [a.txt:2-2] says, [a.txt:1-2]."),
        ("A link [1](http://x.y/z) and `x[1]` and a.txt:2.", "A link [1](http://x.y/z) and `x[1]` and [a.txt:2-2]."),
        ("[1]: http://x.y\n\n(a.txt, line 2) and (1:2-3)", "[1]: http://x.y\n\n[a.txt:2-2] and [a.txt:2-3]"),
        ("在a.txt:2中【1:2】", "在[a.txt:2-2]中[a.txt:2-2]"),
        ("It is (as I said before, and at length) so [2", "It is (as I said before, and at length) so [2"),
        # What is parted from a block by words and a blank line is not about it, however it comes.
        ("~~~\n```\n1\n~~~\none\n\n\n\n[1:2] so", f"~~~\n```\n1\n~~~\n\n{N}\none\n\n\n\n[a.txt:2-2] so"),
        ("~~~\n```\n1\n~~~\n\n\n[1:2] so", f"~~~\n```\n1\n~~~\n\n{N}\n\n\n{M} so"),
        ("`x [1]` and `a.txt:2", "`x [1]` and [a.txt:2-2]"),
        ("`[1] [2]` [3]` a", f"`[1] [2]` {M}` a"),
        ("a.txt:2 - 3 and lines 2 - 3 of a.txt", "[a.txt:2-3] and [a.txt:2-3]"),
        ("see http://x.y/z\u2013a.txt lines 3 - 4", f"see {M}"),
        ("- a.txt:2\n- 3 more", "- [a.txt:2-2]\n- 3 more"),
    ],
)
def test_a_text_is_checked_however_it_comes(text: str, expected: str) -> None:
    assert "".join(shown([text])) == expected
    assert "".join(shown(list(text))) == expected


@pytest.mark.parametrize(
    ("text", "is_held"),
    [
        ("It is a word ", "a word"),
        ("It is so [1", "so"),
        ("It is so [1] then", "so [a.txt:1-3]"),
        ("It is so (as the docs say it", "(as the docs say"),
        ("See a.txt, line 2 ", "See"),
        ("See a.txt, line 2 and", "See [a.txt:2-2]"),
        ("```\nx = [1]\ny", "x = [1]"),
    ],
)
def test_only_what_may_be_a_citation_is_held_back(text: str, is_held: str) -> None:
    checking = stream()
    assert "".join(piece for char in text for piece in checking.feed(char)).rstrip().endswith(is_held)


def test_words_come_one_by_one() -> None:
    checking = stream()
    pieces = [list(checking.feed(word)) for word in ("The ", "sum ", "is ", "made ", "here ", "[1", ":2", "], ", "so.")]
    assert ["".join(parts) for parts in pieces] == [
        "The",
        " sum",
        " is",
        " made",
        " here",
        " ",
        "",
        "[a.txt:2-2],",
        " ",
    ]


@pytest.mark.parametrize("sentence", ["So it is [1:2]. ", "It says `two = (two)` there [1:1]. "])
def test_the_work_grows_with_a_long_paragraph_and_not_with_its_square(sentence: str) -> None:
    def streamed(n_sentences: int) -> int:
        words = re.findall(r"\S+\s", sentence * n_sentences)
        return n_python_calls(lambda: shown(words))

    assert streamed(160) < 6 * streamed(40)


def test_a_citation_behind_the_code_it_is_about_is_checked_with_it() -> None:
    checking = stream()
    assert (
        "".join(checking.feed("```\nfour\n```\n\n[1]\n\nnext\n\nand\n\n"))
        == f"```\nfour\n```\n\n{N}\n\n{M}\n\nnext\n\nand\n\n"
    )
    assert [dropped.reason for dropped in checking.result.dropped] == ["the quoted 'four' does not stand there"]


def test_the_result_counts_over_all_blocks() -> None:
    checking = stream()
    for piece in ("A [1:1] [9].\n\n", "B [1:1] [1:2]." + " " * 200):
        list(checking.feed(piece))
    assert checking.result.text == "A [a.txt:1-1] [cited place not found].\n\nB [a.txt:1-1] [a.txt:2-2]"
    list(checking.finish())
    assert checking.result.citations == (Citation("a.txt", 1, 1), Citation("a.txt", 2, 2))
    assert len(checking.result.dropped) == 1


# Parts of answers: of their blocks, of their codes, and of what may be a citation.
BLOCKS = [
    "[1]",
    "[1:2]",
    "[3]",
    "```\n",
    "~~~\n",
    "~~~~\n",
    "\n",
    "\n\n",
    "one\n",
    "four\n",
    "`one = (two)` ",
    "So it is. ",
]
CODES = ["[1]", "[2]", "a.txt:2", "(1:2-3)", "`", "``", "```", " ", "a", "\n", "\u4e2d", "lines 1-2 of ", "- "]
NAMES = [
    "a.txt",
    "http://x.y/z",
    " line ",
    "lines ",
    "2",
    "-",
    " - ",
    "\u2013",
    " of ",
    "(",
    ")",
    "[",
    "](",
    "]",
    ":",
    ", ",
]
NAMES += ["; ", " and ", "L", "#L", "Source ", "`", "b/", "\u3010", "\u3011", "\u4e2d", "\u3002", "\n", " "]


@given(st.sampled_from([BLOCKS, CODES, NAMES]).flatmap(lambda parts: st.lists(st.sampled_from(parts), max_size=25)))
@settings(max_examples=400)
def test_the_pieces_in_which_a_text_comes_do_not_matter(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join(shown([text])) == "".join(shown(parts)) == "".join(shown(list(text)))


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
    assert "".join([*given, *stream.finish()]) == "".join(blocks)
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
