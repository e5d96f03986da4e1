"""Draws how often a confidence is right, as SVG; `training/confidence.py` has the figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

_SIDE, _LEFT, _TOP = 300, 60, 50
_WIDTH, _HEIGHT = 620, 410
_DASHES = ("", "7 4", "2 3")
_STYLE = """\
  .back { fill: #ffffff } .axis { stroke: #8c959f; fill: none } .grid { stroke: #d8dee4; fill: none }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: bold; font-size: 15px } .small { font-size: 12px; fill: #57606a }
  .line { fill: none; stroke-width: 2 } .mark { stroke: none }
  .s0 { stroke: #0a6681 } .s1 { stroke: #8250df } .s2 { stroke: #bc4c00 }
  .f0 { fill: #0a6681 } .f1 { fill: #8250df } .f2 { fill: #bc4c00 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .axis { stroke: #7d8590 } .grid { stroke: #21262d } text { fill: #e6edf3 }
    .small { fill: #9aa4af } .s0 { stroke: #6cc5e0 } .s1 { stroke: #c297ff } .s2 { stroke: #f0883e }
    .f0 { fill: #6cc5e0 } .f1 { fill: #c297ff } .f2 { fill: #f0883e }
  }
"""


class Reliability(NamedTuple):
    """A group of questions: the middle of each range of confidence, and the share that is answerable, 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


def picture(drawn: Sequence[Reliability]) -> str:
    """Return the SVG, for at most three groups."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
            f'height="{_HEIGHT}" role="img">',
            "<title>Share of answerable questions against the confidence</title>",
            f"<style>\n{_STYLE}</style>",
            f'<rect class="back" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
            _text(20, 28, "Share of answerable questions at each confidence", "title"),
            *_grid(),
            f'<path class="axis" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}" stroke-dasharray="1 4"/>',
            *(_series(number, one) for number, one in enumerate(drawn)),
            _text(_LEFT + _SIDE / 2, _HEIGHT - 14, "confidence", "small", "middle"),
            "</svg>",
            "",
        ]
    )


def _grid() -> list[str]:
    return [
        f'<path class="grid" d="M{_x(0)} {_y(tick)}H{_x(1)}M{_x(tick)} {_y(0)}V{_y(1)}"/>'
        + _text(_x(0) - 8, _y(tick) + 4, f"{tick:g}", "small", "end")
        + _text(_x(tick), _y(0) + 18, f"{tick:g}", "small", "middle")
        for tick in (0, 0.2, 0.4, 0.6, 0.8, 1)
    ]


def _series(number: int, one: Reliability) -> str:
    """Return a line with its points, and its name beside the picture."""
    path = "M" + "L".join(f"{_x(at)} {_y(share)}" for at, share in one.points)
    marks = "".join(f'<circle class="mark f{number}" cx="{_x(at)}" cy="{_y(y)}" r="3.5"/>' for at, y in one.points)
    dashes = f' stroke-dasharray="{_DASHES[number]}"' if _DASHES[number] else ""
    y = _TOP + 24 + 26 * number
    return (
        f'<path class="line s{number}" d="{path}"{dashes}/>{marks}'
        f'<path class="line s{number}" d="M{_LEFT + _SIDE + 24} {y - 4}h30"{dashes}/>'
        + _text(_LEFT + _SIDE + 62, y, one.name)
    )


def _x(confidence: float) -> float:
    return round(_LEFT + confidence * _SIDE, 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * _SIDE, 1)


def _text(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
