"""What is told of an answer beside its text: its sources, what was not read, how far to trust it, its stages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.answer.answer_types import Answer, Citation, Source, StageTrace
from codefathom.cli.display.answer_notes import sources_text, stages_text, trust_text
from codefathom.cli.display.output import Style
from codefathom.providers.base import Usage

PLAIN = Style()
ANSWER = Answer(
    question="q",
    text="t",
    citations=(),
    dropped=(),
    verified_share=1.0,
    confidence=0.7,
    label="high",
    model="openai:m",
    usage=Usage(0, 0),
    sources=(
        Source(1, "docs/a.md", 1, 30, "", is_whole=True),
        Source(2, "src/b.py", 1, 90, "", symbol="Shop", is_whole=True),
        Source(3, "src/c.py", 10, 20, ""),
        Source(4, "src/c.py", 40, 60, "", symbol="late"),
    ),
    generation=1,
)


def citing(*citations: Citation) -> Answer:
    return replace(ANSWER, citations=citations)


@pytest.mark.parametrize(
    ("citations", "text"),
    [
        # The lines of one source stand in one row, in their order.
        ([Citation("src/b.py", 30, 31, "Shop.sell"), Citation("src/b.py", 4, 9, "Shop.open")],
         "\nsources:\n  [2] src/b.py:4-9,30-31  Shop.open, Shop.sell\n  not cited: [1] docs/a.md, [3] src/c.py\n"),
        # One line is one number, a symbol stands once, and the rows are in the order of their numbers.
        ([Citation("src/b.py", 30, 30, "f"), Citation("src/b.py", 32, 33, "f"), Citation("docs/a.md", 1, 2)],
         "\nsources:\n  [1] docs/a.md:1-2\n  [2] src/b.py:30,32-33  f\n  not cited: [3] src/c.py\n"),
        # Each part of a file is a source of its own.
        ([Citation("src/c.py", 41, 42, "late"), Citation("src/c.py", 10, 11)],
         "\nsources:\n  [3] src/c.py:10-11\n  [4] src/c.py:41-42  late\n  not cited: [1] docs/a.md, [2] src/b.py\n"),
        # Lines that have moved out of what was shown belong to a part of the same file.
        ([Citation("src/c.py", 71, 72)],
         "\nsources:\n  [3] src/c.py:71-72\n  not cited: [1] docs/a.md, [2] src/b.py\n"),
        # Where nothing is cited, all that was shown is listed.
        ([], "\nsources, none of them cited:\n  [1] docs/a.md:1-30\n  [2] src/b.py:1-90  Shop\n  [3] src/c.py:10-20\n"
             "  [4] src/c.py:40-60  late\n"),
    ],
)  # fmt: skip
def test_sources(citations: list[Citation], text: str) -> None:
    assert sources_text(citing(*citations), PLAIN) == text


def test_no_sources_are_no_list() -> None:
    assert sources_text(replace(ANSWER, sources=()), PLAIN) == ""


def test_of_many_that_are_not_cited_some_are_named() -> None:
    many = tuple(Source(number, f"{number}.py", 1, 2, "") for number in range(1, 14))
    text = sources_text(replace(citing(Citation("2.py", 1, 1)), sources=many), PLAIN)
    assert text.endswith("[10] 10.py, [11] 11.py and 2 more\n")


def test_a_path_does_not_steer_the_terminal() -> None:
    sources = (Source(1, "a\x1b[2J.py", 1, 2, "", symbol="\x1b]0;x\x07"), Source(2, "b\r.py", 1, 2, ""))
    for citations in ((), (Citation("a\x1b[2J.py", 1, 2, "\x1b[31m"),)):
        text = sources_text(replace(ANSWER, citations=citations, sources=sources), PLAIN)
        assert not {"\x1b", "\x07", "\r"} & set(text)


def test_places_stand_out_in_colour() -> None:
    text = sources_text(citing(Citation("src/b.py", 1, 2)), Style(colour=True))
    assert "  [2] \x1b[1;36msrc/b.py:1-2\x1b[0m\n" in text
    assert "\x1b[2m  not cited: [1] docs/a.md, [3] src/c.py\x1b[0m\n" in text


def test_trust() -> None:
    assert trust_text(ANSWER) == "confidence high (0.70), 0 of 0 citations verified, openai:m"
    costly = replace(citing(Citation("a", 1, 2)), usage=Usage(90, 9), cost=0.0271)
    assert trust_text(costly).endswith("1 of 1 citations verified, openai:m, 99 tokens, cost 0.0271")
    assert trust_text(replace(costly, cost=0.00002)).endswith(", cost <0.0001")


def test_stages_are_aligned() -> None:
    rows = stages_text([StageTrace("search", 3.4, 1, 12), StageTrace("answer", 1234.5, 8, 2, Usage(90, 9), "a\nb")])
    assert rows.splitlines() == [
        "  stage     ms  in  out  tokens  cost  detail",
        "  search     3   1   12",
        "  answer  1234   8    2    90+9        a b",
    ]
