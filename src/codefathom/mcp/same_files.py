"""Further places in the files of the first hits, one line each: a file that is right often has a better place. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from codefathom.facts.paths import is_prose, is_test
from codefathom.text.printable import show_line
from codefathom.types import Hit, Symbol

# How many names of each of the first files are shown. More hits in their place find less, on questions from comments of
# eight repositories (docs/benchmarks-agents.md).
_NAMES = (10, 6, 6, 6)
MOST_LOOKED_AT = 30  # places of these files together
_MOST_OF_PLACE = 6  # names that begin in one place
_MOST_SEEN = 40  # names of a file, some of which the hits may show already
_CALLED = ("function", "method")
_VALUES = ("constant", "field", "property", "variable")


class FileNames(NamedTuple):
    """Symbols of a file, those of the best places first."""

    path: str
    symbols: tuple[Symbol, ...]


class NameLines(NamedTuple):
    """Names of a file, in the order of lines."""

    path: str
    lines: Sequence[str]  # each with its number


def first_files(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the paths of the first files that hits are in, but those of tests and prose; a commit is no file."""
    paths = dict.fromkeys(hit.chunk.path for hit in hits if hit.commit is None)
    return tuple(path for path in paths if not (is_test(path) or is_prose(path)))[: len(_NAMES)]


def names_of_places(places: Sequence[Hit], symbols: Mapping[str, Sequence[Symbol]]) -> tuple[FileNames, ...]:
    """Return the names that the best places of each file define; `symbols` are all those of these files."""
    return tuple(FileNames(path, _names(places, path, own)) for path, own in symbols.items())


def _names(places: Sequence[Hit], path: str, symbols: Sequence[Symbol]) -> tuple[Symbol, ...]:
    names = (name for place in places if place.chunk.path == path for name in _meant(place, symbols))
    by_place = ((name.name_line, name.qualified_name, name) for name in names)
    return tuple(islice({(line, name): symbol for line, name, symbol in by_place}.values(), _MOST_SEEN))


def name_lines(near: Sequence[FileNames], shown: Collection[tuple[str, int]]) -> Iterator[NameLines]:
    """Yield the best names of each file but those on a line shown; of equal names the first one stands for all."""
    for (path, symbols), most in zip(near, _NAMES, strict=False):
        fresh: dict[str, Symbol] = {}
        for symbol in symbols:
            if (path, symbol.name_line) not in shown:
                fresh.setdefault(symbol.qualified_name, symbol)
        if fresh:
            best = sorted(islice(fresh.values(), most), key=lambda symbol: symbol.name_line)
            yield NameLines(path, list(_lines(best)))


def _lines(symbols: Sequence[Symbol]) -> Iterator[str]:
    """Yield a line for each name, after the last part of what is around it; a dot alone means the one before."""
    before = ""
    for symbol in symbols:
        around, dot, name = symbol.qualified_name.rpartition(".")
        shown = "" if around == before else show_line(around.rpartition(".")[2])
        yield f"{symbol.name_line}:{shown}{dot}{show_line(name)}"
        before = around


def _meant(place: Hit, symbols: Sequence[Symbol]) -> Iterator[Symbol]:
    """Yield the innermost symbol around the line that answers, else the one that the place is named for; then the first
    functions that begin in the place.

    What holds others and reaches beyond the place, such as a class, tells nothing of it.
    """
    chunk = place.chunk
    around = [item for item in symbols if item.kind not in _VALUES and item.start_line <= place.line <= item.end_line]
    named = [item for item in symbols if place.name and item.qualified_name == place.name]
    for item in sorted(around, key=lambda item: (item.start_line, -item.end_line))[-1:] or named[:1]:
        if item.kind in _CALLED or item.end_line <= chunk.end_line:
            yield item
    begun = (item for item in symbols if item.kind in _CALLED and chunk.start_line <= item.name_line <= chunk.end_line)
    yield from islice(begun, _MOST_OF_PLACE)
