"""Where a name stands without a use that the parser has seen: perhaps uses of a symbol, and how many files there are.

The texts of files are read for this, so that a list of uses is whole: each file with the name is listed, or is counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.search.graph.reference_graph import MAX_DEFINING_FILES
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import PLAIN_NAMES_ARE_BOUND, ResolvedGraph
from codefathom.text.code_only import code_only
from codefathom.types import VALUE_KINDS, FoundSymbol, Related

FilesWith: TypeAlias = Callable[[str], Sequence[str] | None]  # a word → paths in order; None: nobody can tell

_MOST_TEXTS = 1_000  # that are read for one answer
_MOST_EDGES = 1_000
_MIN_NAME_CHARS = 3
_WORD = re.compile(r"\w")
_BEFORE = re.compile(r"([\w$]*)[\])}>]?\s*(\?\.|!\.|&\.|\.|->|::|\\)\s*$")


class UnseenUses(NamedTuple):
    """The places at which a name stands as code, and the number of further files in which it stands."""

    edges: tuple[Related, ...] = ()
    n_files: int = 0

    @property
    def notes(self) -> tuple[Note, ...]:
        """The number in words; nothing for none."""
        if self.n_files == 1:
            return (Note(say.STANDS_ELSEWHERE),)
        return (Note(say.STANDS_ELSEWHERE_TIMES, {"count": self.n_files}),) if self.n_files else ()


def unseen_uses(
    graph: ResolvedGraph, definitions: Sequence[FoundSymbol], listed: AbstractSet[str], files_with: FilesWith
) -> UnseenUses:
    """Return the uses of a rare name by the text alone, in files beside its own and those that are listed already.

    A name that many files define tells nothing, and has none.
    """
    name = definitions[0].symbol.name
    own = {item.path for item in graph.defined(name)}
    if len(name) < _MIN_NAME_CHARS or not _WORD.search(name) or len(own) > MAX_DEFINING_FILES:
        return UnseenUses()
    paths = files_with(name)
    others = [path for path in paths or () if path not in listed and path not in own]
    languages = {family(item.language) for item in definitions}
    edges: list[Related] = []
    for document in graph.catalog.texts(others[:_MOST_TEXTS]):
        if family(graph.resolver.language_of.get(document.path, "")) in languages and len(edges) < _MOST_EDGES:
            edges += _uses_in(graph, name, document.path, document.text)
    return UnseenUses(tuple(edges), len(others) - len({edge.path for edge in edges}))


def _uses_in(graph: ResolvedGraph, name: str, path: str, text: str) -> Iterator[Related]:
    """Yield the places in a file at which a name can mean a definition of another file, one of each symbol around."""
    language = graph.resolver.language_of.get(path, "")
    n_definitions = max(len(graph.definitions(name, family(language)).names), 1)
    is_bound = family(language) in PLAIN_NAMES_ARE_BOUND
    others = {_last(use.reference.qualifier) for use in graph.uses(name) if use.path == path}
    code = code_only(text, language)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    seen: set[str] = set()
    for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", code):
        before = _BEFORE.search(code, max(0, match.start() - 200), match.start())
        owner = before[1] if before else ""
        if (is_bound and not before) or owner in others or graph.is_foreign_name(path, owner):
            continue
        line = bisect_right(starts, match.start())
        around = _symbol_around(graph, path, line)
        if around not in seen:
            seen.add(around)
            yield Related(
                path,
                "called by" if code[match.end() :][:1] == "(" else "references",
                line,
                name,
                around,
                likely=False,
                certainty="by-name",
                n_definitions=n_definitions,
            )


def _last(qualifier: str) -> str:
    return qualifier.rpartition(".")[2].strip("?")


def _symbol_around(graph: ResolvedGraph, path: str, line: int) -> str:
    around = [
        item
        for item in graph.symbols_of(path)
        if item.kind not in VALUE_KINDS and item.start_line <= line <= item.end_line
    ]
    return around[-1].qualified_name if around else ""
