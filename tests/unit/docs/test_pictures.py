"""The pictures of the README are those that their scripts make, but for times and scores, which each run measures."""

from __future__ import annotations

import re
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from docs import plot, reliability_plot

ROOT = Path(__file__).parents[3]


def test_the_plot_shows_the_figures_of_the_pages() -> None:
    assert plot.FILE.read_text(encoding="utf-8") == plot.picture(plot.figures()), "run make plot"


def test_the_plot_reads_the_pages() -> None:
    drawn = plot.figures()
    assert [point.name for point in drawn.questions] == [
        "Codefathom", "these questions learned", "semble, BM25", "bm25s", "ripgrep",
    ]  # fmt: skip
    assert [point.name for point in drawn.indexing] == [point.name for point in drawn.questions[:4]]
    assert all(0.5 < point.quality < 1 and point.amount > 0 for point in (*drawn.questions, *drawn.indexing))


def shown(svg: str) -> list[str]:
    """The lines of a recording, with # in the place of what is measured."""
    lines = ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    return [re.sub(r"[\d.:]+ (ms|s|min|h)\b|\b\d\.\d\d\b", "#", line) for line in lines]


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def row(text: str, start: str) -> list[float]:
    """The numbers between 0 and 1 in the first line that begins so; percents count as such."""
    line = next(line for line in text.splitlines() if line.startswith(start)).removeprefix(start)
    return [float(number) / (100 if percent else 1) for number, percent in re.findall(r"(\d+(?:\.\d+)?)( %)?", line)]


def test_the_readme_has_the_figures_of_the_pages() -> None:
    benchmarks, readme = page("docs/benchmarks.md"), page("README.md")
    from_history = row(benchmarks, "| all |")[-2 * 3 :][1::2]  # each tool has two columns: NDCG@10, and first places
    kept_apart = row(page("docs/ranking.md"), "| first |")[0]
    annotated = [kept_apart, *row(benchmarks, "| first place right |")[1:]]
    for start, figures in (
        ("| first result right, 3,203 questions from history |", from_history),
        ("| first result right, 420 annotated questions |", annotated),
        ("| the same, asked in Chinese: NDCG@10 |", row(benchmarks, "| NDCG@10, Chinese wording |")),
    ):
        assert row(readme, start) == [pytest.approx(figure, abs=0.0051) for figure in figures]


def test_the_plot_of_reliability_draws_what_it_is_given() -> None:
    drawn = reliability_plot.picture([reliability_plot.Reliability("short <&>", [(0.0, 0.0), (0.5, 1.0)])])
    root = ElementTree.fromstring(drawn)
    places = [(mark.get("cx"), mark.get("cy")) for mark in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert places == [("60.0", "350.0"), ("210.0", "50.0")]  # the picture is 300 wide and high, from 60 and 50 on
    assert "short <&>" in ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("sh") is None, reason="needs a pseudo terminal")
def test_the_recording_is_what_the_commands_say(tmp_path: Path) -> None:
    from docs import recording

    lines = list(recording.session(recording.shop(tmp_path)))
    assert shown(recording.picture(lines)) == shown(recording.FILE.read_text(encoding="utf-8")), "run make recording"
    assert [timed.seconds for timed in lines] == sorted(timed.seconds for timed in lines)


def test_a_line_of_a_terminal_is_what_is_left_on_it() -> None:
    from docs.recording import COLUMNS, Span, terminal_lines

    output = (
        "\r\x1b[Kreading 1 of 9\r\x1b[Kread\r\n\x1b[1;36ma.py\x1b[0m  \x1b[2mx\x1b[0m\r\n"
        + "y" * (COLUMNS + 2)
        + "\r\n"
    )
    assert terminal_lines(output) == [
        [Span("read")],
        [Span("a.py", "strong"), Span("  "), Span("x", "faint")],
        [Span("y" * COLUMNS)],
        [Span("yy")],
    ]
