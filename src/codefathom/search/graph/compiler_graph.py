"""The graph of a project with what compilers have written of it: there they decide, elsewhere what the parser sees.

A compiler knows the uses in a file as it has read it. A file that has changed since, and a use of which the compiler
says nothing, has the edges of `ResolvedGraph`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from codefathom.search.graph.kept_questions import UsesOfName
from codefathom.search.graph.reference_graph import NO_DEFINITIONS, Definitions, NameUse, joined
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import ResolvedGraph, ResolvedUse, UseTargets
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import CompilerUse, CompilerUses
from codefathom.types import VALUE_KINDS, Certainty, FoundSymbol, Reference


class _Written(NamedTuple):
    """What a compiler has written of one file."""

    targets: Mapping[tuple[str, int], Sequence[tuple[str, str]]]  # by name and line; none: no symbol of the project
    modules: Mapping[str, tuple[str, ...]]  # the files that the name of an import means


_NOTHING = _Written({}, {})


class CompilerGraph(ResolvedGraph):
    """The references of a project and what its uses mean, by its compilers where they have written it."""

    def __init__(self, catalog: SearchCatalog) -> None:
        super().__init__(catalog)
        self._compiled = _Compiled(self)
        self.has_links = not self._compiled.paths

    @property
    def has_compiled(self) -> bool:
        """True if a compiler has written the uses of some file, which may lie in any language."""
        return bool(self._compiled.paths)

    def keeps_uses(self, language: str) -> bool:
        """Return True if it can be told whether what uses in a family of languages mean is still the same.

        What a compiler has written changes beside the documents; a question to a fleet may leave out some of these.
        """
        return language != "" and not (self.has_compiled or self.catalog.may_leave_out)

    def resolved_uses(self, name: str, language: str = "") -> Sequence[ResolvedUse]:
        """Return the uses of a name that mean something of this project, also those that only a compiler sees.

        Those of all languages where compilers have written some.
        """
        compiled = self._compiled
        if not compiled.paths:
            if self.keeps_uses(language) and (name, language) not in self._resolved:
                self._resolved[name, language] = self.kept_uses.answer(UsesOfName(self, name, language))
            return super().resolved_uses(name, language)
        if name not in compiled.whole:
            uses = super().resolved_uses(name)
            compiled.whole[name] = [*uses, *compiled.unseen(name, uses)]
        return compiled.whole[name]

    def broad_targets(self, use: NameUse, name: str = "") -> UseTargets:
        """Return all that a use can mean: what the compiler says of its line, else what the parser sees."""
        written = self._compiled.targets(use) if use.path in self._compiled.paths else None
        return super().broad_targets(use, name) if written is None else written

    def imports_named(self, name: str) -> Iterator[ResolvedUse]:
        """Yield the imports of a name, those that a compiler has written with what they mean there."""
        written = self._compiled.imports(name)
        told: set[str] = set()
        for item in super().imports_named(name):
            path = item.use.path
            if path not in written:
                yield item
            elif path not in told:
                told.add(path)
                yield ResolvedUse(item.use, written[path].targets)
        yield from (item for path, item in written.items() if path not in told)

    def resolve(self, name: str, path: str) -> tuple[str, ...]:
        """Return the documents that an import means, as the compiler says it, else as `ResolvedGraph`."""
        return self._compiled.modules(path).get(name) or super().resolve(name, path)

    def certainty_of_import(self, name: str, path: str) -> Certainty:
        """Return how it is known which documents an import means."""
        return "by-compiler" if name in self._compiled.modules(path) else "exact"


_MOST_ROWS = 200_000  # of a graph that is kept, some 100 MB


@contextmanager
def lent_graph(catalog: SearchCatalog) -> Iterator[CompilerGraph]:
    """Lend the graph of the last question, with what it has read and resolved, while the catalogue stays as it is.

    Each of several questions at a time has its own. Of a fleet it is kept where the question has read all that it asked
    for; one that has left out a shard would leave it out for others.
    """
    if catalog.has_left_out:
        yield CompilerGraph(catalog)
        return
    idle = catalog.kept(_idle_graphs)
    try:
        graph = idle.pop()
    except IndexError:
        graph = CompilerGraph(catalog)
    yield graph
    if catalog.has_left_out:
        return
    graph.save()
    if graph.n_rows > _MOST_ROWS:  # as one question about a common name reads, which is not to be answered anew
        graph = graph.without_rows()
    if graph.n_rows <= _MOST_ROWS:
        idle[:] = [graph]


def _idle_graphs(_: SearchCatalog, before: list[CompilerGraph] | None) -> list[CompilerGraph]:
    return []


class _Compiled:
    """What compilers have written of a project; what is read of a file is kept."""

    def __init__(self, graph: ResolvedGraph) -> None:
        self._graph = graph
        self.paths = graph.catalog.compiler_paths()
        self.whole: dict[str, Sequence[ResolvedUse]] = {}  # the uses of a name, by whatever way they are known
        self._written: dict[str, _Written] = {}
        self._uses_of: dict[str, Sequence[CompilerUses]] = {}
        self._containers: dict[str, tuple[Sequence[int], Sequence[str]]] = {}

    def targets(self, use: NameUse) -> UseTargets | None:
        """Return the definitions that a use means, none for one of elsewhere; None where no compiler says it."""
        places = self._of(use.path).targets.get((use.reference.name, use.reference.line))
        if places is None:
            return None
        definitions = joined(self._at(*place) for place in places)
        return UseTargets(definitions, "by-compiler") if definitions or not places else None

    def modules(self, path: str) -> Mapping[str, tuple[str, ...]]:
        """Return the documents that the imports of a file mean, by the names that stand there."""
        return self._of(path).modules if path in self.paths else {}

    def unseen(self, name: str, uses: Sequence[ResolvedUse]) -> Iterator[ResolvedUse]:
        """Yield the uses that the parser does not see, each name once in a symbol, as it counts them, too."""
        seen = {
            (use.path, use.reference.container, use.reference.name, place)
            for use, targets in uses
            for place in targets.definitions.names
        }
        for path, use, definitions in self._named(name):
            if use.kind == "import":
                continue
            container = self._container(path, use.line)
            keys = {(path, container, use.name, place) for place in definitions.names}
            if not keys <= seen:
                seen |= keys
                reference = Reference(use.kind, use.name, use.line, container)
                yield ResolvedUse(NameUse(path, reference), UseTargets(definitions, "by-compiler"))

    def imports(self, name: str) -> dict[str, ResolvedUse]:
        """Return an import of a name for each file of which a compiler has written one."""
        groups: dict[str, list[tuple[CompilerUse, Definitions]]] = defaultdict(list)
        for path, use, definitions in self._named(name) if self.paths else ():
            if use.kind == "import":
                groups[path].append((use, definitions))
        imports: dict[str, ResolvedUse] = {}
        for path, items in groups.items():
            first = min(use for use, _ in items)
            targets = UseTargets(joined(definitions for _, definitions in items), "by-compiler")
            imports[path] = ResolvedUse(NameUse(path, Reference("import", first.name, first.line)), targets)
        return imports

    # ---- inside

    def _of(self, path: str) -> _Written:
        if path not in self._written:
            self._written[path] = _arranged(path, self._graph.catalog.compiler_uses_in(path))
        return self._written[path]

    def _into(self, path: str) -> Sequence[CompilerUses]:
        if path not in self._uses_of:
            self._uses_of[path] = self._graph.catalog.compiler_uses_of(path)
        return self._uses_of[path]

    def _at(self, path: str, qualified_name: str) -> Definitions:
        """Return the definitions of a name in a file; none where the file has changed and it is gone."""
        name = qualified_name.rpartition(".")[2]
        definitions = self._graph.definitions(name, family(self._graph.resolver.language_of.get(path, "")))
        return definitions.by(_place_of).get((path, qualified_name), NO_DEFINITIONS)

    def _named(self, name: str) -> Iterator[tuple[str, CompilerUse, Definitions]]:
        """Yield the uses of definitions of a name that compilers have written, each with the path of its file."""
        for path in sorted({item.path for item in self._graph.defined(name)}):
            for item in self._into(path):
                for use in item.uses:
                    if use.target.rpartition(".")[2] == name:
                        definitions = self._at(path, use.target)
                        if definitions:
                            yield item.path, use, definitions

    def _container(self, path: str, line: int) -> str:
        """Return the qualified name of the symbol around a line, "" for none."""
        if path not in self._containers:
            self._containers[path] = self._spans(path)
        starts, names = self._containers[path]
        return names[bisect_right(starts, line) - 1]

    def _spans(self, path: str) -> tuple[Sequence[int], Sequence[str]]:
        """Return the lines at which another symbol is the innermost one, and its name."""
        spans, around = {0: ""}, [(1 << 62, "")]

        def leave(line: int) -> None:
            while around[-1][0] < line:
                end, _ = around.pop()
                spans[end + 1] = around[-1][1]

        for item in self._graph.symbols_of(path):
            if item.kind not in VALUE_KINDS:
                leave(item.start_line)
                around.append((item.end_line, item.qualified_name))
                spans[item.start_line] = item.qualified_name
        leave(1 << 61)
        starts = sorted(spans)
        return starts, [spans[start] for start in starts]


def _arranged(path: str, groups: Sequence[CompilerUses]) -> _Written:
    if not groups:
        return _NOTHING
    targets: dict[tuple[str, int], list[tuple[str, str]]] = {}
    modules: dict[str, set[str]] = defaultdict(set)
    for group in groups:
        for use in group.uses:
            if use.kind != "import":
                places = targets.setdefault((use.name, use.line), [])
                if group.target_path:
                    places.append((group.target_path, use.target))
            elif group.target_path and not use.target and group.target_path != path:
                modules[use.name].add(group.target_path)
    return _Written(targets, {name: tuple(sorted(paths)) for name, paths in modules.items()})


def _place_of(item: FoundSymbol) -> tuple[str, str]:
    return item.path, item.symbol.qualified_name
