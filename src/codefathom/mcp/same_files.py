"""Further places in the files of the first hits, one line each: a file that is right often has a better place."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from codefathom.facts.paths import is_prose, is_test
from codefathom.search.question.ranking_query import STOP_WORDS
from codefathom.search.question.words import Forms, forms_of
from codefathom.search.ranking.excerpt import is_head, telling_line
from codefathom.stores.lexical.terms import parts, terms
from codefathom.text.printable import show_line
from codefathom.types import TYPE_KINDS, Hit, Symbol

_MOST_FILES = 4  # whose names are shown
MOST_LOOKED_AT = 30  # places of these files together
_MOST_NAMES = 24  # of all these files together
_MOST_OF_PLACE = 6  # functions that begin in one place
_MOST_TYPES_OF_PLACE = 3
_SHOWN_CHARS = 60  # of the line of a later hit that begins no definition
_MOST_SEEN = 40  # names of a file, some of which the hits may show already
# What a name is worth beside its place among those of its file. Chosen on questions from comments of eight repositories
# (docs/benchmarks-agents.md): the share of its words that the question has, each file before its own, and that a type
# holds the answer less often than a function.
_OF_WORDS, _OF_FILE, _OF_TYPE = 1.6, 0.7, 0.2
_CALLED = ("function", "method")
_VALUES = ("constant", "field", "property", "variable")


class RankedName(NamedTuple):
    """A symbol, and how likely it is that it answers: only the order of such numbers counts."""

    symbol: Symbol
    worth: float


class FileNames(NamedTuple):
    """Symbols of a file, those of the best places first."""

    path: str
    names: tuple[RankedName, ...]


class NameLines(NamedTuple):
    """Names of a file, in the order of lines."""

    path: str
    lines: Sequence[str]  # each with its number


def first_files(hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the paths of the first files that hits are in, but those of tests and prose; a commit is no file."""
    paths = dict.fromkeys(hit.chunk.path for hit in hits if hit.commit is None)
    return tuple(path for path in paths if not (is_test(path) or is_prose(path)))[:_MOST_FILES]


def names_of_places(
    question: str, places: Sequence[Hit], symbols: Mapping[str, Sequence[Symbol]]
) -> tuple[FileNames, ...]:
    """Return the names that the best places of each file define; `symbols` are all those of these files."""
    forms = forms_of(tuple(dict.fromkeys(term for term in terms(question) if term not in STOP_WORDS)))
    return tuple(
        FileNames(path, _names([place for place in places if place.chunk.path == path], own, number, forms))
        for number, (path, own) in enumerate(symbols.items())
    )


def _names(places: Sequence[Hit], symbols: Sequence[Symbol], file: int, forms: Forms) -> tuple[RankedName, ...]:
    """Return the names of one file; `file` is the number of files before it."""
    names = ((rank, symbol) for rank, place in enumerate(places) for symbol in _meant(place, symbols))
    first: dict[tuple[int, str], RankedName] = {}
    for rank, symbol in names:
        worth = _OF_WORDS * _share(symbol, forms) - math.log1p(rank) - _OF_FILE * file
        worth -= _OF_TYPE * (symbol.kind in TYPE_KINDS)
        first.setdefault((symbol.name_line, symbol.qualified_name), RankedName(symbol, worth))
    return tuple(islice(first.values(), _MOST_SEEN))


def _share(symbol: Symbol, forms: Forms) -> float:
    """Return the share of the words of a name that the question has in some form."""
    words = parts(symbol.name)
    return sum(bool(forms[word]) for word in words) / max(len(words), 1)


def name_lines(
    near: Sequence[FileNames], shown: Collection[tuple[str, int]], later: Sequence[Hit] = ()
) -> Iterator[NameLines]:
    """Yield the best names of all files and the places of later hits, but those on a line shown.

    Of equal names the first one stands for all.
    """
    fresh: dict[tuple[str, str], RankedName] = {}
    for path, names in near:
        for name in names:
            if (path, name.symbol.name_line) not in shown:
                fresh.setdefault((path, name.symbol.qualified_name), name)
    best = sorted(fresh.items(), key=lambda item: -item[1].worth)[:_MOST_NAMES]
    labels: dict[str, dict[int, tuple[str, str]]] = {path: {} for path, _ in near}
    for (path, _), name in best:
        labels[path][name.symbol.name_line] = ("", name.symbol.qualified_name)
    for hit in later:
        line = telling_line(hit, _SHOWN_CHARS)
        if (hit.chunk.path, line.number) not in shown:
            label = ("", hit.name) if is_head(hit, line) else (line.text.strip(), "")
            labels.setdefault(hit.chunk.path, {}).setdefault(line.number, label)
    for path, own in labels.items():
        if own:
            yield NameLines(path, list(_lines(sorted(own.items()))))


def _lines(labels: Sequence[tuple[int, tuple[str, str]]]) -> Iterator[str]:
    """Yield a line for each text or name, names behind the last part of what is around them.

    A dot alone means the one before.
    """
    before = ""
    for line, (text, qualified_name) in labels:
        around, dot, name = qualified_name.rpartition(".")
        shown = "" if around == before else show_line(around.rpartition(".")[2])
        yield f"{line}:{show_line(text)}{shown}{dot}{show_line(name)}"
        before = around


def _meant(place: Hit, symbols: Sequence[Symbol]) -> Iterator[Symbol]:
    """Yield the innermost symbol around the line that answers, else the one that the place is named for; then the first
    functions and types that begin in the place.

    What holds others and reaches beyond the place, such as a class, tells nothing of a line in it.
    """
    chunk = place.chunk
    around = [item for item in symbols if item.kind not in _VALUES and item.start_line <= place.line <= item.end_line]
    named = [item for item in symbols if place.name and item.qualified_name == place.name]
    for item in sorted(around, key=lambda item: (item.start_line, -item.end_line))[-1:] or named[:1]:
        if item.kind in _CALLED or item.end_line <= chunk.end_line:
            yield item
    begun = [item for item in symbols if chunk.start_line <= item.name_line <= chunk.end_line]
    yield from islice((item for item in begun if item.kind in _CALLED), _MOST_OF_PLACE)
    yield from islice((item for item in begun if item.kind in TYPE_KINDS), _MOST_TYPES_OF_PLACE)
