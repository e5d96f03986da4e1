"""Changed symbols → what calls or imports them, step by step, and the tests that touch them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from codefathom.facts.reasons import COMMON_NAMES, NAMES_STAND_ELSEWHERE, SENTENCE, Note
from codefathom.search.graph.edge_list import place_of_title
from codefathom.search.graph.name_bindings import EVERY, bindings_of
from codefathom.search.graph.related import edge_of, is_likely, limitations, sureness, unfollowed_notes
from codefathom.search.graph.resolved_graph import ResolvedGraph, ResolvedUse
from codefathom.search.graph.unnamed_uses import Method, constructions, is_constructor_of, operator_notes
from codefathom.search.graph.unseen_uses import FilesWith, files_unseen
from codefathom.types import Reference, Related

Change: TypeAlias = Literal["added", "removed", "changed"]

MAX_DEPTH = 5
USUAL_DEPTH = 3
_MOST_DEFINITIONS = 3  # a name of more, without a hint which is meant, is not followed
_MOST_EDGES = 50_000
_MIN_NAME_CHARS = 2


@dataclass(frozen=True, slots=True)
class ChangedSymbol:
    """A symbol that differs between two versions; "" is what stands outside of all symbols of a file."""

    path: str
    symbol: str  # qualified name
    kind: str
    change: Change
    line: int


@dataclass(frozen=True, slots=True)
class TouchingTest:
    """A test file that most likely runs something of a change."""

    path: str
    score: float  # 0 to 1
    reason: str
    depth: int  # steps from the change along calls and imports; 0: matches by names and words only


@dataclass(frozen=True, slots=True)
class Impact:
    """All that a change reaches, as far as it can be seen."""

    changes: tuple[ChangedSymbol, ...]
    reached: tuple[Related, ...]  # nearest first; an edge names the place that uses something of the step before
    n_reached: int  # also those that a limit has cut off
    tests: tuple[TouchingTest, ...]  # likeliest first
    limitations: tuple[Note, ...]  # how this is known, and what cannot be seen
    unseen: tuple[str, ...] = ()  # parts of the change of which nothing is known, one sentence each
    offset: int = 0  # items that were passed by; the lists take turns
    n_changes: int = 0  # also those that a limit has cut off, as of tests and of what is not seen
    n_tests: int = 0
    n_unseen: int = 0

    @property
    def completeness(self) -> str:
        """The same in English."""
        return " ".join(map(str, self.limitations))


class Touch(NamedTuple):
    """An edge, and the changed symbol at the other end of its way."""

    edge: Related
    origin: ChangedSymbol


class Reach(NamedTuple):
    """All that was reached."""

    touches: Sequence[Touch]
    common_names: Sequence[str]  # that were not followed, because too many definitions share them


def reach(graph: ResolvedGraph, changes: Sequence[ChangedSymbol], depth: int) -> Reach:
    """Return the uses of changed symbols, the uses of what uses them, and so on for some steps; each place once."""
    walk = _Walk(graph)
    front = {Method(item.path, item.symbol): item for item in reversed(changes)}
    seen = set(front)
    _touch_owners(walk, changes)
    for step in range(1, depth + 1):
        onwards: dict[Method, ChangedSymbol] = {}
        for node, origin in front.items():
            for edge in walk.uses(node, step):
                if _is_inside(edge, origin):
                    continue
                walk.add(Touch(edge, origin))
                # An importer passes on what it imports; whoever uses something is changed as a whole.
                name = node.qualified_name.rpartition(".")[2] if edge.kind == "imported by" else edge.symbol
                if name:
                    onwards.setdefault(Method(edge.path, name), origin)
        front = {node: origin for node, origin in onwards.items() if node not in seen}
        seen.update(front)
        if not front or len(walk.touches) > _MOST_EDGES:
            break
    return Reach(list(walk.touches.values()), sorted(walk.common_names))


def _touch_owners(walk: _Walk, changes: Sequence[ChangedSymbol]) -> None:
    """Touch whoever uses a class with changed members, as not likely; calls of its constructor come later."""
    for node, origin in _owners(changes).items():
        method = Method(origin.path, origin.symbol)
        left_out = {"called by"} if is_constructor_of(walk.graph, method) else set()
        if origin.symbol.rpartition(".")[2].startswith("_"):
            left_out.add("imported by")
        for edge in walk.uses(node, 1):
            if edge.kind not in left_out:
                walk.add(Touch(replace(edge, likely=False), origin))


def _is_inside(edge: Related, origin: ChangedSymbol) -> bool:
    """Return True for a use in the changed symbol itself: whoever changes it has it before the eyes."""
    is_same = edge.kind != "imported by" and edge.path == origin.path
    return bool(is_same and origin.symbol and f"{edge.symbol}.".startswith(f"{origin.symbol}."))


def _owners(changes: Sequence[ChangedSymbol]) -> Mapping[Method, ChangedSymbol]:
    """Return the classes of changed members that have not changed themselves: who makes one may call the member."""
    owners = {Method(item.path, item.symbol.rpartition(".")[0]): item for item in changes if "." in item.symbol}
    changed = {Method(item.path, item.symbol) for item in changes}
    return {node: item for node, item in owners.items() if node not in changed}


class _Walk:
    """The edges that were found on the way."""

    def __init__(self, graph: ResolvedGraph) -> None:
        self.graph = graph
        self.touches: dict[tuple[str, str, int, str, ChangedSymbol], Touch] = {}
        self.common_names: set[str] = set()
        self._importers: dict[str, Sequence[Related]] = {}

    def add(self, touch: Touch) -> None:
        """Keep an edge, if it is the first of its place and origin."""
        edge = touch.edge
        self.touches.setdefault((edge.kind, edge.path, edge.line, edge.name, touch.origin), touch)

    def uses(self, node: Method, step: int) -> Iterator[Related]:
        """Yield the uses of a symbol; of a file as a whole, its importers."""
        name = node.qualified_name.rpartition(".")[2]
        yield from self._imports(node, name, step)
        for use, targets in constructions(self.graph, node):
            yield edge_of(use, "called by", targets, step)
        if len(name) < _MIN_NAME_CHARS:
            return
        for item in self.graph.resolved_uses(name, self.graph.family_of(node.path)):
            itself = item.use.path == node.path and item.use.reference.container == node.qualified_name
            if not itself and item.targets.means(*node) and self._is_followed(item, node, name):
                kind: Literal["called by", "references"]
                kind = "called by" if item.use.reference.kind == "call" else "references"
                yield edge_of(item.use, kind, item.targets, step)

    def _is_followed(self, item: ResolvedUse, node: Method, name: str) -> bool:
        targets = item.targets
        if targets.certainty != "by-name" or targets.n_definitions() <= _MOST_DEFINITIONS:
            return True
        if is_likely(self.graph, item.use, node.path, node.qualified_name):
            return True
        self.common_names.add(name)
        return False

    def _imports(self, node: Method, name: str, step: int) -> Iterator[Related]:
        """Yield the imports of a name of a file, for "" all imports of it.

        Who imports a file as a whole has its members and private names only where it uses them.
        """
        is_inner = "." in node.qualified_name or name.startswith("_")
        for edge in self._imports_of(node.path):
            if not name or edge.symbol == name or (edge.symbol == EVERY and not is_inner):
                yield Related(edge.path, "imported by", edge.line, edge.name, "", step)

    def _imports_of(self, path: str) -> Sequence[Related]:
        """Return the imports that mean a file; `symbol` is what they take from it."""
        if path not in self._importers:
            self._importers[path] = [
                Related(importer, "imported by", item.line, item.name, name)
                for importer, item in self.graph.importers(path)
                for name in self._originals(importer, item)
            ]
        return self._importers[path]

    def _originals(self, path: str, item: Reference) -> Sequence[str]:
        language = self.graph.resolver.language_of.get(path, "")
        return [binding.original for binding in bindings_of(item, language)] or [EVERY]


def in_order(touches: Iterable[Touch]) -> list[Related]:
    """Return the edges, nearest and surest first, of these callers before others, each place once."""
    unique: dict[tuple[str, str, int, str], Related] = {}
    for touch in touches:
        edge = touch.edge
        key = (edge.kind, edge.path, edge.line, edge.name)
        if key not in unique or edge.depth < unique[key].depth:
            unique[key] = edge
    return sorted(
        unique.values(),
        key=lambda edge: (edge.depth, -sureness(edge), place_of_title(edge), edge.path, edge.line),
    )


def limitations_of(
    graph: ResolvedGraph, changes: Sequence[ChangedSymbol], matches: Reach, files_with: FilesWith
) -> tuple[Note, ...]:
    """Return how what was reached is known, and what cannot be seen."""
    edges = in_order(matches.touches)
    methods = [Method(item.path, item.symbol) for item in changes]
    notes = [*limitations(edges, graph.unseen_languages()), *unfollowed_notes(edges), *operator_notes(graph, methods)]
    if names := tuple(matches.common_names[:5]):
        notes.append(Note(COMMON_NAMES, {"names": names}))
    changed = dict.fromkeys(item.symbol.rpartition(".")[2] for item in changes)
    listed = {*(edge.path for edge in edges), *(item.path for item in changes)}
    if n_files := len(files_unseen(graph, changed, listed, files_with)):
        notes.append(Note(NAMES_STAND_ELSEWHERE, {"count": n_files}))
    return (Note(SENTENCE, {"notes": tuple(notes)}),)
