"""Further places in the files of the first hits, one line each: a file that is right often has a better place. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from codefathom.facts.paths import is_prose, is_test
from codefathom.text.printable import show_line
from codefathom.types import Hit, Symbol

# How many names of the first file are shown, and of the second.
_NAMES = (10, 6, 6, 6)
MOST_LOOKED_AT = 30  # places of these files together
_SIGNATURE_CHARS = 80
_CALLED = ("function", "method")
_VALUES = ("constant", "field", "property", "variable")


class NearPlaces(NamedTuple):
    """The best places in some files, and the symbols of these files."""

    files: tuple[str, ...] = ()
    places: tuple[Hit, ...] = ()
    symbols: tuple[tuple[Symbol, ...], ...] = ()  # of each file


NOTHING_NEAR = NearPlaces()


class NamesInFile(NamedTuple):
    """Signatures of a file."""

    path: str
    lines: Sequence[str]  # each with its number


def first_files(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the paths of the first files that hits are in, but those of tests; a commit is no file."""
    paths = dict.fromkeys(hit.chunk.path for hit in hits if hit.commit is None)
    return tuple(path for path in paths if not (is_test(path) or is_prose(path)))[: len(_NAMES)]


def names_in_files(near: NearPlaces, shown: Collection[tuple[str, int]]) -> Iterator[NamesInFile]:
    """Yield the names that the best places of each file define, in the order of lines, but those on a line shown."""
    for path, symbols, most in zip(near.files, near.symbols, _NAMES, strict=False):
        own = (place for place in near.places if place.chunk.path == path)
        names = (name for place in own for name in _meant(place, symbols))
        fresh: dict[str, Symbol] = {}
        for name in names:
            if (path, name.name_line) not in shown:
                fresh.setdefault(name.qualified_name, name)
        best = sorted(islice(fresh.values(), most), key=lambda symbol: symbol.name_line)
        if best:
            yield NamesInFile(path, list(_lines(best)))


def _lines(symbols: Sequence[Symbol]) -> Iterator[str]:
    before = ""
    for symbol in symbols:
        around, _, name = symbol.qualified_name.rpartition(".")
        last = around.rpartition(".")[2]
        yield f"{symbol.name_line}:{'' if around == before else show_line(last)}{'.' * bool(last)}{show_line(name)}"
        before = around


def _meant(place: Hit, symbols: Sequence[Symbol]) -> Iterator[Symbol]:
    """Yield the innermost symbol around the line that answers, else the one that the place is named for; then functions
    that begin in the place.

    What holds others and reaches beyond the place, such as a class, tells nothing of it.
    """
    around = [item for item in symbols if item.kind not in _VALUES and item.start_line <= place.line <= item.end_line]
    named = [item for item in symbols if place.name and item.qualified_name == place.name]
    for item in sorted(around, key=lambda item: (item.start_line, -item.end_line))[-1:] or named[:1]:
        if item.kind in _CALLED or item.end_line <= place.chunk.end_line:
            yield item
    chunk = place.chunk
    begun = (item for item in symbols if item.kind in _CALLED and chunk.start_line <= item.name_line <= chunk.end_line)
    yield from islice(begun, 6)
