"""Without a model the answer consists of excerpts, each with its place, and every one of them stands there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codefathom.answer.cite import check
from codefathom.answer.stages.extract import answer_of, excerpts, nearest
from codefathom.facts.reasons import verbatim
from codefathom.types import Chunk, Hit

LINES = [f"line {n}" for n in range(1, 41)]


def hit(start: int, end: int, *, line: int = 0, score: float = 1.0, name: str = "f") -> Hit:
    text = "\n".join(LINES[start - 1 : end]) + "\n"
    chunk = Chunk(f"{start}", "a.txt", "text", "block", "", (), start, end, text)
    return Hit(chunk, score, {}, (verbatim("because"),), line or start, name)


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (hit(3, 10), (3, 10)),
        (hit(1, 40), (1, 24)),
        (hit(1, 40, line=10), (7, 30)),
        (hit(1, 40, line=39), (18, 40)),
        (hit(5, 18, line=18), (5, 18)),
    ],
)
def test_the_lines_around_the_best_one_are_shown(found: Hit, lines: tuple[int, int]) -> None:
    [source] = excerpts([found])
    assert (source.start_line, source.end_line) == lines
    assert source.text.split("\n") == LINES[lines[0] - 1 : lines[1]]


def test_further_excerpts_are_shorter_and_none_begins_or_ends_blank() -> None:
    blank = hit(3, 6)
    blank = replace(blank, chunk=replace(blank.chunk, text="\n  \nline\n\n"))
    _, longer, trimmed = excerpts([hit(1, 2), hit(1, 40, line=20), blank])
    assert (longer.start_line, longer.end_line) == (17, 30)
    assert (trimmed.start_line, trimmed.end_line, trimmed.text) == (5, 5, "line")


def test_what_is_far_behind_the_best_is_no_answer() -> None:
    found = [hit(1, 2, score=1.0), hit(3, 4, score=0.51), hit(5, 6, score=0.49)]
    assert [source.start_line for source in excerpts(found)] == [1, 3]
    assert excerpts([]) == ()


@pytest.mark.parametrize("name", ["f", "", "Guide > a = b(c)", "operator<<(x)"])
def test_every_excerpt_cites_itself_and_holds(name: str) -> None:
    sources = excerpts([hit(1, 9, name=name), hit(11, 19, name=name), hit(21, 40, name=name)])
    for text in (answer_of(sources), nearest(sources)):
        checked = check(text, sources, {"a.txt": "\n".join(LINES)})
        assert checked.dropped == ()
        assert len(checked.citations) == 3
