"""The questions for uses whose answers are kept: what a name means everywhere, and which uses a file has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from codefathom.facts.languages import CODE
from codefathom.search.graph.concerned import files_led_elsewhere, is_read
from codefathom.search.graph.kept_uses import TracedItems, UseQuestion
from codefathom.search.graph.read_sets import DEFAULTS, EXPORTS, THROUGH, ReadSet
from codefathom.search.graph.reference_graph import Definitions, NameUse
from codefathom.search.graph.resolve import family
from codefathom.search.graph.resolved_graph import ResolvedGraph, ResolvedUse, UseTargets
from codefathom.types import Certainty, FoundSymbol, Reference, Related

if TYPE_CHECKING:
    from codefathom.stores.catalog.outward import OutwardChange

_EDGE = attrgetter(*(field.name for field in fields(Related)))
_REFERENCE = attrgetter(*(field.name for field in fields(Reference)))
_Value = TypeVar("_Value")
FindEdges = Callable[[AbstractSet[str] | None], list[Related]]  # of all files, or within some


class _TracedQuestion(UseQuestion[_Value]):
    """A question that a graph answers, which notes what it reads."""

    _graph: ResolvedGraph

    def find(self, within: AbstractSet[str] | None) -> TracedItems[_Value]:
        """See `UseQuestion`."""
        with self._graph.reads.noted() as notes:
            items = self._find_items(within)
        paths = {str(note[1]) for note in notes if note[0] == THROUGH}
        read_set = self._graph.read_set_of(notes) if not any(map(self._is_strange, paths)) else ReadSet(is_whole=False)
        return TracedItems(items, read_set)

    def _is_strange(self, path: str) -> bool:
        """Return True for code of another family of languages, whose imports are not looked after."""
        language = self._graph.resolver.language_of.get(path, "")
        return language in CODE and family(language) != self.language

    def concerned(self, shown: OutwardChange, written: AbstractSet[str], read_set: ReadSet) -> AbstractSet[str] | None:
        """See `UseQuestion`."""
        if not read_set.is_whole and (shown or self.language == "javascript"):
            return None
        if is_read(shown, read_set):
            return None
        for path in written:
            # What a script exports stands in its text alone.
            if read_set.has(EXPORTS, path) and not read_set.has_exports(self._graph.exports_number(path)):
                return None
        files = files_led_elsewhere(self._graph, shown, self.language) if shown else frozenset[str]()
        if files is None or any(read_set.has(THROUGH, path) for path in files):
            return None
        return None if files and read_set.has(DEFAULTS) else files

    def _find_items(self, within: AbstractSet[str] | None) -> list[_Value]:
        """Return the answer, while what is read is noted."""
        raise NotImplementedError


class EdgesOfFile(_TracedQuestion[Related]):
    """The uses that belong to what a file defines, as edges."""

    def __init__(self, graph: ResolvedGraph, path: str, file_names: NamesOfFile, find: FindEdges) -> None:
        """Take the file, what decides which uses are looked at, and what finds their edges."""
        self.key, self.language = f"file {path}", graph.family_of(path)
        self._graph, self._file_names, self._find = graph, file_names, find

    def parts(self) -> Sequence[Iterable[str]]:
        """See `UseQuestion`."""
        return [sorted(self._file_names.names)]

    def _find_items(self, within: AbstractSet[str] | None) -> list[Related]:
        return self._find(within)

    def n_uses(self) -> int:
        """See `UseQuestion`."""
        return sum(self._graph.n_uses(name, self.language) for name in self._file_names.names)

    def packed(self, items: Sequence[Related]) -> object:
        """See `UseQuestion`."""
        return [sorted(self._file_names.importers), list(map(_EDGE, items))]

    def unpacked(self, content: Any, left: AbstractSet[str]) -> list[Related]:
        """See `UseQuestion`: of a file that imports this one since, or does no longer, other uses count."""
        importers, edges = content
        if not self._file_names.importers ^ set(importers) <= left:
            raise LookupError("a file that was not written imports this one since, or does no longer")
        return [Related(*values) for values in edges]

    def places(self, item: Related) -> tuple[str, str]:
        """See `UseQuestion`."""
        return item.path, item.unfollowed_at.rpartition(":")[0]


class UsesOfName(_TracedQuestion[ResolvedUse]):
    """All uses of a name in a family of languages that mean something of the project."""

    def __init__(self, graph: ResolvedGraph, name: str, language: str) -> None:
        """Take the graph that resolves them."""
        self.key, self.language = f"name {language} {name}", language
        self._graph, self._name = graph, name

    def parts(self) -> Sequence[Iterable[str]]:
        """See `UseQuestion`."""
        return [self._graph.local_names(self._name, self.language)]

    def _find_items(self, within: AbstractSet[str] | None) -> list[ResolvedUse]:
        return self._graph.find_uses(self._name, self.language, within)

    def n_uses(self) -> int:
        """See `UseQuestion`."""
        return self._graph.n_uses(self._name, self.language)

    def packed(self, items: Sequence[ResolvedUse]) -> object:
        """See `UseQuestion`."""
        texts, targets, places = _Numbers[str](), _Numbers[_Means](), _Numbers[_Place]()
        place_of = self._places()
        uses = []
        for use, target in items:
            own = use.reference
            numbers = [texts.of(text) for text in (use.path, own.kind, own.name, own.container, own.qualifier)]
            means = _Means(target.definitions, target.certainty, target.unfollowed)
            uses.append([*numbers, own.line, own.count, targets.of(means)])
        means_rows = [
            [[places.of(place_of(item)) for item in own.definitions.items], own.certainty, _import(own.unfollowed)]
            for own in targets.values
        ]
        return [texts.values, places.values, means_rows, uses]

    def unpacked(self, content: Any, left: AbstractSet[str]) -> list[ResolvedUse]:
        """See `UseQuestion`."""
        texts, places, means, rows = content
        items = [self._item(*place) for place in places]
        targets = []
        for numbers, certainty, lost in means:
            unfollowed = NameUse(lost[0], Reference(*lost[1:])) if lost else None
            targets.append(UseTargets(Definitions(items[number] for number in numbers), certainty, unfollowed))
        uses = []
        for path, kind, name, container, qualifier, line, count, target in rows:
            reference = Reference(texts[kind], texts[name], line, texts[container], count, texts[qualifier])
            uses.append(ResolvedUse(NameUse(texts[path], reference), targets[target]))
        return uses

    def places(self, item: ResolvedUse) -> tuple[str, str]:
        """See `UseQuestion`."""
        lost = item.targets.unfollowed
        return item.use.path, lost.path if lost else ""

    def merged(self, items: list[ResolvedUse]) -> list[ResolvedUse]:
        """See `UseQuestion`."""
        number = {local: place for place, local in enumerate(self._graph.local_names(self._name, self.language))}
        return sorted(items, key=lambda item: (number[item.use.reference.name], item.use.path))

    # ---- inside

    def _places(self) -> Callable[[FoundSymbol], _Place]:
        """Return what tells where a definition stands: the how manieth of one name it is in its file."""
        numbers: dict[int, int] = {}
        read: set[str] = set()

        def place_of(item: FoundSymbol) -> _Place:
            symbol = item.symbol
            if symbol.name not in read:
                read.add(symbol.name)
                for group in self._graph.definitions(symbol.name, self.language).by(_key).values():
                    numbers.update((id(own), place) for place, own in enumerate(group.items))
            return _Place(item.path, symbol.qualified_name, symbol.name, numbers[id(item)])

        return place_of

    def _item(self, path: str, qualified_name: str, name: str, number: int) -> FoundSymbol:
        return self._graph.definitions(name, self.language).by(_key)[path, qualified_name].items[number]


class NamesOfFile(NamedTuple):
    """What decides which uses belong to a file."""

    names: AbstractSet[str]
    importers: AbstractSet[str]


class _Means(NamedTuple):
    """Targets, of which equal definitions are the same object."""

    definitions: Definitions
    certainty: Certainty
    unfollowed: NameUse | None


class _Place(NamedTuple):
    """A definition, as it can be found again."""

    path: str
    qualified_name: str
    name: str
    number: int


class _Numbers(Generic[_Value]):
    """Different values, numbered in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[_Value, int] = {}

    def of(self, value: _Value) -> int:
        """Return the number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[_Value]:
        """The values by their numbers."""
        return list(self._numbers)


def _key(item: FoundSymbol) -> tuple[str, str]:
    return item.path, item.symbol.qualified_name


def _import(use: NameUse | None) -> list[object] | None:
    return None if use is None else [use.path, *_REFERENCE(use.reference)]
