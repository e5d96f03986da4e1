"""What a name means at the place where it stands: for those who point at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from codefathom.errors import SourceError
from codefathom.search.graph.compiler_graph import CompilerGraph, lent_graph
from codefathom.search.graph.reference_graph import Definitions, NameUse, outward
from codefathom.search.graph.related import edge_of
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import UseTargets
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.types import FoundSymbol, NamedPlace, Symbol

_MOST_DEFINITIONS = 20
_MOST_USES = 8
# Of a name that stands in each file not all uses are resolved: somebody waits for the answer with the pointer on it.
_MOST_LOOKED_AT = 100


def name_at(catalog: SearchCatalog, path: str, line: int, name: str) -> NamedPlace:
    """Return the definitions that a name can mean on a line of a file, the nearest first.

    A use is resolved by its scope and by the imports of its file. A name of which no use is known, such as that of an
    attribute, has all definitions of that name in its language. Raises SourceError for a file that is not in the index.
    """
    with lent_graph(catalog) as graph:
        return _name_at(graph, path, line, name)


def _name_at(graph: CompilerGraph, path: str, line: int, name: str) -> NamedPlace:
    language = graph.resolver.language_of.get(path)
    if language is None:
        raise SourceError(f"no such file in the index: {path!r}", hint="give a path relative to the project")
    own = [item for item in graph.symbols_of(path) if item.name == name and item.name_line == line]
    if own:
        definitions = tuple(FoundSymbol(path, language, item) for item in own)
        return _with_uses(graph, NamedPlace(name, definitions, "exact", len(definitions), is_definition=True))
    targets = next(_meanings(graph, path, line, name), None)
    if targets is None:
        # Letters of a text or a local value can be the name of something, too: that is said by the certainty.
        targets = UseTargets(graph.definitions(name, family(language)), "by-name")
    listed = _listed(targets.definitions, path)
    return _with_uses(graph, NamedPlace(name, listed[:_MOST_DEFINITIONS], targets.certainty, len(listed)))


def _with_uses(graph: CompilerGraph, place: NamedPlace) -> NamedPlace:
    """Return the same with the uses of its first definition; texts that no parser understands are not looked at."""
    if not place.definitions:
        return place
    symbol = place.definitions[0].symbol
    edges, is_whole = [], True
    for n, use in enumerate(graph.uses(symbol.name)):
        if n == _MOST_LOOKED_AT:
            is_whole = False
            break
        targets = graph.targets(use, symbol.name)
        if targets.means(place.definitions[0].path, symbol.qualified_name):
            edges.append(edge_of(use, "called by" if use.reference.kind == "call" else "references", targets))
    return replace(place, uses=tuple(edges[:_MOST_USES]), n_uses=len(edges), n_uses_is_exact=is_whole)


def _meanings(graph: CompilerGraph, path: str, line: int, name: str) -> Iterator[UseTargets]:
    """Yield what the uses of a name in a file mean, those that stand nearest around the line first."""
    uses = [item for item in graph.references_of(path) if item.name == name and item.kind != "import"]
    around = _scopes(graph.symbols_of(path), line)
    near = [item for item in uses if item.container in around]
    # A reference tells the first of its lines in a symbol; the line itself is the best of all.
    near.sort(key=lambda item: (item.line != line, around.index(item.container), abs(item.line - line)))
    for item in near:
        targets = graph.targets(NameUse(path, item))
        if targets.definitions:
            yield targets
    for use, targets in graph.imports_named(name):
        if use.path == path and targets.definitions:
            yield targets


def _scopes(symbols: Sequence[Symbol], line: int) -> list[str]:
    """Return the qualified names of the symbols around a line, the innermost first, and "" for the file itself."""
    around = [item for item in symbols if item.start_line <= line <= item.end_line]
    inner = max(around, key=lambda item: (item.start_line, -item.end_line), default=None)
    return list(dict.fromkeys([*(outward(inner.qualified_name) if inner else ()), ""]))


def _listed(definitions: Definitions, path: str) -> tuple[FoundSymbol, ...]:
    """Return definitions, those of the same file and of near folders first."""
    folders = path.split("/")[:-1]

    def distance(item: FoundSymbol) -> tuple[bool, int, str, int]:
        parts = item.path.split("/")[:-1]
        shared = sum(1 for one, other in zip(folders, parts, strict=False) if one == other)
        return item.path != path, -shared, item.path, item.symbol.name_line

    return tuple(sorted(definitions.items, key=distance))
