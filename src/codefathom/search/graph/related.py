"""The connections of a file or a symbol: imports, calls and uses, from the catalogue alone.

An edge names one place. The place of an `imports` or `calls` edge is the imported file or the called definition. The
place of an `imported by`, `called by` or `references` edge is the line of the use, and the symbol around it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, compress
from typing import Literal, NamedTuple, get_args

from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.paths import may_go_unnamed
from codefathom.facts.reasons import Note
from codefathom.question.extents import USUAL_DEPTH, limit_of
from codefathom.question.question import Question
from codefathom.search.graph.compiler_graph import CompilerGraph, lent_graph
from codefathom.search.graph.edge_list import EdgeChoice, checked, order
from codefathom.search.graph.file_uses import uses_from
from codefathom.search.graph.kept_questions import EdgesOfFile, NamesOfFile
from codefathom.search.graph.reference_graph import Definitions, NameUse, outward
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import ResolvedGraph, UseTargets
from codefathom.search.graph.unnamed_uses import Method, common_constructors, constructions, operator_notes
from codefathom.search.graph.unseen_uses import FilesWith, UnseenUses, unseen_uses
from codefathom.search.graph.written_targets import dotted_name, modules
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.text.path_spelling import paths_named
from codefathom.text.written_place import place_of
from codefathom.types import Certainty, FoundSymbol, Reference, Related, RelatedResult, Rest, Symbol

MAX_EDGES = 200
MAX_DEPTH = 5
_MIN_NAME_CHARS = 3
_MOST_CHOICES = 10  # definitions of one name that are listed

Kind = Literal["called by", "imported by", "references", "calls", "imports"]
EVERY_EDGE = EdgeChoice()


def connections(
    catalog: SearchCatalog, question: Question, files_with: FilesWith, is_kept: Callable[[str], bool] | None = None
) -> RelatedResult:
    """Return the edges that a question of the kind `related` asks for. Raises UsageError, as `related`.

    With `is_kept`, only definitions and edges in such files are looked at and shown. Files with a name in which no use
    of it is seen are among them, or are counted.
    """
    depth = USUAL_DEPTH["related"] if question.depth is None else question.depth
    choice = EdgeChoice(question.direction, question.edge_kinds, is_kept)
    reach = _Reach(depth, limit_of(question), question.offset, choice, files_with)
    return _related(catalog, question.text, reach)


def related(
    catalog: SearchCatalog,
    target: str,
    *,
    depth: int = 1,
    limit: int = MAX_EDGES,
    choice: EdgeChoice = EVERY_EDGE,
    files_with: FilesWith | None = None,
) -> RelatedResult:
    """Return the edges around a file (a path or a module's name) or a symbol (`@@name`), nearest first, each once.

    With `depth` 2 and more, also the edges around the neighbours; never more than `limit` edges of those
    that are chosen. What could not be seen is told of all edges that are looked at, also where few are chosen. Raises
    UsageError for a target that is not in the index, or is several files, and for a choice that there is not.
    """
    return _related(catalog, target, _Reach(depth, limit, 0, choice, files_with))


def _related(catalog: SearchCatalog, target: str, reach: _Reach) -> RelatedResult:
    if not 1 <= reach.depth <= MAX_DEPTH:
        raise UsageError(
            f"the depth must be from 1 to {MAX_DEPTH}, not {reach.depth}", hint="start with 1, the nearest edges"
        )
    checked(reach.choice)
    with lent_graph(catalog) as graph:
        return _related_in(graph, target, reach)


def _related_in(graph: CompilerGraph, target: str, reach: _Reach) -> RelatedResult:
    name = target.removeprefix("@@")
    is_symbol = target.startswith("@@")
    written = target.removeprefix("@")
    inside, mark, member = written.partition(" @@")
    place = place_of(inside if mark else written)
    path = "" if is_symbol else _document(graph, inside) or _document(graph, place.path)
    if path and (mark or place.path != written):
        definitions = _definitions_in(graph, path, member.strip(), place.start_line)
        if definitions:
            name = definitions[0].symbol.qualified_name
            return _around_symbols(graph, name, definitions, reach)
        if mark:
            raise _not_here(graph, f"@@{member.strip()}")
    definitions = [] if path or "/" in name else _definitions(graph, name)
    if (is_kept := reach.choice.is_kept) is not None:
        definitions = [item for item in definitions if is_kept(item.path)]
    if not (is_symbol or path or definitions):
        path = only_path(target, modules(name, graph.resolver.language_of))
    if path:
        return _around_document(graph, path, reach)
    if not definitions:
        raise _not_here(graph, target)
    return _around_symbols(graph, name, definitions, reach)


class _Reach(NamedTuple):
    """The number of steps, and the page of the list of edges."""

    depth: int
    limit: int
    offset: int
    choice: EdgeChoice
    files_with: FilesWith | None = None  # None: files without seen uses are not looked for

    @property
    def n_wanted(self) -> int:
        """Edges up to the last one that is wanted."""
        return self.offset + self.limit

    def is_full(self, edges: Iterable[Related]) -> bool:
        """Return True if the page, and more than it, is among these edges."""
        return len({_place_of(edge) for edge in edges if self.choice.has(edge)}) > self.n_wanted


# ---- the target


def _document(graph: ResolvedGraph, target: str) -> str:
    """Return the path of a document, given whole or by its end; "" when there is none."""
    if target in graph.resolver.language_of:
        return target
    return only_path(target, paths_named(target, graph.resolver.language_of) if target.removeprefix("./") else [])


def only_path(target: str, paths: Sequence[str]) -> str:
    """Return the only path of a list; "" when there is none. Raises UsageError for several."""
    if len(paths) > 1:
        raise UsageError(
            f"{target!r} is the name of {len(paths)} files", hint=f"choose one: {', '.join(sorted(paths)[:5])}"
        )
    return paths[0] if paths else ""


def _definitions(graph: ResolvedGraph, name: str) -> list[FoundSymbol]:
    """Return the symbols of a name as written; those of another case only when there are none."""
    dotted = dotted_name(name)
    symbols = graph.catalog.symbols_named(dotted.rpartition(".")[2]) if dotted else []
    names = [(f".{dotted_name(item.symbol.qualified_name)}", item) for item in symbols]
    exact = [item for qualified, item in names if qualified.endswith(f".{dotted}")]
    return (
        exact
        or [item for qualified, item in names if qualified.lower().endswith(f".{dotted.lower()}")]
        or [item for _, item in names if any(one.endswith(f".{dotted}") for one in _with_module(item))]
    )


def _with_module(item: FoundSymbol) -> Iterator[str]:
    """Yield the names that a definition has with those of its module or its package: `a/b.py` and the folder `a`."""
    body = "." + item.path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    for module in (body, body.rpartition(".")[0]):
        yield f"{module}.{dotted_name(item.symbol.qualified_name)}"


def _definitions_in(graph: ResolvedGraph, path: str, name: str, line: int) -> list[FoundSymbol]:
    """Return the symbols of a name in a file; without a name, the innermost one around a line."""
    if name:
        # Other files can define a usual name hundreds of times: they are read only where this one does not.
        own = _written_so(graph, path, dotted_name(name))
        return own or [item for item in _definitions(graph, name) if item.path == path]
    symbols = [item for item in graph.symbols_of(path) if item.start_line <= line <= item.end_line]
    # Of what begins on one line, such as a decorated function, the line of the name tells.
    named = [item for item in symbols if item.name_line == line] or symbols
    inner = max(named, key=lambda item: (item.start_line, -item.end_line), default=None)
    return [] if inner is None else [FoundSymbol(path, graph.resolver.language_of[path], inner)]


def _written_so(graph: ResolvedGraph, path: str, dotted: str) -> list[FoundSymbol]:
    """Return the symbols of a file whose qualified names end as a name is written."""
    last, language = dotted.rpartition(".")[2], graph.resolver.language_of[path]
    named = [item for item in graph.symbols_of(path) if item.name == last]
    is_so = (f".{dotted_name(item.qualified_name)}".endswith(f".{dotted}") for item in named)
    return [FoundSymbol(path, language, item) for item in compress(named, is_so)]


def _not_here(graph: ResolvedGraph, target: str) -> UsageError:
    if target.startswith("@@"):
        near = graph.catalog.similar_names(dotted_name(target[2:]).rpartition(".")[2], limit=3)
        similar = ", ".join("@@" + name for name in near)
        hint = f"did you mean {similar}?" if near else "`fathom symbols` lists all symbols"
        return UsageError(f"no symbol is called {target[2:]!r}", hint=hint)
    stem = target.rpartition("/")[2].lower()
    near = [path for path in graph.resolver.language_of if stem and stem.partition(".")[0] in path.lower()][:3]
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else "give a path from the project's root, or the name of a symbol after @@"
    )
    return UsageError(f"{target!r} is not in the index", hint=hint)


# ---- around a file


def _around_document(graph: CompilerGraph, path: str, reach: _Reach) -> RelatedResult:
    edges: list[Related] = []
    seen = {path}
    front = [path]
    is_whole = True
    for step in range(1, reach.depth + 1):
        new_edges = [*_imports(graph, front, step), *_imported_by(graph, front, step)]
        # Where only imports are asked for, the uses of all names of the file would be resolved, and shown nowhere.
        if step == 1 and (reach.choice.has_references or reach.depth > 1):
            linked = {edge.path for edge in new_edges if edge.kind == "imported by"}
            new_edges += _references(graph, path, linked)
        edges += [edge for edge in new_edges if step == 1 or edge.path not in seen]
        front = sorted({edge.path for edge in new_edges} - seen)
        seen.update(front)
        is_whole = not front or step == reach.depth
        if not front or reach.is_full(edges):
            break
    unresolved = sum(1 for item in graph.imports_of(path) if not graph.resolve(item.name, path))
    edges += _lost_importers(graph, path)
    notes = unfollowed_notes(edges)
    whole = RelatedResult(path, tuple(edges), (), unresolved, rest=Rest(0, is_whole), notes=notes)
    return _result(graph, whole, reach)


def _references(graph: CompilerGraph, path: str, importers: AbstractSet[str]) -> Sequence[Related]:
    """Return the uses of what a file defines, those that took long to find as they were found before."""
    names = {symbol.name for symbol in graph.symbols_of(path) if len(symbol.name) >= _MIN_NAME_CHARS}

    def find(within: AbstractSet[str] | None) -> list[Related]:
        uses = uses_from(graph, path, names, importers, within)
        return [edge_of(use, "references", targets) for use, targets in uses]

    if not graph.keeps_uses(graph.family_of(path)):
        return find(None)
    return graph.kept_uses.answer(EdgesOfFile(graph, path, NamesOfFile(names, importers), find))


def _lost_importers(graph: ResolvedGraph, path: str) -> Iterator[Related]:
    """Yield the imports that could mean a file by its name, of which nobody knows what they mean."""
    stem = path.rpartition("/")[2].partition(".")[0]
    names = {stem, path.rpartition("/")[0].rpartition("/")[2]} if may_go_unnamed(path) else {stem}
    own = family(graph.resolver.language_of.get(path, ""))

    def is_alike(form: ImportForm) -> bool:
        return family(form.language) == own and not names.isdisjoint(re.split(r"[./\\\-]|::", form.name))

    for use in graph.imports_with(names, is_alike):
        if use.path != path and graph.is_unfollowed(use.reference.name, use.path):
            yield edge_of(use, "imported by", UseTargets(certainty="by-name", unfollowed=use))


def _imports(graph: CompilerGraph, front: Iterable[str], step: int) -> Iterator[Related]:
    for path in front:
        for item in graph.imports_of(path):
            for other in graph.resolve(item.name, path):
                certainty = graph.certainty_of_import(item.name, path)
                yield Related(other, "imports", 1, item.name, item.container, step, certainty=certainty)


def _imported_by(graph: CompilerGraph, front: Sequence[str], step: int) -> Iterator[Related]:
    for use in graph.imports_leading_to(front):
        place = (use.reference.line, use.reference.name, use.reference.container)
        certainty = graph.certainty_of_import(use.reference.name, use.path)
        yield Related(use.path, "imported by", *place, step, certainty=certainty)


def edge_of(use: NameUse, kind: Kind, targets: UseTargets, step: int = 1, likely: bool = True) -> Related:
    """Return the edge of a use."""
    reference = use.reference
    n_definitions = targets.n_definitions()
    name, inside = reference.name, reference.container
    edge = Related(use.path, kind, reference.line, name, inside, step, likely, targets.certainty, n_definitions)
    if targets.unfollowed is None:
        return edge
    path, lost = targets.unfollowed
    return replace(edge, likely=False, unfollowed=lost.name, unfollowed_at=f"{path}:{lost.line}")


# ---- around a symbol


def _around_symbols(graph: ResolvedGraph, target: str, definitions: list[FoundSymbol], reach: _Reach) -> RelatedResult:
    edges = list(_calls(graph, definitions)) if reach.choice.has_calls else []
    front = {Method(item.path, item.symbol.qualified_name) for item in definitions}
    seen = set(front)
    is_whole = True
    for step in range(1, reach.depth + 1):
        uses = list(_used_by(graph, front, step))
        edges += uses
        front = {Method(edge.path, edge.symbol) for edge in uses if edge.symbol and edge.kind == "called by"} - seen
        seen |= front
        is_whole = not front or step == reach.depth
        if not front or reach.is_full(edges):
            break
    edges += _importers(graph, definitions, filter(reach.choice.has, edges))
    unseen = UnseenUses()
    if reach.files_with is not None and reach.choice.direction != "callees":
        using = {edge.path for edge in edges if edge.kind not in ("calls", "imports")}
        unseen = unseen_uses(graph, definitions, using, reach.files_with)
    edges += unseen.edges
    places = sorted(f"{item.path}:{item.symbol.name_line}" for item in definitions)
    several = _choices(places) if places[1:] else ()
    notes = (
        *unfollowed_notes(edges),
        *say.stands_elsewhere(unseen.n_files),
        *_unnamed_notes(graph, definitions, reach),
    )
    whole = RelatedResult("@@" + target, tuple(edges), several, rest=Rest(0, is_whole), notes=notes)
    return _result(graph, whole, reach)


def _unnamed_notes(graph: ResolvedGraph, definitions: Sequence[FoundSymbol], reach: _Reach) -> Iterator[Note]:
    """Yield what uses without the name of some methods are missing."""
    if reach.choice.direction != "callees":
        methods = sorted({Method(item.path, item.symbol.qualified_name) for item in definitions})
        yield from operator_notes(graph, methods)
        if names := common_constructors(graph, methods):
            yield Note(say.COMMON_NAMES, {"names": names})


def _importers(graph: ResolvedGraph, definitions: Iterable[FoundSymbol], edges: Iterable[Related]) -> Iterator[Related]:
    """Yield the imports of symbols in files for which no other use of them is listed."""
    using = {edge.path for edge in edges if edge.depth == 1 and edge.kind in ("called by", "references")}
    names: dict[str, set[Method]] = defaultdict(set)
    for item in definitions:
        names[item.symbol.name].add(Method(item.path, item.symbol.qualified_name))
    for name, places in sorted(names.items()):
        if len(name) >= _MIN_NAME_CHARS:
            for use, targets in graph.imports_named(name):
                if use.path not in using and not places.isdisjoint(targets.definitions.names):
                    yield edge_of(use, "imported by", targets)


def _choices(places: Sequence[str]) -> tuple[Note, ...]:
    """Return the definitions of one name, to choose from."""
    count, shown, more = len(places), tuple(places[:_MOST_CHOICES]), len(places) - _MOST_CHOICES
    if more > 0:
        return (Note(say.MANY_SYMBOLS, {"count": count, "places": shown, "more": more}),)
    return (Note(say.SEVERAL_SYMBOLS, {"count": count, "places": shown}),)


def unfollowed_notes(edges: Iterable[Related]) -> tuple[Note, ...]:
    """Return how many different imports could not be followed, where there are some.

    Each is counted once, however many uses, and files, have their name by it.
    """
    return say.not_followed(len({(edge.unfollowed_at, edge.unfollowed) for edge in edges if edge.unfollowed}))


def _used_by(graph: ResolvedGraph, front: AbstractSet[Method], step: int) -> Iterator[Related]:
    """Yield the uses of some symbols, each once: thousands can have one name, and any use may mean all of these."""
    by_name: dict[str, set[Method]] = defaultdict(set)
    if not common_constructors(graph, front):
        for place in sorted(front):
            for use, targets in constructions(graph, place):
                if place != (use.path, use.reference.container):
                    yield edge_of(use, "called by", targets, step)
    for place in front:
        by_name[place.qualified_name.rpartition(".")[2]].add(place)
    for name, places in sorted(by_name.items()):
        first_two: dict[Definitions, Sequence[Method]] = {}
        languages = sorted({graph.family_of(place.path) for place in places})
        for use, targets in chain.from_iterable(graph.resolved_uses(name, language) for language in languages):
            if targets.definitions not in first_two:
                meant = places & targets.definitions.names
                first_two[targets.definitions] = sorted(Method(*place) for place in meant)[:2]
            around = (use.path, use.reference.container)
            for place in [place for place in first_two[targets.definitions] if place != around][:1]:
                kind: Kind = "called by" if use.reference.kind == "call" else "references"
                likely = targets.certainty != "by-name" or is_likely(graph, use, *place)
                yield edge_of(use, kind, targets, step, likely)


def is_likely(graph: ResolvedGraph, use: NameUse, path: str, qualified_name: str) -> bool:
    """Return True if a use of a member stands in its class, or in a symbol or under an import that names the class."""
    owner = qualified_name.rpartition(".")[0]
    container = use.reference.container
    if not owner or (use.path == path and f"{container}.".startswith(f"{owner}.")):
        return True
    return graph.mentions(use.path, owner.rpartition(".")[2], container)


def _calls(graph: ResolvedGraph, definitions: Sequence[FoundSymbol]) -> Iterator[Related]:
    """Yield the definitions that symbols or their parts call; of several with one name the nearest."""
    callers: dict[str, dict[str, list[Symbol]]] = defaultdict(lambda: defaultdict(list))
    for item in definitions:
        callers[item.path][item.symbol.qualified_name].append(item.symbol)
    for path, by_name in callers.items():
        for reference in graph.references_of(path):
            if reference.kind == "call":
                for name in outward(reference.container):
                    if name in by_name:
                        yield from _called(graph, path, by_name[name], reference)


def _called(graph: ResolvedGraph, path: str, callers: Sequence[Symbol], reference: Reference) -> Iterator[Related]:
    """Yield the definition that overloads call; of overloads that call their own name, each calls another one."""
    targets = graph.targets(NameUse(path, reference))
    nearest = targets.definitions.nearest(path)
    called = [] if nearest is None else [nearest]
    if nearest is not None and nearest.path == path and nearest.symbol in callers:
        other = targets.definitions.nearest(path, nearest.symbol)
        called = [*(called if len(callers) > 1 else ()), *([other] if other else ())]
    for item in called:
        symbol = item.symbol
        place = (symbol.name_line, reference.name, symbol.qualified_name)
        n = targets.n_definitions()
        yield Related(item.path, "calls", *place, certainty=targets.certainty, n_definitions=n)


# ---- the answer


def _place_of(edge: Related) -> tuple[str, str, int, str]:
    return edge.kind, edge.path, edge.line, edge.name


def _result(graph: ResolvedGraph, whole: RelatedResult, reach: _Reach) -> RelatedResult:
    """Return the edges in order, each place once, and in words how they are known and what is missing."""
    unique: dict[tuple[str, str, int, str], Related] = {}
    chosen = filter(reach.choice.has, whole.edges)
    for edge in sorted(chosen, key=lambda edge: (edge.depth, -sureness(edge), edge.n_definitions)):
        unique.setdefault(_place_of(edge), edge)
    listed = sorted(unique.values(), key=order)
    edges = tuple(listed[reach.offset : reach.n_wanted])
    rest = whole.rest.plus(max(len(listed) - reach.n_wanted, 0))
    notes = (*limitations(listed, graph.unseen_languages()), *whole.notes, *whole.limitations, *_left_out(rest))
    said = (Note(say.SENTENCE, {"notes": notes}),)
    return replace(whole, edges=edges, limitations=said, offset=reach.offset, rest=rest)


def _left_out(rest: Rest) -> Iterator[Note]:
    if rest.n:
        yield Note(say.EDGES_LEFT_OUT if rest.is_exact else say.LEAST_EDGES_LEFT_OUT, {"count": rest.n})
    elif rest:
        yield Note(say.MAYBE_EDGES_LEFT_OUT)


def sureness(edge: Related) -> int:
    """Return how surely an edge is known: the surer, the larger."""
    return get_args(Certainty)[::-1].index(edge.certainty)


def limitations(edges: Sequence[Related], unseen: Sequence[str]) -> Iterator[Note]:
    """Yield how edges are known, and what uses are not seen; no number stands for all there are."""
    by_name = [edge for edge in edges if edge.certainty == "by-name"]
    n_by_compiler = sum(edge.certainty == "by-compiler" for edge in edges)
    n_exact = len(edges) - len(by_name) - n_by_compiler
    most = max((edge.n_definitions for edge in by_name), default=0)
    if n_by_compiler:
        yield Note(say.EDGES_BY_COMPILER, {"count": n_by_compiler, "total": len(edges)})
    if n_exact:
        yield Note(say.EDGES_EXACT, {"count": n_exact, "total": len(edges)})
    if by_name and most == 1:
        yield Note(say.EDGES_BY_UNIQUE_NAME, {"count": len(by_name)})
    elif by_name:
        yield Note(say.EDGES_BY_NAME, {"count": len(by_name), "most": most})
    if not edges:
        yield Note(say.NO_EDGES)
    yield Note(say.LOWER_BOUND_WITHOUT, {"languages": tuple(unseen)}) if unseen else Note(say.LOWER_BOUND)
