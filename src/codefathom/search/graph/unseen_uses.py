"""Where a name stands without a use that the parser has seen: perhaps uses of a symbol, and how many files there are.

The texts of files are read for this, so that a list of uses is whole: each file with the name is listed, or is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import accumulate, islice
from typing import NamedTuple, TypeAlias

from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import PLAIN_NAMES_ARE_BOUND, SHARED_FOLDERS, ResolvedGraph
from codefathom.stores.catalog.records import CheckedText
from codefathom.text.code_only import code_only
from codefathom.types import VALUE_KINDS, FoundSymbol, Related, Symbol

FilesWith: TypeAlias = Callable[[str], Sequence[str] | None]  # a word → paths in order; None: nobody can tell

_MOST_TEXTS = 1_000  # that are read for one answer
_MOST_EDGES = 1_000
_MOST_NAMES = 20  # of one change
_MOST_PLACES = 500  # of one file
_MIN_NAME_CHARS = 3
_WORD = re.compile(r"\w")
# Behind an arrow and a blank stands the type that is returned.
_LAST_MARK = r"(?:(?:\?\.|!\.|&\.|\.|::|\\)\s*|->)"
_BEFORE = re.compile(rf"((?:[\w$]+(?:\.|::|->))*[\w$]*)[\])}}>]?\s*{_LAST_MARK}$")
_MOST_AROUND = 200  # characters before and after a name
# `const { name, other } = value` of scripts takes a member of a value.
_OPENED = re.compile(r"[{,]\s*$")
_TAKEN_APART = re.compile(r"[^{}();]*\}\s*=(?![=>])")
# Of a value of these languages the type is often known, so that a member can be known to be another one.
_KNOWS_OTHERS = frozenset({"python", "java", "go", "javascript"})


class UnseenUses(NamedTuple):
    """The places at which a name stands as code, and the number of further files in which it stands."""

    edges: tuple[Related, ...] = ()
    n_files: int = 0


def unseen_uses(
    graph: ResolvedGraph, definitions: Sequence[FoundSymbol], listed: AbstractSet[str], files_with: FilesWith
) -> UnseenUses:
    """Return the uses of a rare name by the text alone, in files beside its own and those that are listed already.

    A name that many files define tells nothing, and has none.
    """
    name = definitions[0].symbol.name
    if not is_telling(graph, name):
        return UnseenUses()
    own = {item.path for item in graph.defined(name)}
    others = [path for path in files_with(name) or () if path not in listed and path not in own]
    texts = _Texts(graph, name, own)
    languages = {family(item.language) for item in definitions}
    edges: list[Related] = []
    for document in graph.catalog.texts(others[:_MOST_TEXTS]):
        if texts.family_of(document.path) in languages and len(edges) < _MOST_EDGES:
            edges += texts.uses_in(document)
    return UnseenUses(tuple(edges), len(others) - len({edge.path for edge in edges}))


def files_unseen(
    graph: ResolvedGraph, names: Iterable[str], listed: AbstractSet[str], files_with: FilesWith
) -> frozenset[str]:
    """Return the files in which rare names stand, beside their own and those that are listed; of the first names."""
    files: set[str] = set()
    for name in islice((name for name in names if is_telling(graph, name)), _MOST_NAMES):
        files.update(files_with(name) or ())
        files.difference_update(item.path for item in graph.defined(name))
    return frozenset(files - listed)


def is_telling(graph: ResolvedGraph, name: str) -> bool:
    """Return True for a name of which few files have a definition: where it stands, one of these may be meant."""
    is_name = len(name) >= _MIN_NAME_CHARS and _WORD.search(name) is not None
    return is_name and len({item.path for item in graph.defined(name)}) <= MAX_DEFINING_FILES


class _Texts:
    """The texts of files in which a name stands, and what is known of it there."""

    def __init__(self, graph: ResolvedGraph, name: str, own: AbstractSet[str]) -> None:
        self._graph, self._name = graph, name
        self._places = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        # `setattr(thing, "name", …)`, `patch("a.b.name")`: a text that is the name, as an argument.
        self._quoted = re.compile(rf"""[(,\[]\s*(["'`])(?:[\w$]+[.:]+)*({re.escape(name)})\1""")
        self._folders = {path.rpartition("/")[0] for path in own}
        self._foreign: dict[str, set[str]] = defaultdict(set)  # what stands before the name where it is another one
        for use in graph.uses(name):
            if self.family_of(use.path) in _KNOWS_OTHERS and not graph.targets(use).definitions:
                self._foreign[use.path].add(use.reference.qualifier.rpartition(".")[2].strip("?"))

    def family_of(self, path: str) -> str:
        """Return the family of the language of a file."""
        return family(self._graph.resolver.language_of.get(path, ""))

    def uses_in(self, document: CheckedText) -> Iterator[Related]:
        """Yield the places at which the name can mean a definition of another file, one of each symbol around."""
        path, own = document.path, self.family_of(document.path)
        code = code_only(document.text, self._graph.resolver.language_of.get(path, ""))
        starts = [0, *accumulate(len(line) + 1 for line in code.split("\n"))]
        n_definitions = max(len(self._graph.definitions(self._name, own).names), 1)
        seen: set[str] = set()
        named = islice(self._places.finditer(code), _MOST_PLACES)
        places = [match.start() for match in named if self._is_possible(path, code, match)]
        quoted = islice(self._quoted.finditer(document.text), _MOST_PLACES)
        places += [match.start(2) for match in quoted if not code[match.start()].isspace()]  # else in a comment
        for place in sorted(places):
            line = bisect_right(starts, place)
            around = _symbol_around(self._graph.symbols_of(path), line)
            if around not in seen:
                seen.add(around)
                is_call = code.startswith("(", place + len(self._name))
                edge = Related(path, "called by" if is_call else "references", line, self._name, around)
                yield replace(edge, likely=False, certainty="by-name", n_definitions=n_definitions)

    def _is_possible(self, path: str, code: str, match: re.Match[str]) -> bool:
        """Return False where the name is known to be another one, by the text around it."""
        before = code[max(0, match.start() - _MOST_AROUND) : match.start()]
        chain = _BEFORE.search(before)
        if chain is not None:
            parts = re.split(r"\W+", chain[1])
            return parts[-1] not in self._foreign[path] and not self._graph.is_foreign_name(path, parts[0])
        own = self.family_of(path)
        is_near = path.rpartition("/")[0] in self._folders and own in SHARED_FOLDERS
        if own in PLAIN_NAMES_ARE_BOUND and not is_near:
            is_opened = own == "javascript" and _OPENED.search(before) is not None
            return is_opened and _TAKEN_APART.match(code, match.end(), match.end() + _MOST_AROUND) is not None
        return "" not in self._foreign[path]


def _symbol_around(symbols: Iterable[Symbol], line: int) -> str:
    around = [item for item in symbols if item.start_line <= line <= item.end_line and item.kind not in VALUE_KINDS]
    return around[-1].qualified_name if around else ""
