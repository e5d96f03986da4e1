"""Makes docs/quality-and-time.svg from the figures in docs/benchmarks.md and docs/ranking.md: `python -m docs.plot`."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
FILE = HERE / "quality-and-time.svg"
_WIDTH, _HEIGHT, _TOP, _BOTTOM = 960, 400, 84, 330
_LOWEST, _HIGHEST = 0.60, 0.95
_STYLE = """\
  .back { fill: #ffffff } .axis { stroke: #8c959f; fill: none } .grid { stroke: #d8dee4; fill: none }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: bold; font-size: 15px } .small { font-size: 12px; fill: #57606a }
  .ours { fill: #0a6681; stroke: #0a6681 } .hollow { fill: none; stroke-width: 2 }
  .peer { fill: #8250df; stroke: #8250df }
  .published { stroke: #8250df; stroke-dasharray: 5 4; fill: none }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .axis { stroke: #7d8590 } .grid { stroke: #21262d } text { fill: #e6edf3 }
    .small { fill: #9aa4af }
    .ours { fill: #6cc5e0; stroke: #6cc5e0 } .hollow { fill: none } .peer { fill: #c297ff; stroke: #c297ff }
    .published { stroke: #c297ff }
  }
"""


class Point(NamedTuple):
    """A tool on one axis of time."""

    name: str
    quality: float
    amount: float
    kind: str  # "ours", "ours hollow" or "peer"


class Figures(NamedTuple):
    """All that is drawn."""

    questions: Sequence[Point]  # milliseconds
    indexing: Sequence[Point]  # seconds
    published: float  # of semble with its model, by its authors
    origin: str  # date and commit of the measurement


def main() -> int:
    """Write the picture."""
    FILE.write_text(picture(figures()), encoding="utf-8")
    return 0


def figures() -> Figures:
    """Read the figures from the pages. Raises ValueError where one of them is missing."""
    page = (HERE / "benchmarks.md").read_text(encoding="utf-8")
    validated = float(_match(r"\| all \| \| \| \| (0\.\d+) ", (HERE / "ranking.md").read_text(encoding="utf-8"))[1])
    tools = re.findall(r"\w+", _match(r"\|  ((?:\| \w+ )+)\|\n\| --- .*\n\| NDCG@10 \|", page)[1])
    quality = _row("NDCG@10", page)
    points = []
    for label in ("query p50 (ms)", "index, all repositories (s)"):
        amounts = _row(label, page)
        found = [
            Point(_TITLES[tool], value, amount, "ours hollow" if tool == "fathom" else "peer")
            for tool, value, amount in zip(tools, quality, amounts, strict=True)
            if not math.isnan(amount) and not math.isnan(value)
        ]
        points.append([Point("Codefathom", validated, amounts[tools.index("fathom")], "ours"), *found])
    published = float(_match(r"semble's authors report an NDCG@10 of (0\.\d+)", page)[1])
    origin = _match(r"Measured on (\S+), commit (\w+)", page)
    return Figures(*points, published=published, origin=f"{origin[1]}, commit {origin[2]}")


_TITLES = {"fathom": "these questions learned", "semble": "semble, BM25", "bm25s": "bm25s", "ripgrep": "ripgrep"}


def _match(pattern: str, text: str) -> re.Match[str]:
    match = re.search(pattern, text)
    if match is None:
        raise ValueError(f"the pages hold no {pattern!r}")
    return match


def _row(label: str, page: str) -> list[float]:
    """Return the numbers of a row in the second table, which has a column for each tool."""
    cells = _match(rf"\n\| {re.escape(label)} ((?:\| [\d.–]+ )+)\|\n", page.partition("\n|  | fathom")[2])
    return [math.nan if cell == "–" else float(cell) for cell in re.findall(r"[\d.]+|–", cells[1])]


def picture(drawn: Figures) -> str:
    """Return the SVG."""
    panels = [
        _panel(60, "Time of a question, median (ms)", (0.1, 1, 10), drawn.questions, drawn.published),
        _panel(540, "Time to index 21 repositories (s)", (5, 10, 20, 40), drawn.indexing, drawn.published),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" role="img">',
            "<title>Quality of the ranking against time, for Codefathom, semble, bm25s and ripgrep</title>",
            f"<style>\n{_STYLE}</style>",
            f'<rect class="back" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
            _text(20, 28, "NDCG@10 on 420 questions about 21 repositories, against time (left is faster)", "title"),
            *panels,
            _text(20, _HEIGHT - 14, _CAPTION.format(origin=drawn.origin), "small"),
            "</svg>",
            "",
        ]
    )


_CAPTION = "Full point: weights learned without the repository that is asked about. Machine with 2 cores, {origin}."


def _panel(left: int, title: str, ticks: Sequence[float], points: Sequence[Point], published: float) -> str:
    right = left + 390
    low, high = math.log(ticks[0]), math.log(ticks[-1] * 1.5)

    def x(amount: float) -> float:
        return round(left + 14 + (math.log(amount) - low) / (high - low) * (right - left - 28), 1)

    rows = (
        f'<path class="grid" d="M{left} {_y(value)}H{right}"/>'
        + _text(left - 8, _y(value) + 4, f"{value}", "small", "end")
        for value in (0.6, 0.7, 0.8, 0.9)
    )
    columns = (
        f'<path class="axis" d="M{x(tick)} {_BOTTOM}v5"/>{_text(x(tick), _BOTTOM + 20, f"{tick:g}", "small", "middle")}'
        for tick in ticks
    )
    return "\n".join(
        [
            _text(left, 62, title),
            *rows,
            *columns,
            f'<path class="axis" d="M{left} {_TOP}V{_BOTTOM}H{right}"/>',
            f'<path class="published" d="M{left} {_y(published)}H{right}"/>',
            _text(left + 6, _y(published) - 5, f"semble with its model, reported by its authors: {published}", "small"),
            *(_mark(point, x(point.amount), right) for point in points),
        ]
    )


def _mark(point: Point, x: float, right: int) -> str:
    """Return a point with its name beside it, on the side with more room."""
    y = _y(point.quality)
    is_left = right - x < 190
    name = f"{point.name} {point.quality:.3f}"
    # The two of ours stand close to each other, and semble's beside the line of its authors.
    shift = {"ours": 18, "ours hollow": -8}.get(point.kind, 18 if point.name.startswith("semble") else 4)
    label = _text(x - 11 if is_left else x + 11, y + shift, name, "", "end" if is_left else "start")
    return f'<circle class="{point.kind}" cx="{x}" cy="{y}" r="6"/>{label}'


def _y(quality: float) -> float:
    return round(_BOTTOM - (quality - _LOWEST) / (_HIGHEST - _LOWEST) * (_BOTTOM - _TOP), 1)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


if __name__ == "__main__":
    sys.exit(main())
