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


def test_the_readme_has_the_figures_of_the_pages() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if line.startswith("| NDCG@10 |"))
    assert re.findall(r"0\.\d+", row) == [
        f"{point.quality:.3f}" for point in plot.figures().questions if point.name != "these questions learned"
    ]
    first = next(line for line in lines if line.startswith("| first result right |"))
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    others = " ".join(f"| {number}" for number in re.findall(r"0.[0-9]+", first)[1:])
    assert re.search(rf"^\| first place right \| 0\.\d+ {re.escape(others)} \|$", page, re.MULTILINE)
    assert f"| first | {re.findall(r'0.[0-9]+', first)[0]} |" in (ROOT / "docs" / "ranking.md").read_text(
        encoding="utf-8"
    )


def test_the_readme_has_the_figures_of_questions_from_history() -> None:
    """The page gives each tool two columns: NDCG@10, and first places."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    figures = re.findall(r"0\.\d+", next(line for line in page.splitlines() if line.startswith("| all |")))
    for label, numbers in (("NDCG@10", figures[::2]), ("first result right", figures[1::2])):
        row = next(line for line in lines if line.startswith(f"| {label}, from history |"))
        assert re.findall(r"0\.\d+", row) == numbers


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
