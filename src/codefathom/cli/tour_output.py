"""A reading tour as the command line prints it: a line for each place, and how one comes there."""

from __future__ import annotations

from collections.abc import Sequence

from codefathom.cli.display.output import Style
from codefathom.cli.face import Face
from codefathom.cli.token_budget import ItemList, write_items
from codefathom.text.printable import show_line, show_name
from codefathom.types import TourStep


def write_tour(steps: Sequence[TourStep], most: int, face: Face) -> int:
    """Print as many first steps as have room in `most` tokens. Return 1 where there are none."""
    from codefathom.shapes import to_json, tour_shape

    def text(n: int, style: Style) -> str:
        return to_json(tour_shape(steps[:n])) if face.common.json else _text(steps[:n], style)

    face.note_indexing()
    write_items(ItemList(len(steps), text, "places"), most, face)
    if not steps:
        face.note("there is no code in the index to lead through")
    return 0 if steps else 1


def _text(steps: Sequence[TourStep], style: Style) -> str:
    lines = []
    for number, step in enumerate(steps, 1):
        place = style.strong(f"{show_name(step.path)}:{step.start_line}-{step.end_line}")
        name = f"  {show_name(step.symbol)}" if step.symbol else ""
        lines.append(f"{number:2}. {place}{name}  ({show_line(step.why)})\n")
    return "".join(lines)
