"""Writing a list within a number of tokens, the best of it first; what is left out is told on stderr."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from codefathom.cli.display.output import Style
from codefathom.cli.face import Face
from codefathom.errors import UsageError
from codefathom.text.packing import n_that_fit
from codefathom.text.printable import show_text
from codefathom.types.hits import NO_REST, Rest

if TYPE_CHECKING:
    from codefathom.search.graph.project_map import ProjectMap

_TOO_LOW = "--max-tokens {most} is too low: the shortest output has {least} tokens"


class ItemList(NamedTuple):
    """An output that can be made of the first few of its items."""

    n_items: int
    text: Callable[[int, Style], str]  # of so many first items
    items: str  # what they are, in the plural
    lean: Callable[[Style], str] | None = None  # the first item in less room
    offset: int | None = None  # of the first item in the whole list; None: it has no pages
    rest: Rest = NO_REST  # of the list, behind these items
    n_in: Callable[[int], int] = lambda n: n  # results in so many first items, where an item is a row of several lists


def write_items(items: ItemList, most: int, face: Face) -> int:
    """Write as many first items as have room in `most` tokens, 0: all; colours do not count. Return their number.

    Raises UsageError.
    """
    n, text = _that_fit(items, most) if most else (items.n_items, items.text)
    face.write(text(n, face.style))
    n_all = items.n_in(items.n_items)
    if left := n_all - items.n_in(n):
        face.note(f"{left} of {n_all} {items.items} are left out; a higher --max-tokens shows more")
    if text is not items.text:
        face.note("only the place of the first one is shown; a higher --max-tokens shows its lines")
    if items.offset is not None:
        face.note(more_note(items.rest.plus(left), items.offset + n, items.items) if n else "")
    return n


def more_note(rest: Rest, offset: int, items: str) -> str:
    """Return a note on how a list goes on at an offset, "" where it has ended."""
    named, next_ones = (items.removesuffix("s"), "next one") if rest.n == 1 else (items, "next ones")
    return f"{rest} more {named}; --offset {offset} shows the {next_ones}" if rest else ""


def _that_fit(items: ItemList, most: int) -> tuple[int, Callable[[int, Style], str]]:
    """Return the number of items that fit, and the function that writes them."""
    n = n_that_fit(items.n_items, lambda n: n_tokens(items.text(n, Style())) <= most)
    lean = items.lean
    if items.n_items and not n and lean is not None and n_tokens(lean(Style())) <= most:
        return 1, lambda _, style: lean(style)
    check_least(n, items.text(n, Style()), most)
    return n, items.text


def map_within(draw: Callable[[int], tuple[ProjectMap, str]], most: int) -> tuple[ProjectMap, str]:
    """Return the map whose output has at most `most` tokens; `draw` makes both for a number of tokens of the map."""
    budget = most
    while True:
        outline, text = draw(budget)
        if n_tokens(text) <= most:
            return outline, text
        check_least(len(outline.files), text, most)
        budget = max(budget * 4 // 5, 1)  # the keys and quotes of JSON take room, too


def check_least(n_items: int, text: str, most: int) -> None:
    """Raise UsageError where a text without any item has more than `most` tokens."""
    least = 0 if n_items else n_tokens(text)
    if least > most:
        raise UsageError(_TOO_LOW.format(most=most, least=least), hint=f"give at least --max-tokens {least}")


def n_tokens(text: str) -> int:
    """Return our own count of the tokens of a text, as it is printed."""
    from codefathom.answer.tokens import estimate

    return estimate(show_text(text))
